"""Importers. None is provided yet."""
from ..._load import NotProvided


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise NotProvided(f"relay.frontend.{name} is not provided yet: write the model as Relay text, or with relay.testing")
