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


ProfileReport.kernels = _rows("kernels", "dicts in the order of execution: name, median_us, cv, share, origins (ids), gflops, gbytes_per_s, "
                              "roofline (share of the machine's peak), bound, inside, ...; pandas.DataFrame(report.kernels) is a table")
ProfileReport.operators = _rows("operators", "dicts by id: op, line, type, nodes, folded_into, unfused_us, inside_us, retired, ...; "
                                "pandas.DataFrame(report.operators) is a table")
ProfileReport.peaks = _rows("peaks", "dict: gflops, gbytes_per_s, cache_gbytes_per_s, cache_bytes of this machine, or None")
ProfileReport.unfused = property(lambda self: _rows("unfused", "").fget(self)["kernels"],
                                 doc="dicts in the order of execution of the build without fusion: name, origins, median_us, flops, bytes")


def _built(lib, wanted_by):
    built = built_of(lib)
    if built is None:
        raise TypeError(f"{wanted_by}: what relay.build returned is expected, not a {type(lib).__name__}")
    return built


def origins(lib):
    """Every operator of the program that relay.build was given, a dict each: id, op, line, column, attrs, type, `nodes` (of
    graph.json, that compute it), `folded_into` (nodes that read a constant it went into), `retired` (pass and reason)."""
    return json.loads(_built(lib, "origins").origins_json)["operators"]


def profile(lib, inputs=None, threads=1, repeat=30, seconds=3.0, inside=True, inside_ms=300.0, name=None, unfused=True, peaks=True,
            wait=None):
    """Measures what relay.build returned: three times of every operator, side by side.

    Parameters
    ----------
    inputs : arrays by name; the others get fixed values of their own
    repeat, seconds : at least so many runs of each kind (plain, and with a clock around every kernel), for at least so long
    inside : whether to split the kernels' times over their operators; takes `inside_ms` milliseconds per kernel
    unfused : whether to build and measure every operator in a kernel of its own too
    peaks : whether to measure what this machine can do at most (a tenth of a second, kept for a day): the roofline
    wait : seconds to wait, at most, until other programs leave the machine alone; None does not wait

    Returns a ProfileReport, times in microseconds: print it, or see its `kernels`, `operators`, `unfused`, `peaks` and `notes`;
    `table(all=True)` leaves nothing out. Ctrl-C ends it. ValueError for numbers out of range, TVMError for inputs that do not fit.
    """
    built = _built(lib, "profile")
    native = {each: ndarray.to_native(value) for each, value in (inputs or {}).items()}
    return core.profile(built, native, threads, repeat, seconds, inside, inside_ms, unfused, peaks, wait or 0.0, name or built.mod_name)
