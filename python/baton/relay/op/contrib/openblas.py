"""Regions for OpenBLAS, by Baton's own backend `openblas`: dense layers and matrix products of float32 and float64."""
from . import partition


def partition_for_openblas(mod, params=None, mod_name="default"):
    """Outlines matrix products as regions `tvmgen_<mod_name>_openblas_main_<n>`, for relay.build.

    partition.operators("openblas") names the operators, partition.refusals(mod, "openblas") says why calls are not taken.

    Parameters
    ----------
    mod : IRModule
        Shapes must be static.
    params : dict of str to NDArray, optional
        Values of parameters of `main`.
    mod_name : str
        Part of the names of regions.

    Returns
    -------
    IRModule
        With one function per region. Running what relay.build makes of it needs OpenBLAS (Debian: libopenblas0-pthread).
    """
    return partition.partition_for(mod, "openblas", params, mod_name)
