"""Operators of programs that are lowered for a virtual machine."""
from ...expr import Tuple
from .. import _make
from .._make import call

__getattr__, __dir__ = _make.fill(globals(), "vm")


def shape_of(expr):
    """The extents of `expr`, a tensor, as int64."""
    return call("vm.shape_of", [expr], dtype="int64")


def reshape_tensor(data, shape, newshape):
    """`data` in the shape that the expression `shape` holds; `newshape` are its extents for the type, -1 where open."""
    return call("vm.reshape_tensor", [data, shape], newshape=newshape)


def shape_func(func, inputs, outputs, is_inputs):
    """TVM's shape_func(func, inputs, outputs, is_inputs), for compiled shape functions, which Baton does not have:
    NotImplementedError."""
    raise NotImplementedError("vm.shape_func: shape functions are computed with te, which Baton does not have")


_make.explain(globals(), "vm.")
