"""Finds the compiled module `_baton`: in this package, on the path, or in the build folder beside this source tree."""
import importlib.machinery
import os
import sys
import warnings

_here = os.path.dirname(os.path.abspath(__file__))

if any(os.path.exists(os.path.join(_here, "_baton" + suffix)) for suffix in importlib.machinery.EXTENSION_SUFFIXES):
    try:
        from . import _baton  # installed
    except ImportError as error:
        for library, remedy in (("libzip", "it is in Debian's package libzip4"), ("libHalide", "pip install halide==21.0.0")):
            if library in str(error):
                raise ImportError(f"{error}\n  do:      {remedy}", name=error.name, path=error.path) from None
        raise
else:
    try:
        import _baton
    except ModuleNotFoundError:
        _built = os.path.join(_here, "..", "..", "build", "release", "python")
        sys.path.append(_built)
        try:
            import _baton
        except ModuleNotFoundError:
            sys.path.remove(_built)
            raise ModuleNotFoundError(
                "the compiled part of baton is missing: run `./baton setup python` (`./baton python` does the same), or put the "
                "folder of _baton*.so on PYTHONPATH", name="_baton") from None

core = _baton

for _complaint in core.environment_complaints():
    warnings.warn(_complaint, RuntimeWarning, stacklevel=3)

if os.environ.get("BATON_DEVICE_ALIAS"):
    core.set_device_aliases(os.environ["BATON_DEVICE_ALIAS"])


class NotProvided(AttributeError, NotImplementedError):
    """A TVM name that Baton does not provide yet. hasattr() returns False."""


def not_provided(module, name):
    """Raises for a missing name of a module: NotProvided, or plain AttributeError for names of Python's own."""
    if name.startswith("__"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    raise NotProvided(f"{module}.{name} is not provided by Baton yet (docs/compatibility.md)")
