"""relay.op.memory: operators that reserve memory."""
from . import _make, memory
from .memory import alloc_storage, alloc_tensor, flatten_tuple_type, from_tuple_type, to_tuple_type


def __getattr__(name):
    return getattr(memory, name)
