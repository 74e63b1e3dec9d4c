"""Functions by global name."""
import contextlib
import contextvars
import re

from ._built import built_of
from ._load import core
from ._wanted import wanted, wrong

_functions = {}
_OPTIMIZE = re.compile(r"relay\.ext\.([^.]+)\.optimize")
_CODEGEN = re.compile(r"relay\.ext\.([^.]+)")
_CONSTANTS = contextvars.ContextVar("constants", default=None)  # those of the regions of the build that is under way


@contextlib.contextmanager
def constants_of_regions():
    """Around a build: a dict that gets the constants by name of the regions that code generators in Python compile."""
    found = {}
    outer = _CONSTANTS.set(found)
    try:
        yield found
    finally:
        _CONSTANTS.reset(outer)


def _region_codegen(name, function):
    """`function` as a region code generator: takes a region, and returns Baton's build of it."""

    def build(region):
        symbol = str(dict(region.attrs or {}).get("global_symbol", "region"))
        constants = _constants_of(name, region, symbol)
        made = function(region)
        built = built_of(made)
        if built is None and hasattr(made, "get_function"):
            made = _opened_module(name, made, symbol, constants)
        if built is None and not callable(made):
            raise TypeError(f"{name} returned a {type(made).__name__}; a build runs what Baton builds: return relay.build(...), or its "
                            "get_lib(), or a function of numpy arrays, or an object whose get_function(symbol) gives one")
        if built is None or name + ".constant_updater" in _functions:  # else a build has them among its own
            _keep(name, constants)
        return _region_function(name, made, len(region.params)) if built is None else built

    return build


def _constants_of(name, region, symbol):
    """The constants of a region by name: as its constant_updater gives them, else numbered in post-order."""
    updater = _functions.get(name + ".constant_updater")
    if updater is None:
        return core.region_constants(region, symbol)
    given = updater(region, symbol)
    if not isinstance(given, dict) or any(not isinstance(key, str) or not isinstance(value, core.NDArray) for key, value in given.items()):
        raise TypeError(f"{name}.constant_updater returned {_described(given)} for the region {symbol}; a dict of NDArrays by name is expected")
    return dict(given)


def _described(given):
    if not isinstance(given, dict):
        return f"a {type(given).__name__}"
    odd = next((key, value) for key, value in given.items() if not isinstance(key, str) or not isinstance(value, core.NDArray))
    return f"a dict with {odd[0]!r}: a {type(odd[1]).__name__}"


def _opened_module(name, made, symbol, constants):
    """The function of a module of the code generator, which takes those of `constants` that its `get_const_vars` names."""
    call = made.get_function(symbol)
    if not callable(call):
        raise TypeError(f"{name} returned a {type(made).__name__} whose get_function({symbol!r}) gives no function")
    variables = made.get_function("get_const_vars")
    names = [str(each) for each in variables()] if variables else []
    if unknown := [each for each in names if each not in constants]:
        raise ValueError(f"get_const_vars of {name} names `{unknown[0]}`, which is no constant of the region {symbol}; it has " +
                         (", ".join(f"`{each}`" for each in constants) or "none"))
    init = made.get_function("__init_" + symbol)
    if names and not callable(init):
        raise ValueError(f"get_const_vars of {name} names `{names[0]}`, but get_function('__init_{symbol}') gives no function to take it")
    if init:
        init([constants.pop(each) for each in names])
    return call


def _keep(name, constants):
    """Adds the constants of a region to those of the build."""
    found = _CONSTANTS.get()
    if found is None:
        return
    if twice := next((each for each in constants if each in found), None):
        raise ValueError(f"{name}.constant_updater gives `{twice}` for two regions: begin names with the symbol of the region")
    found.update(constants)


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
    relay.backend.region_json(region) is the region as graph JSON. Or it returns an object like a module of TVM:
    get_function(symbol) is that function, get_function("get_const_vars")() names constants that it takes, and
    get_function("__init_" + symbol) gets these, a list of NDArrays, once; get_function gives None for what is not there.
    `relay.ext.<compiler>.constant_updater`: f(region, symbol) -> {name: NDArray}, called before the code generator: the
    constants of the region; without it they are `<symbol>_const_<i>`. Those that the module does not take are among
    get_params() of what relay.build returns. Other names are only stored for get_global_func.
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


_OWN = {  # what TVM calls a function of C++, and where Baton has it
    "relay._transform.": "baton.relay.transform", "transform.": "baton.transform", "relay.analysis.": "baton.relay.analysis",
    "relay.op._make.": "baton.relay.op._make", "relay.op.nn._make.": "baton.relay.op.nn", "relay.op.image._make.": "baton.relay.op.image",
    "relay.op.vision._make.": "baton.relay.op.vision", "relay.ir.": "baton.relay", "ir.": "baton.ir", "tir.": "baton.tir",
    "relay.op.annotation._make.": "baton.relay.op.annotation", "relay.dataflow_pattern.": "baton.relay.dataflow_pattern",
    "relay.backend.": "baton.relay.backend.name_transforms",
}
_EXACT = {"runtime.NumThreads": "baton.runtime.num_threads", "runtime.RuntimeEnabled": "baton.runtime.enabled",
          "runtime.ModuleLoadFromFile": "baton.runtime.load_module", "runtime.LoadParams": "baton.runtime.load_param_dict",
          "node.LoadJSON": "baton.ir.load_json", "node.SaveJSON": "baton.ir.save_json",
          "relay.analysis._test_type_solver": "baton.relay.analysis._test_type_solver",
          "tvm.graph_executor.create": "baton.contrib.graph_executor.create",
          "tvm.graph_executor_debug.create": "baton.contrib.debugger.debug_executor.create",
          "relay.backend.to_function_style": "baton.relay.backend.name_transforms.to_c_function_style"}


def _built_in(name):
    """Baton's function that TVM has under a global name, or None."""
    import importlib

    module, _, short = _EXACT.get(name, "").rpartition(".")
    if not module:
        prefix = next((each for each in _OWN if name.startswith(each)), None)
        if prefix is None or not name[len(prefix):].isidentifier() or name[len(prefix):].startswith("_"):
            return None
        module, short = _OWN[prefix], name[len(prefix):]
    try:
        found = getattr(importlib.import_module(module), short, None)
    except NotImplementedError:
        return None
    return found if callable(found) and not getattr(found, "reason", None) else None


def get_global_func(name, allow_missing=False):
    """The function registered under `name`, or Baton's own of that name in TVM ("relay._transform.InferType").

    ValueError, or None with `allow_missing`, when there is none.
    """
    found = _functions.get(wanted("name", name, str, "a str")) or _built_in(name)
    if found is None and not allow_missing:
        raise ValueError(f"Cannot find global function {name}")
    return found


def list_global_func_names():
    """The names that functions are registered under."""
    return sorted({*_functions, *_EXACT})


def remove_global_func(name):
    """Unregisters the function of that name."""
    _functions.pop(name, None)
    _tell_core(name, None)
