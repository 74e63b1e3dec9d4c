"""Operators on images."""
from ...expr import Constant, Expr, const
from .. import _make
from .._make import call, known

__getattr__, __dir__ = _make.fill(globals(), "image")


def _resize(rank):
    layout_of = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[rank]

    def resize(data, size, roi=None, layout=layout_of, method="linear", coordinate_transformation_mode="half_pixel",
               rounding_method="", cubic_alpha=-0.5, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None):
        extents, region = known(size), [0.0] * (2 * rank) if roi is None else roi
        attrs = dict(layout=layout, method=method, coordinate_transformation_mode=coordinate_transformation_mode,
                     rounding_method=rounding_method, cubic_alpha=cubic_alpha, cubic_exclude=cubic_exclude,
                     extrapolation_value=extrapolation_value, out_dtype=out_dtype)
        if extents is None or known(region) is None:
            if rank != 2:
                raise NotImplementedError(f"image.resize{rank}d: sizes known only when the program runs are for resize2d")
            operands = [each if isinstance(each, Expr) else const(each, kind) for each, kind in ((size, "int64"), (region, "float32"))]
            return call("dyn.image.resize2d", [data, *operands], **attrs)
        extents = [extents] * rank if isinstance(extents, int) else extents
        return call(f"image.resize{rank}d", [data], size=extents, roi=known(region), **attrs)

    resize.__name__ = resize.__qualname__ = f"resize{rank}d"
    resize.__doc__ = f"`data`, in `layout`, to `size` ({rank} extents, one for all, or for rank 2 an expression).\n\nroi: the region that is read, first corners then last, for method crop_and_resize of ONNX."
    return resize


resize1d, resize2d, resize3d = (_resize(_each) for _each in (1, 2, 3))


def affine_grid(data, target_shape=None):
    """The places of an output of `target_shape` (height, width) in the input, by affine maps of shape (batch, 2, 3)."""
    return call("image.affine_grid", [data], target_shape=target_shape)


_make.explain(globals(), "image.")
