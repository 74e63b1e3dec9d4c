"""Functions by global name."""
import re

from ._built import built_of
from ._load import core
from ._wanted import wanted, wrong

_functions = {}
_OPTIMIZE = re.compile(r"relay\.ext\.([^.]+)\.optimize")
_CODEGEN = re.compile(r"relay\.ext\.([^.]+)")


def _region_codegen(name, function):
    """`function` as a region code generator: takes a region, and returns Baton's build of it."""

    def build(region):
        made = function(region)
        built = built_of(made)
        if built is None and callable(made):
            return _region_function(name, made, len(region.params))
        if built is None:
            raise TypeError(f"{name} returned a {type(made).__name__}; a build runs what Baton builds: "
                            "return relay.build(...), or its get_lib(), or a function of numpy arrays")
        return built

    return build


def _region_function(name, function, inputs):
    """`function` of numpy arrays as the core calls it: with inputs and outputs in one list, which are views of its tensors."""

    def call(tensors):
        arrays = [each.view() for each in tensors]
        for each in arrays[:inputs]:
            each.flags.writeable = False
        made = function(*arrays[:inputs])
        results = list(made) if isinstance(made, (list, tuple)) else [made]
        outputs = arrays[inputs:]
        if len(results) != len(outputs):
            raise ValueError(f"the function of {name} returned {len(results)} arrays, the region has {len(outputs)} results")
        for number, (result, output) in enumerate(zip(results, outputs)):
            found = (getattr(result, "shape", None), str(getattr(result, "dtype", type(result).__name__)))
            if found != (output.shape, str(output.dtype)):
                raise ValueError(f"result {number} of the function of {name} is {found[1]} {found[0]} instead of "
                                 f"{output.dtype} {output.shape}")
            output[...] = result

    return call


def _tell_core(func_name, function):
    """Registers names that the compiler itself calls."""
    region, codegen = _OPTIMIZE.fullmatch(func_name), _CODEGEN.fullmatch(func_name)
    if region:
        core.set_region_optimizer(region[1], function)
    elif codegen:
        core.set_region_codegen(codegen[1], function and _region_codegen(func_name, function))


def register_func(func_name, f=None, override=False):
    """Registers `f` under a global name; as a decorator when `f` is not given.

    `relay.ext.<compiler>.optimize`: f(mod) -> mod, called by PartitionGraph for each region it outlines for that compiler,
    `main` being the region.
    `relay.ext.<compiler>`: f(region: Function) -> what relay.build made of it, called by relay.build for each region of that
    compiler; its kernels replace the region. Or it returns a function of numpy arrays, one for each input of the region, that
    returns the result, or a list of results: each run calls it. Such models run in the process that built them only.
    relay.backend.region_json(region) is the region as graph JSON. Other names are only stored for get_global_func.
    """
    if callable(func_name) and hasattr(func_name, "__name__"):
        f, func_name = func_name, func_name.__name__
    wanted("func_name", func_name, str, "a str")

    def register(given):
        if not callable(given):
            raise wrong(f"what is registered as {func_name}", "a function", given)
        if func_name in _functions and not override:
            raise ValueError(f"Global PackedFunc {func_name} is already registered")
        _functions[func_name] = given
        _tell_core(func_name, given)
        return given

    return register if f is None else register(f)


def get_global_func(name, allow_missing=False):
    """The function registered under `name`; ValueError, or None with `allow_missing`, when there is none."""
    if name not in _functions and not allow_missing:
        raise ValueError(f"Cannot find global function {name}")
    return _functions.get(name)


def remove_global_func(name):
    """Unregisters the function of that name."""
    _functions.pop(name, None)
    _tell_core(name, None)
