"""Passes: one factory function per pass registered in C++."""
from ..._aliases import same as _same
from ..._load import core, not_provided
from ..._signature import signature_of
from ..._wanted import listed, wanted
from ...ir.transform import ModulePass, Pass, PassContext, PassInfo, PrintIR, Sequential, decorate_pass, module_pass

FunctionPass = core.Pass

# The positional arguments of TVM's passes. Missing arguments and None use the pass's default.
_SIGNATURES = """
AnnotateTarget(targets, include_non_call_ops=True)
ChangeBatch(data, batch_size=16)
CombineParallelBatchMatmul(min_num_branches=3)
CombineParallelConv2D(min_num_branches=3)
CombineParallelDense(min_num_branches=3, to_batch=True)
Conv2dToSparse(weight_name, weight_shape, layout, kernel_size)
Conv2dToSparse2(layout, kernel_size, blocksize, sparsity_threshold)
ConvertLayout(desired_layouts)
DeadCodeElimination(inline_once=False, ignore_impurity=False)
DenseToSparse(weight_name, weight_shape)
EtaExpand(expand_constructor=False, expand_global_var=False)
FakeQuantizationToInteger(hard_fail=False, use_qat=False)
FlexibleShapeDispatch(buckets, axis=0, auto_pad=False, pad_value=0, input_indices=None, affects_output=True)
FoldConstant(fold_qnn=False)
FreezeShapes(shapes)
FuseOps(fuse_opt_level=-1)
Legalize(legalize_map_attr_name='FTVMLegalize')
MarkCompilerFunctionsAsExtern(compiler_filter='')
OutlineCompilerFunctionsWithExistingGlobalSymbols(compiler_filter='')
PartitionGraph(mod_name='default', bind_constants=True)
RemoveUnusedFunctions(entry_functions=None)
SimplifyFCTranspose(target_weight_name)
SplitArgs(max_function_args)
ToMixedPrecision(mixed_precision_type='float16', missing_op_mode=1)
"""
_BY_PASS = {_text.split("(")[0]: signature_of(_text) for _text in _SIGNATURES.splitlines() if _text}


def factory(name):
    """The function that makes pass `name`. UsageError for arguments it does not know."""
    signature = _BY_PASS.get(name, signature_of("make()"))
    parameters = list(signature.parameters)

    def make(*args, **kwargs):
        if len(args) > len(parameters):
            raise TypeError(f"{name}() takes {len(parameters)} arguments but {len(args)} were given")
        given = {**dict(zip(parameters, args)), **kwargs}
        return core.make_pass(name, {each: value for each, value in given.items() if value is not None})

    make.__name__ = make.__qualname__ = name.rsplit(".", 1)[-1]
    make.__doc__ = f"Makes the pass {name}({', '.join(parameters)})."
    make.__signature__ = signature
    return make


globals().update({_name: factory(_name) for _name in core.pass_names() if "." not in _name})


def MergeComposite(pattern_table):
    """Makes a pass that outlines pattern matches as composite functions.

    `pattern_table` is a list of (name, pattern) or (name, pattern, check), earlier entries first; or the name under which
    one was registered (relay.op.contrib.register_pattern_table).
    """
    if isinstance(pattern_table, str):
        return core.make_pass("MergeComposite", {"pattern_table": pattern_table})
    return core.merge_composite(listed("pattern_table", pattern_table, "a name or a list"))


def EliminateCommonSubexpr(fskip=None):
    """Makes a pass that merges equal calls. Calls and tuple items for which fskip(expr) is true are skipped."""
    return core.make_pass("EliminateCommonSubexpr", {}) if fskip is None else core.eliminate_common_subexpr(fskip)


def InlineCompilerFunctionsBoundTo(global_vars):
    """Makes a pass that inlines these functions, and composite functions in them, at their calls."""
    names = [each if isinstance(each, str) else wanted("a global variable", each, core.GlobalVar, "a GlobalVar or a str").name_hint
             for each in listed("global_vars", global_vars)]
    return core.make_pass("InlineCompilerFunctionsBoundTo", {"global_vars": names})


def _for_targets(name):
    """The function that makes pass `name` for the targets of a CompilationConfig."""
    def make(config):
        wanted("config", config, core.CompilationConfig, "a CompilationConfig")
        return core.make_pass(name, {"targets": [each.text for each in config.primitive_targets], "host": config._host,
                                     "fallback_device_type": config.default_primitive_virtual_device.device_type})

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Makes the pass {name}(config); config is made by baton.target.make_compilation_config."
    return make


PlanDevices, AnnotateMemoryScope = _for_targets("PlanDevices"), _for_targets("AnnotateMemoryScope")


def build_config(opt_level=2, required_pass=None, disabled_pass=None, trace=None):
    """A PassContext (opt_level, required_pass, disabled_pass), as older scripts make it. `trace` had a meaning before instruments: NotImplementedError when given."""
    if trace is not None:
        raise NotImplementedError("build_config: trace is gone since TVM 0.8; use PassContext(instruments=[...])")
    return PassContext(opt_level=opt_level, required_pass=required_pass, disabled_pass=disabled_pass)


def recast(expr, dtype, out_dtype, ops=None, skip_layers=None):
    """`expr`, a Function or a module, with some operators (nn.conv2d) computing in `dtype` and giving `out_dtype`.

    For measuring operators in another type: values are not preserved. skip_layers: calls that are not changed, counted from
    0; negative numbers count from the last.
    """
    mod = expr if isinstance(expr, core.IRModule) else core.IRModule.from_expr(expr)
    made = core.make_pass("recast", {"dtype": dtype, "out_dtype": out_dtype, "ops": ops or ["nn.conv2d"],
                                     "skip_layers": skip_layers or []})(mod)
    return made if mod is expr else made["main"]


class LayoutConfig:
    """Used with `with`: ConvertLayout skips the nn.conv2d calls of these numbers, counted from 0 in visiting order."""

    current = None

    def __init__(self, skip_layers=None):
        self.skip_layers = listed("skip_layers", skip_layers or [])

    def check_skip(self):
        """Counts one convolution; whether it is to be skipped."""
        return core.layout_config_skips()

    def reset(self):
        """Counts from 0 again."""
        core.reset_layout_config()

    def __enter__(self):
        core.enter_layout_config(self.skip_layers)
        self._outer, LayoutConfig.current = LayoutConfig.current, self
        return self

    def __exit__(self, *exception):
        LayoutConfig.current = self._outer
        core.exit_layout_config()


def gradient(expr, mod=None, mode="higher_order"):
    """The function that returns `(result, (gradient with respect to each parameter, ...))`.

    Parameters
    ----------
    expr : Function or GlobalVar
        The function to differentiate; a GlobalVar needs `mod`.
    mod : IRModule
        The module with the functions it calls. "higher_order" adds their gradients, named `<name>_grad`.
    mode : {"higher_order", "first_order"}
        With control flow, closures and references; or dataflow only, which stays dataflow.
    """
    return core.gradient(expr, mod, mode)


def function_pass(pass_func=None, opt_level=None, name=None, required=None):
    """Makes a pass of `f(func, mod, ctx) -> Function`, or of a class with transform_function(self, func, mod, ctx).

    It is applied to each function; types are inferred after it.
    """
    return decorate_pass(core.function_pass, "transform_function", pass_func, opt_level, name, required)


def to_cps(func, mod=None):
    """`func` in continuation-passing style: it takes its continuation as last parameter.

    Functions of `mod` that it calls are entered there in that style too, as NAME_cps.
    """
    return core.to_cps(func, mod)


def ToCPS(expr, mod=None):  # noqa: N802
    """to_cps(), by the name of the pass."""
    return to_cps(expr, mod)


def un_cps(func):
    """A function in continuation-passing style as one that returns its result."""
    return core.un_cps(func)


def Defunctionalization(func, mod):  # noqa: N802
    """`func` with functions used as values replaced by data; the required definitions are added to `mod`."""
    return core.defunctionalize(func, mod)


def ToANormalFormExpr(e):  # noqa: N802
    """The expression `e` in A-normal form."""
    return core.to_a_normal_form_expr(e)


def mangle_module_name(mod_name):
    """The prefix of the functions of a module of that name."""
    return "tvmgen_" + mod_name if mod_name else "tvmgen"


def InferTypeLocal(expr):  # noqa: N802
    """The type of an expression, which may have free variables. It is also the `checked_type` of `expr` from then on,
    and what lies below it has its types while `expr` is alive in Python; texts and passes see no types.
    """
    main = InferType()(core.IRModule.from_expr(expr))["main"]
    typed = main if isinstance(expr, core.Function) else main.body
    given, types = [], []
    core.post_order_visit(expr, given.append)
    core.post_order_visit(typed, lambda node: types.append(node._checked_type_))
    for node, known in zip(given, types, strict=True):
        if known is not None:  # an operator has no type of its own
            node._local_type = known
    expr._typed_below = [node for node in given if node is not expr]
    return typed.checked_type


def FoldConstantExpr(expr, mod, fold_qnn=False):  # noqa: N802
    """The expression `expr` with constants folded. mod: resolves the functions it calls."""
    module = wanted("mod", mod, core.IRModule, "an IRModule").copy()
    module["_folded"] = expr if isinstance(expr, core.Function) else core.Function(core.free_vars(expr), expr)
    folded = FoldConstant(fold_qnn)(InferType()(module))["_folded"]
    return folded if isinstance(expr, core.Function) else folded.body


def CollagePartition(config, cost_estimator=None):  # noqa: N802
    """Cost-based partitioning: NotImplementedError."""
    raise NotImplementedError("CollagePartition is not provided: choose partitions by AnnotateTarget and MergeComposite")


_same(globals(), "transform")


def __getattr__(name):
    if name in ("fake_quantization_to_integer", "flexible_shape", "infer_layout_utils", "mixed_precision"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    not_provided(__name__, name)
