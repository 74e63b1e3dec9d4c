"""Inception v3."""
from ..._load import core
from .init import create_workload


def get_net(batch_size, num_classes, image_shape, dtype):
    """The network as a Function."""
    return core.inception_v3(batch_size, num_classes, list(image_shape), dtype)["main"]


def get_workload(batch_size=1, num_classes=1000, image_shape=(3, 299, 299), dtype="float32"):
    """(module, params)."""
    return create_workload(get_net(batch_size, num_classes, image_shape, dtype))
