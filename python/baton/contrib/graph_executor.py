"""Running a graph."""
from .._load import core
from .._wanted import wanted
from ..runtime import ndarray
from ..runtime.benchmark import BenchmarkResult
from ..runtime.container import ShapeTuple
from ..runtime.device import Device, require_devices
from ..runtime.module import FactoryModule, GraphExecutorModule, require_code_for

string_types = (str,)


class GraphModule:
    """A model and its inputs and outputs. `module`: what `lib["default"](device)` returned.

    Threads that share one take turns, call by call: what one of them set, another may overwrite before it runs. Arrays are
    NDArrays; inputs may be anything runtime.ndarray.array takes.
    """

    def __init__(self, module):
        if not isinstance(module, GraphExecutorModule):
            raise TypeError(f"GraphModule: what lib[\"default\"](device) returns is expected, not {type(module).__name__}")
        self.module = module
        self._executor = module.executor

    def set_input(self, key=None, value=None, **params):
        """Sets one input by name or number, and those given by keyword (unknown names are ignored).

        Constants may be replaced too. Numbers are cast to the input's dtype; another shape is a TVMError.
        """
        if key is not None:
            self.module.set_input(key, value)
        for name, each in params.items():
            if self.module.has_input(name):
                self.module.set_input(name, each)

    @property
    def threads(self):
        """How many threads a run uses: $TVM_NUM_THREADS, else the processors this process may use, unless it is set here."""
        return self._executor.threads

    @threads.setter
    def threads(self, count):
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ValueError(f"threads: a positive int is expected, not {count!r}")
        self._executor.set_threads(count)

    def run(self, **input_dict):
        """Runs the model once, with these inputs set before."""
        if input_dict:
            self.set_input(**input_dict)
        self._executor.run()

    def get_num_outputs(self):
        """The number of outputs; a tuple counts each of its fields."""
        return self._executor.num_outputs

    def get_num_inputs(self):
        """The number of inputs, constants included."""
        return self._executor.num_inputs

    def get_input(self, index, out=None):
        """The value of an input, by name or number: a view, or a copy in `out`."""
        value = self._executor.input(self.module.input_index(index))
        return value if out is None else wanted("out", out, ndarray.NDArray, "an NDArray").copyfrom(value)

    def get_input_index(self, name):
        """The number of an input, or -1."""
        return self.module["get_input_index"](name)

    def get_input_info(self):
        """({name: ShapeTuple}, {name: dtype}), constants included."""
        shapes, dtypes = self.module.input_info()
        return {name: ShapeTuple(shape) for name, shape in shapes.items()}, dtypes

    def get_output(self, index, out=None):
        """An output: a view that the next run overwrites, or a copy in `out`."""
        value = self.module.output(index)
        return value if out is None else wanted("out", out, ndarray.NDArray, "an NDArray").copyfrom(value)

    def debug_get_output(self, node, out):
        """Only supported by GraphModuleDebug."""
        raise NotImplementedError("Please use debugger.debug_executor as graph_executor instead.")

    def load_params(self, params_bytes):
        """Sets inputs from the bytes of save_param_dict."""
        self.module.load_params(params_bytes)

    def share_params(self, other, params_bytes):
        """Uses the memory of another GraphModule's inputs for the parameters that are named in `params_bytes`."""
        self.module.share_params(wanted("other", other, GraphModule, "a GraphModule").module, params_bytes)

    def __getitem__(self, key):
        return self.module[key]

    def benchmark(self, device=None, func_name="run", repeat=5, number=5, min_repeat_ms=None, limit_zero_time_iterations=100,
                  end_to_end=False, cooldown_interval_ms=0, repeats_to_cooldown=1, **kwargs):
        """Times `repeat` bursts of `number` runs after one warm-up; a BenchmarkResult of seconds per run.

        A burst grows until it takes `min_repeat_ms`. `end_to_end` counts setting inputs (given by keyword) and copying
        outputs too. Ctrl-C ends it between two kernels.
        """
        require_devices(device)
        options = (number, repeat, min_repeat_ms or 0, limit_zero_time_iterations, cooldown_interval_ms, repeats_to_cooldown)
        self.set_input(**kwargs)
        if not end_to_end:
            return self.module.time_evaluator(func_name, device, *options)()

        def once():
            self.set_input(**kwargs)
            self.module[func_name]()
            for i in range(self.get_num_outputs()):
                self.get_output(i).numpy()

        return BenchmarkResult(core.time_bursts(once, *options))


def get_device(libmod, device):
    """[devices, their types, their numbers]. TVMError for a device that is not there."""
    devices = list(device) if isinstance(device, (list, tuple)) else [device]
    for each in devices:
        if not isinstance(each, Device):
            raise ValueError("device has to be the type of Device or a list of Device")
    require_devices(devices)
    return devices, [each.device_type for each in devices], [each.device_id for each in devices]


def create_module(graph_json_str, libmod, device):
    """The runtime.Module behind create()."""
    if not isinstance(graph_json_str, str):
        try:
            graph_json_str = graph_json_str.as_json()
        except AttributeError:
            raise ValueError(f"graph.json as a str is expected, not {type(graph_json_str).__name__}") from None
    libmod = getattr(libmod, "module", libmod)
    if not isinstance(libmod, FactoryModule):
        raise TypeError(f"libmod: a library of kernels that Baton built is expected, not {type(libmod).__name__}")
    devices, _, _ = get_device(libmod, device)
    require_code_for(devices, graph_json_str)
    return GraphExecutorModule(libmod.executor_of(graph_json_str), graph_json_str, libmod)


def create(graph_json_str, libmod, device):
    """A GraphModule from a plan and the library of its kernels. Constants are inputs: set_input(**params).

    `device`: a Device or several; the devices of the plan are used, whichever of them are listed. Raises TVMError for a
    damaged plan, one whose kernels are not in the library, or a device that is not there or has no part of the plan.
    """
    return GraphModule(create_module(graph_json_str, libmod, device))
