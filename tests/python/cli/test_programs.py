"""`baton profile` and `explain --bytecode` of programs of the virtual machine: rows, sums, loops, branches, curves, errors."""
import csv
import json
import os
import signal
import subprocess
import time

import baton as tvm
import numpy as np
import pytest
from baton import relay
from command_line import QUICK, baton

LOOP = """#[version = "0.0.5"]
def @loop(%i: int32, %x: Tensor[(?, 16), float32], %w: Tensor[(16, 16), float32]) -> Tensor[(?, 16), float32] {
  if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), tanh(nn.dense(%x, %w, units=16)), %w) }
}
def @main(%n: int32, %x: Tensor[(?, 16), float32], %w: Tensor[(16, 16), float32]) {
  let %y = @loop(%n, %x, %w);
  if (less(sum(%y), 1e9f)) { nn.relu(%y) } else { multiply(%y, 2f) }
}
"""
OPEN = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 16), float32], %w: Tensor[(32, 16), float32]) { nn.softmax(nn.dense(%x, %w, units=32)) }
"""


@pytest.fixture(name="loop")
def _loop(tmp_path):
    (tmp_path / "loop.relay").write_text(LOOP, encoding="utf-8")
    np.savez(tmp_path / "in.npz", n=np.int32(6), x=np.ones((3, 16), "float32"), w=np.full((16, 16), 0.1, "float32"))
    return tmp_path


@pytest.fixture(name="open_shapes")
def _open_shapes(tmp_path):
    (tmp_path / "open.relay").write_text(OPEN, encoding="utf-8")
    return tmp_path


def test_a_loop_has_its_iterations_and_branches(loop):
    report = json.loads(baton(loop, "profile", "loop.relay", "--inputs", "in.npz", "--json", *QUICK))
    program = report["program"]
    assert [part["name"] for part in program["parts"]] == ["shape code", "allocation", "arguments and results", "control"]
    assert program["loops"] == [{**program["loops"][0], "function": "loop", "line": 2, "entries": 1, "iterations": 6}]
    assert [(each["line"], each["taken"], each["not_taken"]) for each in program["branches"]] == [(3, 1, 6), (7, 1, 0)]
    assert {each["name"]: each["type"] for each in report["inputs"]} == {"n": "int32[]", "x": "float32[3, 16]", "w": "float32[16, 16]"}
    dense = next(each for each in report["kernels"] if "dense" in each["title"])
    assert dense["calls"] == 6 and dense["shapes"][0]["shapes"].startswith("float32[3, 16]")
    whole = report["profiled_us"]["median"]
    assert report["sum_us"] + sum(part["us"] for part in program["parts"]) == pytest.approx(whole, rel=0.3)


def test_the_table_names_parts_loops_and_branches(loop):
    shown = baton(loop, "profile", "loop.relay", "--inputs", "in.npz", *QUICK)
    for text in ("x6", "shape code", "control", "sum of all", "@loop, line 2", "if, line 7 in @main"):
        assert text in shown, shown
    shown = baton(loop, "profile", "loop.relay", "--inputs", "in.npz", "--all", "--by", "operator", *QUICK)
    assert "subtract" in shown


def test_curves(open_shapes):
    shown = baton(open_shapes, "profile", "open.relay", "--input-name", "x", "--shape", "x=1:64:x8,16", *QUICK,
                  "-o", "c.csv", "-o", "c.json", "-o", "c.html", "-o", "c.txt")
    assert "x=1,16" in shown and "x=64,16" in shown and "end to end" in shown
    with open(open_shapes / "c.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["value"] for row in rows} == {"1", "8", "64"}
    assert {row["kind"] for row in rows} >= {"operator", "part", "whole"}
    reports = json.loads((open_shapes / "c.json").read_text(encoding="utf-8"))
    assert [report["point"]["value"] for report in reports] == [1, 8, 64]
    for report in reports:
        of_point = [float(row["us"]) for row in rows if float(row["value"]) == report["point"]["value"] and row["kind"] != "whole"]
        assert sum(of_point) == pytest.approx(report["sum_us"] + sum(part["us"] for part in report["program"]["parts"]), rel=0.01)
    flops = [sum(kernel["flops"] for kernel in report["kernels"]) for report in reports]
    assert flops[2] == pytest.approx(64 * flops[0])
    page = (open_shapes / "c.html").read_text(encoding="utf-8")
    assert '"x=8,16"' in page and "@data@" not in page
    assert "x=8,16" in baton(open_shapes, "report", "c.json")


def test_one_build_at_one_shape(open_shapes):
    report = json.loads(baton(open_shapes, "profile", "open.relay", "--input-name", "x", "--shape", "x=5,16", "--executor", "vm", "--json", *QUICK))
    assert report["program"] and report["inputs"][0]["type"] == "float32[5, 16]"
    report = json.loads(baton(open_shapes, "profile", "open.relay", "--input-name", "x", "--shape", "x=5,16", "--json", "--no-unfused", *QUICK))
    assert "program" not in report


def test_a_shape_reaches_what_let_binds(tmp_path):
    (tmp_path / "let.relay").write_text("""#[version = "0.0.5"]
def @main(%x: Tensor[(?, 16), float32]) { let %y = nn.relu(%x); let %z = add(%y, %x); multiply(%z, %y) }
""", encoding="utf-8")
    assert "?" not in baton(tmp_path, "print", "let.relay", "--shape", "x=4,16")
    report = json.loads(baton(tmp_path, "profile", "let.relay", "--shape", "x=4,16", "--json", "--no-unfused", "--no-inside", *QUICK))
    assert "program" not in report, "it is a plan"


def test_an_onnx_file_with_a_named_extent(tmp_path):
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["m"], "dense"), helper.make_node("Relu", ["m"], ["y"], "act")], "g",
                              [helper.make_tensor_value_info("x", 1, ["n", 8])], [helper.make_tensor_value_info("y", 1, ["n", 4])],
                              [onnx.numpy_helper.from_array(np.ones((8, 4), "float32"), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    shown = baton(tmp_path, "profile", "m.onnx", "--shape", "n=2:8:x2", *QUICK)
    assert "n=2" in shown and "n=8" in shown and "dense" in shown


@pytest.mark.parametrize("args, why", [
    (["--shape", "x=9:3,16"], "the range 9:3 has no end"),
    (["--shape", "x=1:a,16"], "is no extent"),
    (["--shape", "x=1:4,16", "--executor", "graph"], "--executor graph takes constant shapes"),
    ([], "no value can be made up"),
    (["--shape", "y=1:4"], "y"),
    (["--shape", "x=1:4,16", "--compare", "llvm,dnnl"], "--compare has no effect"),
    (["--shape", "x=1:4,16", "-o", "c.parquet"], "does not say what to write"),
])
def test_bad_input(open_shapes, args, why):
    text = baton(open_shapes, "profile", "open.relay", "--input-name", "x", *args, *QUICK, code=2 if "--" in why or "range" in why or "extent" in why or "write" in why else 1)
    assert why in text, text
    assert not (open_shapes / "c.parquet").exists()


def test_bytecode_with_operators_and_times(loop):
    plain = baton(loop, "explain", "loop.relay", "--bytecode")
    assert "VM Function[0]: loop(i, x, w)" in plain and "; if, line 3" in plain and "for dense" in plain
    timed = baton(loop, "explain", "loop.relay", "--bytecode", "--time", "--inputs", "in.npz")
    assert "; x7, if, line 3" in timed and "each of 6, dense" in timed and "control" in timed.splitlines()[-1]
    assert "--time needs" in baton(loop, "explain", "loop.relay", "--time", code=2)
    assert "leave the other choices out" in baton(loop, "explain", "loop.relay", "--bytecode", "--json", code=2)


def test_standard_input_and_interrupts(loop):
    text = (loop / "loop.relay").read_text(encoding="utf-8")
    command = [os.environ["BATON_PROGRAM"], "profile", "-", "--inputs", "in.npz", *QUICK]
    done = subprocess.run(command, cwd=loop, input=text, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0 and "@loop, line 2" in done.stdout, done.stderr
    done = subprocess.run([command[0], "run", "-", "--inputs", "in.npz"], cwd=loop, input=text, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0 and "float32[3, 16]" in done.stdout, done.stderr
    # Short runs end before the profile does: what was measured is reported.
    command = [command[0], "profile", "loop.relay", "--inputs", "in.npz", "--repeat", "1000000", "--no-peaks", "--threads", "1"]
    with subprocess.Popen(command, cwd=loop, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not process.stdout.readline().startswith("lines are"):
            assert process.poll() is None
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "what was measured until then is reported" in errors and "@loop, line 2" in out


def test_pages_and_files_of_a_program(loop):
    baton(loop, "profile", "loop.relay", "--inputs", "in.npz", *QUICK, *[f"-op{suffix}" for suffix in (".html", ".json", ".csv", ".trace.json", ".explorer.json")])
    assert '"iterations":6' in (loop / "p.html").read_text(encoding="utf-8").replace(" ", "")
    assert "@loop" in baton(loop, "report", "p.json")
    assert json.loads((loop / "p.trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert "within noise" in baton(loop, "diff", "p.json", "p.json")


def test_explain_of_a_program(loop):
    shown = baton(loop, "explain", "loop.relay")
    assert "nn.dense" in shown and "computed by" in shown
    assert "tanh" in baton(loop, "explain", "loop.relay", "--operator", "nn.dense")


def test_from_python():
    exe = relay.vm.compile(tvm.parser.fromtext(LOOP), "llvm")
    inputs = {"n": np.int32(4), "x": np.ones((3, 16), "float32"), "w": np.full((16, 16), 0.1, "float32")}
    report = tvm.profile(exe, inputs=inputs, threads=1, repeat=4, peaks=False, max_seconds=1)
    assert "@loop" in report.table()
    assert next(each for each in report.kernels if "dense" in each["title"])["calls"] == 4
    with pytest.raises(tvm.TVMError, match="x has no value"):
        tvm.profile(exe, inputs={})
    with pytest.raises(tvm.TVMError, match="no parameter"):
        tvm.profile(exe, inputs={**inputs, "q": inputs["x"]})
