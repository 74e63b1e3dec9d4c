"""Device placement of values."""
from .._load import core
from .._wanted import wrong


def VirtualDevice(device=None, target=None, memory_scope=""):  # pylint: disable=invalid-name
    """A Device (or None: unconstrained), the target that compiles for it, and a memory scope."""
    if device is not None and not hasattr(device, "device_type"):
        raise wrong("device", "a Device such as tvm.cpu(0), or None", device)
    device_type, device_id = (-1, -1) if device is None else (device.device_type, device.device_id)
    if target is not None and device is None:
        raise ValueError("a target needs the device that runs its code")
    host = getattr(target, "host", None)
    return core.VirtualDevice(device_type, device_id, memory_scope, "" if target is None else str(target),
                              "" if host is None else str(host))


def as_virtual_device(device):
    """A VirtualDevice from `device`: itself, a Device, or the name of one."""
    if isinstance(device, core.VirtualDevice):
        return device
    if isinstance(device, str):
        from ..runtime import device as named

        device = named(device)
    return VirtualDevice(device)
