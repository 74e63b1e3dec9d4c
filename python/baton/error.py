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
    """A remote machine failed. Never raised: there is no RPC."""


def register_error(func_name=None, cls=None):
    """Names a class of exceptions, as a decorator too. Exceptions of Python pass through Baton as they are anyway."""
    if isinstance(func_name, type):
        return func_name
    return (lambda each: each) if cls is None else cls
