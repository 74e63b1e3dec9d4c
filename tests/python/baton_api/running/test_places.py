"""Operators of programs built in Python have places, and the package lists what it adds to TVM."""
import json
import pydoc
import re

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.relay import testing

HERE = __file__


def line_of(text):
    with open(HERE, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line and "line_of" not in line)


def build():
    data = relay.var("data", shape=(1, 16))
    hidden = relay.nn.dense(data, relay.var("weight", shape=(8, 16)))
    active = relay.nn.relu(hidden)
    result = active + relay.const(1.0)
    module = tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(result), result))
    return relay.build(module, "llvm", params={"weight": np.ones((8, 16), "float32")})


@pytest.fixture(scope="module")
def lib():
    return build()


@pytest.fixture(scope="module")
def report(lib):
    return tvm.profile(lib, repeat=5, seconds=0.01, inside=False, unfused=False, peaks=False)


def test_the_line_that_called_the_builder(lib):
    rows = tvm.origins(lib)
    assert [row["op"] for row in rows] == ["nn.dense", "nn.relu", "add"]
    assert {row["file"] for row in rows} == {HERE}
    assert [row["line"] for row in rows] == [line_of(f" = {what}") for what in ("relay.nn.dense", "relay.nn.relu", "active + ")]
    assert rows[0]["name"] == f"test_places.py:{rows[0]['line']}" and rows[0]["brief"] == "dense 16->8"


def layer(data, name):
    return relay.nn.dense(data, relay.var(name, shape=(16, 16)))


def two_layers(data, name):
    first = layer(data, name + ".first")
    return relay.nn.relu(layer(first, name + ".second"))


def test_operators_of_a_helper_are_told_apart_by_what_called_it():
    """All layers of a network had the one line of the function that makes a layer."""
    data = relay.var("data", shape=(1, 16))
    result = two_layers(data, "net")
    module = tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(result), result))
    rows = tvm.origins(relay.build(module, "llvm"))
    dense = [row for row in rows if row["op"] == "nn.dense"]
    assert {row["line"] for row in dense} == {line_of("return relay.nn.dense")}
    outer = f"test_places.py:{line_of('result = two_layers')}"
    callers = [f"test_places.py:{line_of(text)}" for text in ("first = layer", "relay.nn.relu(layer")]
    assert [row["source"] for row in dense] == [f"{outer} > {each}" for each in callers]
    assert [row["weight_name"] for row in dense] == ["net.first", "net.second"]
    report = tvm.profile(relay.build(module, "llvm"), repeat=5, seconds=0.01, inside=False, unfused=False, peaks=False)
    titles = [kernel["title"] for kernel in json.loads(report.json())["kernels"]]
    for each in callers:
        place = f"test_places.py:{dense[0]['line']} from "
        assert any(title.endswith(place + each) for title in titles)
        short = place + each.removeprefix("test_places.py")  # the table has no room for all of it
        assert short in str(report)
        assert [row["op"] for row in tvm.extract(module, operators=short).operators] == ["nn.dense"]
    relu = next(row for row in rows if row["op"] == "nn.relu")
    assert relu["source"] == outer and relu["weight_name"] is None


def test_places_are_without_what_runs_the_program(lib):
    """pytest called it."""
    assert all("pytest" not in row["source"] and "python.py" not in row["source"] for row in tvm.origins(lib))


def test_table_page_and_csv_say_it(report):
    line = line_of(" = relay.nn.dense")
    caller = line_of("return build()")
    assert re.search(rf"dense 16->8 \+ relu.*, test_places.py:{line} from :{caller}\s", str(report))
    assert f'"title":"dense 16->8 + relu + add, test_places.py:{line} from test_places.py:{caller}"' in report.json()
    row, *_ = report.rows("operators")
    assert (row["file"], row["line"], row["title"]) == (HERE, line, "dense 16->8")
    sources = {each["file"]: each["text"] for each in json.loads(report.json())["sources"]}
    with open(HERE, encoding="utf-8") as file:
        assert sources == {HERE: file.read()}


def test_a_network_of_relay_testing_has_the_lines_of_the_printed_module():
    module, params = testing.mlp.get_workload(1)
    report = tvm.profile(relay.build(module, "llvm", params=params), repeat=5, seconds=0.01, inside=False, unfused=False, peaks=False)
    source, = json.loads(report.json())["sources"]
    lines = source["text"].split("\n")
    assert source["file"] == ""
    for row in report.operators:
        assert row["op"] + "(" in lines[row["line"] - 1]


def test_the_text_of_a_module_is_what_it_was(lib):
    module, _ = testing.mlp.get_workload(1)
    assert "test_places" not in module.astext()
    call = relay.exp(relay.var("x", shape=(3,)))
    assert call.span is None


def test_an_operator_made_by_a_visitor_keeps_the_place_of_what_it_replaces():
    class Swap(relay.ExprMutator):
        def visit_call(self, call):
            made = super().visit_call(call)
            return relay.tanh(made.args[0]) if made.op.name == "exp" else made

    x = relay.var("x", shape=(3,))
    before = relay.exp(x)
    lib = relay.build(tvm.IRModule.from_expr(relay.Function([x], Swap().visit(before))), "llvm")
    assert tvm.origins(lib)[0]["line"] in (line_of("before = relay.exp(x)"), line_of("return relay.tanh"))


def test_explain(lib):
    everything = tvm.explain(lib)
    assert everything.splitlines()[0] == f"dense 16->8, {HERE}:{line_of(' = relay.nn.dense')}: in node " + everything.splitlines()[0].split()[-1]
    one = tvm.explain(lib, 0)
    assert "fused with   relu 1x8" in one and "kernel       tvmgen_default_" in one
    node = tvm.origins(lib)[0]["nodes"][0]
    assert tvm.explain(lib, node=node).startswith(one)
    with pytest.raises(ValueError, match="one of operator"):
        tvm.explain(lib, 0, node=node)
    with pytest.raises(TypeError):
        tvm.explain("lib")


def test_dir_and_help_list_what_baton_adds():
    names = {"profile", "explain", "extract", "mark", "diff", "origins", "ProfileReport"}
    assert names <= set(dir(tvm)) and names <= set(tvm.__all__)
    text = pydoc.render_doc(tvm, renderer=pydoc.plaintext)
    for name in ("profile", "explain", "extract", "mark", "diff", "origins"):
        assert f"    {name}(" in text, name


def test_threads_of_runs_and_profiles(lib, report):
    module = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.cpu()))
    assert module.threads == tvm.runtime.num_threads() == report.threads
    module.threads = 1
    assert module.threads == 1
    with pytest.raises(ValueError, match="positive"):
        module.threads = 0
    assert tvm.profile(lib, threads=1, repeat=5, seconds=0.01, inside=False, unfused=False, peaks=False).threads == 1
