"""DenseNet with 121, 161, 169 or 201 layers."""
from ..._load import core
from .init import create_workload


def get_workload(densenet_size=121, classes=1000, batch_size=4, image_shape=(3, 224, 224), dtype="float32"):
    """(module, params)."""
    return create_workload(core.densenet(densenet_size, batch_size, classes, list(image_shape), dtype)["main"])
