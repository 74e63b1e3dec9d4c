"""VGG with 11, 13, 16 or 19 layers."""
from ..._load import core
from .init import create_workload


def get_net(batch_size, image_shape, num_classes, dtype, num_layers=11, batch_norm=False):
    """The network as a Function."""
    return core.vgg(num_layers, batch_norm, batch_size, num_classes, list(image_shape), "NCHW", dtype)["main"]


def get_workload(batch_size, num_classes=1000, image_shape=(3, 224, 224), dtype="float32", num_layers=11, batch_norm=False,
                 **kwargs):
    """(module, params); keywords go to create_workload, e.g. initializer."""
    return create_workload(get_net(batch_size, image_shape, num_classes, dtype, num_layers, batch_norm), **kwargs)
