"""A program's kernels beside the same operators on other backends: baton.compare, profile --compare."""
import contextlib
import csv
import json

import numpy as np
import pytest

import baton as tvm
from baton import relay

nn = relay.nn


def var(name, *shape, dtype="float32"):
    return relay.var(name, shape=shape, dtype=dtype)


def const(*shape, seed=0):
    return relay.const(np.random.default_rng(seed).uniform(-1, 1, shape).astype("float32"))


def conv(data, channels, seed):
    read = data.type_annotation.shape[1] if isinstance(data, relay.Var) else channels
    return nn.conv2d(data, const(channels, int(read), 3, 3, seed=seed), channels=channels, kernel_size=(3, 3), padding=(1, 1))


def network():
    """Two equal layers, one before them, and a head."""
    body = nn.relu(conv(nn.relu(conv(nn.relu(conv(var("x", 1, 3, 8, 8), 16, 0)), 16, 1)), 16, 2))
    head = nn.softmax(nn.dense(nn.batch_flatten(nn.global_avg_pool2d(body)), const(10, 16, seed=3), units=10))
    return tvm.IRModule.from_expr(head)


def compared(mod, backends, **how):
    return tvm.compare(mod, backends, **{"seconds": 0.05, "repeat": 2, "max_seconds": 20, **how})


@pytest.fixture(scope="module")
def report():
    with tvm.transform.PassContext(opt_level=3):
        return compared(network(), ["llvm", "dnnl", "opencl", "mirror"])


def test_each_kernel_has_a_row_per_backend(report):
    found = report.comparison
    assert (found["base"], found["others"]) == ("llvm", ["dnnl", "opencl", "mirror"])
    called = [kernel["node"] for kernel in report.kernels]
    assert sorted(node for each in found["functions"] for node in each["nodes"]) == called
    for each in found["functions"]:
        if not each["origins"]:
            assert each["why"].startswith("the compiler added it: ") and not each["others"]
            continue
        assert [row["backend"] for row in each["others"]] == found["others"]
        assert each["own_us"] > 0
        for row in each["others"]:
            assert row["verdict"] not in ("wrong", "not taken", "not measured"), row
            assert row["total_us"] == pytest.approx(row["kernels_us"] + row["copies_us"] + row["layouts_us"])
            assert row["largest_difference"] < 1e-4


def test_equal_kernels_are_measured_once(report):
    [twice] = [each for each in report.comparison["functions"] if len(each["nodes"]) == 2]
    assert "conv2d" in twice["func_name"]
    total = sum(len(each["nodes"]) * each["own_us"] for each in report.comparison["functions"])
    assert report.comparison["base_us"] == pytest.approx(total)
    assert report.comparison["best_us"] <= total * (1 + 1e-9)


def test_devices_have_copies_and_libraries_do_not(report):
    for each in report.comparison["functions"]:
        rows = {row["backend"]: row for row in each["others"]}
        if not rows:
            continue
        assert rows["dnnl"]["copies_us"] == 0 and rows["dnnl"]["copied_bytes"] == 0
        for device in ("opencl", "mirror"):
            assert rows[device]["copies_us"] > 0 and rows[device]["copied_bytes"] > 0
    [first] = [each for each in report.comparison["functions"] if "conv2d" in each["func_name"] and len(each["nodes"]) == 1]
    assert first["others"][1]["copied_bytes"] == 4 * (3 * 8 * 8 + 16 * 8 * 8)


def test_layouts_of_the_base_are_changed_for_the_others(report):
    """Between the two equal layers channels are in blocks: in and out must be changed for oneDNN."""
    [twice] = [each for each in report.comparison["functions"] if len(each["nodes"]) == 2]
    assert twice["others"][0]["layouts_us"] > 0
    [softmax] = [each for each in report.comparison["functions"] if "softmax" in each["func_name"]]
    assert softmax["others"][0]["layouts_us"] == 0


def test_table_and_files(report, tmp_path):
    text = report.table()
    assert "kernels + copies + layouts = total" in text and "all kernels on llvm: " in text
    files = report.save(str(tmp_path / "p.csv"))
    assert str(tmp_path / "p.comparison.csv") in files
    with open(tmp_path / "p.comparison.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(each["others"]) for each in report.comparison["functions"])
    assert {row["backend"] for row in rows} == {"dnnl", "opencl", "mirror"}
    assert report.rows("comparison")[0]["base"] == "llvm"
    report.save(str(tmp_path / "p.json"))
    again = tvm.ProfileReport.load(str(tmp_path / "p.json"))
    assert again.comparison == json.loads(json.dumps(report.comparison))


@pytest.mark.parametrize("base", ["dnnl", "opencl", "mirror"])
def test_other_bases(base):
    found = compared(network(), [base, "llvm"], max_seconds=10).comparison
    rows = [row for each in found["functions"] for row in each["others"]]
    assert rows and {row["backend"] for row in rows} == {"llvm"}
    assert not [row for row in rows if row["verdict"] in ("wrong", "not taken", "not measured")]
    if base == "dnnl":
        assert any(each["backend"] == "dnnl" and len(each["origins"]) > 5 for each in found["functions"])
    else:
        assert all(row["copies_us"] > 0 for row in rows)


def test_a_base_of_regions_has_kernels_of_the_processor_beside_them():
    mod = tvm.IRModule.from_expr(relay.erf(nn.dense(var("x", 4, 8), const(8, 8), units=8)))
    found = compared(mod, ["dnnl", "llvm"], max_seconds=5).comparison
    assert sorted(each["backend"] for each in found["functions"]) == ["dnnl", "llvm"]


def test_what_a_backend_does_not_take_says_why():
    x = var("x", 4, 4)
    found = compared(tvm.IRModule.from_expr(relay.erf(relay.exp(x))), ["llvm", "dnnl"], max_seconds=5).comparison
    [row] = found["functions"][0]["others"]
    assert (row["verdict"], row["why"]) == ("not taken", "`erf` is not mapped to a primitive of oneDNN")
    assert found["best_us"] == found["base_us"]
    halves = tvm.IRModule.from_expr(relay.exp(var("x", 8, dtype="float16")))
    [row] = compared(halves, ["llvm", "opencl"], max_seconds=5).comparison["functions"][0]["others"]
    assert (row["verdict"], row["why"]) == ("not taken", "elements of type float16 need an extension of OpenCL")


def test_functions_with_several_results_and_empty_ones():
    x = var("x", 4, 6)
    split = relay.split(relay.exp(x), 2, axis=1)
    mod = tvm.IRModule.from_expr(relay.Tuple([relay.tanh(split[0]), split[1], relay.sum(x, axis=1)]))
    found = compared(mod, ["llvm", "opencl", "mirror"], max_seconds=8).comparison
    rows = [row for each in found["functions"] for row in each["others"]]
    assert rows and not [row for row in rows if row["verdict"] in ("wrong", "not taken", "not measured")]
    empty = tvm.IRModule.from_expr(relay.tanh(relay.sum(var("x", 0, 4), axis=0)))
    found = compared(empty, ["llvm", "dnnl", "mirror"], max_seconds=5).comparison
    assert found["functions"] and not [row for each in found["functions"] for row in each["others"] if row["verdict"] == "wrong"]
    nothing = compared(tvm.IRModule.from_expr(relay.exp(var("x", 0, 4))), ["llvm", "dnnl"], max_seconds=5)
    assert nothing.comparison["functions"] == [] and "all kernels on llvm" in nothing.table()


@contextlib.contextmanager
def registered(name, function):
    tvm.register_func("relay.ext." + name, function)
    try:
        yield
    finally:
        tvm.registry.remove_global_func("relay.ext." + name)


def test_a_backend_that_computes_something_else_is_an_error():
    def lies(function):
        body = relay.multiply(function.body, relay.const(np.float32(1.5)))
        return relay.build(tvm.IRModule.from_expr(relay.Function(function.params, body)), target="llvm")

    with registered("liar", lies), pytest.raises(tvm.TVMError, match="liar computes node 1 .* differently: element [0-9]+ of float32") as error:
        compared(tvm.IRModule.from_expr(relay.exp(var("x", 8))), ["llvm", "liar"], max_seconds=5)
    [row] = error.value.report.comparison["functions"][0]["others"]
    assert row["verdict"] == "wrong" and row["total_us"] == 0


def test_a_code_generator_that_throws_leaves_the_rest_alone():
    def fails(function):
        raise KeyError("no idea")

    def works(function):
        return relay.build(tvm.IRModule.from_expr(relay.Function(function.params, function.body)), target="llvm")

    with registered("thrower", fails), registered("worker", works):
        found = compared(tvm.IRModule.from_expr(relay.exp(var("x", 8))), ["llvm", "thrower", "worker"], max_seconds=5).comparison
    thrower, worker = found["functions"][0]["others"]
    assert thrower["verdict"] == "not measured" and "no idea" in thrower["why"]
    assert worker["total_us"] > 0


def test_wrong_use():
    mod = network()
    with pytest.raises(ValueError, match="there is no backend `dnl`; did you mean `dnnl`"):
        tvm.compare(mod, ["llvm", "dnl"])
    with pytest.raises(ValueError, match="two backends at least"):
        tvm.compare(mod, ["llvm"])
    with pytest.raises(ValueError, match="compared with itself"):
        tvm.compare(mod, ["llvm", "llvm"])
    with pytest.raises(ValueError, match="threads is positive"):
        tvm.compare(mod, ["llvm", "dnnl"], threads=0)


def test_interrupted():
    calls = []

    def stop(phase, done, total, left):
        calls.append(phase)
        if phase == "comparing functions" and done == 1:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        compared(network(), ["llvm", "dnnl"], progress=stop)
    assert "comparing functions" in calls


def test_time_that_is_over():
    found = compared(network(), ["llvm", "dnnl"], max_seconds=0.001).comparison
    assert "the time for measuring was over" in {each.get("why") for each in found["functions"]}
