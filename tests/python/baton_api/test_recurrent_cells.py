"""The cells of relay.frontend.common beside numpy, unrolled in a plan, and one of a user's program as a loop."""
import baton
import numpy as np
import pytest
from baton import relay
from baton.contrib import graph_executor
from baton.relay.frontend import common

LENGTH, BATCH, INPUTS = 3, 2, 4


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def random(*shape):
    return (np.random.default_rng(sum(shape)).standard_normal(shape) / 2).astype("float32")


def steps_of(x):
    return common.unbind(x, axis=0)


def run(outputs, x, params):
    function = relay.Function(relay.analysis.free_vars(outputs), outputs)
    with baton.transform.PassContext(opt_level=3):
        lib = relay.build(baton.IRModule.from_expr(function), "llvm", params=params)
    module = graph_executor.GraphModule(lib["default"](baton.cpu(0)))
    module.run(x=x)
    kernels = [node["attrs"]["func_name"] for node in __import__("json").loads(lib.get_graph_json())["nodes"] if node["op"] != "null"]
    return module.get_output(0).numpy(), kernels


def variables(params):
    return {name: relay.var(name, shape=value.shape) for name, value in params.items()}


@pytest.mark.parametrize("hidden", [5, 32])
@pytest.mark.parametrize("more", [(), ("p",), ("proj",)], ids=["plain", "peepholes", "projection"])
@pytest.mark.parametrize("backwards", [False, True])
def test_lstm_cell(hidden, more, backwards):
    state = 3 if "proj" in more else hidden
    params = {"w": random(4 * hidden, INPUTS), "r": random(4 * hidden, state), "bi": random(4 * hidden), "bh": random(4 * hidden)}
    if "proj" in more:
        params["proj"] = random(state, hidden)
    if "p" in more:
        params.update({name: random(hidden + i)[:hidden] for i, name in enumerate(("pi", "pf", "po"))})
    v = variables(params)
    x = relay.var("x", shape=(LENGTH, BATCH, INPUTS))
    zeros = lambda n: relay.zeros((BATCH, n), "float32")
    outputs, _, _ = common.lstm_cell(list(steps_of(x)), zeros(state), zeros(hidden), v["w"], v["r"], v["bi"], v["bh"], proj=v.get("proj"),
                                     p_i=v.get("pi"), p_f=v.get("pf"), p_o=v.get("po"), backwards=backwards)
    data = random(LENGTH, BATCH, INPUTS)
    result, kernels = run(relay.stack(outputs, axis=0), data, params)
    h, c, wanted = np.zeros((BATCH, state)), np.zeros((BATCH, hidden)), []
    peephole = lambda name: params[name] * c if name in params else 0
    for step in data[::-1] if backwards else data:
        i, f, g, o = np.split(step @ params["w"].T + params["bi"] + h @ params["r"].T + params["bh"], 4, axis=-1)
        i, f = sigmoid(i + peephole("pi")), sigmoid(f + peephole("pf"))
        c = f * c + i * np.tanh(g)
        h = sigmoid(o + peephole("po")) * np.tanh(c)
        if "proj" in params:
            h = h @ params["proj"].T
        wanted.append(h)
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)
    # Without a projection what the last step computes is part of the kernel that stacks.
    assert len([name for name in kernels if "dense" in name and "split" in name]) >= LENGTH - 1, kernels


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("hidden", [6, 16])
def test_gru_cell(hidden, linear):
    params = {"w": random(3 * hidden, INPUTS), "r": random(3 * hidden, hidden), "bi": random(3 * hidden), "bh": random(3 * hidden)}
    v = variables(params)
    x = relay.var("x", shape=(LENGTH, BATCH, INPUTS))
    outputs, _ = common.gru_cell(list(steps_of(x)), relay.zeros((BATCH, hidden), "float32"), v["w"], v["r"], v["bi"], v["bh"],
                                 linear_before_reset=linear)
    data = random(LENGTH, BATCH, INPUTS)
    result, _ = run(relay.stack(outputs, axis=0), data, params)
    h, wanted = np.zeros((BATCH, hidden)), []
    for step in data:
        ri, ui, ni = np.split(step @ params["w"].T + params["bi"], 3, axis=-1)
        rh, uh, nh = np.split(h @ params["r"].T + params["bh"], 3, axis=-1)
        r, u = sigmoid(ri + rh), sigmoid(ui + uh)
        new = r * nh if linear else (r * h) @ params["r"][2 * hidden:].T + params["bh"][2 * hidden:]
        n = np.tanh(ni + new)
        h = (h - n) * u + n
        wanted.append(h)
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


def test_rnn_cell():
    hidden = 7
    params = {"w": random(hidden, INPUTS), "r": random(hidden, hidden), "bi": random(hidden), "bh": random(hidden)}
    v = variables(params)
    x = relay.var("x", shape=(LENGTH, BATCH, INPUTS))
    outputs, _ = common.rnn_cell(list(steps_of(x)), relay.zeros((BATCH, hidden), "float32"), v["w"], v["r"], v["bi"], v["bh"])
    data = random(LENGTH, BATCH, INPUTS)
    result, _ = run(relay.stack(outputs, axis=0), data, params)
    h, wanted = np.zeros((BATCH, hidden)), []
    for step in data:
        h = np.tanh(step @ params["w"].T + params["bi"] + h @ params["r"].T + params["bh"])
        wanted.append(h)
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


COLLECTS = """#[version = "0.0.5"]
def @loop(%i: int32, %all: Tensor[(?, 3), float32], %x: Tensor[(3), float32]) -> Tensor[(?, 3), float32] {
  if (equal(%i, 0)) { %all } else { @loop(subtract(%i, 1), MORE, add(%x, 1f)) }
}
def @main(%n: int32, %first: Tensor[(?, 3), float32], %x: Tensor[(3), float32]) -> (Tensor[(?, 3), float32], Tensor[(?, 3), float32]) {
  let %all = @loop(%n, %first, %x);
  (%all, %first)
}
"""


@pytest.mark.parametrize("more, rows", [("concatenate((%all, expand_dims(%x, axis=0)))", lambda x: [x]),
                                        ("concatenate((%all, stack((%x, negative(%x)), axis=0)))", lambda x: [x, -x]),
                                        ("concatenate((%all, reshape(%x, newshape=[1, 3]), expand_dims(exp(%x), axis=0)))",
                                         lambda x: [x, np.exp(x)])])
@pytest.mark.parametrize("first", [0, 2])
def test_what_a_loop_collects_grows_in_place(more, rows, first):
    """What others still have stays as it was."""
    executable = relay.vm.compile(baton.parser.fromtext(COLLECTS.replace("MORE", more)), "llvm")
    assert "append" in executable.bytecode
    begin, x = random(first, 3), random(3)
    wanted = list(begin)
    for i in range(50):
        wanted += rows(x + np.float32(i))
    machine = baton.runtime.vm.VirtualMachine(executable, baton.cpu(0))
    for _ in range(2):
        result, kept = machine.invoke("main", np.int32(50), begin, x)
        np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-5)
        np.testing.assert_array_equal(kept.numpy(), begin)


def test_what_two_have_is_copied_before_it_grows():
    text = """#[version = "0.0.5"]
def @grow(%all: Tensor[(?, 2), float32], %x: Tensor[(2), float32]) -> Tensor[(?, 2), float32] {
  concatenate((%all, expand_dims(%x, axis=0)))
}
def @main(%all: Tensor[(?, 2), float32], %x: Tensor[(2), float32]) {
  let %a = @grow(%all, %x);
  let %b = @grow(%a, negative(%x));
  let %c = @grow(%a, exp(%x));
  (%a, %b, %c)
}
"""
    machine = baton.runtime.vm.VirtualMachine(relay.vm.compile(baton.parser.fromtext(text), "llvm"), baton.cpu(0))
    all_, x = random(3, 2), random(2)
    a, b, c = (each.numpy() for each in machine.invoke("main", all_, x))
    np.testing.assert_array_equal(a, [*all_, x])
    np.testing.assert_array_equal(b, [*all_, x, -x])
    np.testing.assert_allclose(c, [*all_, x, np.exp(x)], rtol=1e-6)


def test_rows_of_another_width_are_refused():
    text = """#[version = "0.0.5"]
def @grow(%all: Tensor[(?, ?), float32], %x: Tensor[(?), float32]) -> Tensor[(?, ?), float32] {
  concatenate((%all, expand_dims(%x, axis=0)))
}
def @main(%all: Tensor[(?, ?), float32], %x: Tensor[(?), float32]) -> Tensor[(?, ?), float32] { @grow(%all, %x) }
"""
    machine = baton.runtime.vm.VirtualMachine(relay.vm.compile(baton.parser.fromtext(text), "llvm"), baton.cpu(0))
    with pytest.raises(baton.TVMError, match=r"float32\[3, 2\] and float32\[4\] as a row differ in more than their first axis"):
        machine.invoke("main", random(3, 2), random(4))
    assert machine.invoke("main", random(3, 2), random(2)).shape == (4, 2)
