"""Weights with many zeros as matrices of blocks: what relay.data_dep_optimization and relay.analysis.process_params do."""
import collections

from .._load import core
from .._wanted import wanted
from ..runtime import ndarray

SparseAnalysisResult = collections.namedtuple("SparseAnalysisResult", ["weight_name", "weight_shape"])


def weights_of(expr, operator):
    """The names of the variables that are weights of an operator, in the order of their first use."""
    names = {}

    def visit(node):
        if isinstance(node, core.Call) and isinstance(node.op, core.Op) and node.op.name == operator and isinstance(node.args[1], core.Var):
            names[node.args[1].name_hint] = True

    core.post_order_visit(expr, visit)
    return list(names)


def transposed_weights(expr):
    """The names of the variables that nn.dense uses transposed."""
    names = {}

    def visit(node):
        if not isinstance(node, core.Call) or not isinstance(node.op, core.Op) or node.op.name != "nn.dense":
            return
        weight = node.args[1]
        if isinstance(weight, core.Call) and isinstance(weight.op, core.Op) and weight.op.name == "transpose" and isinstance(weight.args[0], core.Var):
            axes = weight.attrs.axes
            if axes is None or list(axes) == [1, 0]:
                names[weight.args[0].name_hint] = True

    core.post_order_visit(expr, visit)
    return list(names)


def blocks_of(matrix, block_size):
    """(data, indices, indptr) of a matrix in blocks of (rows, columns), without those of zeros alone."""
    import numpy as np

    rows, columns = block_size
    if matrix.shape[0] % rows or matrix.shape[1] % columns:
        raise ValueError(f"blocks of {rows} x {columns} do not divide a weight of {matrix.shape[0]} x {matrix.shape[1]}")
    blocks = matrix.reshape(matrix.shape[0] // rows, rows, matrix.shape[1] // columns, columns).transpose(0, 2, 1, 3)
    used = blocks.any(axis=(2, 3))
    return blocks[used], np.nonzero(used)[1].astype("int32"), np.concatenate([[0], used.sum(axis=1).cumsum()]).astype("int32")


def _as_matrix(weight, layout, kernel_size):
    """A weight with its outputs as rows; None where it is no matrix."""
    if layout is None:
        return weight if weight.ndim == 2 else None
    if kernel_size != 1:
        raise NotImplementedError(f"sparse weights of convolutions: kernel_size is 1, not {kernel_size}")
    if weight.ndim != 4:
        return None
    output, rest = (3, weight.shape[:2]) if layout == "NHWC" else (0, weight.shape[2:])
    if rest != (1, 1):
        return None
    return weight.reshape(weight.shape[2:]).T if output == 3 else weight.reshape(weight.shape[:2])


def process_params(expr, params, block_size, sparsity_threshold, layout=None, kernel_size=1):
    """Replaces weights in `params` of which a part of at least sparsity_threshold is zero: NAME by NAME.data, .indices and .indptr.

    Weights are those of nn.dense, or with `layout` ("NHWC" or "NCHW") of nn.conv2d with kernels of 1 x 1. block_size: (rows,
    columns) of a block. Returns SparseAnalysisResult(weight_name, weight_shape), for relay.transform.DenseToSparse and Conv2dToSparse.
    """
    wanted("params", params, dict, "a dict of arrays by name")
    found = SparseAnalysisResult([], [])
    for name in weights_of(expr, "nn.dense" if layout is None else "nn.conv2d"):
        if name not in params:
            continue
        weight = params[name].numpy() if hasattr(params[name], "numpy") else params[name]
        matrix = _as_matrix(weight, layout, kernel_size)
        if matrix is None or (matrix == 0).mean() < sparsity_threshold:
            continue
        parts = blocks_of(matrix, block_size)
        del params[name]
        params.update({f"{name}.{part}": ndarray.array(value) for part, value in zip(("data", "indices", "indptr"), parts)})
        found.weight_name.append(name)
        found.weight_shape.append([list(each.shape) for each in parts])
    return found
