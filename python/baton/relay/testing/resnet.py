"""Pre-activation ResNets."""
from ..._load import core
from .init import create_workload


def get_net(batch_size=1, num_classes=1000, num_layers=18, image_shape=(3, 224, 224), layout="NCHW", dtype="float32"):
    """The network as a Function. ValueError or TVMError for a number of layers there is no ResNet of."""
    return core.resnet(num_layers, batch_size, num_classes, list(image_shape), layout, dtype)["main"]


def get_workload(batch_size=1, num_classes=1000, num_layers=18, image_shape=(3, 224, 224), layout="NCHW", dtype="float32",
                 **kwargs):
    """(module, params); keywords go to create_workload, e.g. initializer."""
    return create_workload(get_net(batch_size, num_classes, num_layers, image_shape, layout, dtype), **kwargs)
