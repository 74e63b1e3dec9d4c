"""Simulated devices in Python: partitioned programs, what is left to the host and why, times by device sheets, baton.targets()."""
import json
import os
import re

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from baton.relay.op.contrib import sim
from baton.relay.op.contrib.partition import operators, partition_for, refusals

SHEET = {"name": "py_sheet", "doc": "for tests", "memory": {"bytes": 1 << 22, "gbytes_per_s": 10}, "launch_us": 4,
         "link": {"latency_us": 7, "gbytes_per_s": 1}, "element_types": ["float32"], "gops": {"dense": 100, "nn.relu": 10}}
NET = """#[version = "0.0.5"]
def @main(%x: Tensor[(16, 32), float32], %w: Tensor[(8, 32), float32]) {
  %0 = exp(%x);
  %1 = nn.dense(%0, %w, units=8);
  %2 = nn.relu(%1);
  nn.softmax(%2)
}"""


def arrays():
    random = np.random.default_rng(3)
    return {"x": random.uniform(-1, 1, (16, 32)).astype("float32"), "w": random.uniform(-1, 1, (8, 32)).astype("float32")}


def run(lib, given):
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.run(**given)
    return module.get_output(0).numpy()


@pytest.fixture
def sheet(tmp_path):
    def write(**changes):
        path = tmp_path / "sheet.json"
        path.write_text(json.dumps({**SHEET, **changes}))
        return str(path)

    return write


def test_partitioned_programs_are_right_and_simulated(sheet):
    target = f"sim -sheet={sheet()}"
    mod = partition_for(tvm.parser.fromtext(NET), target)
    assert [var.name_hint for var in mod.functions if var.name_hint != "main"] == ["tvmgen_default_sim_py_sheet_main_0"]
    lib = relay.build(mod, target=["llvm", target])
    expected = run(relay.build(tvm.parser.fromtext(NET), target="llvm"), arrays())
    np.testing.assert_allclose(run(lib, arrays()), expected, rtol=1e-5)
    report = tvm.profile(lib, arrays(), inside=False, seconds=0.05)
    rows = [row for row in report.kernels if row.get("simulated")]
    assert {row["simulated"] for row in rows} == {"sim_py_sheet"} and all(row["origins"] or row["made_for"] for row in rows)
    copies = sorted(row["median_us"] for row in rows if row["func_name"] == "__copy")
    # To the device go exp's result and the weight, back the layer's: 7 us, and 1 GB/s.
    assert copies == pytest.approx([7 + 0.512, 7 + 1.024, 7 + 2.048])
    kernel = next(row for row in rows if row["func_name"] != "__copy")
    assert kernel["median_us"] == pytest.approx(4 + max(2 * 16 * 32 * 8 / 100e3 + 16 * 8 / 10e3, (16 * 32 + 8 * 32 + 16 * 8) * 4 / 10e3))
    for text in (str(report), report.json(), report.csv() if hasattr(report, "csv") else "simulated"):
        assert "simulated" in text
    assert any("simulated, not measured" in note for note in json.loads(report.json())["notes"])


def test_the_unfused_build_is_for_the_same_targets():
    lib = relay.build(tvm.parser.fromtext(NET), target="sim -sheet=big_core")
    report = tvm.profile(lib, arrays(), inside=False, unfused=True, seconds=0.05)
    assert len(report.unfused) == 4 and {row["simulated"] for row in report.unfused} == {"sim_big_core"}


def test_two_in_one_program():
    mod = partition_for(partition_for(tvm.parser.fromtext(NET), "sim -sheet=in_memory"), "sim -sheet=big_core")
    lib = relay.build(mod, target=["llvm", "sim -sheet=in_memory", "sim -sheet=big_core"])
    nodes = json.loads(lib.get_graph_json())["nodes"]
    assert {node["attrs"].get("backend") for node in nodes if node["op"] == "tvm_op"} >= {"sim_in_memory", "sim_big_core"}
    expected = run(relay.build(tvm.parser.fromtext(NET), target="llvm"), arrays())
    np.testing.assert_allclose(run(lib, arrays()), expected, rtol=1e-5)


def test_what_is_left_to_the_host_has_a_reason():
    mod = tvm.parser.fromtext(NET)
    assert [(call.op.name, why) for call, why in sim.refusals(mod, "npu")] == [
        ("exp", "npu has no elements of type float32"), ("nn.dense", "npu has no elements of type float32"),
        ("nn.relu", "npu has no elements of type float32"), ("nn.softmax", "`nn.softmax` is not mapped to sim_npu")]
    assert [call.op.name for call, _ in refusals(mod, "sim -sheet=in_memory")] == ["exp", "nn.relu", "nn.softmax"]
    assert "nn.dense" in operators("sim -sheet=in_memory") and "exp" not in sim.operators("in_memory")
    assert refusals(mod, "opencl") == [] and operators("opencl") == []


def test_int8_goes_to_the_npu():
    x, w = relay.var("x", shape=(1, 8, 10, 10), dtype="int8"), relay.var("w", shape=(4, 8, 3, 3), dtype="int8")
    conv = relay.qnn.op.conv2d(x, w, relay.const(0), relay.const(0), relay.const(0.1), relay.const(0.2), kernel_size=(3, 3), channels=4)
    mod = tvm.IRModule.from_expr(relay.qnn.op.requantize(conv, relay.const(0.02), relay.const(0), relay.const(0.5), relay.const(0), out_dtype="int8"))
    given = {"x": np.arange(-128, 672).reshape(1, 8, 10, 10).astype("int8"), "w": np.arange(288).reshape(4, 8, 3, 3).astype("int8")}
    lib = relay.build(sim.partition_for_sim(mod, "npu"), target=["llvm", "sim -sheet=npu"])
    kernels = [node["attrs"] for node in json.loads(lib.get_graph_json())["nodes"] if node["op"] == "tvm_op"]
    assert any(each.get("backend") == "sim_npu" for each in kernels)
    np.testing.assert_array_equal(run(lib, given), run(relay.build(mod, target="llvm"), given))


def test_a_program_may_say_what_is_where():
    x = relay.var("x", shape=(3, 4))
    there = relay.annotation.on_device(relay.exp(x), tvm.device("sim_fast_gpu"))
    lib = relay.build(tvm.IRModule.from_expr(relay.tanh(there)), target={"cpu": "llvm", "sim_fast_gpu": "sim -sheet=fast_gpu"})
    given = {"x": np.ones((3, 4), "float32")}
    np.testing.assert_allclose(run(lib, given), np.tanh(np.exp(given["x"])), rtol=1e-5)
    assert tvm.device("sim -sheet=npu").device_type >= 1024


def test_resnet_18_on_the_fast_gpu():
    mod, params = relay.testing.resnet.get_workload(num_layers=18, image_shape=(3, 32, 32), num_classes=10)
    given = {"data": np.random.default_rng(0).uniform(size=(1, 3, 32, 32)).astype("float32")}
    target = "sim -sheet=fast_gpu"
    lib = relay.build(partition_for(mod, target, params=params), target=["llvm", target])
    np.testing.assert_allclose(run(lib, given), run(relay.build(mod, target="llvm", params=params), given), rtol=1e-4, atol=1e-5)


def test_no_room_is_an_error_and_the_process_goes_on(sheet):
    target = f"sim -sheet={sheet(name='tiny_sheet', memory={'bytes': 3000, 'gbytes_per_s': 1})}"
    mod = tvm.parser.fromtext(NET)
    assert "its tensors have 3584 bytes" in next(why for call, why in refusals(mod, target) if call.op.name == "nn.dense")
    small = tvm.parser.fromtext('#[version = "0.0.5"]\ndef @main(%x: Tensor[(400,), float32]) { nn.relu(%x) }')
    with pytest.raises(tvm.TVMError, match=re.escape("its tensors have 3200 bytes, the memory of tiny_sheet 3000")):
        relay.build(small, target=target)
    two = tvm.parser.fromtext("""#[version = "0.0.5"]
def @main(%x: Tensor[(300,), float32], %y: Tensor[(300,), float32]) { (nn.relu(%x), nn.relu(%y)) }""")
    lib = relay.build(two, target=target)
    with pytest.raises(tvm.TVMError, match=re.escape("the device `tiny_sheet (simulated)` has no memory for")):
        graph_executor.GraphModule(lib["default"](tvm.cpu()))
    np.testing.assert_allclose(run(relay.build(mod, target="llvm"), arrays()).sum(), 16, rtol=1e-4)


def test_bad_sheets_and_names(sheet, tmp_path):
    for changes, message in (({"launch_us": -1}, "`launch_us` is -1"), ({"gops": {"densee": 1}}, "did you mean `dense`?"),
                             ({"link": {"latency_us": 1, "gbytes_per_s": 0}}, "`link.gbytes_per_s` is 0"), ({"speed": 1}, "there is no key `speed`")):
        with pytest.raises(tvm.TVMError, match=re.escape(message)):
            partition_for(tvm.parser.fromtext(NET), f"sim -sheet={sheet(**changes)}")
    broken = tmp_path / "broken.json"
    broken.write_text('{"name": "x",\n "doc": }')
    with pytest.raises(tvm.TVMError, match="it is no JSON: line 2"):
        relay.build(tvm.parser.fromtext(NET), target=f"sim -sheet={broken}")
    with pytest.raises(tvm.TVMError, match="did you mean `npu`"):
        relay.build(tvm.parser.fromtext(NET), target="sim -sheet=npuu")


def test_targets_lists_what_is_there():
    survey = tvm.targets(quick=True)
    names = {each["name"]: each for each in survey["targets"]}
    assert names["llvm"]["runs"] and names["sim_npu"]["device"]["simulated"] and survey["links"] == []
    assert names["sim_dsp"]["device"]["memory_bytes"] == 2 << 20
    assert names["llvm"]["device"]["memory_bytes"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if names["opencl"]["runs"]:
        assert names["opencl"]["device"]["memory_bytes"] > 1 << 26
    assert all(each["runs"] or each["why_not"] for each in survey["targets"])
    with pytest.raises(tvm.TVMError, match="there is no device sheet"):
        tvm.targets("sim -sheet=none", quick=True)


def test_targets_measures_once_a_day(sheet):
    target = f"sim -sheet={sheet(name='survey_sheet')}"
    first = tvm.targets(target, threads=1)
    assert tvm.targets(target, threads=1) == first, "from the cache"
    devices = {each["name"]: each["device"]["measured"] for each in first["targets"] if "device" in each}
    assert devices["sim_survey_sheet"]["peak_gops"]["any"]["median"] == 100
    links = {(each["from"], each["to"]): each for each in first["links"]}
    there = links["llvm", "sim_survey_sheet"]
    assert there["simulated"] and there["latency_us"]["median"] == pytest.approx(7 + 64e-3)
    assert there["gbytes_per_s_1mb"]["median"] == pytest.approx(2**20 / (7e3 + 2**20))
    assert there["gbytes_per_s_64mb"] is None, "the device is smaller"
    assert devices["llvm"]["launch_us"]["samples"] > 1
