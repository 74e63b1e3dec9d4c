"""relay.annotation: operators that annotate a value without changing it."""
from . import _make, annotation
from .annotation import function_on_device, on_device


def __getattr__(name):
    return getattr(annotation, name)


def __dir__():
    return sorted({*globals(), *dir(annotation)})
