"""relay.op.dyn: operators whose result's shape is known only when the program runs."""
from .. import _make as _build
from . import _make


class _Inside:
    """relay.op.dyn.nn and relay.op.dyn.image."""

    def __init__(self, prefix):
        self.__name__, self._prefix = __name__ + "." + prefix, "dyn." + prefix + "."

    def __getattr__(self, name):
        if name.startswith("__") or self._prefix + name not in _build.NAMES:
            _build.not_provided(self.__dict__.get("__name__", __name__), name)
        return _build.builder(self._prefix + name)


nn, image = _Inside("nn"), _Inside("image")


def __getattr__(name):
    if "dyn." + name in _build.NAMES:
        return _build.builder("dyn." + name)
    _build.not_provided(__name__, name)
