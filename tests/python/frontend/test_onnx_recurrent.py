"""LSTM, GRU and RNN of ONNX beside numpy: attributes, types, sizes, lengths; each step is one kernel."""
import baton
import numpy as np
import pytest
from baton import relay

onnx = pytest.importorskip("onnx")
helper = onnx.helper

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {"Sigmoid": sigmoid, "Tanh": np.tanh, "Relu": lambda x: np.maximum(x, 0), "Softsign": lambda x: x / (1 + abs(x)),
             "HardSigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1), "Affine": lambda x: 0.5 * x + 0.25}
DEFAULT = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


class Network:
    """One node with random weights; `given`: which optional inputs it has, of "b", "lens", "h", "c", "p"."""

    def __init__(self, kind, hidden, inputs=3, given="b", dtype="float32", **attributes):
        self.kind, self.hidden, self.inputs, self.given, self.dtype, self.attributes = kind, hidden, inputs, given.split(), dtype, attributes
        self.directions = 2 if attributes.get("direction") == "bidirectional" else 1
        self.random = np.random.default_rng(len(given) + hidden)
        gates = GATES[kind]
        self.w = self.real(self.directions, gates * hidden, inputs)
        self.r = self.real(self.directions, gates * hidden, hidden)
        self.b = self.real(self.directions, 2 * gates * hidden) if "b" in self.given else None
        self.p = self.real(self.directions, 3 * hidden) if "p" in self.given else None

    def real(self, *shape):
        return (self.random.standard_normal(shape) / 2).astype(self.dtype)

    def model(self, length, batch):
        types = {"float32": onnx.TensorProto.FLOAT, "float64": onnx.TensorProto.DOUBLE, "float16": onnx.TensorProto.FLOAT16}
        batch_first = self.attributes.get("layout", 0) == 1
        state = [batch, self.directions, self.hidden] if batch_first else [self.directions, batch, self.hidden]
        data = [batch, length, self.inputs] if batch_first else [length, batch, self.inputs]
        value = lambda name, kind, shape: helper.make_tensor_value_info(name, kind, shape)
        inputs = [value("x", types[self.dtype], data)]
        names = ["x", "w", "r", "b" if self.b is not None else "", ""]
        if "lens" in self.given:
            names[4] = "lens"
            inputs.append(value("lens", onnx.TensorProto.INT32, [batch]))
        for name in ("h", "c"):
            names.append(name if name in self.given else "")
            if name in self.given:
                inputs.append(value(name, types[self.dtype], state))
        names.append("p" if self.p is not None else "")
        if self.kind != "LSTM":
            del names[6:]
        outputs = ["y", "yh", "yc"][: 3 if self.kind == "LSTM" else 2]
        weights = [onnx.numpy_helper.from_array(array, name) for name, array in (("w", self.w), ("r", self.r), ("b", self.b), ("p", self.p))
                   if array is not None]
        node = helper.make_node(self.kind, names, outputs, hidden_size=self.hidden, **self.attributes)
        graph = helper.make_graph([node], "g", inputs, [value(name, types[self.dtype], None) for name in outputs], weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)

    def feed(self, length, batch):
        batch_first = self.attributes.get("layout", 0) == 1
        made = {"x": self.real(batch, length, self.inputs) if batch_first else self.real(length, batch, self.inputs)}
        if "lens" in self.given:
            made["lens"] = np.array([max(length - i, 0) for i in range(batch)], "int32")
        for name in ("h", "c"):
            if name in self.given:
                made[name] = self.real(batch, self.directions, self.hidden) if batch_first else self.real(self.directions, batch, self.hidden)
        return made

    def expected(self, feed):
        """Y, Y_h and, of an LSTM, Y_c, in float64."""
        swap = (lambda x: np.swapaxes(x, 0, 1)) if self.attributes.get("layout", 0) == 1 else (lambda x: x)
        x = swap(feed["x"]).astype("float64")
        length, batch, _ = x.shape
        lens = feed.get("lens", np.full(batch, length))
        parts = []
        for d in range(self.directions):
            h, c = (swap(feed[name])[d].astype("float64") if name in feed else np.zeros((batch, self.hidden)) for name in ("h", "c"))
            backward = self.attributes.get("direction") == "reverse" or d == 1
            outputs = np.zeros((length, batch, self.hidden))
            for t in reversed(range(length)) if backward else range(length):
                lasts = (t < lens)[:, None]
                new_h, new_c = self.step(d, x[t], h, c)
                h, c = np.where(lasts, new_h, h), np.where(lasts, new_c, c)
                outputs[t] = np.where(lasts, new_h, 0)
            parts.append((outputs, h, c))
        made = [np.stack([part[0] for part in parts], 1)] + [np.stack([part[i] for part in parts]) for i in (1, 2)]
        if self.attributes.get("layout", 0) == 1:
            made = [np.transpose(made[0], (2, 0, 1, 3))] + [np.swapaxes(each, 0, 1) for each in made[1:]]
        return made[: 3 if self.kind == "LSTM" else 2]

    def step(self, d, x, h, c):
        gates, n, clip = GATES[self.kind], self.hidden, self.attributes.get("clip", 0)
        names = self.attributes.get("activations", DEFAULT[self.kind] * self.directions)
        names = names[d * len(DEFAULT[self.kind]):]
        act = lambda i, value: FUNCTIONS[names[i]](np.clip(value, -clip, clip) if clip else value)
        w, r = self.w[d].astype("float64"), self.r[d].astype("float64")
        b = self.b[d].astype("float64") if self.b is not None else np.zeros(2 * gates * n)
        wx, part = x @ w.T + b[: gates * n], lambda value, i: value[..., i * n:(i + 1) * n]
        rb = b[gates * n:]
        if self.kind == "RNN":
            return act(0, wx + h @ r.T + rb), c
        if self.kind == "GRU":
            rh = h @ r.T + rb
            z, reset = act(0, part(wx, 0) + part(rh, 0)), act(0, part(wx, 1) + part(rh, 1))
            if self.attributes.get("linear_before_reset"):
                fresh = act(1, part(wx, 2) + reset * part(rh, 2))
            else:
                fresh = act(1, part(wx, 2) + (reset * h) @ r[2 * n:].T + rb[2 * n:])
            return (1 - z) * fresh + z * h, c
        p = self.p[d].astype("float64") if self.p is not None else np.zeros(3 * n)
        sums = wx + h @ r.T + rb
        i = act(0, part(sums, 0) + part(p, 0) * c)
        forget = 1 - i if self.attributes.get("input_forget") else act(0, part(sums, 2) + part(p, 2) * c)
        c = forget * c + i * act(1, part(sums, 3))
        return act(0, part(sums, 1) + part(p, 1) * c) * act(2, c), c

    def check(self, sizes, model_sizes=None):
        """Builds it once, and compares it at all `sizes`, (length, batch)."""
        mod, params = relay.frontend.from_onnx(self.model(*(model_sizes or sizes[0])), freeze_params=True)
        with baton.transform.PassContext(opt_level=3):
            executable = relay.vm.compile(mod, "llvm", params=params)
        machine = baton.runtime.vm.VirtualMachine(executable, baton.cpu(0))
        names = [param.name_hint for param in mod["main"].params]
        for size in sizes:
            feed = self.feed(*size)
            results = machine.invoke("main", *[feed[name] for name in names])
            for result, wanted in zip(results, self.expected(feed)):
                assert result.shape == wanted.shape
                tolerance = 2e-2 if self.dtype == "float16" else 1e-5
                np.testing.assert_allclose(result.numpy(), wanted, rtol=tolerance, atol=tolerance)
        return executable


@pytest.mark.parametrize("network", [
    Network("LSTM", 5, direction="bidirectional", clip=0.7, activations=["HardSigmoid", "Softsign", "Relu", "Sigmoid", "Affine", "Tanh"],
            activation_alpha=[0.2, 0.5], activation_beta=[0.5, 0.25]),
    Network("LSTM", 16, given="b lens h c p", direction="reverse", input_forget=1),
    Network("LSTM", 17, given="h c p", layout=1),
    Network("LSTM", 33, given=""),
    Network("GRU", 5, given="b lens h", direction="bidirectional", linear_before_reset=1),
    Network("GRU", 17, given="b h", direction="bidirectional", clip=0.5, activations=["HardSigmoid", "Softsign", "Sigmoid", "Affine"],
            activation_alpha=[0.2, 0.5], activation_beta=[0.5, 0.25]),
    Network("GRU", 16, layout=1, given="b lens"),
    Network("RNN", 5, given="b lens h", direction="bidirectional", activations=["Relu", "Affine"], activation_alpha=[0.5],
            activation_beta=[0.25]),
    Network("RNN", 19, layout=1, clip=0.3, given=""),
], ids=lambda network: f"{network.kind}{network.hidden}")
def test_attributes(network):
    network.check([(3, 2)])
    network.check([(1, 1)])


@pytest.mark.parametrize("kind, attributes", [("LSTM", {}), ("GRU", {}), ("GRU", {"linear_before_reset": 1}), ("RNN", {})])
def test_lengths_and_batches_at_run_time(kind, attributes):
    """Blocks of steps, what is left of them, no steps at all; a state whose batch is known at run time only."""
    network = Network(kind, 12, given="b lens h", direction="bidirectional", **attributes)
    network.check([(1, 1), (9, 3), (0, 2), (8, 1), (23, 8), (2, 17)], ("length", "batch"))


@pytest.mark.parametrize("dtype", ["float64", "float16"])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_element_types(kind, dtype):
    Network(kind, 9, dtype=dtype, given="b").check([(4, 2)])


def test_sums_that_are_no_numbers_stay():
    network = Network("LSTM", 4)
    network.w[0, 0, 0] = np.nan
    network.check([(2, 2)])


@pytest.mark.parametrize("kind, attributes", [("LSTM", {"given": "b c p", "clip": 2.0}), ("GRU", {}), ("GRU", {"linear_before_reset": 1}),
                                              ("RNN", {})])
def test_a_step_is_one_kernel(kind, attributes):
    mod, params = relay.frontend.from_onnx(Network(kind, 32, **attributes).model(3, 1), freeze_params=True)
    with baton.transform.PassContext(opt_level=3):
        graph = relay.build(mod, "llvm", params=params)
    names = [node["attrs"]["func_name"] for node in __import__("json").loads(graph.get_graph_json())["nodes"] if node["op"] != "null"]
    steps = [name for name in names if "contrib_dense_pack" in name and "take" in name]
    assert len(steps) == 3
    # The input products and the last joining of outputs; the state's first value.
    assert len([name for name in names if name not in steps and name != "__nop"]) <= 4, names


def test_a_loop_copies_each_output_twice_at_most():
    """What the machine's loop collects grows in place: a run of 4096 steps is not slower per step than one of 256."""
    import time

    network = Network("RNN", 8, inputs=1, given="")
    mod, params = relay.frontend.from_onnx(network.model("length", 64), freeze_params=True)
    with baton.transform.PassContext(opt_level=3):
        machine = baton.runtime.vm.VirtualMachine(relay.vm.compile(mod, "llvm", params=params), baton.cpu(0))
    took = {}
    for length in (256, 4096):
        x = baton.nd.array(network.feed(length, 64)["x"])
        machine.invoke("main", x)
        began = time.process_time()
        for _ in range(8192 // length):
            machine.invoke("main", x)
        took[length] = time.process_time() - began
    assert took[4096] < 4 * took[256]
