"""The results of a debugged run: values, times, a trace."""
import json
import os

from ... import runtime
from ...runtime.profiling import ORIGINS, ids_of

GRAPH_DUMP_FILE_NAME = "_tvmdbg_graph_dump.json"
CHROME_TRACE_FILE_NAME = "_tvmdbg_execution_trace.json"


class ChromeTraceEvent(tuple):
    """An event of a trace as chrome://tracing reads it: ts (microseconds), tid, pid, name, ph ("B" or "E")."""

    FIELDS = ("ts", "tid", "pid", "name", "ph")

    def __new__(cls, ts, tid, pid, name, ph):
        return super().__new__(cls, (ts, tid, pid, name, ph))

    ts, tid, pid, name, ph = (property(lambda self, i=i: self[i], doc=f"Its {each}.") for i, each in enumerate(FIELDS))

    def _asdict(self):
        return dict(zip(self.FIELDS, self))


class DebugResult:
    """`graph_json`: the plan; files are written to the folder `dump_path`."""

    def __init__(self, graph_json, dump_path):
        self._dump_path = os.fspath(dump_path)
        self._output_tensor_list, self._time_list = [], []
        graph = json.loads(graph_json)
        self._nodes_list = graph["nodes"]
        self._shapes_list, self._dtype_list = graph["attrs"]["shape"], graph["attrs"]["dltype"]
        self._rows = graph["node_row_ptr"]
        self._update_nodes()
        with open(os.path.join(self._dump_path, GRAPH_DUMP_FILE_NAME), "w", encoding="utf-8") as out:
            json.dump({"nodes": self._nodes_list}, out, indent=4, sort_keys=False)

    def _update_nodes(self):
        """Nodes as they are dumped: inputs by name, the kernel as `op`, type and shape of the first output."""
        names = [node["name"] for node in self._nodes_list]
        for index, node in enumerate(self._nodes_list):
            node["inputs"] = [names[each[0]] for each in node["inputs"]]
            attrs = node.setdefault("attrs", {})
            node["op"] = "param" if node["op"] == "null" else attrs["func_name"]
            attrs["T"] = f"type: {self._dtype_list[1][self._rows[index]]}"
            node["shape"] = self._shapes_list[1][self._rows[index]]

    def get_graph_nodes(self):
        """The nodes, dicts."""
        return self._nodes_list

    def get_graph_node_shapes(self):
        """Shapes, as in graph.json."""
        return self._shapes_list

    def get_graph_node_output_num(self, node):
        """The number of outputs of a node (a dict)."""
        return int(node["attrs"].get("num_outputs", 1))

    def get_graph_node_dtypes(self):
        """Types, as in graph.json."""
        return self._dtype_list

    def _outputs(self):
        """(index of the node, number of the output, entry) of every tensor."""
        for index in range(len(self._nodes_list)):
            for number, entry in enumerate(range(self._rows[index], self._rows[index + 1])):
                yield index, number, entry

    def get_output_tensors(self):
        """The values of a run, by "<node>____<output>". Empty before one."""
        return {f"{self._nodes_list[index]['name']}____{number}": self._output_tensor_list[entry]
                for index, number, entry in self._outputs() if entry < len(self._output_tensor_list)}

    def update_output_tensors(self, tensors):
        """Sets the values, one per output of each node, in order."""
        if not isinstance(tensors, list):
            raise AttributeError("tensors with incorrect type.")
        self._output_tensor_list = tensors

    def dump_output_tensor(self):
        """Writes the values to output_tensors.params, which load_param_dict reads."""
        with open(os.path.join(self._dump_path, "output_tensors.params"), "wb") as out:
            out.write(save_tensors(self.get_output_tensors()))

    def dump_chrome_trace(self):
        """Writes the kernels, one after another, for chrome://tracing. Where a kernel begins, args name the operators of the
        program that it computes (`origins`: ids in baton.origins(lib)); what has no kernel takes no time."""
        events, now = [], 0.0
        for node, times in zip(self._nodes_list, self._time_list):
            mean = sum(times) / len(times) * 1e6 if times else 0.0
            begin = ChromeTraceEvent(now, 1, 1, node["name"], "B")._asdict()
            args = {name: ids_of(node["attrs"][name]) for name in ORIGINS if ids_of(node["attrs"].get(name, ""))}
            events.append({**begin, "args": args} if args else begin)
            now += mean
            events.append(ChromeTraceEvent(now, 1, 1, node["name"], "E")._asdict())
        with open(os.path.join(self._dump_path, CHROME_TRACE_FILE_NAME), "w", encoding="utf-8") as out:
            json.dump({"displayTimeUnit": "ns", "traceEvents": events}, out)

    def get_debug_result(self, sort_by_time=True):
        """A table of the kernels and their times."""
        header = ["Node Name", "Ops", "Time(us)", "Time(%)", "Shape", "Inputs", "Outputs", "Measurements(us)"]
        means = [sum(times) / len(times) if times else 0.0 for times in self._time_list]
        total = sum(means)
        rows = []
        for index, _, entry in self._outputs():
            node = self._nodes_list[index]
            if node["op"] == "param" or index >= len(means):
                continue
            shares = means[index] / total * 100 if total else 0.0
            rows.append([node["name"], node["op"], round(means[index] * 1e6, 3), round(shares, 3),
                         str(tuple(self._shapes_list[1][entry])), str(len(node["inputs"])),
                         str(self.get_graph_node_output_num(node)),
                         str([round(each * 1e6, 3) for each in self._time_list[index]])])
        if sort_by_time:
            rows.sort(key=lambda row: -row[2])
        rows.append(["Total_time", "-", round(total * 1e6, 3), "-", "-", "-", "-", "-"])
        lines = [header, ["-" * len(name) for name in header], *[[str(cell) for cell in row] for row in rows]]
        widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
        return "\n".join("".join(f"{cell:<{width + 2}}" for cell, width in zip(line, widths)) for line in lines)

    def display_debug_result(self, sort_by_time=True):
        """Prints the table."""
        print(self.get_debug_result(sort_by_time))


def save_tensors(params):
    """The bytes of TVM's parameter format; `params`: arrays by name."""
    return runtime.save_param_dict(params)
