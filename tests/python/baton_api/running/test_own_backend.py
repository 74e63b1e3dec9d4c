"""Backends of the user's own: a shared library in C against the installed headers, and functions in Python."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from baton.relay.op.contrib.partition import partition_for, refusals

ROOT = pathlib.Path(__file__).resolve().parents[4]
HEADERS = ("codegen/baton_compiler.h", "runtime/baton_backend.h", "support/base/kernel_table.h")
NET = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(3, 8), float32]) {
  %0 = exp(%x);
  %1 = nn.dense(%0, %w, units=3);
  %2 = nn.relu(%1);
  nn.softmax(%2)
}"""


def run(lib, given):
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.run(**given)
    return module.get_output(0).numpy()


def arrays():
    random = np.random.default_rng(5)
    return {"x": random.uniform(-1, 1, (4, 8)).astype("float32"), "w": random.uniform(-1, 1, (3, 8)).astype("float32")}


@pytest.fixture(scope="session")
def build_library(tmp_path_factory):
    """Compiles own.c, with words replaced, against copies of the three headers alone."""
    folder = tmp_path_factory.mktemp("own")
    for header in HEADERS:
        (folder / "include" / "baton" / header).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(pathlib.Path(tvm.get_include()) / "baton" / header, folder / "include" / "baton" / header)

    def make(name="own", **words):
        text = (ROOT / "examples" / "own_backend" / "own.c").read_text()
        for old, new in {'"own': f'"{name}', **words}.items():
            assert old in text
            text = text.replace(old, new)
        source, library = folder / f"{name}.c", folder / f"lib{name}.so"
        source.write_text(text)
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O2", "-I", folder / "include", "-o", library,
                        source], check=True)
        return str(library)

    return make


def in_another_process(code, **variables):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables})
    return done.returncode, done.stdout, done.stderr


def test_a_library_in_c_from_partition_to_profile(build_library, tmp_path):
    path = build_library("own_one")
    assert tvm.load_backend(path) == "own_one" and tvm.load_backend(path) == "own_one"
    mod = tvm.parser.fromtext(NET)
    assert [(call.op.name, why) for call, why in refusals(mod, "own_one")] == [
        (name, f"`{name}` is not mapped to own_one") for name in ("exp", "nn.softmax")]  # the relu is part of a composite
    partitioned = partition_for(mod, "own_one", merge=False)
    assert 'Composite="own_one.dense_relu"' in str(partitioned)
    lib = relay.build(partitioned, target="llvm")
    expected = run(relay.build(tvm.parser.fromtext(NET), target="llvm"), arrays())
    np.testing.assert_allclose(run(lib, arrays()), expected, rtol=1e-5)
    rows = [row for row in tvm.profile(lib, arrays(), inside=False, seconds=0.05).kernels if row["target"] == "own_one"]
    assert len(rows) == 1 and len(rows[0]["origins"]) == 2 and rows[0]["median_us"] > 0
    saved = str(tmp_path / "own.so")
    lib.export_library(saved)
    np.savez(tmp_path / "given.npz", **arrays())
    code = f"""
import sys, numpy as np, baton as tvm
from baton.contrib import graph_executor
module = graph_executor.GraphModule(tvm.runtime.load_module({saved!r})["default"](tvm.cpu()))
module.run(**dict(np.load({str(tmp_path / "given.npz")!r})))
np.save({str(tmp_path / "result.npy")!r}, module.get_output(0).numpy())
"""
    assert in_another_process(code, BATON_BACKENDS=path)[0] == 0
    np.testing.assert_array_equal(np.load(tmp_path / "result.npy"), run(lib, arrays()))
    status, _, error = in_another_process(code)
    assert status != 0 and "the model has code for the backend `own_one`: there is no plug-in `own_one` here" in error


def test_constants_go_to_its_compiler(build_library):
    tvm.load_backend(build_library("own_const"))
    mod = tvm.parser.fromtext(NET)
    given = arrays()
    lib = relay.build(partition_for(mod, "own_const", params={"w": tvm.nd.array(given["w"])}, merge=False), target="llvm")
    expected = run(relay.build(tvm.parser.fromtext(NET), target="llvm"), given)
    np.testing.assert_allclose(run(lib, {"x": given["x"]}), expected, rtol=1e-5)


def test_the_example_runs(build_library):
    path = build_library("own_example")
    done = subprocess.run([sys.executable, ROOT / "examples" / "own_backend" / "use.py", path], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0, done.stderr
    assert re.search(r"us  own_example +.*dense", done.stdout) and "nn.softmax: left to the host" in done.stdout


def test_a_region_that_it_cannot_compile_is_a_warning_or_an_error(build_library, capfd):
    tvm.load_backend(build_library("own_two"))
    x, w = relay.var("x", shape=(4, 8)), relay.var("w", shape=(8, 8))
    mod = tvm.IRModule.from_expr(relay.nn.dense(relay.nn.dense(x, w), w))
    partitioned = partition_for(mod, "own_two")  # both layers in one region
    given = {"x": np.ones((4, 8), "float32"), "w": np.eye(8, dtype="float32") * 2}
    np.testing.assert_allclose(run(relay.build(partitioned, target="llvm"), given), np.full((4, 8), 4.0))
    assert "baton: warning: own_two does not compile region `tvmgen_default_own_two_main_0`: one layer at a time" in capfd.readouterr().err
    with tvm.transform.PassContext(config={"baton.strict_regions": True}), pytest.raises(NotImplementedError, match="one layer at a time"):
        relay.build(partitioned, target="llvm")


def test_libraries_that_do_not_fit_are_refused(build_library, tmp_path):
    with pytest.raises(tvm.TVMError, match="cannot load the backend `/no/such.so`"):
        tvm.load_backend("/no/such.so")
    other = tmp_path / "other.c"
    other.write_text("int nothing;")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "other.so", other], check=True)
    with pytest.raises(tvm.TVMError, match="it exports neither baton_compiler_entry nor baton_backend_entry"):
        tvm.load_backend(str(tmp_path / "other.so"))
    for name, words, message in (
            ("own_old", {"= {BATON_COMPILER_ABI,": "= {7,"}, "built for version 7 of the interface of compilers, this is version 1"),
            ("own_older", {".abi_version = BATON_BACKEND_ABI": ".abi_version = 7"}, "built for version 7 of the interface of backends"),
            ("own_odd", {'"nn.dense", NULL}': '"nn.danse", NULL}'}, "takes `nn.danse`, which is no operator"),
            ("own_wild", {"nn.relu(nn.dense(*, *))": "nn.relu(nn.dense(*, *)"}, "lacks a )"),
            ("llvm", {}, "is called `llvm`, and there is one of that name")):
        with pytest.raises(tvm.TVMError, match=re.escape(message)):
            tvm.load_backend(build_library(name, **words))
    status, out, error = in_another_process("import baton; print(len(baton.targets(quick=True)['targets']))", BATON_BACKENDS="/no/such.so")
    assert status == 0 and int(out) > 5 and "baton: warning: BATON_BACKENDS: cannot load the backend `/no/such.so`" in error


@pytest.fixture
def mine():
    names = []

    def register(function):
        names.append("relay.ext.mine")
        tvm.register_func("relay.ext.mine", function, override=True)

    yield register
    for name in set(names):
        tvm.registry.remove_global_func(name)


def partitioned_for_mine():
    x, w = relay.var("x", shape=(4, 8)), relay.var("w", shape=(6, 8))
    one = relay.annotation.compiler_begin(x, "mine"), relay.annotation.compiler_begin(w, "mine")
    hidden = relay.nn.relu(relay.nn.dense(*one))
    shifted = relay.add(hidden, relay.annotation.compiler_begin(relay.const(np.float32(3)), "mine"))
    body = relay.tanh(relay.annotation.compiler_end(shifted, "mine"))
    mod = relay.transform.InferType()(tvm.IRModule.from_expr(body))
    return relay.transform.PartitionGraph()(mod)


def test_a_region_as_graph_json(mine):
    seen = {}

    def codegen(region):
        seen["json"], seen["constants"] = relay.backend.region_json(region)
        return lambda x, w: np.maximum(x @ w.T, 0) + 3

    mine(codegen)
    lib = relay.build(partitioned_for_mine(), target="llvm")
    graph = json.loads(seen["json"])
    assert [(node["op"], node["name"]) for node in graph["nodes"]] == [
        ("input", graph["nodes"][0]["name"]), ("input", graph["nodes"][1]["name"]), ("kernel", "nn.dense"), ("kernel", "nn.relu"),
        ("const", "tvmgen_default_mine_main_0_const_0"), ("kernel", "add")]
    dense = graph["nodes"][2]
    assert dense["inputs"] == [[0, 0, 0], [1, 0, 0]] and dense["attrs"]["shape"] == [[[4, 6]]] and dense["attrs"]["dtype"] == [["float32"]]
    assert graph["heads"] == [[5, 0, 0]] and graph["arg_nodes"] == [0, 1, 4] and graph["node_row_ptr"] == [0, 1, 2, 3, 4, 5, 6]
    assert {name: float(value.numpy()) for name, value in seen["constants"].items()} == {"tvmgen_default_mine_main_0_const_0": 3.0}
    x, w = np.ones((4, 8), "float32"), np.arange(48, dtype="float32").reshape(6, 8) / 50 - 0.5
    np.testing.assert_allclose(run(lib, {"x": x, "w": w}), np.tanh(np.maximum(x @ w.T, 0) + 3), rtol=1e-5)
    rows = [row for row in tvm.profile(lib, {"x": x, "w": w}, inside=False, seconds=0.05).kernels if row["target"] == "mine"]
    assert len(rows) == 1 and len(rows[0]["origins"]) == 3


def test_functions_that_fail_or_give_something_else(mine, tmp_path):
    given = {"x": np.ones((4, 8), "float32"), "w": np.ones((6, 8), "float32")}

    def broken(x, w):
        raise ValueError("no such luck")

    for function, message in ((broken, "ValueError: no such luck"), (lambda x, w: x, "result 0 of the function of relay.ext.mine is float32 (4, 8)"),
                              (lambda x, w: [x, w], "returned 2 arrays, the region has 1 results"),
                              (lambda x, w: x.__setitem__(0, 1), "read-only")):
        mine(lambda region, function=function: function)
        lib = relay.build(partitioned_for_mine(), target="llvm")
        with pytest.raises(tvm.TVMError, match=re.escape(message)):
            run(lib, given)
    saved = str(tmp_path / "mine.so")
    mine(lambda region: lambda x, w: np.maximum(x @ w.T, 0) + 3)
    lib = relay.build(partitioned_for_mine(), target="llvm")
    lib.export_library(saved)
    status, _, error = in_another_process(f"import baton as tvm; tvm.runtime.load_module({saved!r})['default'](tvm.cpu())")
    assert status != 0 and "computed by Python functions, which a saved model does not hold" in error
    np.testing.assert_allclose(run(lib, given), np.tanh(np.full((4, 6), 11.0)), rtol=1e-5)


@pytest.fixture
def updater():
    yield lambda function: tvm.register_func("relay.ext.mine.constant_updater", function, override=True)
    tvm.registry.remove_global_func("relay.ext.mine.constant_updater")


SYMBOL = "tvmgen_default_mine_main_0"
GIVEN = {"x": np.ones((4, 8), "float32"), "w": np.ones((6, 8), "float32")}
EXPECTED = np.tanh(np.full((4, 6), 11.0))


class Module:
    """What a code generator returns, like TVM's modules: it keeps the constants that `takes` names."""

    def __init__(self, takes=(), symbol=SYMBOL, init=True):
        self.taken = None
        self.functions = {symbol: lambda x, w: np.maximum(x @ w.T, 0) + (self.taken[0].numpy() if self.taken else 3)}
        if takes:
            self.functions["get_const_vars"] = lambda: list(takes)
        if init:
            self.functions["__init_" + symbol] = self.init

    def init(self, arrays):
        assert self.taken is None
        self.taken = arrays

    def get_function(self, name):
        return self.functions.get(name)


def region_params(lib):
    return {name: value.numpy() for name, value in lib.get_params().items() if not re.fullmatch(r"p[0-9]+", name)}


def test_constants_of_a_region_are_parameters(mine):
    mine(lambda region: lambda x, w: np.maximum(x @ w.T, 0) + 3)
    lib = relay.build(partitioned_for_mine(), target="llvm")
    assert {name: float(value) for name, value in region_params(lib).items()} == {SYMBOL + "_const_0": 3.0}
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.load_params(relay.save_param_dict(lib.get_params()))  # names that no input has
    module.set_input(**lib.get_params())
    module.run(**GIVEN)
    np.testing.assert_allclose(module.get_output(0).numpy(), EXPECTED, rtol=1e-5)


def test_an_updater_names_the_constants(mine, updater):
    calls = []

    def update(region, symbol):
        calls.append((symbol, [each.name_hint for each in region.params], "Compiler" in dict(region.attrs)))
        return {symbol + "_packed": tvm.nd.array(np.arange(6, dtype="int8"))}

    def codegen(region):
        assert len(calls) == 1  # before the code generator
        return lambda x, w: np.maximum(x @ w.T, 0) + 3

    mine(codegen)
    updater(update)
    lib = relay.build(partitioned_for_mine(), target="llvm")
    assert calls == [(SYMBOL, ["mine_0_i0", "mine_0_i1"], False)]
    (found,) = region_params(lib).items()
    assert found[0] == SYMBOL + "_packed" and found[1].dtype == "int8" and found[1].tolist() == list(range(6))
    np.testing.assert_allclose(run(lib, GIVEN), EXPECTED, rtol=1e-5)


def test_a_module_takes_the_constants_that_it_names(mine, updater):
    made = Module([SYMBOL + "_const_0"])
    mine(lambda region: made)
    lib = relay.build(partitioned_for_mine(), target="llvm")
    assert region_params(lib) == {} and [float(each.numpy()) for each in made.taken] == [3.0]
    np.testing.assert_allclose(run(lib, GIVEN), EXPECTED, rtol=1e-5)
    made = Module(["second"])
    updater(lambda region, symbol: {"first": tvm.nd.array(np.float32(9)), "second": tvm.nd.array(np.float32(3))})
    lib = relay.build(partitioned_for_mine(), target="llvm")
    assert {name: float(value) for name, value in region_params(lib).items()} == {"first": 9.0}
    np.testing.assert_allclose(run(lib, GIVEN), EXPECTED, rtol=1e-5)


def test_a_build_for_a_region_keeps_its_own_constants(mine, updater):
    mine(lambda region: relay.build(tvm.IRModule.from_expr(region.with_attr("Primitive", 0)), target="llvm"))
    lib = relay.build(partitioned_for_mine(), target="llvm")
    assert region_params(lib) == {}
    np.testing.assert_allclose(run(lib, GIVEN), EXPECTED, rtol=1e-5)
    updater(lambda region, symbol: {"extra": tvm.nd.array(np.float32(1))})
    assert list(region_params(relay.build(partitioned_for_mine(), target="llvm"))) == ["extra"]


def test_constants_that_do_not_fit(mine, updater):
    for made, message in ((Module(["nothing"]), "names `nothing`, which is no constant of the region " + SYMBOL + f"; it has `{SYMBOL}_const_0`"),
                          (Module([SYMBOL + "_const_0"], init=False), f"but get_function('__init_{SYMBOL}') gives no function to take it"),
                          (Module(symbol="other"), f"whose get_function('{SYMBOL}') gives no function")):
        mine(lambda region, made=made: made)
        with pytest.raises((tvm.TVMError, TypeError, ValueError), match=re.escape(message)):
            relay.build(partitioned_for_mine(), target="llvm")
    mine(lambda region: lambda x, w: np.maximum(x @ w.T, 0) + 3)
    for given, message in ((None, "returned a NoneType for the region " + SYMBOL), ({"a": 3}, "returned a dict with 'a': a int"),
                           ({3: tvm.nd.array(np.ones(1))}, "returned a dict with 3: a NDArray")):
        updater(lambda region, symbol, given=given: given)
        with pytest.raises((tvm.TVMError, TypeError), match=re.escape(message)):
            relay.build(partitioned_for_mine(), target="llvm")

    def fails(region, symbol):
        raise KeyError("no weights here")

    updater(fails)
    with pytest.raises((tvm.TVMError, KeyError), match="no weights here"):
        relay.build(partitioned_for_mine(), target="llvm")


def test_two_regions_have_different_constants(mine, updater):
    x = relay.var("x", shape=(4, 8))

    def region(value):
        return relay.annotation.compiler_end(relay.exp(relay.annotation.compiler_begin(value, "mine")), "mine")

    mod = relay.transform.PartitionGraph()(relay.transform.InferType()(tvm.IRModule.from_expr(region(relay.tanh(region(x))))))
    mine(lambda region: np.exp)
    updater(lambda region, symbol: {symbol + "_table": tvm.nd.array(np.float32(1))})
    assert len(region_params(relay.build(mod, target="llvm"))) == 2
    updater(lambda region, symbol: {"table": tvm.nd.array(np.float32(1))})
    with pytest.raises((tvm.TVMError, ValueError), match="gives `table` for two regions"):
        relay.build(mod, target="llvm")


def test_a_backend_that_fails_while_it_is_measured_is_left_out_of_a_mapping(build_library, tmp_path):
    """The first error of one target ended `baton map` for all."""
    library = build_library("own_vanishing", **{"  const struct record* record = context;":
                                               "  static int calls;\n  if (++calls > 60) return failed(\"the device is gone\");\n"
                                               "  const struct record* record = context;"})
    (tmp_path / "net.relay").write_text(NET)
    done = subprocess.run([os.environ["BATON_PROGRAM"], "map", tmp_path / "net.relay", "--targets", "own_vanishing,dnnl", "--backend", library,
                           "--threads", "1", "--max-seconds", "1", "--json"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    models = {each["name"]: each for each in found["models"]}
    assert "the device is gone" in models["own_vanishing"]["why_not"] and "while it was measured" in models["own_vanishing"]["why_not"]
    assert models["dnnl"]["measured_us"] > 0 and models["llvm"]["measured_us"] > 0 and found["chosen"] != "own_vanishing"
    assert any(note.startswith("own_vanishing cannot be used") for note in found["notes"])
