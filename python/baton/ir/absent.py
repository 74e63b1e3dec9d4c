"""Classes of TVM's that Baton has no objects of: isinstance() is False, and making one says why."""


def absent(name, reason):
    """A class called `name`; NotImplementedError with `reason` when one is made."""

    def refuse(cls, *args, **kwargs):
        raise NotImplementedError(f"{name}: {reason}")

    return type(name, (), {"__new__": refuse, "__doc__": f"Not in Baton: {reason}.", "__module__": __name__})
