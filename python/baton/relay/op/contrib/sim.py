"""Regions for simulated devices: Baton's backend `sim`, one device per device sheet."""
from .partition import operators as _operators
from .partition import partition_for
from .partition import refusals as _refusals


def operators(sheet):
    """The names of the operators that a sheet supports, sorted. `sheet`: the name of one that ships, or the path of a file."""
    return _operators(f"sim -sheet={sheet}")


def refusals(mod, sheet):
    """Why calls of operators in `main` are left to the host: [(Call, str)] in post-order."""
    return _refusals(mod, f"sim -sheet={sheet}")


def partition_for_sim(mod, sheet, params=None, mod_name="default"):
    """Outlines what a simulated device supports as regions; see partition_for().

    Parameters
    ----------
    mod : IRModule
        Shapes must be static.
    sheet : str
        The name of a device sheet that ships ("npu"), or the path of a file.
    params : dict of str to NDArray, optional
        Values of parameters of `main`.
    mod_name : str
        Part of the names of regions.

    Returns
    -------
    IRModule
        For relay.build(mod, target=["llvm", "sim -sheet=..."]).
    """
    return partition_for(mod, f"sim -sheet={sheet}", params, mod_name)
