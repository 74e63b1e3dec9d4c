"""MobileNet."""
from ..._load import core
from .init import create_workload


def mobile_net(num_classes=1000, data_shape=(1, 3, 224, 224), dtype="float32", alpha=1.0, is_shallow=False, layout="NCHW"):
    """The network as a Function; alpha scales all numbers of channels, a shallow one has no blocks of equal channels at 14x14."""
    return core.mobilenet(data_shape[0], num_classes, list(data_shape[1:]), layout, dtype, alpha, is_shallow)["main"]


def get_workload(batch_size=1, num_classes=1000, image_shape=(3, 224, 224), dtype="float32", layout="NCHW", **kwargs):
    """(module, params); keywords go to create_workload, e.g. initializer."""
    return create_workload(mobile_net(num_classes, (batch_size, *image_shape), dtype, layout=layout), **kwargs)
