"""Times at the level of Relay: which operator of the program, as it was given, took how long, and in which kernel."""
import json

from ._built import built_of
from ._load import core
from .runtime import ndarray

ProfileReport = core.ProfileReport


def _rows(kind, doc):
    def read(self):
        if not hasattr(self, "_data"):
            self._data = json.loads(self.json())
        return self._data[kind]

    return property(read, doc=doc)


ProfileReport.kernels = _rows("kernels", "dicts in the order of execution: name, median_us, share, origins (ids), inside, ...")
ProfileReport.operators = _rows("operators", "dicts by id: op, line, type, nodes, folded_into, inside_us, retired, ...")


def profile(lib, inputs=None, threads=1, repeat=30, seconds=3.0, inside=True, inside_ms=300.0, name=None):
    """Measures what relay.build returned.

    Parameters
    ----------
    inputs : arrays by name; the others get fixed values of their own
    repeat, seconds : at least so many runs of each kind (plain, and with a clock around every kernel), for at least so long
    inside : whether to split the kernels' times over their operators; takes `inside_ms` milliseconds per kernel

    Returns a ProfileReport: print it, or see its `kernels` and `operators`. Ctrl-C ends it.
    """
    built = built_of(lib)
    if built is None:
        raise TypeError(f"profile: what relay.build returned is expected, not a {type(lib).__name__}")
    native = {each: ndarray.to_native(value) for each, value in (inputs or {}).items()}
    return core.profile(built, native, threads, repeat, seconds, inside, inside_ms, name or built.mod_name)
