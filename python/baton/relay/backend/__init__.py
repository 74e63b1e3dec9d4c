"""Executors of programs."""
from ..._load import not_provided as _not_provided

from . import executor, runtime
from .executor import Executor
from .runtime import Runtime



def region_json(region, symbol=None):
    """A region as graph JSON, in the form that TVM's runtimes for libraries take, and its constants.

    Parameters
    ----------
    region : relay.Function
        Typed: what `relay.ext.<compiler>` is called with. Calls of composite functions are kernels under the composite's name.
    symbol : str, optional
        What the names of constants begin with: the region's global_symbol.

    Returns
    -------
    (str, dict of str to NDArray)
        JSON with nodes ("input", "const" and "kernel", with attrs), arg_nodes, heads and node_row_ptr; and the values of
        `<symbol>_const_<i>`.

    Raises
    ------
    NotImplementedError
        For control flow, closures and symbolic shapes.
    """
    from ..._load import core

    if symbol is None:
        symbol = str(dict(region.attrs or {}).get("global_symbol", "region"))
    return core.region_json(region, symbol)


_LATER = ("executor_factory", "interpreter", "name_transforms", "te_compiler", "utils", "vm")


def __getattr__(name):
    if name in _LATER:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    _not_provided(__name__, name)
