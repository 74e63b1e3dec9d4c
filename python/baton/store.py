"""The store of measurements: what was measured, with its provenance, as a data set (docs/design/0036-store.md).

    with baton.store.open("m.db", "a") as store:
        store.insert(lib.profile(), family="resnet")
    rows = baton.store.open("m.db").query(operators=["*conv2d*", "nn.relu"],
                                          attributes={"*conv2d*": {"kernel_size": [3, 3], "strides": [2, 2]}})
    frame = rows.to_pandas()
"""
import json
import os
import warnings

from . import _parquet
from ._load import core

__all__ = ["Rows", "Store", "open"]

_TEXTS = ("backend", "target", "precision", "machine", "device", "sheet", "family", "model", "model_id", "campaign", "work_id",
          "configuration", "kind", "cache")
_FILTERS = {**dict.fromkeys(_TEXTS, str), "threads": int, "limit": int, "reliable_only": bool}


class Rows:
    """Rows of a query: `columns` maps a column's name to the list of its values; None is unknown. `places` are the
    (machine, device, id of its sheet, rows) that they were measured on: times of one are not times of another."""

    def __init__(self, columns, places=()):
        self.columns = columns
        self.places = list(places)

    def __len__(self):
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name):
        return self.columns[name]

    def __iter__(self):
        names = list(self.columns)
        return (dict(zip(names, values)) for values in zip(*self.columns.values()))

    def __repr__(self):
        return f"<{len(self)} rows: {', '.join(self.columns)}>"

    def _kinds(self):
        for name, values in self.columns.items():
            kinds = {type(value) for value in values} - {type(None)}
            yield name, "integer" if kinds == {int} else "number" if kinds and kinds <= {int, float} else "text"

    def to_pandas(self):
        """A pandas.DataFrame with nullable columns. Raises ImportError, with what to install, without pandas."""
        try:
            import pandas
        except ImportError as why:
            raise ImportError("to_pandas needs pandas: pip install 'baton-compiler[profile]', or pip install pandas") from why
        dtypes = {"integer": "Int64", "number": "Float64", "text": "string"}
        columns = {name: pandas.Series([str(value) if kind == "text" and value is not None else value for value in self.columns[name]],
                                       dtype=dtypes[kind]) for name, kind in self._kinds()}
        return pandas.DataFrame(columns)

    def to_parquet(self, path):
        """Writes one table, atomically. Raises ImportError, with what to install, without pyarrow."""
        kinds = dict(self._kinds())
        values = [[None if value is None else str(value) if kinds[name] == "text" else value for value in column]
                  for name, column in self.columns.items()]
        _parquet.write({"columns": [{"name": name, "kind": kind} for name, kind in kinds.items()], "values": values},
                       os.fspath(path))


class Store:
    """An open store. Used by one thread at a time; several processes may write to one file. Made by open()."""

    def __init__(self, opened):
        self._opened = opened

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the file; later calls raise ValueError."""
        self._opened = None

    def _store(self):
        if self._opened is None:
            raise ValueError("the store is closed")
        return self._opened

    @property
    def path(self):
        """The file."""
        return self._store().path

    def __len__(self):
        return self._store().count({})

    def insert(self, profile, family="", machine=""):
        """Adds the rows of a ProfileReport (what lib.profile() and baton.compare() return): the model, its kernels, their
        parts, copies, kernels of the unfused build, and those of other backends.

        Parameters
        ----------
        profile : ProfileReport
        family : the model's family, "resnet"
        machine : name of the machine; default: $BATON_MACHINE, else the host's name; of a profile that was loaded the
            name of its processor

        Returns how many rows were new. Raises TVMError when the store cannot be written to.
        """
        return self._store().insert_report(profile, family, machine)

    def insert_lines(self, lines):
        """Adds measurements as JSON texts (what lines() returns), all or none; returns how many were new."""
        return self._store().insert_lines(list(lines))

    def merge(self, path):
        """Adds the rows of another store; returns how many were new."""
        return self._store().merge(os.fspath(path))

    def query(self, operators=(), attributes=None, columns=(), **filters):
        """The measurements that all of these select, without their samples: Rows of the view `rows`.

        Parameters
        ----------
        operators : names of operators that the work contains: ["nn.conv2d", "nn.relu"]; "*conv2d*" is any whose name has that
            (convolutions over blocked layouts are nn.contrib_conv2d_NCHWc)
        attributes : {operator: {attribute: value}}; those of one operator hold of one call of it. Defaults count: a
            convolution that leaves `groups` out has {"groups": 1}. The key "" is any operator
        columns : names of the columns that are wanted; default: all. The fewer, the faster
        filters : kind ("kernel", "part", "model", "transfer", "reference"), backend, target, precision, threads, cache ("hot",
            "flushed", "in model"), machine, device, sheet, model, family, campaign, configuration, model_id, work_id,
            reliable_only, limit

        Warns when the rows are of several machines or devices. Raises TypeError for an unknown filter.
        """
        query = _query(operators, attributes, filters)
        rows = Rows(self._store().table(query, list(columns)), self._store().places(query))
        if len(rows.places) > 1:
            warnings.warn("these rows are of several devices or machines, whose times are not comparable as they are: " +
                          "; ".join(f"{count} of {device} in {machine}" for machine, device, _, count in rows.places) +
                          " (see Rows.places; select with machine= or sheet=)", stacklevel=2)
        return rows

    def lines(self, operators=(), attributes=None, **filters):
        """The same measurements as JSON texts, with everything: samples, origins, device sheets."""
        return self._store().lines(_query(operators, attributes, filters))

    def sql(self, statement):
        """Rows of one SELECT over the views of docs/design/0036-store.md. Raises TVMError for anything else."""
        return Rows(self._store().sql(statement))

    def damage(self):
        """What is damaged, one line each; reads the whole file."""
        return self._store().damage()


def _query(operators, attributes, filters):
    unknown = sorted(set(filters) - set(_FILTERS))
    if unknown:
        raise TypeError(f"query has no filter {unknown[0]!r}; there are: {', '.join(sorted(_FILTERS))}")
    query = {name: value for name, value in filters.items() if value is not None}
    for name, value in query.items():
        if not isinstance(value, _FILTERS[name]):
            raise TypeError(f"{name}={value!r}: {_FILTERS[name].__name__} is expected")
    if isinstance(operators, str):
        raise TypeError(f"operators={operators!r}: a list of names is expected")
    query["operators"] = list(operators)
    query["attributes"] = [(op, name, json.dumps(value)) for op, wanted in (attributes or {}).items()
                           for name, value in wanted.items()]
    return query


def open(path=None, mode="r"):  # pylint: disable=redefined-builtin
    """Opens a store.

    Parameters
    ----------
    path : default: $BATON_STORE, else baton/measurements.db in the user's cache folder
    mode : "r" reads; "a" adds to it too, makes it where there is none, and migrates one of an older Baton

    Raises TVMError, with what to do, for a file that is no store, is damaged, read-only or of a newer Baton, and for one
    that another process has kept locked for 30 s.
    """
    if mode not in ("r", "a"):
        raise ValueError(f"mode={mode!r}: \"r\" or \"a\" is expected")
    return Store(core.open_store(core.default_store_path() if path is None else os.fspath(path), mode == "a"))
