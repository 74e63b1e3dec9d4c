"""Profiling reports, call by call."""
import json

from .._wanted import listed, mapped, wrong
from .device import Device


class _Metric:
    """One measured value: `kind` is its JSON form."""

    kind = ""

    def __init__(self, name, cast, value):
        if not hasattr(value, f"__{cast.__name__}__"):
            raise wrong(name, "a number", value)
        self._value = cast(value)

    def __eq__(self, other):
        return type(self) is type(other) and self._value == other._value

    def __hash__(self):
        return hash((type(self), self._value))

    def __repr__(self):
        return f"{type(self).__name__}({self._value})"


class Count(_Metric):
    """A count: `value`."""

    kind = "count"

    def __init__(self, count):
        super().__init__("count", int, count)

    value = property(lambda self: self._value, doc="The number.")


class Duration(_Metric):
    """A time: `microseconds`."""

    kind = "microseconds"

    def __init__(self, duration):
        super().__init__("duration", float, duration)

    microseconds = property(lambda self: self._value, doc="The number.")


class Percent(_Metric):
    """A share of the whole: `percent`, 0 to 100."""

    kind = "percent"

    def __init__(self, percent):
        super().__init__("percent", float, percent)

    percent = property(lambda self: self._value, doc="The number.")


class Ratio(_Metric):
    """A number without unit: `ratio`."""

    kind = "ratio"

    def __init__(self, ratio):
        super().__init__("ratio", float, ratio)

    ratio = property(lambda self: self._value, doc="The number.")


_KINDS = {each.kind: each for each in (Count, Duration, Percent, Ratio)}
_RULE = "----------"  # a separator row
_STYLE = ("<style>.baton-calls{overflow-x:auto}.baton-calls table{border-collapse:collapse;margin:0;table-layout:auto}"
          ".baton-calls td,.baton-calls th{padding:2px 8px;text-align:right;vertical-align:top;font-variant-numeric:tabular-nums}"
          ".baton-calls td:first-child,.baton-calls th:first-child{text-align:left;overflow-wrap:anywhere;min-width:9em}</style>")
# Baton's own columns: the operators of the program that a call computes, or that a compiler-added kernel was
# made for, by their ids in baton.origins(lib). Readers of TVM's reports take them for attributes of the kernel.
ORIGINS = ("origins", "made_for")
_FIRST = ["Name", "Duration (us)", "Percent", "Device", "Count", "Argument Shapes", "Hash"]


class DeviceWrapper:
    """A device as an object."""

    def __init__(self, dev):
        if not isinstance(dev, Device):
            raise TypeError(f"a Device is expected, not {type(dev).__name__}")
        self.device = dev


class MetricCollector:
    """Hardware counters. None can be read by Baton."""

    def __init__(self, *_, **__):
        raise NotImplementedError("Baton reads no hardware counters: profile(collectors=None)")


def profile_function(mod, dev, collectors, func_name=None, warmup_iters=10):
    """A function that runs `func_name` (the entry function) and returns what the collectors gathered. With none: {}."""
    if collectors:
        raise NotImplementedError("Baton reads no hardware counters: profile_function(mod, dev, [])")
    function = mod.get_function(func_name) if func_name else mod.entry_func

    def run(*args):
        for _ in range(warmup_iters + 1):
            function(*args)
        return {}

    return run


def _value(metric):
    return metric if isinstance(metric, str) else metric._value  # pylint: disable=protected-access


def _text(metric):
    if isinstance(metric, (Duration, Percent, Ratio)):
        return f"{_value(metric):.2f}"
    return str(_value(metric))


def _short(number):
    return f"{number:.6g}"


class Report:
    """`calls`: a dict per call of a kernel, `device_metrics`: the whole run, by device, `configuration`: how it was run.

    Values are str, Count, Duration, Percent and Ratio, by the name of their column.
    """

    def __init__(self, calls, device_metrics, configuration):
        self.calls = [dict(mapped("a call", each)) for each in listed("calls", calls)]
        self.device_metrics = dict(mapped("device_metrics", device_metrics))
        self.configuration = dict(mapped("configuration", configuration))

    def same_as(self, other):
        """Whether both are the same object."""
        return self is other

    def __str__(self):
        return self.table()

    __repr__ = __str__

    def _repr_html_(self):
        from html import escape

        columns, rows = self._table(sort=True, aggregate=True, col_sums=True)
        cells = [f"<tr>{''.join(f'<th>{escape(name)}</th>' for name in columns)}</tr>"]
        for row in rows:
            if row.get("Name") != _RULE:
                cells.append("<tr>" + "".join(f"<td>{escape(_text(row[name])) if name in row else ''}</td>" for name in columns) + "</tr>")
        facts = ", ".join(f"{escape(name)}: {escape(_text(value))}" for name, value in self.configuration.items())
        return f'<div class="baton-calls">{_STYLE}<table>{"".join(cells)}</table><p>{facts}</p></div>'

    def _table(self, sort, aggregate, col_sums):
        """The names of the columns, and a dict per row."""
        rows = _aggregated(self.calls) if aggregate else [dict(call) for call in self.calls]
        if sort:
            rows.sort(key=lambda row: -_value(row["Duration (us)"]))
        if col_sums:
            rows += [{"Name": _RULE}, _sums(self.calls)]
        rows += [{**metrics, "Name": "Total"} for metrics in self.device_metrics.values()]
        present = {name for row in rows for name in row}
        return [name for name in _FIRST if name in present] + sorted(present - set(_FIRST)), rows

    def table(self, sort=True, aggregate=True, col_sums=True):
        """As a text. `sort`: by duration; `aggregate`: calls alike as one row; `col_sums`: a row of sums."""
        columns, rows = self._table(sort, aggregate, col_sums)
        cells = [columns] + [[_text(row[name]) if name in row else "" for name in columns] for row in rows]
        widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
        lines = ["".join((f"{cell:<{width}}" if i == 0 else f"{cell:>{width}}") + "  "
                         for i, (cell, width) in enumerate(zip(line, widths))) for line in cells]
        facts = [f"{name}: {_text(value)}" for name, value in self.configuration.items()]
        return "\n".join(lines) + "\n\nConfiguration\n-------------\n" + "\n".join(facts) + "\n"

    def csv(self):
        """One line per call, columns by name; times in microseconds."""
        columns = sorted({name for call in self.calls for name in call})

        def cell(value):
            if isinstance(value, str):
                return '"' + value.replace('"', '""') + '"'
            return str(_value(value)) if isinstance(value, Count) else _short(_value(value))

        lines = [",".join(cell(call[name]) if name in call else "" for name in columns) for call in self.calls]
        return "\n".join([",".join(columns), *lines]) + "\n"

    def json(self):
        """As JSON: {"calls": [...], "device_metrics": {...}, "configuration": {...}}, each value with its unit."""

        def plain(values):
            return {name: {"string": value} if isinstance(value, str) else {value.kind: _value(value)}
                    for name, value in values.items()}

        return json.dumps({"calls": [plain(call) for call in self.calls],
                           "device_metrics": {device: plain(metrics) for device, metrics in self.device_metrics.items()},
                           "configuration": plain(self.configuration)}, separators=(",", ":"))

    @classmethod
    def from_json(cls, s):
        """The inverse of json(). Raises ValueError for another text."""
        try:
            read = json.loads(s)

            def metrics(values):
                found = {}
                for name, one in values.items():
                    (kind, value), = one.items()
                    found[name] = value if kind == "string" else _KINDS[kind](value)
                return found

            return cls([metrics(call) for call in read["calls"]],
                       {device: metrics(each) for device, each in read["device_metrics"].items()},
                       metrics(read.get("configuration", {})))
        except (KeyError, TypeError, AttributeError, ValueError) as why:
            raise ValueError(f"this is no report: {why}") from why


def ids_of(text):
    """"[1, 2]", as graph.json has it, read. None for a text of another form: an attribute of the user's own."""
    try:
        ids = json.loads(text)
    except ValueError:
        return None
    return ids if isinstance(ids, list) and all(isinstance(each, int) for each in ids) else None


def _joined(text, more):
    """Two lists of operators as texts become one. A text of another form stays as it is."""
    ids, others = ids_of(text), ids_of(more)
    return text if ids is None or others is None else str(sorted({*ids, *others}))


def _aggregated(calls):
    """Merges calls that agree in all text columns except their operators: counts, times and shares are added."""
    rows = {}
    for call in calls:
        key = tuple(sorted((name, value) for name, value in call.items() if isinstance(value, str) and name not in ORIGINS))
        if key not in rows:
            rows[key] = dict(call)
            continue
        row = rows[key]
        for name, value in call.items():
            if name in ORIGINS:
                row[name] = _joined(row[name], value) if name in row else value
            elif isinstance(value, (Count, Duration, Percent)):
                row[name] = type(value)(_value(row[name]) + _value(value)) if name in row else value
    return list(rows.values())


def _sums(calls):
    sums = {"Name": "Sum"}
    for name, kind in (("Duration (us)", Duration), ("Percent", Percent), ("Count", Count)):
        sums[name] = kind(sum(_value(call[name]) for call in calls if name in call))
    return sums


def report_of(graph, total_ns, node_ns, threads, executor, rename=lambda name: name):
    """A Report of one run of a graph (graph.json, read): nanoseconds of the whole, and (node, nanoseconds) pairs."""
    shapes, dtypes = graph["attrs"]["shape"][1], graph["attrs"]["dltype"][1]
    rows = graph["node_row_ptr"]

    def described(entry):
        return f"{dtypes[entry]}[{', '.join(map(str, shapes[entry]))}]"

    calls = []
    for index, spent in node_ns:
        node = graph["nodes"][index]
        entries = [rows[each[0]] + each[1] for each in node["inputs"]] + list(range(rows[index], rows[index + 1]))
        operands = ", ".join(described(entry) for entry in entries)
        calls.append(_call(rename(node["attrs"]["func_name"]), spent, total_ns, 1, operands, node["attrs"]))
    return _report(calls, total_ns, threads, executor)


def report_of_program(nodes, total_ns, rows, pieces, copies, threads, rename):
    """A Report of one run of a program of the virtual machine, as core.ProgramCall.run_measured() gives it.

    `nodes`: those of graph.json, or None; `rows`: (node, name, shapes, calls, nanoseconds); `pieces`: how often straight-line
    pieces ran, and the nanoseconds of their extents and memory; `copies`: (node that needs them or None, how many, nanoseconds).
    """
    calls = [_call(rename(name), spent, total_ns, count, shapes, nodes[node]["attrs"] if nodes else {})
             for node, name, shapes, count, spent in rows]
    count, spent = pieces
    rest = max(total_ns - spent - sum(each[4] for each in rows) - sum(each[2] for each in copies), 0)
    for node, copied, took in copies:
        reader = nodes[node]["attrs"] if nodes and node is not None else {}
        causes = reader.get("origins") or reader.get("made_for")
        calls.append(_call("VM::DeviceCopy", took, total_ns, copied, attrs={"made_for": causes} if causes else {}))
    if count:
        calls.append(_call("VM::AllocTensor", spent, total_ns, count))
    calls.append(_call("VM::UnknownOp", rest, total_ns, 1))
    return _report(calls, total_ns, threads, "VM")


def _call(name, spent, total_ns, count, shapes=None, attrs=None):
    """The row of `count` calls that took `spent` nanoseconds."""
    attrs = dict(attrs or {})
    call = {"Name": name, "Duration (us)": Duration(spent / 1e3), "Percent": Percent(100 * spent / total_ns if total_ns else 0),
            "Device": "cpu0", "Count": Count(count)}
    if shapes is not None:
        call["Argument Shapes"] = shapes
    if "hash" in attrs:
        call["Hash"] = attrs.pop("hash")
    for name in ("func_name", "num_outputs", "num_inputs", "flatten_data", "reason", "fallback"):  # the last two are long texts
        attrs.pop(name, None)
    return {**call, **attrs}


def _report(calls, total_ns, threads, executor):
    total = {"Name": "Total", "Device": "cpu0", "Count": Count(1), "Duration (us)": Duration(total_ns / 1e3)}
    return Report(calls, {"cpu0": total}, {"Number of threads": Count(threads), "Executor": executor})
