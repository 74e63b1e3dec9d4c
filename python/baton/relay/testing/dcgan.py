"""dcgan: not provided."""


def get_workload(*args, **kwargs):
    """Raises NotImplementedError."""
    raise NotImplementedError("relay.testing.dcgan is not provided yet: nn.conv2d_transpose has types, but cannot run (docs/compatibility.md)")
