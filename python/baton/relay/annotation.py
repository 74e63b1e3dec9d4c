"""Marks around values: compiler_begin, compiler_end, stop_fusion, ..."""
from .op import annotation as _annotation


def __getattr__(name):
    return getattr(_annotation, name)


def __dir__():
    return dir(_annotation)
