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


class LayoutConfig:
    """Used with `with`: ConvertLayout leaves the nn.conv2d of these numbers alone, counted from 0 as it meets them."""

    current = None

    def __init__(self, skip_layers=None):
        self.skip_layers = list(skip_layers or [])

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


def function_pass(pass_func=None, opt_level=None, name=None, required=None):
    """Makes a pass of `f(func, mod, ctx) -> Function`, or of a class with transform_function(self, func, mod, ctx).

    It is applied to each function; types are inferred after it.
    """
    return decorate_pass(core.function_pass, "transform_function", pass_func, opt_level, name, required)


def __getattr__(name):
    not_provided(__name__, name)
