"""synthetic: not provided."""


def get_workload(*args, **kwargs):
    """Raises NotImplementedError."""
    raise NotImplementedError("relay.testing.synthetic is not provided: no description of its structure is at hand (docs/compatibility.md)")
