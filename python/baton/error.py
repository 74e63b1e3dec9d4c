"""Exceptions. Baton deliberately raises only TVMError, ValueError, TypeError, IndexError and AttributeError."""
from ._arrived import KNOWN
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
    """Registers an exception class, by its name or another; also a decorator. Passes and instruments may raise it:
    it arrives as what it is, others as a TVMError.
    """
    if isinstance(func_name, type):
        func_name, cls = func_name.__name__, func_name

    def register(each):
        KNOWN[func_name or each.__name__] = each
        return each

    return register if cls is None else register(cls)
