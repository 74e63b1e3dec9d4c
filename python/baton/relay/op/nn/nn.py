"""Operators of neural networks."""
from ...._wanted import listed
from ...expr import Constant, Expr, TupleWrapper, const
from .. import _make
from .._make import call, known
from .utils import get_pad_tuple1d, get_pad_tuple2d, get_pad_tuple3d

_GETATTR, __dir__ = _make.fill(globals(), "nn")


def __getattr__(name):
    return _GETATTR(name)


def dropout_raw(data, rate=0.5):
    """The plain nn.dropout call, whose two results are the data (scaled, some of it zero at `rate`) and the mask."""
    return call("nn.dropout", [data], rate=rate)


def dropout(data, rate=0.5):
    """The first result of nn.dropout. `rate`: the part of the elements that training sets to zero."""
    return TupleWrapper(dropout_raw(data, rate), 2)[0]


def _global_pool(kind, rank):
    def pool(data, layout="NCHW"[:2] + "DHW"[3 - rank:], out_layout=""):
        return call(f"nn.adaptive_{kind}_pool{rank}d", [data], output_size=[1] * rank, layout=layout, out_layout=out_layout)

    pool.__name__ = pool.__qualname__ = f"global_{kind}_pool{rank}d"
    pool.__doc__ = f"The {dict(avg='mean', max='largest element')[kind]} of each channel: nn.adaptive_{kind}_pool{rank}d to extents of 1."
    return pool


global_avg_pool1d, global_max_pool1d = _global_pool("avg", 1), _global_pool("max", 1)
global_avg_pool3d, global_max_pool3d = _global_pool("avg", 3), _global_pool("max", 3)


def pad(data, pad_width, pad_value=0, pad_mode="constant"):
    """`data` with pad_width[i] = (before, after) more elements along axis i; pad_width may be an expression.

    pad_mode: "constant" (`pad_value`, a number or an expression), "edge" or "reflect".
    """
    value, width = pad_value if isinstance(pad_value, Expr) else const(pad_value), known(pad_width)
    if width is None:
        return call("dyn.nn.pad", [data, pad_width, value], pad_mode=pad_mode)
    return call("nn.pad", [data, value], pad_width=width, pad_mode=pad_mode)


def _scaled(name, data, scales, **attrs):
    factors = {each: known(value) for each, value in scales.items()}
    if any(each is None for each in factors.values()):
        operands = [each if isinstance(each, Expr) else const(each, "float64") for each in scales.values()]
        return call("dyn." + name, [data, *operands], **attrs)
    return call(name, [data], **factors, **attrs)


def upsampling(data, scale_h=1, scale_w=1, layout="NCHW", method="nearest_neighbor", align_corners=False):
    """`data` enlarged by these factors, numbers or expressions."""
    return _scaled("nn.upsampling", data, {"scale_h": scale_h, "scale_w": scale_w}, layout=layout, method=method,
                   align_corners=align_corners)


def upsampling3d(data, scale_d=1, scale_h=1, scale_w=1, layout="NCDHW", method="nearest_neighbor",
                 coordinate_transformation_mode="half_pixel"):
    """`data` enlarged by these factors, numbers or expressions."""
    return _scaled("nn.upsampling3d", data, {"scale_d": scale_d, "scale_h": scale_h, "scale_w": scale_w}, layout=layout,
                   method=method, coordinate_transformation_mode=coordinate_transformation_mode)


def _sparse_parts(matrix):
    """(data, indices, indptr), expressions, of a tuple of them or of a scipy matrix in CSR or BSR form."""
    if hasattr(matrix, "indptr"):
        matrix = (matrix.data, matrix.indices, matrix.indptr)
    matrix = getattr(matrix, "fields", matrix)  # of a Tuple
    parts = listed("a sparse matrix", matrix, "(data, indices, indptr) or a scipy matrix")
    if len(parts) != 3:
        raise ValueError(f"a sparse matrix is (data, indices, indptr), not {len(parts)} parts")
    return [each if isinstance(each, Expr) else const(each) for each in parts]


def sparse_dense(dense_mat, sparse_mat, sparse_lhs=False):
    """dense_mat times the transposed sparse_mat: (data, indices, indptr) or a scipy matrix. sparse_lhs: the other way round."""
    return call("nn.sparse_dense", [dense_mat, *_sparse_parts(sparse_mat)], sparse_lhs=sparse_lhs)


def sparse_add(dense_mat, sparse_mat):
    """dense_mat plus sparse_mat: (data, indices, indptr) or a scipy matrix."""
    return call("nn.sparse_add", [dense_mat, *_sparse_parts(sparse_mat)])


def sparse_transpose(x):
    """A sparse matrix transposed, (data, indices, indptr) to index and unpack."""
    return TupleWrapper(call("nn.sparse_transpose", _sparse_parts(x)), 3)


def conv2d_backward_weight(grad, data, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None,
                           grad_layout="NCHW", data_layout="NCHW", kernel_layout="OIHW", out_dtype=""):
    """The gradient of nn.conv2d by its weight. grad: that of its result, in `grad_layout`; `kernel_layout` is the result's."""
    return call("nn.conv2d_backward_weight", [grad, data], strides=strides, padding=list(get_pad_tuple2d(padding)),
                dilation=dilation, groups=groups, channels=channels, kernel_size=kernel_size, data_layout=data_layout,
                kernel_layout=grad_layout, out_layout=kernel_layout, out_dtype=out_dtype)


def bitpack(data, bits=1, pack_axis=1, bit_axis=2, pack_type="uint32", name="BitPack"):
    """The lowest `bits` bits of the elements along `pack_axis` put together into `pack_type`, one such along `bit_axis` each."""
    return call("nn.bitpack", [data], bits=bits, pack_axis=pack_axis, bit_axis=bit_axis, pack_type=pack_type, name=name)


_make.explain(globals(), "nn.")
