"""Three dense layers."""
from ..._load import core
from .init import create_workload


def get_net(batch_size, num_classes=10, image_shape=(1, 28, 28), dtype="float32"):
    """The network as a Function."""
    return core.mlp(batch_size, num_classes, list(image_shape), dtype)["main"]


def get_workload(batch_size, num_classes=10, image_shape=(1, 28, 28), dtype="float32", **kwargs):
    """(module, params); keywords go to create_workload, e.g. initializer."""
    return create_workload(get_net(batch_size, num_classes, image_shape, dtype), **kwargs)
