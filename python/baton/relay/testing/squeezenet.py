"""SqueezeNet 1.0 and 1.1."""
from ..._load import core
from .init import create_workload


def get_net(batch_size, image_shape, num_classes, version, dtype):
    """The network as a Function."""
    return core.squeezenet(version, batch_size, num_classes, list(image_shape), dtype)["main"]


def get_workload(batch_size=1, num_classes=1000, version="1.0", image_shape=(3, 224, 224), dtype="float32", **kwargs):
    """(module, params); keywords go to create_workload, e.g. initializer."""
    return create_workload(get_net(batch_size, image_shape, num_classes, version, dtype), **kwargs)
