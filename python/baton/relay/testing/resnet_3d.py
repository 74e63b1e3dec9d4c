"""resnet_3d: not provided yet."""


def get_workload(*args, **kwargs):
    """Raises NotImplementedError."""
    raise NotImplementedError("relay.testing.resnet_3d is not provided yet; resnet, vgg, mobilenet and mlp are")
