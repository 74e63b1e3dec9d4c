"""Functions by global name."""
import re

from ._load import core

_functions = {}
_OPTIMIZE = re.compile(r"relay\.ext\.([^.]+)\.optimize")


def register_func(func_name, f=None, override=False):
    """Registers `f` under a global name; as a decorator when `f` is not given.

    `relay.ext.<compiler>.optimize`: f(mod) -> mod, called by PartitionGraph for each region it cuts out for that compiler,
    `main` being the region. Other names are kept for get_global_func.
    """
    if callable(func_name):
        f, func_name = func_name, func_name.__name__

    def register(given):
        if func_name in _functions and not override:
            raise ValueError(f"Global PackedFunc {func_name} is already registered")
        _functions[func_name] = given
        region = _OPTIMIZE.fullmatch(func_name)
        if region:
            core.set_region_optimizer(region[1], given)
        return given

    return register if f is None else register(f)


def get_global_func(name, allow_missing=False):
    """The function registered under `name`; ValueError, or None with `allow_missing`, when there is none."""
    if name not in _functions and not allow_missing:
        raise ValueError(f"Cannot find global function {name}")
    return _functions.get(name)


def remove_global_func(name):
    """Forgets the function of that name."""
    _functions.pop(name, None)
    region = _OPTIMIZE.fullmatch(name)
    if region:
        core.set_region_optimizer(region[1], None)


def list_global_func_names():
    """Names of all registered functions."""
    return list(_functions)


def register_object(type_key=None):
    """A decorator that leaves a class as it is: Baton's nodes have Python classes of their own."""
    return type_key if isinstance(type_key, type) else lambda each: each


def register_extension(cls, fcreate=None):
    """Returns `cls`: any Python object may be passed to functions."""
    return cls
