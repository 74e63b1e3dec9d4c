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
