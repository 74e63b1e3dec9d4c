"""A part of relay.vision; every name of that is here."""
from .. import vision


def __getattr__(name):
    return getattr(vision, name)
