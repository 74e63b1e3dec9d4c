"""TVM names without a counterpart in Baton: they can be imported and referenced; using them raises an error with the reason.

What a file does with them before any of its functions run (decorators, tables, base classes) gives stand-ins that raise when they are
used, so that a file of tests of which some need such names can be imported.
"""
import functools
import inspect
import sys
import types

from ._load import NotProvided


def _in_function(depth):
    """Whether the caller `depth` frames above runs in a function, rather than in a module or the body of a class."""
    return bool(sys._getframe(depth + 1).f_code.co_flags & inspect.CO_OPTIMIZED)


class Deferred:
    """What a refused name gave while a file was being read: any use of it in a function raises NotImplementedError."""

    def __init__(self, why):
        self.__dict__["_why"] = why

    def _raise(self):
        raise NotImplementedError(self._why)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._raise() if _in_function(1) else self

    def __call__(self, *args, **kwargs):
        if _in_function(1):
            self._raise()
        return _decorated(self._why, args, kwargs) or self

    def __getitem__(self, key):
        return self._raise() if _in_function(1) else self

    def __mro_entries__(self, bases):
        return (Refused,)

    def __repr__(self):
        return f"<{self._why}>"


def _used(self, *args):
    """Any other use raises NotImplementedError."""
    self._raise()


for _name in ("iter", "len", "bool", "contains", "add", "radd", "sub", "rsub", "mul", "rmul", "enter", "exit", "setitem", "setattr", "lt", "gt",
              "le", "ge"):
    setattr(Deferred, f"__{_name}__", _used)


def _decorated(why, args, kwargs):
    """A function that raises in place of the one that was decorated; None for other calls."""
    if kwargs or len(args) != 1 or not isinstance(args[0], types.FunctionType):
        return None

    @functools.wraps(args[0])
    def raising(*_, **__):
        raise NotImplementedError(why)

    return raising


class _RefusedMeta(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if _in_function(1):
            raise NotProvided(f"{cls.__module__}.{cls.__qualname__}.{name}: {cls.reason} (docs/compatibility.md)")
        return refused(cls.__module__, f"{cls.__qualname__}.{name}", cls.reason)

    def __getitem__(cls, key):
        if _in_function(1):
            raise NotImplementedError(cls.why())
        return cls

    def why(cls):
        """What using it raises."""
        return f"{cls.__module__}.{cls.__qualname__}: {cls.reason} (docs/compatibility.md)"


class Refused(metaclass=_RefusedMeta):
    """Base of such names: making an instance, or calling, raises NotImplementedError."""

    reason = "not provided"

    def __new__(cls, *args, **kwargs):
        if _in_function(1):
            raise NotImplementedError(cls.why())
        return _decorated(cls.why(), args, kwargs) or Deferred(cls.why())


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
