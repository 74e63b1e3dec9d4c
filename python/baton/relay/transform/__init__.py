"""Passes: one function per pass that is registered in C++, which makes it."""
from ..._load import core, not_provided
from ...ir.transform import ModulePass, Pass, PassContext, PassInfo, PrintIR, Sequential, decorate_pass, module_pass

FunctionPass = core.Pass

# Where TVM takes arguments by position too. None means: as if it was not given.
_PARAMETERS = {
    "CombineParallelBatchMatmul": ("min_num_branches",),
    "CombineParallelConv2D": ("min_num_branches",),
    "CombineParallelDense": ("min_num_branches", "to_batch"),
    "ConvertLayout": ("desired_layouts",),
    "DeadCodeElimination": ("inline_once", "ignore_impurity"),
    "EliminateCommonSubexpr": ("fskip",),
    "FakeQuantizationToInteger": ("hard_fail", "use_qat"),
    "FoldConstant": ("fold_qnn",),
    "FuseOps": ("fuse_opt_level",),
    "Legalize": ("legalize_map_attr_name",),
    "RemoveUnusedFunctions": ("entry_functions",),
    "SplitArgs": ("max_function_args",),
}


def factory(name):
    """The function that makes pass `name`. UsageError for arguments it does not know."""
    parameters = _PARAMETERS.get(name, ())

    def make(*args, **kwargs):
        if len(args) > len(parameters):
            raise TypeError(f"{name}() takes {len(parameters)} arguments but {len(args)} were given")
        given = {**dict(zip(parameters, args)), **kwargs}
        return core.make_pass(name, {each: value for each, value in given.items() if value is not None})

    make.__name__ = make.__qualname__ = name.rsplit(".", 1)[-1]
    make.__doc__ = f"Makes the pass {name}({', '.join(parameters)})."
    return make


globals().update({_name: factory(_name) for _name in core.pass_names() if "." not in _name})


def function_pass(pass_func=None, opt_level=None, name=None, required=None):
    """Makes a pass of `f(func, mod, ctx) -> Function`, or of a class with transform_function(self, func, mod, ctx).

    It is applied to each function; types are inferred after it.
    """
    return decorate_pass(core.function_pass, "transform_function", pass_func, opt_level, name, required)


def __getattr__(name):
    not_provided(__name__, name)
