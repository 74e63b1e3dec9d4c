"""Names of TVM that Baton has no counterpart of: they can be imported and named, and say why when they are used."""


class Refused:
    """Base of such names: making an instance, or calling, raises NotImplementedError."""

    reason = "not provided"

    def __new__(cls, *args, **kwargs):
        raise NotImplementedError(f"{cls.__module__}.{cls.__qualname__}: {cls.reason} (docs/compatibility.md)")


def refused(module, name, reason):
    """A class of that name: it may be named in annotations, isinstance() and as a base; using it raises."""
    return type(name, (Refused,), {"__module__": module, "__doc__": f"Raises NotImplementedError: {reason}.", "reason": reason})


def fill(module, reason):
    """The __getattr__ of a module, all of whose public names are refused."""
    def find(name):
        if name.startswith("_"):
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        module[name] = made = refused(module["__name__"], name, reason)
        return made

    return find
