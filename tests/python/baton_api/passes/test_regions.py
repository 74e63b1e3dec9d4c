"""Regions of other compilers in a build: relay.ext.<compiler> in Python builds them, their kernels keep origins and names."""
import contextlib
import json

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor

TEXT = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(6, 8), float32]) {
  %0 = nn.dense(%x, %w, units=None);
  %1 = fn (%a: Tensor[(4, 6), float32], Composite="mine.relu") { nn.relu(%a) };
  %2 = %1(%0);
  tanh(%2)
}
"""
REGION = """#[version = "0.0.5"]
def @mine_0(%a: Tensor[(4, 8), float32], %b: Tensor[(6, 8), float32], Primitive=1, Compiler="mine", global_symbol="mine_0", Inline=1)
    -> Tensor[(4, 6), float32] {
  %0 = nn.dense(%a, %b, units=None);
  exp(%0)
}
def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(6, 8), float32], %v: Tensor[(6, 8), float32]) {
  %0 = @mine_0(%x, %w);
  %1 = @mine_0(%x, %v);
  add(%0, %1)
}
"""


@contextlib.contextmanager
def registered(function, compiler="mine"):
    tvm.register_func("relay.ext." + compiler, function)
    try:
        yield
    finally:
        tvm.registry.remove_global_func("relay.ext." + compiler)


def alone(function):
    return relay.build(tvm.IRModule.from_expr(relay.Function(function.params, function.body)), target="llvm")


def inputs(module):
    random = np.random.default_rng(1)
    return {each.name_hint: random.uniform(-1, 1, [int(n) for n in each.checked_type.shape]).astype("float32")
            for each in module["main"].params}


def run(lib, arrays):
    model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    model.run(**arrays)
    return model.get_output(0).numpy()


@pytest.mark.parametrize("returned", [lambda lib: lib, lambda lib: lib.get_lib()])
def test_what_python_built_runs_in_place(returned, tmp_path):
    asked = []

    def codegen(function):
        asked.append(function)
        return returned(alone(function))

    module = tvm.parser.fromtext(REGION)
    arrays = inputs(module)
    with registered(codegen):
        lib = relay.build(module, target="llvm")
    assert len(asked) == 1, "called twice, built once"
    assert asked[0].attrs["global_symbol"] == "mine_0" and "Compiler" not in dict(asked[0].attrs)
    x, w, v = (arrays[name].astype("float64") for name in "xwv")
    expected = np.exp(x @ w.T) + np.exp(x @ v.T)
    np.testing.assert_allclose(run(lib, arrays), expected, rtol=1e-4)

    nodes = [node for node in json.loads(lib.get_graph_json())["nodes"] if node["op"] == "tvm_op"]
    ours = [node for node in nodes if node["attrs"].get("region") == "mine_0"]
    assert ours and len(ours) < len(nodes)
    assert all(node["attrs"]["compiler"] == "mine" and node["attrs"]["func_name"].startswith("mine_0_fused_") for node in ours)
    operators = tvm.origins(lib)
    assert {row["op"] for row in operators} == {"add", "nn.dense", "exp"}
    assert all(row["nodes"] or row["folded_into"] or row["retired"] for row in operators)

    lib.export_library(str(tmp_path / "model.baton"))
    np.testing.assert_array_equal(run(tvm.runtime.load_module(str(tmp_path / "model.baton")), arrays), run(lib, arrays))

    report = tvm.profile(lib, inputs=arrays, repeat=2, seconds=0, inside_ms=1)
    assert {(row["compiler"], row["region"]) for row in report.kernels if "region" in row} == {("mine", "mine_0")}
    assert "mine" in report._repr_html_()


def test_composites_that_nobody_took_are_built_here():
    module = tvm.parser.fromtext(TEXT)
    arrays = inputs(module)
    lib = relay.build(module, target="llvm")
    expected = np.tanh(np.maximum(arrays["x"].astype("float64") @ arrays["w"].T, 0))
    np.testing.assert_allclose(run(lib, arrays), expected, rtol=1e-4, atol=1e-6)


def test_mistakes():
    module = tvm.parser.fromtext(REGION)
    with pytest.raises(NotImplementedError, match="external codegen tool for relay.ext.mine"):
        relay.build(module, target="llvm")

    def fails(function):
        raise KeyError(function.attrs["global_symbol"])

    for codegen, error, match in [
            (fails, KeyError, "mine_0"),
            (lambda function: 3, TypeError, "relay.ext.mine returned a int"),
            (lambda function: alone(relay.Function(function.params[:1], relay.exp(function.params[0]))), tvm.TVMError, "takes 1 inputs"),
            (lambda function: alone(relay.Function(function.params, relay.exp(function.params[0]))), tvm.TVMError, "its result is")]:
        with registered(codegen), pytest.raises(error, match=match):
            relay.build(module, target="llvm")
