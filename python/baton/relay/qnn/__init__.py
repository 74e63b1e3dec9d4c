"""Quantised operators."""
import types

from ..._load import core, not_provided
from ..transform import factory as _factory
from . import op

transform = types.ModuleType(__name__ + ".transform", "Passes over quantised operators.")
for _name in core.pass_names():
    if _name.startswith("qnn."):
        setattr(transform, _name[4:], _factory(_name))


def __getattr__(name):
    not_provided(__name__, name)
