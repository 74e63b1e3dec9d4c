"""TVM's operator inventory, which Baton does not have: names can be imported, using them raises NotImplementedError.

`testing` has the references in numpy that tests compare with, `utils` what reads constants.
"""
from .._refused import fill

_REASON = "Baton has no tensor expressions: kernels are generated from the operators' own definitions"
_refused = fill(globals(), _REASON)


def __getattr__(name):
    if name in ("nn", "testing", "utils"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    return _refused(name)
