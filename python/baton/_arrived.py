"""How an exception of a Python pass or instrument arrives where the pass was called, as in TVM: see `arrived`."""
import traceback

from ._load import core

# By the type's name, as TVM finds them; others arrive as TVMError. register_error adds to them.
KNOWN = {each.__name__: each for each in (ValueError, TypeError, AttributeError, KeyError, IndexError)}

_made = {}


def _both(raised):
    """A TVMError that is also what was raised, so that either can be caught."""
    if issubclass(core.TVMError, raised):
        return core.TVMError
    if raised not in _made:
        _made[raised] = type("TVMError", (core.TVMError, raised), {
            "__module__": "baton.error", "__doc__": raised.__doc__, "__str__": lambda self: self.args[0]})
    return _made[raised]


def _as(raised, text):
    """An exception that is a `raised`, whatever its constructor takes; a plain TVMError for a class that cannot be derived from."""
    for new in (raised.__new__, core.TVMError.__new__):
        try:
            return new(raised if KNOWN.get(raised.__name__) is raised else _both(raised), text)
        except TypeError:
            continue
    return core.TVMError(text)


def arrived(exception):
    """What is raised in place of `exception`, which Python code raised that C++ called.

    Its text is the traceback, its last line "Type: what was said"; `exception` is its cause. Baton's own exceptions
    arrive as they are, and so does what asks to stop (KeyboardInterrupt).
    """
    if isinstance(exception, core.TVMError) or not isinstance(exception, Exception) or hasattr(exception, "_has_arrived"):
        return exception
    raised = type(exception)
    text = "".join(traceback.format_exception(raised, exception, exception.__traceback__)).rstrip("\n")
    made = _as(raised, text)
    made.args = (text,)
    made.__dict__.update(exception.__dict__)
    made._has_arrived = True
    made.__cause__ = exception
    return made.with_traceback(exception.__traceback__)
