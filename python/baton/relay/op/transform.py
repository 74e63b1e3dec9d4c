"""Operators that move, select, cast and create elements.

Where a shape, an axis or an extent may be an expression, a Constant is replaced by its value; any other expression gives the
operator whose result's shape is known only when the program runs ("dyn.reshape", ...).
"""
from ..expr import Constant, Expr, Tuple, TupleWrapper, const
from . import _make
from ._make import call, known
from .tensor import copy_shape_func, script, shape_of  # noqa: F401 -- names of this module in TVM

__getattr__, __dir__ = _make.fill(globals(), "transform")


def _as_list(value):
    return [value] if isinstance(value, int) else value


def arange(start, stop=None, step=None, dtype="float32"):
    """start, start + step, ... before `stop`; with one argument from 0 up to it. Numbers or expressions."""
    if stop is None:
        start, stop = 0, start
    first, end, by = (each if isinstance(each, Expr) else const(each, dtype) for each in (start, stop, 1 if step is None else step))
    return call("arange", [first, end, by], start=first, stop=end, step=by, dtype=dtype)


def adv_index(inputs):
    """Elements of inputs[0] at the indices given by the other tensors of `inputs`, one for each leading axis."""
    return call("adv_index", [inputs])


def broadcast_to(data, shape):
    """`data` repeated to `shape`: a list, one extent, or an expression."""
    extents = known(shape)
    if extents is None:
        return call("dyn.broadcast_to", [data, shape])
    return call("broadcast_to", [data], shape=_as_list(extents))


def collapse_sum_to(data, shape):
    """`data` summed to `shape` (a list or an expression): the adjoint of broadcast_to."""
    extents = known(shape)
    operand = shape if isinstance(shape, Expr) else const(_as_list(shape), "int64")
    return call("collapse_sum_to", [data, operand], shape=extents)


def expand_dims(data, axis, num_newaxis=1):
    """`data` with `num_newaxis` axes of extent 1 at `axis`, an int or an expression."""
    if isinstance(axis, Expr):
        return call("dyn.expand_dims", [data, axis], num_newaxis=num_newaxis)
    return call("expand_dims", [data], axis=axis, num_newaxis=num_newaxis)


def full(fill_value, shape=(), dtype=""):
    """A tensor of `fill_value`, an expression or a number. An empty dtype: that of the value."""
    extents = known(shape)
    if extents is None:
        return call("dyn.full", [fill_value, shape], dtype=dtype)
    return call("full", [fill_value], shape=_as_list(extents), dtype=dtype)


def gather(data, axis, indices):
    """Elements of `data` whose positions along `axis` are given by `indices`."""
    return call("gather", [data, indices], axis=axis)


def matrix_set_diag(data, diagonal, k=0, align="RIGHT_LEFT"):
    """`data` with these diagonals: number `k`, or those from k[0] to k[1]. align: where short ones stand, upper and lower."""
    k1, k2 = (k[0], k[-1]) if isinstance(k, (list, tuple)) else (k, k)
    if align not in ("LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"):
        raise ValueError(f"matrix_set_diag: align is such as \"RIGHT_LEFT\", not {align!r}")
    upper, lower = align.split("_")
    return call("matrix_set_diag", [data, diagonal], k1=k1, k2=k2, super_diag_right_align=upper == "RIGHT",
                sub_diag_right_align=lower == "RIGHT")


def one_hot(indices, on_value, off_value, depth, axis, dtype):
    """`on_value` at `indices`, counted along a new axis of extent `depth`, and `off_value` elsewhere."""
    extent = known(depth)
    if extent is None:
        return call("dyn.one_hot", [indices, on_value, off_value, depth], axis=axis, dtype=dtype)
    return call("one_hot", [indices, on_value, off_value], depth=extent, axis=axis, dtype=dtype)


def reshape(data, newshape, allowzero=False):
    """`data` in another shape. newshape: a list with TVM's codes 0, -1, -2, -3 and -4, one extent, or an expression."""
    extents = known(newshape)
    if extents is None:
        return call("dyn.reshape", [data, newshape], allowzero=allowzero)
    return call("reshape", [data], newshape=_as_list(extents), allowzero=allowzero)


def segment_sum(data, segment_ids, num_segments=None):
    """The sums of the rows of `data` that have the same id. segment_ids: int tensor of shape (rows,); rows beyond its end
    belong to no sum.

    num_segments: how many sums there are, an int or an expression; without it the largest id plus one.
    """
    def as_int64(value):
        return call("cast", [value], dtype="int64")

    if num_segments is None:
        largest = call("max", [as_int64(segment_ids)])
        count = reshape(call("add", [largest, const(1, "int64")]), [1])
    elif isinstance(num_segments, Expr):
        count = reshape(as_int64(num_segments), [1])
    else:
        count = const([int(num_segments)], "int64")
    row = strided_slice(call("shape_of", [data], dtype="int64"), [1], [-1], slice_mode="size")
    empty = call("dyn.zeros", [call("concatenate", [[count, row]], axis=0)], dtype="float32")
    return call("scatter_nd", [call("cast_like", [empty, data]), expand_dims(segment_ids, 0), data], mode="add")


def sparse_fill_empty_rows(sparse_indices, sparse_values, dense_shape, default_value):
    """Sparse values with one more in each row that has none: a tuple of the indices, the values, and whether each row was empty.

    sparse_indices: (N, 2); sparse_values: (N); dense_shape: vector of extents; default_value: scalar, of the rows without values.
    """
    filled = call("sparse_fill_empty_rows", [sparse_indices, sparse_values, dense_shape, default_value], True)
    return Tuple([call("cast_like", [filled[0], sparse_indices]), call("cast_like", [filled[1], sparse_values]),
                  call("cast", [filled[2]], dtype="bool")])


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0):
    """A tensor of `output_shape` (a list or an expression) that holds `sparse_values` at `sparse_indices`."""

    extents = known(output_shape)
    if extents is None:
        return call("dyn.sparse_to_dense", [sparse_indices, sparse_values, default_value, output_shape])
    return call("sparse_to_dense", [sparse_indices, sparse_values, default_value], output_shape=extents)


def squeeze(data, axis=None):
    """`data` without the axes of extent 1 that are named (an int, a list, an expression), or without any of them."""
    axes = known(axis)
    if axis is not None and axes is None:
        return call("dyn.squeeze", [data, axis])
    return call("squeeze", [data], axis=_as_list(axes))


def stft(data, n_fft, hop_length=None, win_length=None, window=None, normalized=False, onesided=True):
    """Fourier transforms of windows of `data` of length `n_fft`, `hop_length` apart (default: a quarter of `n_fft`)."""
    if window is None:
        window = call("ones", [], shape=[n_fft], dtype="int32")
    return call("stft", [data, window], n_fft=n_fft,
                hop_length=n_fft // 4 if hop_length is None else hop_length,
                win_length=n_fft if win_length is None else win_length, normalized=normalized, onesided=onesided)


def strided_slice(data, begin, end, strides=None, axes=None, slice_mode="end"):
    """Elements from `begin` to before `end` by `strides`, along the first axes or `axes`. Lists or expressions.

    slice_mode="size": `end` holds the number of elements, -1 for all, and `strides` is ignored.
    """
    strides = [1] if strides is None else strides
    places = [known(each) for each in (begin, end, strides)]
    if any(each is None for each in places):
        if axes is not None:
            raise ValueError("strided_slice: axes need begin, end and strides that are known when the program is compiled")
        operands = [each if isinstance(each, Expr) else const(list(each), "int64") for each in (begin, end, strides)]
        return call("dyn.strided_slice", [data, *operands], slice_mode=slice_mode)
    first, last, steps = (_as_list(each) for each in places)
    return call("strided_slice", [data], begin=first, end=last, strides=steps, slice_mode=slice_mode, axes=axes)


def tile(data, reps):
    """`data` repeated reps[i] times along axis i: a list, one number, or an expression."""
    counts = known(reps)
    if counts is None:
        return call("dyn.tile", [data, reps])
    return call("tile", [data], reps=_as_list(counts))


def unique(data, is_sorted=True, return_counts=False):
    """The distinct elements of a vector, their first positions, the inverse mapping, and their number.

    is_sorted: whether they are sorted; return_counts: a fifth result, the number of occurrences of each.
    """
    return call("unique", [data], True, sorted=is_sorted, return_counts=return_counts)


_make.explain(globals())
