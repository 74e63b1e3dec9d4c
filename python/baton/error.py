"""Exceptions. Baton deliberately raises only TVMError, ValueError, TypeError, IndexError and AttributeError."""
from ._load import NotProvided, core

TVMError = core.TVMError
DiagnosticError = core.DiagnosticError
InternalError = core.InternalError
UsageError = core.UsageError
NotSupported = core.NotSupported


class OpError(TVMError):
    """An error about an operator."""


class OpNotImplemented(OpError, NotImplementedError):
    """An operator that an importer does not support."""


class OpAttributeRequired(OpError, AttributeError):
    """An attribute is missing."""


class OpAttributeInvalid(OpError, AttributeError):
    """An attribute has a wrong value."""


class OpAttributeUnImplemented(OpError, NotImplementedError):
    """An attribute's value is not supported."""


class RPCError(TVMError):
    """A remote error. Never raised: Baton has no RPC."""


def register_error(func_name=None, cls=None):
    """Registers an exception class; also a decorator. Has no effect: Python exceptions pass through Baton unchanged."""
    if isinstance(func_name, type):
        return func_name
    return (lambda each: each) if cls is None else cls
