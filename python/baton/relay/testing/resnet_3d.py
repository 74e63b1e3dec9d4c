"""resnet_3d: not provided."""


def get_workload(*args, **kwargs):
    """Raises NotImplementedError."""
    raise NotImplementedError("relay.testing.resnet_3d is not provided yet (docs/compatibility.md)")
