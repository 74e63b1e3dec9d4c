"""lstm: not provided yet."""


def get_workload(*args, **kwargs):
    """Raises NotImplementedError."""
    raise NotImplementedError("relay.testing.lstm is not provided yet; resnet, vgg, mobilenet and mlp are")
