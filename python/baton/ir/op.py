"""Operators."""
from .._load import core
from .._wanted import wanted, wrong
from .container import Array
from .support_levels import LEVELS

Op = core.Op
Op.get = staticmethod(core.get_op)
Op.list_op_names = staticmethod(core.list_op_names)

_TARGET = "target."
_ASKED_BY_PASSES = ("FTVMLegalize", "FTVMQnnLegalize", "FTVMQnnCanonicalize", "FTVMAlterOpLayout", "FTVMConvertOpLayout")
_NEEDS_TE = ("FTVMStrategy", "FTVMCompute", "FTVMSchedule", "FShapeFunc", "TShapeDataDependent")
_attrs = {}  # (operator, key) -> (value, level)


class OpPattern:
    """How an operator may be fused: the values of TOpPattern."""

    ELEMWISE, BROADCAST, INJECTIVE, COMM_REDUCE, OUT_ELEMWISE_FUSABLE, TUPLE, OPAQUE = 0, 1, 2, 3, 4, 7, 8


def register_op_attr(op_name, attr_key, value=None, level=10):
    """Gives the operator `op_name` the attribute `attr_key`; as a decorator of the value when that is not given.

    `target.<compiler>`: f(call) -> bool, whether that compiler supports a call of the operator (relay.transform.AnnotateTarget).
    FTVMLegalize, FTVMQnnLegalize, FTVMQnnCanonicalize, FTVMAlterOpLayout, FTVMConvertOpLayout: what passes ask; see
    relay.op.op.register_legalize and the others. FPrimalGradient, FTVMMixedPrecisionConversionType, FInferCorrectLayout,
    FTVMFakeQuantizationToInteger and FMacCount are known too.
    TOpPattern and TOpIsStateful can be changed for operators that relay.op.op.register has made.
    A value of a higher level replaces one of a lower; UsageError for two of one level. Any other attribute is kept, and read by
    get_attr. NotImplementedError for those that describe kernels with te, and for rules that are C++ in Baton.
    """
    core.get_op(op_name)
    wanted("attr_key", attr_key, str, "a str")

    def register(given):
        key = (op_name, attr_key)
        if key in _attrs and _attrs[key][1] == level and not attr_key.startswith(_TARGET):
            raise core.UsageError(f"attribute {attr_key} of {op_name} is already registered with level {level}")
        if key in _attrs and _attrs[key][1] > level:
            return given
        _tell(op_name, attr_key, given, level)
        _attrs[key] = (given, level)
        return given

    return register if value is None else register(value)


def _tell(op_name, key, given, level):
    """Passes an attribute to the passes that read it."""
    if key.startswith(_TARGET):
        core.register_target_rule(op_name, key[len(_TARGET):], given, level)
    elif key in _ASKED_BY_PASSES:
        core.set_op_hook(op_name, key, given)
    elif key == "FPrimalGradient":
        set_gradient(op_name, given)
    elif key == "FTVMMixedPrecisionConversionType":
        core.register_mixed_precision(op_name, given, level)
    elif key == "FTVMFakeQuantizationToInteger":
        core.set_fake_quantization_hook(op_name, _integer_rule(given))
    elif key == "FInferCorrectLayout":
        core.set_layout_hook(op_name, _layout_rule(given))
    elif key in ("TOpPattern", "TOpIsStateful"):
        if not hasattr(given, "__index__"):
            raise wrong(key, "an int", given)
        core.change_op(op_name, key, int(given))
    elif key == "FMacCount":
        if not callable(given):
            raise wrong(key, "a function of a call", given)
    elif key in _NEEDS_TE:
        raise NotImplementedError(f"register_op_attr: {key} describes kernels with te, which Baton does not have")
    elif key[:1] in ("F", "T") and key[1:2].isupper() and key != "FTVMExternalCompiler":
        raise NotImplementedError(f"register_op_attr: Baton does not read {key} from Python (docs/compatibility.md)")


def _integer_rule(given):
    """What C++ asks, of a rule f(expr, type_map) -> [expression, affine type] as TVM has them."""
    from .affine_type import TensorAffineType, TupleAffineType

    def affine(parts):
        return TupleAffineType([affine(each) for each in parts]) if isinstance(parts, list) else TensorAffineType(*parts)

    def parts_of(found):
        if isinstance(found, TupleAffineType):
            return [parts_of(each) for each in found.types]
        return found.scale, found.zero_point, str(found.dtype), found.axis

    def ask(call, types, out):
        type_map = {arg: affine(each) for arg, each in zip(call.args, types) if each is not None}
        if out is not None:
            type_map[call] = affine(out)
        found = given(call, type_map)
        return None if found is None else (found[0], parts_of(found[1]))

    return ask


def _layout_rule(given):
    """What C++ asks, of a rule that takes layouts as Layouts and returns an InferCorrectLayoutOutput."""
    from ..relay.transform.infer_layout_utils import Layout

    def ask(attrs, new_in_layouts, old_in_layouts, old_in_types):
        new = None if new_in_layouts is None else [Layout(each) for each in new_in_layouts]
        found = given(attrs, new, [Layout(each) for each in old_in_layouts], old_in_types)
        return found.input_layouts, found.output_layouts, found.new_attrs

    return ask


def attrs_named(attr_key):
    """{operator: the attribute} of all operators that it was registered for from Python."""
    return {op_name: given for (op_name, key), (given, _) in _attrs.items() if key == attr_key}


def set_gradient(op_name, gradient):
    """Registers a function as the gradient of an operator; the public interface is relay.op.op.register_gradient.

    Parameters
    ----------
    op_name : str
        The operator.
    gradient : callable
        Takes the call and the gradient of its result; returns one gradient per argument.
    """
    from ..relay.expr import as_expr

    core.register_gradient(op_name, lambda orig, grad: [as_expr(each) for each in gradient(orig, grad)])


def _get_attr(self, attr_name):
    """The attribute, or None."""
    if attr_name in ("TOpPattern", "TOpIsStateful"):
        return core.op_fact(self.name, attr_name)
    return _attrs.get((self.name, attr_name), (None, 0))[0]


def _has_attr(self, attr_name):
    """Whether it has an attribute that was registered from Python (or one that every operator has)."""
    return (self.name, attr_name) in _attrs or attr_name in ("TOpPattern", "TOpIsStateful")


def _set_attr(self, attr_name, value, plevel=10):
    """Gives it an attribute; see register_op_attr."""
    register_op_attr(self.name, attr_name, value, plevel)


def _reset_attr(self, attr_name):
    """Removes the attribute. Passes then have no such rule for the operator, not even Baton's own."""
    forget_attr(self, attr_name)
    if attr_name in _ASKED_BY_PASSES:
        core.set_op_hook(self.name, attr_name, None)


def forget_attr(op, attr_name):
    """Removes what was registered from Python: Baton's own rules apply again."""
    if wanted("attr_name", attr_name, str, "a str").startswith(_TARGET):
        core.reset_target_rule(op.name, attr_name[len(_TARGET):])
    if attr_name in _ASKED_BY_PASSES:
        core.reset_op_hook(op.name, attr_name)
    if attr_name == "FTVMFakeQuantizationToInteger":
        core.reset_fake_quantization_hook(op.name)
    if attr_name == "FInferCorrectLayout":
        core.reset_layout_hook(op.name)
    _attrs.pop((op.name, attr_name), None)


def _add_type_rel(self, rel_name, type_rel_func=None):
    """How an operator that relay.op.op.register has made is typed: `type_rel_func(arg_types, attrs)` -> the result's type, or
    None while the types of arguments are not known enough; without it TVM's relation "Identity" or "Broadcast"."""
    core.set_type_relation(self.name, rel_name, type_rel_func)


def _add_argument(self, name, type, description):  # pylint: disable=redefined-builtin
    """Names the next argument of an operator that relay.op.op.register has made."""
    core.add_op_argument(self.name, name, description)


def _set_num_inputs(self, n):
    """How many arguments an operator that relay.op.op.register has made takes; -1: any number."""
    core.change_op(self.name, "num_inputs", n)


def _set_support_level(self, level):
    """Notes a support level, a number that only says how basic an operator is."""
    LEVELS[self.name] = int(level)


def _set_attrs_type_key(self, key):
    """The type of attributes; an operator that relay.op.op.register has made has none, which is what "DictAttrs" is here."""
    if key not in ("DictAttrs", ""):
        raise NotImplementedError(f"Op.set_attrs_type_key: attributes of {key} cannot be given to operators made in Python")


class ArgumentInfo(str):
    """An argument of an operator: its name, which is the str, with type_info and description."""

    def __new__(cls, name, description, type_info="Tensor"):
        made = super().__new__(cls, name)
        made.name, made.description, made.type_info = name, description, type_info
        return made


_names_of = vars(Op)["arguments"].fget


def _arguments(self):
    """The ArgumentInfo of each argument."""
    described = dict(core.op_signature(self.name)[0])
    return Array(ArgumentInfo(name, described.get(name, "")) for name in _names_of(self))


Op.arguments = property(_arguments)
Op.get_attr, Op.has_attr, Op.set_attr, Op.reset_attr = _get_attr, _has_attr, _set_attr, _reset_attr
Op.add_type_rel, Op.add_argument, Op.set_num_inputs = _add_type_rel, _add_argument, _set_num_inputs
Op.support_level = property(lambda op: LEVELS.get(op.name, 10), doc="How basic it is: 1 is the most basic, 10 where nothing is said.")
Op.set_support_level, Op.set_attrs_type_key = _set_support_level, _set_attrs_type_key


def register_intrin_lowering(op_name, target, *, f=None, level=10):
    """Intrinsics of TIR are lowered in TVM's own code generators: NotImplementedError."""
    raise NotImplementedError("register_intrin_lowering: Baton's kernels are not made from TIR")
