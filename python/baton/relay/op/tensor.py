"""Elementwise operators, and operators that create, join and copy tensors."""
from ...target.virtual_device import as_virtual_device
from ..expr import Constant, Expr, Tuple, TupleWrapper, const
from . import _make


__getattr__, __dir__ = _make.fill(globals(), "tensor")


def device_copy(data, src_device, dst_device):
    """A copy of `data` from src_device to dst_device: Devices, names of them ("cuda") or VirtualDevices."""
    return _make.call("device_copy", [data], src_virtual_device=as_virtual_device(src_device),
                      dst_virtual_device=as_virtual_device(dst_device))


def _filled(name, shape, dtype):
    extents = _make.known(shape)
    if extents is None:
        return _make.call("dyn." + name, [shape], dtype=dtype)
    return _make.call(name, [], shape=extents, dtype=dtype)


def zeros(shape, dtype):
    """A tensor of zeros. shape: a list of extents, an extent, or an expression that computes them."""
    return _filled("zeros", shape, dtype)


def ones(shape, dtype):
    """A tensor of ones. shape: a list of extents, an extent, or an expression that computes them."""
    return _filled("ones", shape, dtype)


def concatenate(data, axis):
    """The tensors of `data`, a list or an expression that is a tuple, concatenated along `axis`."""
    if not isinstance(axis, int):
        raise ValueError(f"concatenate: axis is an int, not {axis!r}")
    return _make.call("concatenate", [data], axis=axis)


def copy_shape_func(attrs, inputs, _):
    """Shape functions f(attrs, inputs, _) are written in te, which Baton does not have: NotImplementedError."""
    raise NotImplementedError("copy_shape_func: shape functions are computed with te, which Baton does not have")


def script(pyfunc):
    """Makes `pyfunc` a hybrid script of te, which Baton does not have: NotImplementedError."""
    raise NotImplementedError("script: hybrid scripts are compiled with te, which Baton does not have")


_make.explain(globals())
