"""The graph executor with debugging: times and values, node by node."""
import json
import os
import shutil
import sys
import tempfile
import time

from ..._load import core
from ..._wanted import wanted, wrong
from ...runtime.benchmark import BenchmarkResult
from ...runtime.module import num_threads
from ...runtime.ndarray import array
from ...runtime.profiling import Report, report_of
from .. import graph_executor
from . import debug_result

_DUMP_ROOT_PREFIX, _DUMP_PATH_PREFIX = "tvmdbg_", "_tvmdbg_"
string_types = (str,)


def create(graph_json_str, libmod, device, dump_root=None):
    """A GraphModuleDebug from a plan and the library of its kernels. Constants are inputs: set_input(**params).

    Values and traces go to a folder in `dump_root`; without one, to a new temporary folder that exit() removes.
    """
    module = graph_executor.create_module(graph_json_str, libmod, device)
    return GraphModuleDebug(module, graph_executor.get_device(libmod, device)[0], module.graph_json, dump_root)


class GraphModuleDebug(graph_executor.GraphModule):
    """`module`: what `lib["default"](device)` or `lib["debug_create"]("default", device)` returned."""

    def __init__(self, module, device, graph_json_str, dump_root):
        super().__init__(module)
        devices = device if isinstance(device, (list, tuple)) else [device]
        self._own_root = dump_root is None
        self._dump_root = tempfile.mkdtemp(prefix=_DUMP_ROOT_PREFIX) if dump_root is None else os.fspath(dump_root)
        name = ",".join(str(each).upper().replace("(", "_").replace(")", "") for each in devices)
        self._dump_path = os.path.join(self._dump_root, f"{_DUMP_PATH_PREFIX}device_{name}")
        os.makedirs(self._dump_path, exist_ok=True)
        self._graph = json.loads(graph_json_str)
        self.debug_datum = debug_result.DebugResult(graph_json_str, self._dump_path)

    def _node_index(self, node):
        if isinstance(node, str):
            names = [each["name"] for each in self._graph["nodes"]]
            if node not in names:
                raise AttributeError(f"Could not find a node named {node}")
            return names.index(node)
        if isinstance(node, bool) or not hasattr(node, "__index__"):
            raise wrong("node", "the name or the number of a node", node)
        if not 0 <= node < len(self._graph["nodes"]):
            raise IndexError(f"the graph has {len(self._graph['nodes'])} nodes, asked for {node}")
        return int(node)

    def debug_get_output(self, node, out=None):
        """Runs up to a node, given by name or index, and returns a copy of its first output, or copies it to `out`."""
        index = self._node_index(node)
        self._executor.run_range(0, index + 1)
        value = self._executor.node_output(index, 0)
        return array(value) if out is None else wanted("out", out, core.NDArray, "an NDArray").copyfrom(value)

    def _run_per_layer(self):
        """Runs node by node and keeps a copy of every output."""
        outputs = []
        for index in range(self._executor.num_nodes):
            self._executor.run_range(index, index + 1)
            rows = self._graph["node_row_ptr"]
            outputs += [array(self._executor.node_output(index, i)) for i in range(rows[index + 1] - rows[index])]
        self.debug_datum.update_output_tensors(outputs)

    def run(self, number=10, repeat=1, min_repeat_ms=1, limit_zero_time_iterations=100, cooldown_interval_ms=0,
            repeats_to_cooldown=1, **input_dict):
        """Times every kernel (see run_individual), prints a table, and writes values and a trace to the dump folder."""
        if input_dict:
            self.set_input(**input_dict)
        self.debug_datum._time_list = self.run_individual(  # pylint: disable=protected-access
            number, repeat, min_repeat_ms, limit_zero_time_iterations, cooldown_interval_ms, repeats_to_cooldown)
        self._run_per_layer()
        self.debug_datum.dump_output_tensor()
        self.debug_datum.dump_chrome_trace()
        self.debug_datum.display_debug_result()

    def run_individual(self, number, repeat=1, min_repeat_ms=0, limit_zero_time_iterations=100, cooldown_interval_ms=0,
                       repeats_to_cooldown=1):
        """Seconds per call of every node's kernel, one list of `repeat` bursts per node; zeros for inputs."""
        self._executor.run()  # each kernel reads the results of the previous ones
        times, operators = [], 0
        for index, node in enumerate(self._graph["nodes"]):
            times.append(self._executor.time_node(index, number, repeat, min_repeat_ms, limit_zero_time_iterations,
                                                  cooldown_interval_ms, repeats_to_cooldown))
            if node["op"] == "null" or node["attrs"]["func_name"] == "__nop":
                continue
            stamp = time.strftime("[%H:%M:%S]")
            print(f"{stamp} Op #{operators} {node['name']}:", file=sys.stderr)
            for iteration, each in enumerate(times[-1]):
                print(f"{stamp} Iteration: {iteration}: {each * 1e6:.6g} us/iter", file=sys.stderr)
            operators += 1
        return times

    def run_individual_node(self, index, number=10, repeat=1, min_repeat_ms=0, limit_zero_time_iterations=100,
                            cooldown_interval_ms=0, repeats_to_cooldown=1):
        """A BenchmarkResult for the kernel of one node: seconds per call."""
        index = self._node_index(index)
        self._executor.run()
        return BenchmarkResult(self._executor.time_node(index, number, repeat, min_repeat_ms, limit_zero_time_iterations,
                                                        cooldown_interval_ms, repeats_to_cooldown))

    def profile(self, collectors=None, **input_dict):
        """A runtime.profiling.Report of one run, after one to warm up, with every kernel timed."""
        if collectors:
            raise NotImplementedError("profile: Baton reads no hardware counters, collectors must be None")
        self.set_input(**input_dict)
        total_ns, node_ns = self._executor.profile()
        return report_of(self._graph, total_ns, node_ns, num_threads(), "Graph")

    def exit(self):
        """Removes the dump folder."""
        shutil.rmtree(self._dump_root if self._own_root else self._dump_path, ignore_errors=True)
