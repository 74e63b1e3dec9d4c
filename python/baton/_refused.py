"""TVM names without a counterpart in Baton: they can be imported and referenced; using them raises an error with the reason."""
from ._load import NotProvided


class _RefusedMeta(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotProvided(f"{cls.__module__}.{cls.__qualname__}.{name}: {cls.reason} (docs/compatibility.md)")


class Refused(metaclass=_RefusedMeta):
    """Base of such names: making an instance, or calling, raises NotImplementedError."""

    reason = "not provided"

    def __new__(cls, *args, **kwargs):
        raise NotImplementedError(f"{cls.__module__}.{cls.__qualname__}: {cls.reason} (docs/compatibility.md)")


def refused(module, name, reason):
    """A class of that name: it may be named in annotations, isinstance() and as a base; using it raises."""
    return _RefusedMeta(name, (Refused,), {"__module__": module, "__doc__": f"Raises NotImplementedError: {reason}.", "reason": reason})


def fill(module, reason, names=None):
    """The __getattr__ of a module whose names are refused: those in the text `names`, or all public ones without it."""
    known = None if names is None else frozenset(names.split())

    def find(name):
        if name.startswith("_") or (known is not None and name not in known):
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        module[name] = made = refused(module["__name__"], name, reason)
        return made

    return find
