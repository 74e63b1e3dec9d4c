"""Regions for oneDNN, by Baton's own backend `dnnl`: its composites and operators, and the whole flow that outlines them.

The helpers around TVM's table can be imported, and raise NotImplementedError when used.
"""
from ...._load import core
from ...._refused import fill
from .partition import partition_for
from .partition import refusals as _refusals

__getattr__ = fill(globals(), "of TVM's module for oneDNN, Baton has pattern_table; its own are partition_for_dnnl, operators and refusals")

_LAYERS = ("qnn.conv2d", "qnn.dense", "nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv2d_transpose", "nn.dense", "nn.batch_matmul", "nn.matmul")


def pattern_table():
    """The composites, the largest first, for relay.transform.MergeComposite: [(name, pattern, check)].

    Names say which layer, and what follows it: dnnl.conv2d_bias_sum_relu. MergeComposite("dnnl") has the same table.
    """
    return core.backend_patterns("dnnl")


def operators():
    """The names of the operators that AnnotateTarget("dnnl") takes outside of composites, sorted.

    Data are float32, of known shapes. Convolutions and products of matrices take uint8 or int8 by int8 with sums of int32, too, where
    oneDNN's are exact on this processor. refusals() says which calls are not taken, and why.
    """
    return core.backend_operators("dnnl")


def refusals(mod):
    """Why calls of operators in `main` are not given to oneDNN.

    Parameters
    ----------
    mod : IRModule
        Not partitioned.

    Returns
    -------
    list of (Call, str)
        In post-order: the calls that partition_for_dnnl() leaves with the host, wholly or in part.
    """
    return _refusals(mod, "dnnl", lower_qnn=False)


def partition_for_dnnl(mod, params=None, mod_name="default", prune=True, lower_qnn=False):
    """Outlines what oneDNN computes as regions `tvmgen_<mod_name>_dnnl_main_<n>`, for relay.build.

    Normalisations by channel and scales are folded into convolutions, so that their results become biases; other normalisations
    stay whole.

    Parameters
    ----------
    mod : IRModule
        Shapes must be static.
    params : dict of str to NDArray, optional
        Values of parameters of `main`. Weights that are constants are packed once, when the model is loaded; others in each run.
    mod_name : str
        Part of the names of regions.
    prune : bool
        Leave regions to Baton's own kernels that hold no convolution, dense layer or matrix product.
    lower_qnn : bool
        False: quantised layers are composites (dnnl.qnn.conv2d_sum) that oneDNN computes whole. It rounds from float32, so a
        result on the border between two units may be the other one. True: quantised operators become integer ones first, of
        which oneDNN computes the sums, exactly, and Baton's kernels the rounding: the same results to the last bit, but slower.

    Returns
    -------
    IRModule
        With one function per region. relay.build compiles it where oneDNN is installed, else it raises NotImplementedError.
    """
    from ... import transform

    mod = partition_for(mod, "dnnl", params, mod_name, lower_qnn)
    if not prune:
        return mod
    light = [var for var, function in mod.functions.items()
             if "Compiler" in dict(function.attrs or {}) and function.attrs["Compiler"] == "dnnl" and not _has_layer(function)]
    return transform.InferType()(transform.InlineCompilerFunctionsBoundTo(light)(mod)) if light else mod


def _has_layer(function):
    from ...analysis import post_order_visit
    from ...expr import Call

    met = []
    post_order_visit(function, lambda node: met.append(node) if isinstance(node, Call) and getattr(node.op, "name", "") in _LAYERS else None)
    return bool(met)
