"""Pre-activation ResNets for video: windows in time too."""
from ..._load import core
from .init import create_workload


def get_net(batch_size, num_classes, num_layers=50, image_shape=(3, 16, 112, 112), layout="NCDHW", dtype="float32"):
    """The network as a Function of `data`. TVMError for a number of layers there is no ResNet of.

    image_shape: (channels, time, height, width), or channels last for the layout NDHWC.
    """
    return core.resnet_3d(num_layers, batch_size, num_classes, list(image_shape), layout, dtype)["main"]


def get_workload(batch_size=1, num_classes=1000, num_layers=18, image_shape=(3, 16, 112, 112), layout="NCDHW", dtype="float32",
                 **kwargs):
    """(module, params); keywords go to create_workload, e.g. initializer."""
    return create_workload(get_net(batch_size, num_classes, num_layers, image_shape, layout, dtype), **kwargs)
