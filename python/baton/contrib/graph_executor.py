"""Running a graph."""
import time

from .._load import core
from ..runtime import ndarray


class BenchmarkResult:
    """Times of repeated runs, in seconds: mean, median, min, max, std, results."""

    def __init__(self, results):
        self.results = list(results)
        ordered, count = sorted(self.results), len(self.results)
        self.min, self.max, self.mean = ordered[0], ordered[-1], sum(ordered) / count
        self.median = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
        self.std = (sum((each - self.mean) ** 2 for each in ordered) / count) ** 0.5

    def __repr__(self):
        return (f"BenchmarkResult(min={self.min:.6g}, mean={self.mean:.6g}, median={self.median:.6g}, "
                f"max={self.max:.6g}, std={self.std:.6g} seconds)")


class GraphModule:
    """A model and its inputs and outputs. `module`: what `lib["default"](device)` returned.

    Not for two threads at a time. Arrays are NDArrays; inputs may be anything runtime.ndarray.array takes.
    """

    def __init__(self, module):
        self.module = module
        self._executor = executor = module.executor
        self._inputs = {executor.input_name(i): i for i in range(executor.num_inputs)}

    def _input_index(self, key):
        if isinstance(key, str):
            if key not in self._inputs:
                raise RuntimeError(f"Could not find '{key}' in graph's inputs: {', '.join(self._inputs)}")
            return self._inputs[key]
        return int(key)

    def set_input(self, key=None, value=None, **params):
        """Sets one input by name or number, and those given by keyword (names that are no input are passed over).

        Numbers are cast to the input's dtype; another shape is a TVMError.
        """
        if key is not None:
            self._set(key, value)
        for name, each in params.items():
            if name in self._inputs:
                self._set(name, each)
            elif self._executor.find_input(name) >= 0:
                self._executor.set_input_named(name, ndarray.to_native(each))

    def _set(self, key, value):
        if isinstance(key, str) and key not in self._inputs and self._executor.find_input(key) >= 0:
            self._executor.set_input_named(key, ndarray.to_native(value))
            return
        index = self._input_index(key)
        wanted = self._executor.input_dtype(index)
        if not isinstance(value, ndarray.NDArray) or value.dtype != wanted:
            import numpy as np

            value = ndarray.array(np.asarray(value, dtype=wanted, order="C"))
        self._executor.set_input(index, value)

    def run(self, **input_dict):
        """Runs the model once, with these inputs set before."""
        if input_dict:
            self.set_input(**input_dict)
        self._executor.run()

    def get_num_outputs(self):
        """The number of outputs; a tuple counts each of its fields."""
        return self._executor.num_outputs

    def get_num_inputs(self):
        """The number of inputs."""
        return self._executor.num_inputs

    def get_input(self, index, out=None):
        """What an input, by name or number, holds: a view."""
        value = self._executor.input(self._input_index(index))
        return value if out is None else out.copyfrom(value)

    def get_input_index(self, name):
        """The number of an input, or -1."""
        return self._inputs.get(name, -1)

    def get_input_info(self):
        """({name: shape}, {name: dtype})"""
        executor = self._executor
        return ({name: executor.input_shape(i) for name, i in self._inputs.items()},
                {name: executor.input_dtype(i) for name, i in self._inputs.items()})

    def get_output(self, index, out=None):
        """An output: a view that the next run changes, or a copy in `out`."""
        value = self._executor.output(index)
        return value if out is None else out.copyfrom(value)

    def load_params(self, params_bytes):
        """Sets inputs from the bytes of save_param_dict."""
        self.set_input(**core.load_params(bytes(params_bytes)))

    def __getitem__(self, key):
        functions = {"set_input": self.set_input, "run": self.run, "get_output": self.get_output,
                     "get_input": self.get_input, "get_num_outputs": self.get_num_outputs,
                     "get_num_inputs": self.get_num_inputs, "get_input_index": self.get_input_index}
        return functions[key]

    def benchmark(self, device=None, func_name="run", repeat=5, number=5, min_repeat_ms=None, limit_zero_time_iterations=100,
                  end_to_end=False, cooldown_interval_ms=0, repeats_to_cooldown=1, **kwargs):
        """Times `repeat` bursts of `number` runs after one warm-up; a BenchmarkResult of seconds per run.

        A burst grows until it takes `min_repeat_ms`. `end_to_end` counts setting inputs (given by keyword) and copying
        outputs too.
        """
        self.set_input(**kwargs)

        def once():
            if end_to_end:
                self.set_input(**kwargs)
            self._executor.run()
            if end_to_end:
                for i in range(self.get_num_outputs()):
                    self.get_output(i).numpy()

        once()
        times = []
        for done in range(repeat):
            runs = number
            while True:
                begin = time.perf_counter()
                for _ in range(runs):
                    once()
                took = time.perf_counter() - begin
                if took * 1e3 >= (min_repeat_ms or 0):
                    break
                runs *= 2
            times.append(took / runs)
            if cooldown_interval_ms and (done + 1) % repeats_to_cooldown == 0:
                time.sleep(cooldown_interval_ms / 1e3)
        return BenchmarkResult(times)


def create(graph_json_str, libmod, device):
    """Only a library that Baton built itself has its plan with it: use GraphModule(lib["default"](device))."""
    raise NotImplementedError("graph_executor.create from graph.json is not provided yet: use GraphModule(lib[\"default\"](device))")
