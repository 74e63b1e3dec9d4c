"""dcgan: not provided."""


def get_workload(*args, **kwargs):
    """Raises NotImplementedError."""
    raise NotImplementedError("relay.testing.dcgan is not provided yet (docs/compatibility.md)")
