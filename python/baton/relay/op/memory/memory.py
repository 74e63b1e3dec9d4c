"""Memory allocation operators, used by programs lowered for a virtual machine."""
from ....target.virtual_device import as_virtual_device
from ....ir.type import TensorType, TupleType
from ...expr import Expr, Tuple, TupleGetItem, const
from .. import _make
from .._make import call

__getattr__, __dir__ = _make.fill(globals(), "memory")


def alloc_tensor(storage, offset, shape, dtype="float32", assert_shape=None):
    """A tensor of `shape` (an expression) in `storage`, `offset` bytes from its begin.

    assert_shape: the shape that the type has, where `shape` does not say it.
    """
    return call("memory.alloc_tensor", [storage, offset, shape], dtype=dtype, const_shape=_make.known(shape) and shape,
                assert_shape=assert_shape)


def alloc_storage(size, alignment, device, dtype_hint="float32"):
    """Memory of `size` bytes (an expression) on a device, aligned to `alignment` bytes; dtype_hint: what will be in it."""
    return call("memory.alloc_storage", [size, alignment], dtype=dtype_hint, virtual_device=as_virtual_device(device))


def flatten_tuple_type(ty):
    """The tensor types in `ty`, from left to right."""
    if isinstance(ty, TupleType):
        return [each for field in ty.fields for each in flatten_tuple_type(field)]
    if isinstance(ty, TensorType):
        return [ty]
    raise ValueError(f"flatten_tuple_type: a tensor type or a tuple of them is expected, not {ty}")


def from_tuple_type(ty, expr):
    """Expressions for the tensors in `expr`, whose type is `ty`, from left to right."""
    if isinstance(ty, TupleType):
        return [each for i, field in enumerate(ty.fields) for each in from_tuple_type(field, TupleGetItem(expr, i))]
    if isinstance(ty, TensorType):
        return [expr]
    raise ValueError(f"from_tuple_type: a tensor type or a tuple of them is expected, not {ty}")


def to_tuple_type(ty, exprs):
    """The value of type `ty` that the expressions `exprs` are the tensors of, from left to right."""
    def build(each, rest):
        return Tuple([build(field, rest) for field in each.fields]) if isinstance(each, TupleType) else next(rest)

    return build(ty, iter(exprs))


_make.explain(globals(), "memory.")
