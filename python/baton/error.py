"""Exceptions. All that Baton raises on purpose are TVMError or ValueError, TypeError, IndexError, AttributeError."""
from ._load import NotProvided, core

TVMError = core.TVMError
DiagnosticError = core.DiagnosticError
InternalError = core.InternalError
UsageError = core.UsageError
NotSupported = core.NotSupported


class OpError(TVMError):
    """Something is wrong with an operator."""


class OpNotImplemented(OpError, NotImplementedError):
    """An operator that a front end does not know."""


class OpAttributeRequired(OpError, AttributeError):
    """An attribute is missing."""


class OpAttributeInvalid(OpError, AttributeError):
    """An attribute has a wrong value."""


class OpAttributeUnImplemented(OpError, NotImplementedError):
    """An attribute's value is not provided for."""


class RPCError(TVMError):
    """Something went wrong on another machine. Baton runs on this one only."""


_registered = {}


def register_error(func_name=None, cls=None):
    """Registers an exception class by its name, or by `func_name`; a class decorator. Returns the class."""
    if isinstance(func_name, type):
        func_name, cls = func_name.__name__, func_name

    def register(given):
        _registered[func_name or given.__name__] = given
        return given

    return register if cls is None else register(cls)
