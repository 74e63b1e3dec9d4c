"""Devices and links side by side, and streams of inputs through them."""
import threading

from ._load import core
from ._wanted import wanted
from .runtime import ndarray
from .runtime.module import FactoryModule


def _count(name, value):
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name}: an int from 0 on is expected, not {value!r}")
    return value


class SideBySide:
    """A model whose devices, and the links between them, work at the same time; made by side_by_side().

    Several inputs may be on the way at once, each in an instance of the model with memory of its own. The processor's part is
    computed by the thread that calls run() or pop(), while it waits. Threads that share one take turns, call by call: pop() gives the
    oldest input's outputs, whoever pushed it.
    """

    def __init__(self, executor):
        self._executor = executor
        self._inputs = {name: i for i, name in enumerate(executor.inputs)}
        self._pushing = threading.Lock()

    @property
    def instances(self):
        """How many inputs may be on the way at once."""
        return self._executor.instances

    @property
    def on_the_way(self):
        """How many inputs are on the way."""
        return self._executor.on_the_way

    @property
    def queues(self):
        """What works side by side: pairs of DLPack's device types; a device is both ends of its pair, a link has two."""
        return self._executor.queues

    @property
    def threads(self):
        """How many threads the processor's kernels use."""
        return self._executor.threads

    def push(self, inputs=None, **named):
        """The next input begins: arrays by name, as a dict or by keyword; they are copied.

        Inputs that are not given are those that the instance had before, or zeros. ValueError for a name that is no input, TVMError
        when all instances are on the way (pop() first).
        """
        given = {**wanted("inputs", {} if inputs is None else inputs, dict, "a dict of arrays by name"), **named}
        for name in given:
            if name not in self._inputs:
                raise ValueError(f"`{name}` is no input of the model; it has {', '.join(self._inputs) or 'none'}")
        values = {}
        for name, value in given.items():
            index = self._inputs[name]
            dtype = self._executor.input_dtype(index)
            if not isinstance(value, ndarray.NDArray) or value.dtype != dtype:
                value = ndarray.as_numpy(value.numpy() if isinstance(value, ndarray.NDArray) else value, dtype, f"input `{name}`")
            values[index] = value
        with self._pushing:
            if self.on_the_way == self.instances:
                raise core.TVMError(f"all {self.instances} instances are on the way: pop() the oldest input first")
            for index, value in values.items():
                self._executor.set_input(index, value)
            self._executor.start()

    def pop(self):
        """Waits for the oldest input; a list of its outputs, NDArrays. Ctrl-C ends all inputs on the way, as an error does (TVMError)."""
        return self._executor.finish()

    def run(self, inputs=None, **named):
        """One input: push() and pop(). TVMError when others are on the way."""
        if self.on_the_way:
            raise core.TVMError("inputs are on the way: run() is for one at a time, after pop() of all others")
        self.push(inputs, **named)
        return self.pop()

    def stream(self, inputs):
        """Yields the outputs of each of `inputs` (dicts of arrays by name), in order, with as many as possible on the way."""
        for each in inputs:
            if self.on_the_way == self.instances:
                yield self.pop()
            self.push(each)
        while self.on_the_way:
            yield self.pop()


def side_by_side(lib, instances=0, threads=0):
    """A model whose devices and links work at the same time: lower latency where they overlap, and streams of inputs.

    Parameters
    ----------
    lib : what relay.build or runtime.load_module returned
    instances : how many inputs may be on the way at once; 0: one for each device and link of the model and one more, or as many as
        the devices have memory for; one for a model on the processor alone
    threads : of the processor's kernels; 0: the default of all runs

    Returns a SideBySide. Results are those of the graph executor, bit by bit. A simulated device computes right results, but its
    time does not pass: `baton.map` computes what would overlap there. TVMError when the devices have no memory for so many instances.
    """
    lib = getattr(lib, "module", lib)
    wanted("lib", lib, FactoryModule, "what relay.build returns")
    return SideBySide(lib.queue_executor(_count("instances", instances), _count("threads", threads)))
