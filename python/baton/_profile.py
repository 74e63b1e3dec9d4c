"""Profiling at the level of Relay: the time of each source operator, and the kernels it is in."""
import linecache
import os

from . import _parquet, _progress
from ._built import built_of
from ._load import core
from ._options import takes
from ._wanted import wanted
from .error import TVMError
from .runtime.ndarray import native_arrays

ProfileReport = core.ProfileReport
ProfileDiff = core.ProfileDiff


def _rows(kind, doc):
    def read(self):
        if not hasattr(self, "_data"):
            self._data = self._values()
        return self._data.get(kind)

    return property(read, doc=doc)


ProfileReport.kernels = _rows("kernels", "dicts in the order of execution: name, median_us, cv, share, origins (ids), gflops, gbytes_per_s, "
                              "roofline (share of the machine's peak), bound, inside, ...; pandas.DataFrame(report.kernels) is a table")
ProfileReport.operators = _rows("operators", "dicts by id: op, line, type, nodes, folded_into, unfused_us, inside_us, retired, ...; "
                                "pandas.DataFrame(report.operators) is a table")
ProfileReport.peaks = _rows("peaks", "dict: gflops, gbytes_per_s, cache_gbytes_per_s, cache_bytes, l3_gbytes_per_s, l3_program_bytes of this machine, or None")
ProfileReport.unfused = property(lambda self: _rows("unfused", "").fget(self)["kernels"],
                                 doc="dicts in the order of execution of the build without fusion: name, origins, median_us, flops, bytes")
ProfileReport.comparison = _rows("comparison", "dict of compare(): base, others, base_us, best_us, functions (docs/design/0032-comparison.md); else None")
ProfileDiff.operators = _rows("operators", "dicts by id: op, line, us (a, b, delta, ratio, interval, differs), a, b, ...")
ProfileDiff.groups = _rows("groups", "dicts: the least sets of operators that have kernels to themselves in both builds")


def _save(self, path, trace_runs=0):
    """Writes the report, or a part of it, in the format given by the suffix of `path`.

    Parameters
    ----------
    path : .json (to be read again: ProfileReport.load), .csv and .parquet (three tables: NAME.kernels.csv,
        NAME.operators.csv, NAME.parts.csv; of compare() also NAME.comparison.csv), .html (one page), .trace.json (Perfetto), .explorer.json (Model Explorer), .txt (the table)
    trace_runs : measured runs in a .trace.json, beside the one that is laid out from medians

    Returns the paths that were written; each is written atomically. Raises TVMError for an unknown suffix or a path that
    cannot be written, and ImportError, with what to install, for .parquet without pyarrow.
    """
    files = core.report_files(os.fspath(path), self.comparison is not None)
    for name, suffix, part in files:
        if suffix == ".parquet":
            _parquet.write(self._table(part), name)
        else:
            core.write_file(name, self._bytes(name, suffix, part, trace_runs))
    return [name for name, _, _ in files]


def _saved_as(suffix, doc):
    def write(self, path):
        if not os.fspath(path).endswith(suffix):
            raise ValueError(f"{os.fspath(path)!r} does not end with {suffix}")
        return self.save(path)

    write.__doc__ = doc
    return write


def _to_rows(self, table="kernels"):
    """The rows of a table ("kernels", "operators", "parts", "comparison") as dicts; unknown values are None, ids are lists. Columns and
    their units: docs/design/0011-profile-tables.md."""
    read = self._table(table)
    names = [column["name"] for column in read["columns"]]
    return [dict(zip(names, row)) for row in zip(*read["values"])]


def _to_pandas(self, table="kernels"):
    """rows(table) as a pandas.DataFrame. Raises ImportError without pandas."""
    try:
        import pandas
    except ImportError as why:
        raise ImportError("to_pandas needs pandas: pip install 'baton-compiler[profile]', or pip install pandas") from why
    read = self._table(table)
    kinds = {"flag": "boolean", "integer": "Int64", "number": "Float64", "text": "string", "ids": "object"}
    return pandas.DataFrame({column["name"]: pandas.Series(values, dtype=kinds[column["kind"]])
                             for column, values in zip(read["columns"], read["values"])})


ProfileReport.save = _save
ProfileReport.to_csv = _saved_as(".csv", "Writes NAME.kernels.csv, NAME.operators.csv and NAME.parts.csv for NAME.csv; returns their paths.")
ProfileReport.to_parquet = _saved_as(".parquet", "Writes NAME.kernels.parquet, NAME.operators.parquet and NAME.parts.parquet for "
                                     "NAME.parquet; returns their paths. Raises ImportError without pyarrow.")
ProfileReport.rows = _to_rows
ProfileReport.to_pandas = _to_pandas


def diff(a, b, a_label="a", b_label="b"):
    """Two profiles of one model under two builds, compared operator by operator: a ProfileDiff. Print it, or see its
    `operators` and `groups`. Raises TVMError, with the first difference, when they are of different models."""
    return core.profile_diff(wanted("a", a, ProfileReport, "a ProfileReport"), wanted("b", b, ProfileReport, "a ProfileReport"),
                             a_label, b_label)


def _with_sources(report):
    """`report` with the text of the Python files that its operators name; cells of notebooks are files too."""
    for file in report._files():  # pylint: disable=protected-access
        text = "".join(linecache.getlines(file))
        if text:
            report._add_source(file, text)  # pylint: disable=protected-access
    return report


@takes(core.profile_options())
def profile(lib, inputs=None, threads=None, name=None, progress=None, *, options):
    """Profiles what relay.build returned: three times of every operator, side by side.

    Parameters
    ----------
    inputs : arrays by name; the others get fixed default values
    threads : of the runs; None: as many as plain runs take, $TVM_NUM_THREADS or one per processor; the report says how many
    name : of the model in the report
    progress : called as progress(phase, done, total, seconds_left), seconds_left None while unknown; what it raises ends the
        profile. None: a bar of tqdm in notebooks where that is installed, else nothing

    Returns a ProfileReport, times in microseconds: print it, or see its `kernels`, `operators`, `unfused`, `peaks` and `notes`;
    `table(all=True)` omits nothing. Ctrl-C interrupts it: what was measured is the attribute `report` of the KeyboardInterrupt.
    ValueError for numbers out of range, TVMError for inputs that do not fit.
    """
    built = built_of(lib)
    if built is None:
        raise TypeError(f"profile: what relay.build returned is expected, not a {type(lib).__name__}")
    options = _with_threads("profile", threads, options)
    return _watched(progress, lambda watch, keep: core.profile(options, built, native_arrays(inputs), name or built.mod_name, watch, keep))


def _with_threads(function, threads, options):
    if threads is not None and threads < 1:
        raise ValueError(f"{function}: threads is positive, not {threads}")
    return {**options, "threads": threads}


def _watched(progress, measure):
    """The report that `measure` returns; after an interrupt it is the attribute `report` of the KeyboardInterrupt."""
    bar = _progress.notebook_bar() if progress is None else None
    measured = []
    try:
        return _with_sources(measure(bar or progress, measured.append))
    except KeyboardInterrupt as interrupt:
        if measured:
            interrupt.report = _with_sources(measured[0])
        raise
    finally:
        if bar is not None:
            bar.close()


@takes(core.compare_options())
def compare(mod, backends, params=None, inputs=None, threads=None, name="model", progress=None, *, options):
    """Profiles a program built for the first of `backends`, and measures each of its kernels beside the same operators on the others.

    Kernels are measured alone, in turns with what the other backends make of their operators: device time, copies in and out,
    changes of layout. Under the current PassContext.

    Parameters
    ----------
    mod : IRModule with static shapes, not partitioned
    backends : names such as ["llvm", "dnnl", "opencl"]
    params : weights by name
    inputs, threads, progress : as of profile()
    name : of the model in the report

    Returns a ProfileReport whose `comparison` holds the rows, times in microseconds. UsageError (a ValueError) for an unknown
    backend, TVMError for one that has no device here, and for results that differ between backends: the report is its attribute
    `report` then.
    """
    options = _with_threads("compare", threads, options)
    report = _watched(progress, lambda watch, keep: core.compare_backends(
        options, mod, native_arrays(params), list(backends), native_arrays(inputs), name, watch, keep))
    wrong = report._wrong()  # pylint: disable=protected-access
    if wrong:
        error = TVMError("\n".join(wrong))
        error.report = report
        raise error
    return report
