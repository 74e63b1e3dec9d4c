"""`baton predict` and `baton map` of models whose extents are open: at given ones, as curves, and what is refused."""
import csv
import json

import baton as tvm
import numpy as np
import pytest
from baton import relay
from command_line import baton

OPEN = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 16), float32], %w: Tensor[(32, 16), float32]) {
  let %y = nn.dense(%x, %w, units=32);
  nn.softmax(add(%y, %y))
}
"""
MIDDLE = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, ?, 16), float32], %y: Tensor[(?, 16), float32]) { (sum(exp(%x), axis=[1]), nn.relu(%y)) }
"""
LOOP = """#[version = "0.0.5"]
def @main(%n: int32, %x: Tensor[(4, 16), float32]) -> Tensor[(4, 16), float32] {
  if (equal(%n, 0)) { %x } else { @main(subtract(%n, 1), tanh(%x)) }
}
"""
DATA = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 16), float32]) { cast(argwhere(%x), dtype="float32") }
"""
ZEN5 = ["--for-device", "zen5"]
STATIC = "these are times of kernels built for "


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predicted")
    for name, text in (("open", OPEN), ("middle", MIDDLE), ("loop", LOOP), ("data", DATA)):
        (folder / f"{name}.relay").write_text(text, encoding="utf-8")
    return folder


def test_one_point_says_which_kernels(folder):
    at = json.loads(baton(folder, "predict", "open.relay", "--input-name", "x", "--shape", "x=16,16", "--json", *ZEN5))
    assert any(STATIC + "x=16,16, as the predictor was trained with" in note for note in at["notes"])
    (folder / "static.relay").write_text(OPEN.replace("?", "16"), encoding="utf-8")
    static = json.loads(baton(folder, "predict", "static.relay", "--input-name", "x", "--json", *ZEN5))
    assert at["sum_us"] == static["sum_us"] and not any(STATIC in note for note in static["notes"])
    # A shape that the model has anyway opens nothing.
    static = json.loads(baton(folder, "predict", "static.relay", "--input-name", "x", "--shape", "x=16,16", "--json", *ZEN5))
    assert not any(STATIC in note for note in static["notes"])
    shown = baton(folder, "predict", "middle.relay", "--shape", "x=2,7,16", "--shape", "y=3,16", *ZEN5)
    assert STATIC in " ".join(shown.split()) and "exp" in shown


def test_curves(folder):
    shown = baton(folder, "predict", "open.relay", "--input-name", "x", "--shape", "x=1:64:x4,16", *ZEN5,
                  "-o", "c.csv", "-o", "c.json", "-o", "c.html", "-o", "c.txt")
    assert "x=1,16" in shown and "x=64,16" in shown and "end to end" in shown and "predicted" in shown, shown
    assert STATIC in " ".join(shown.split())
    reports = json.loads((folder / "c.json").read_text(encoding="utf-8"))
    assert [report["point"]["value"] for report in reports] == [1, 4, 16, 64]
    assert all(any(STATIC in note for note in report["notes"]) and report["predicted"] for report in reports)
    with open(folder / "c.csv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "whole"]
    assert [float(row["us"]) for row in rows] == sorted(float(row["us"]) for row in rows)
    assert "for static kernels of x=1,16" in (folder / "c.html").read_text(encoding="utf-8")
    assert rows[1]["predicted"].endswith("for static kernels of x=4,16")
    assert STATIC in " ".join((folder / "c.txt").read_text(encoding="utf-8").split())
    assert "x=16,16" in baton(folder, "report", "c.json")


def test_two_variables_of_an_onnx_file(tmp_path):
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "y"], ["m"], "product"), helper.make_node("Relu", ["m"], ["z"], "act")], "g",
                              [helper.make_tensor_value_info("x", 1, ["b", "n", 8]), helper.make_tensor_value_info("y", 1, ["b", 8, "k"])],
                              [helper.make_tensor_value_info("z", 1, ["b", "n", "k"])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    shown = baton(tmp_path, "predict", "m.onnx", "--shape", "n=2:8:x2", "--shape", "k=4:16:x2", "--shape", "b=3", *ZEN5)
    assert "n=2 k=4" in shown and "n=8 k=16" in shown and "product" in shown, shown
    assert "is Tensor[(3, n, 8), float32]" in baton(tmp_path, "predict", "m.onnx", "--shape", "b=3", *ZEN5, code=1)


@pytest.mark.parametrize("args, why, code", [
    (["open.relay"], "the parameter %x is Tensor[(?, 16), float32] (--shape gives extents: n=16, x=16,64)", 1),
    (["loop.relay"], "it has branches, calls of functions, data types or references", 1),
    (["data.relay"], "the result of argwhere, line 2, is Tensor[(?, 2), int32]", 1),
    (["open.relay", "--shape", "x=9:3,16"], "the range 9:3 has no end", 2),
    (["open.relay", "--shape", "q=3"], "q", 1),
    (["open.relay", "--shape", "x=1:4,16", "-o", "c.parquet"], "does not say what to write", 2),
])
def test_what_is_refused(folder, args, why, code):
    assert why in baton(folder, "predict", *args, *ZEN5, code=code)


def test_no_elements(folder):
    assert "end to end" in baton(folder, "predict", "open.relay", "--input-name", "x", "--shape", "x=0,16", *ZEN5)


def test_mapping_at_given_extents(folder):
    shown = baton(folder, "map", "open.relay", "--input-name", "x", "--shape", "x=64,16", "--targets", "llvm,sim_npu", "--max-seconds", "1")
    assert "open.relay over llvm, sim_npu" in shown, shown
    assert "a mapping is of one shape" in baton(folder, "map", "open.relay", "--shape", "x=1:4,16", "--targets", "llvm,sim_npu", code=2)
    for model, why in (("open", "the parameter %x is"), ("loop", "it has branches"), ("data", "the result of argwhere")):
        assert why in baton(folder, "map", f"{model}.relay", "--targets", "llvm,sim_npu", code=1)


def test_python():
    mod = tvm.parser.fromtext(OPEN)
    report = tvm.predict(mod, for_device="zen5", shapes={"x": (16, 16)})
    assert any(STATIC + "x=16,16" in note for note in report.notes)
    with pytest.raises(NotImplementedError, match="the parameter %x is"):
        tvm.predict(mod, for_device="zen5")
    x = relay.var("x", relay.TensorType((relay.Any(), 8), "float32"))
    module = tvm.IRModule.from_expr(relay.Function([x], relay.nn.relu(x)))
    times = [tvm.predict(module, for_device="zen5", shapes={"x": (n, 8)}).end_to_end_us for n in (1, 1000, np.int64(100000))]
    assert times == sorted(times)
