"""Operators one by one: what TVM has in relay.op.op."""
from ..._load import not_provided
from . import get, register_gradient

__all__ = ["get", "register_gradient"]


def __getattr__(name):
    not_provided(__name__, name)
