"""relay.op.vm: operators of programs that are lowered for a virtual machine."""
from . import _make, vm
from .vm import reshape_tensor, shape_func, shape_of


def __getattr__(name):
    return getattr(vm, name)
