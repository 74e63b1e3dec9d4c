"""Passes and pass contexts: the same names as baton.ir.transform."""
from .ir.transform import *  # noqa: F403
from .ir.transform import __all__
