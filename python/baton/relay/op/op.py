"""Lookup and registration of operators and their attributes, as in TVM's relay.op.op."""
from ..._load import core, not_provided
from ..._signature import signature_of
from ...ir.op import OpPattern, register_op_attr, set_gradient
from . import _make

get = core.get_op


def register(op_name, describe=""):
    """Makes an operator of that name, which is typed as its type relation says and has no kernel. UsageError when there is one.
    `describe` says what it does.

    Say more by the methods of what get(op_name) returns (add_type_rel, set_num_inputs, add_argument, ..).
    """
    core.define_op(op_name, describe)


def register_stateful(op_name, stateful, level=10):
    """Calls of a `stateful` operator made by register() are never merged, folded or eliminated."""
    register_op_attr(op_name, "TOpIsStateful", stateful, level)


def register_pattern(op_name, pattern, level=10):
    """Sets how an operator made by register() is fused: `pattern`, an OpPattern."""
    register_op_attr(op_name, "TOpPattern", pattern, level)


def register_legalize(op_name, legal_op=None, level=10):
    """f(attrs, inputs, arg_types) -> an expression that takes the call's place, or None: asked by Legalize. The last of
    `arg_types` is the type of the result. Replaces what Baton does with the operator; without `legal_op` a decorator."""
    return register_op_attr(op_name, "FTVMLegalize", legal_op, level)


def register_alter_op_layout(op_name, alter_layout=None, level=10):
    """f(attrs, inputs, tinfos, out_type) -> a call that takes the call's place, or None: asked by AlterOpLayout.

    tinfos: the types of the inputs. Replaces what Baton does with the operator; without `alter_layout` a decorator.
    """
    return register_op_attr(op_name, "FTVMAlterOpLayout", alter_layout, level)


def register_convert_op_layout(op_name, convert_layout=None, level=10):
    """f(attrs, inputs, tinfos, desired_layouts) -> a call that takes the call's place, or None: asked by ConvertLayout.

    Replaces what Baton does with the operator; without `convert_layout` a decorator.
    """
    return register_op_attr(op_name, "FTVMConvertOpLayout", convert_layout, level)


def register_infer_correct_layout(op_name, infer_layout=None, level=10):
    """f(attrs, new_in_layouts, old_in_layouts, old_in_types) -> relay.transform.infer_layout_utils.InferCorrectLayoutOutput: asked
    by ConvertLayout and AlterOpLayout how layouts pass through `op_name`, first with new_in_layouts None: in the program as it is.

    Replaces the operator's own rule; without `infer_layout` a decorator.
    """
    return register_op_attr(op_name, "FInferCorrectLayout", infer_layout, level)


def register_fake_quantization_to_integer(op_name, func=None, level=10):
    """func(expr, type_map) -> [expression, affine type]: asked by FakeQuantizationToInteger how `op_name` is computed in integers;
    None where it is not.

    expr: the call on quantised arguments; type_map: affine types (ir.TensorAffineType, TupleAffineType) of these arguments, except
    of constants of the program, and of `expr`: the one that the region ends with. Replaces the operator's own rule; without `func` a
    decorator.
    """
    return register_op_attr(op_name, "FTVMFakeQuantizationToInteger", func, level)


def register_mixed_precision_conversion(op_name, func=None, level=10):
    """Says in which precision `op_name` computes: func(call, dtype) -> [colour, accumulation dtype, output dtype].

    Colours are those of relay.transform.mixed_precision. The operators that ToMixedPrecision knows have level 10: a higher
    one replaces them. Without `func` it is a decorator.
    """
    return register_op_attr(op_name, "FTVMMixedPrecisionConversionType", func, level)


def register_gradient(op_name, fgradient=None, level=10):
    """Makes `fgradient(orig, grad) -> [Expr]` the gradient of the operator: the adjoint of each argument of the call
    `orig`, given that of its result. Without `fgradient` a decorator. The last registration wins, whatever `level`.
    """
    def register_it(given):
        set_gradient(op_name, given)
        return given

    return register_it if fgradient is None else register_it(fgradient)


def register_external_compiler(op_name, fexternal=None, level=10):
    """Gives the operator the attribute FTVMExternalCompiler, `fexternal`, which is kept and can be read."""
    return register_op_attr(op_name, "FTVMExternalCompiler", fexternal, level)


def _needs_te(name, signature):
    def refuse(*args, **kwargs):
        raise NotImplementedError(f"relay.op.{name}: kernels are described with te in TVM, which Baton does not have; "
                                  "they are generated from the operators' own definitions")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"{name}{signature} raises NotImplementedError: TVM describes kernels with te, which Baton does not have."
    refuse.__signature__ = signature_of(name + signature)
    return refuse


register_compute = _needs_te("register_compute", "(op_name, compute=None, level=10)")
register_schedule = _needs_te("register_schedule", "(op_name, schedule, level=10)")
register_injective_schedule = _needs_te("register_injective_schedule", "(op_name, level=10)")
register_broadcast_schedule = _needs_te("register_broadcast_schedule", "(op_name, level=10)")
register_reduce_schedule = _needs_te("register_reduce_schedule", "(op_name, level=10)")
register_strategy = _needs_te("register_strategy", "(op_name, fstrategy=None, level=10)")
register_shape_func = _needs_te("register_shape_func", "(op_name, data_dependent, shape_func=None, level=10)")


def call_lowered(*args):
    """Calls of lowered kernels are TVM's own form of a program; Baton has its plan instead: NotImplementedError."""
    raise NotImplementedError("call_lowered: programs of lowered kernels are not provided; build() makes a plan instead")


def debug(expr, debug_func=None):
    """`expr`, whose value is passed to `debug_func(value)` at run time. Baton's executors ignore it."""
    name = ""
    if debug_func is not None:
        from ...registry import register_func

        name = f"debugger_func{debug.counter}"
        register_func(name, debug_func)
        debug.counter += 1
    return _make.call("debug", [expr], debug_func=name)


debug.counter = 0


class _NeedsTe:
    """Raises NotImplementedError when constructed: TVM describes kernels with te, which Baton does not have."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__}: kernels are described with te in TVM, which Baton does not have")


class OpStrategy(_NeedsTe):
    """TVM's implementations of an operator: NotImplementedError when constructed."""

    def add_implementation(self, compute, schedule, name="default", plevel=10):
        """Not reached: no OpStrategy can be made."""


class OpImplementation(_NeedsTe):
    """TVM's single implementation of an operator: NotImplementedError when constructed."""


class OpSpecialization(_NeedsTe):
    """TVM's conditional implementations of an operator: NotImplementedError when constructed."""


_make.explain(globals())


def __getattr__(name):
    if name in ("GenericFunc", "get_native_generic_func"):
        from ... import target

        return getattr(target, name)
    if name == "Object":
        from ..._ffi_names import Object

        return Object
    if name in ("build", "lower"):
        from ... import driver

        return getattr(driver, name)
    not_provided(__name__, name)
