"""Built files of programs: run, profiled and explained without the model, as the model itself."""
import json

import numpy as np
import pytest
from command_line import QUICK, baton

LOOP = """#[version = "0.0.5"]
def @loop(%i: int32, %x: Tensor[(?, 16), float32], %w: Tensor[(16, 16), float32]) -> Tensor[(?, 16), float32] {
  if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), tanh(nn.dense(%x, %w, units=16)), %w) }
}
def @main(%n: int32, %x: Tensor[(?, 16), float32], %w: Tensor[(16, 16), float32]) {
  let %y = @loop(%n, %x, %w);
  if (less(sum(%y), 1e9f)) { argwhere(nn.relu(%y)) } else { argwhere(%y) }
}
"""
OPEN = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 16), float64], %w: Tensor[(32, 16), float64]) { nn.softmax(nn.dense(%x, %w, units=32)) }
"""


@pytest.fixture(name="files", scope="module")
def _files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program_files")
    for name, text in (("loop", LOOP), ("open", OPEN), ("plan", OPEN.replace("?", "4"))):
        (folder / f"{name}.relay").write_text(text, encoding="utf-8")
        baton(folder, "build", f"{name}.relay", "-o", f"{name}.baton", *(["--input-name", "x"] if name != "loop" else []))
    np.savez(folder / "in.npz", n=np.int32(6), x=np.ones((3, 16), "float32"), w=np.full((16, 16), 0.1, "float32"))
    return folder


def test_a_profile_is_that_of_the_model(files):
    of_file = json.loads(baton(files, "profile", "loop.baton", "--inputs", "in.npz", "--json", *QUICK))
    of_model = json.loads(baton(files, "profile", "loop.relay", "--inputs", "in.npz", "--json", *QUICK))
    assert of_file["opt_level"] is None and of_file["model"] == "loop.baton"
    for key in ("op", "line", "column", "type", "inputs"):
        assert [each[key] for each in of_file["operators"]] == [each[key] for each in of_model["operators"]]
    for key in ("name", "title", "func_name", "origins", "made_for", "reason", "calls", "flops", "bytes", "dtype"):
        assert [each.get(key) for each in of_file["kernels"]] == [each.get(key) for each in of_model["kernels"]], key
    shapes = [[[each["shapes"] for each in kernel.get("shapes", [])] for kernel in report["kernels"]] for report in (of_file, of_model)]
    assert shapes[0] == shapes[1]
    assert of_file["program"]["loops"][0]["iterations"] == 6
    assert [each["line"] for each in of_file["program"]["branches"]] == [3, 7]
    assert {name: each["relay"] for name, each in of_file["functions"].items()} == {name: each["relay"] for name, each in of_model["functions"].items()}
    assert of_file["inputs"] == of_model["inputs"]


def test_tables_pages_and_differences(files, tmp_path):
    shown = baton(files, "profile", "loop.baton", "--inputs", "in.npz", *QUICK, "-o", str(tmp_path / "p.json"), "-o", str(tmp_path / "p.html"))
    for text in ("shape code", "@loop, line 2", "if, line 7 in @main", "dense 16->16"):
        assert text in shown, shown
    assert "@loop" in baton(tmp_path, "report", "p.json")
    baton(files, "profile", "loop.relay", "--inputs", "in.npz", *QUICK, "-o", str(tmp_path / "q.json"))
    assert "dense" in baton(tmp_path, "diff", "p.json", "q.json")


def test_shapes_and_curves(files, tmp_path):
    report = json.loads(baton(files, "profile", "open.baton", "--shape", "x=5,16", "--json", *QUICK))
    assert report["inputs"][0] == {"name": "x", "type": "float64[5, 16]"}
    shown = baton(files, "profile", "open.baton", "--shape", "x=1:64:x8,16", *QUICK, "-o", str(tmp_path / "c.csv"))
    assert "x=64,16" in shown and "end to end" in shown and "x=64,16" in (tmp_path / "c.csv").read_text(encoding="utf-8")
    assert "float64[0, 32]" in baton(files, "run", "open.baton", "--shape", "x=0,16")
    assert "float64[7, 32]" in baton(files, "run", "open.baton", "--shape", "x=7,16")


def test_explain(files):
    assert baton(files, "explain", "loop.baton") == baton(files, "explain", "loop.relay")
    shown = baton(files, "explain", "loop.baton", "--operator", "tanh")
    assert "dense" in shown and "line 3" in shown
    plain = baton(files, "explain", "loop.baton", "--bytecode")
    assert plain == baton(files, "explain", "loop.relay", "--bytecode")
    timed = baton(files, "explain", "loop.baton", "--bytecode", "--time", "--inputs", "in.npz")
    assert "; x7, if, line 3" in timed and "each of 6, dense" in timed and "control" in timed.splitlines()[-1]
    assert "x=3,16" not in plain
    timed = baton(files, "explain", "open.baton", "--bytecode", "--time", "--shape", "x=3,16")
    assert "dense" in timed


REGION = """#[version = "0.0.5"]
def @body(%a: Tensor[(?, 4), float32], Compiler="mirror", global_symbol="body", Primitive=1, Inline=1) -> Tensor[(?, 4), float32] {
  tanh(%a)
}
def @main(%x: Tensor[(?, 4), float32], %c: bool) {
  let %y = @body(%x);
  if (%c) { argwhere(nn.relu(%y)) } else { argwhere(add(%y, %x)) }
}
"""


def test_fallbacks_have_their_reasons(tmp_path):
    (tmp_path / "m.relay").write_text(REGION, encoding="utf-8")
    (tmp_path / "d.relay").write_text(OPEN.replace("float64", "float32"), encoding="utf-8")
    for name, options in (("m", []), ("d", ["--input-name", "x", "--target", "mirror"])):
        baton(tmp_path, "build", f"{name}.relay", *options, "-o", f"{name}.baton")
        assert baton(tmp_path, "explain", f"{name}.baton") == baton(tmp_path, "explain", f"{name}.relay", *options)
    shown = baton(tmp_path, "explain", "m.baton")
    assert "falls back: mirror does not compile region `body`: it makes code for constant shapes" in shown
    assert "falls back: the compiler evaluates it at the extents of each run: the extents of its result do not follow" in shown
    assert "falls back: the processor computes it, and no device: it has extents" in baton(tmp_path, "explain", "d.baton", "--operator", "nn.softmax")
    kernels = json.loads(baton(tmp_path, "explain", "m.baton", "--json"))["kernels"]
    assert sum("fallback" in each for each in kernels) == 4 and any("fallback" not in each for each in kernels)
    listing = baton(tmp_path, "explain", "m.baton", "--bytecode")
    assert "; falls back: mirror does not compile" in listing and listing == baton(tmp_path, "explain", "m.relay", "--bytecode")
    kernel = next(each for each in kernels if "tanh" in each["func_name"])["func_name"]
    for model in ("m.baton", "m.relay"):
        facts = json.loads(baton(tmp_path, "explain", model, "--kernel", kernel, "--json"))["kernels"][0]
        assert facts["not_taken"] and facts["template"], model
        assert "    not " in baton(tmp_path, "explain", model, "--kernel", kernel)


@pytest.fixture(name="named", scope="module")
def _named(tmp_path_factory):
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    folder = tmp_path_factory.mktemp("named_extents")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["m"], "dense"), helper.make_node("Concat", ["m", "y"], ["c"], "both", axis=0),
         helper.make_node("Exp", ["c"], ["e"], "exp"), helper.make_node("Softmax", ["e"], ["z"], "rows")], "g",
        [helper.make_tensor_value_info("x", 1, ["rows of x", 8]), helper.make_tensor_value_info("y", 1, ["m", 4])],
        [helper.make_tensor_value_info("z", 1, ["k", 4])], [onnx.numpy_helper.from_array(np.ones((8, 4), "float32"), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    baton(folder, "build", "m.onnx", "--input-name", "x", "--input-name", "y", "-o", "m.baton")
    baton(folder, "build", "m.onnx", "--input-name", "x", "--input-name", "y", "--strip-origins", "--most", "rows of x=64", "--most", "m=32",
          "-o", "most.baton")
    return folder


def test_extents_keep_their_names(named):
    at = ["--shape", "rows of x=5", "--shape", "m=3"]
    shown = baton(named, "run", "m.onnx", "--input-name", "x", "--input-name", "y", *at)
    (result,) = [line for line in shown.splitlines() if "float32[8, 4]" in line]
    for model in ("m.baton", "most.baton"):
        assert result in baton(named, "run", model, *at)
        assert "float32[8, 4]" in baton(named, "run", model, "--shape", "x=5,8", "--shape", "m=3")
        assert "float32[3, 4]" in baton(named, "run", model, "--shape", "rows of x=0", "--shape", "m=3")
        error = baton(named, "run", model, "--shape", "rows of y=5", code=1)
        assert '"rows of y" is no parameter of @main and no variable of an extent' in error and 'did you mean "rows of x"' in error
        assert "rows of x cannot be both" in baton(named, "run", model, "--shape", "x=5,8", "--shape", "rows of x=6", code=1)
    baton(named, "profile", "m.baton", "--shape", "rows of x=2:8:x2", "--shape", "m=3", "-o", "c.json", *QUICK)
    reports = json.loads((named / "c.json").read_text(encoding="utf-8"))
    assert [report["point"]["name"] for report in reports] == ["rows of x=2", "rows of x=4", "rows of x=8"]
    assert "dense" in baton(named, "explain", "m.baton", "--bytecode", "--time", *at)
    np.savez(named / "wrong.npz", x=np.ones((3, 7), "float32"), y=np.ones((1, 4), "float32"))
    assert "expected Tensor[(rows of x, 8), float32]" in baton(named, "run", "m.baton", "--inputs", "wrong.npz", code=1)


def test_bounds_of_extents(named):
    assert "float32[96, 4]" in baton(named, "run", "most.baton", "--shape", "rows of x=64", "--shape", "m=32")
    error = baton(named, "run", "most.baton", "--shape", "rows of x=65", "--shape", "m=3", code=1)
    assert "argument x is a tensor float32[65, 8]: axis 0, rows of x = 65, is above 64, the most that the program was built for" in error
    reports = [json.loads(baton(named, "profile", "m.onnx", "--input-name", "x", "--input-name", "y", "--executor", "vm", "--shape", "rows of x=1",
                                "--shape", "m=1", *more, "--json", *QUICK)) for more in ([], ["--most", "rows of x=64", "--most", "m=32"])]
    arenas = [report["memory"]["workspace_bytes"] for report in reports]
    assert arenas[0] < arenas[1] >= 96 * 4 * 4
    for wrong, why in ((["--most", "k=4"], "no extent of main's parameters is called `k`"), (["--most", "m=1,2"], "does not name an extent and a number"),
                       (["--most", "m=4", "--most", "m=5"], "two bounds: 4 and 5"), (["--most", "m"], "`m` does not name an extent"),
                       (["--specialize", "m=5", "--most", "m=4"], "kernels for m = 5 would never run: m is 4 at most")):
        assert why in baton(named, "build", "m.onnx", "--input-name", "x", "--input-name", "y", *wrong, "-o", "no.baton", code=2)
    assert not (named / "no.baton").exists()
    assert "--most has no effect" in baton(named, "run", "m.baton", "--most", "m=3", code=2)


@pytest.mark.parametrize("args, why, code", [
    (["profile", "open.baton", *QUICK], "open.baton: parameter %x has no value, and none can be made up: only for tensors of known shape; --inputs", 1),
    (["profile", "open.baton", "--shape", "n=3", *QUICK], "\"n\" is no parameter of @main and no variable of an extent", 1),
    (["profile", "open.baton", "--shape", "x=3,17", *QUICK], "axis 1 of %x is 16, not 17", 1),
    (["profile", "open.baton", "--opt-level", "2", *QUICK], "--opt-level has no effect", 2),
    (["profile", "open.baton", "--no-inside", *QUICK], "--no-inside has no effect", 2),
    (["profile", "plan.baton", "--inputs", "in.npz", *QUICK], "--inputs has no effect", 2),
    (["profile", "plan.baton", "--executor", "vm", *QUICK], "--executor has no effect", 2),
    (["explain", "plan.baton", "--bytecode"], "plan.baton has a plan, and no program of the virtual machine", 2),
    (["run", "open.baton", "--opt-level", "2"], "--opt-level has no effect", 2),
    (["run", "open.baton", "--shape", "x=3"], "%x is Tensor[(?, 16), float64], of 2 axes, not 1", 1),
])
def test_what_is_refused(files, args, why, code):
    assert why in baton(files, *args, code=code)


def test_stripped_and_damaged_files(files, tmp_path):
    baton(files, "build", "open.relay", "--input-name", "x", "--strip-origins", "-o", str(tmp_path / "bare.baton"))
    assert (tmp_path / "bare.baton").stat().st_size < (files / "open.baton").stat().st_size
    assert "float64[2, 32]" in baton(tmp_path, "run", "bare.baton", "--shape", "x=2,16")
    assert "stripped of its origins" in baton(tmp_path, "profile", "bare.baton", "--shape", "x=2,16", *QUICK, code=1)
    assert "stripped" in baton(tmp_path, "explain", "bare.baton", code=1)
    whole = (files / "open.baton").read_bytes()
    for name in (b"functions.json", b"origins.json", b"graph.json", b"program"):
        at = whole.index(name + b"\0")
        offset = int.from_bytes(whole[at + 32:at + 40], "little")
        damaged = bytearray(whole)
        damaged[offset + 20] ^= 4
        (tmp_path / "damaged.baton").write_bytes(damaged)
        for command in (["profile", "damaged.baton", "--shape", "x=2,16", *QUICK], ["explain", "damaged.baton"]):
            assert "damaged" in baton(tmp_path, *command, code=1)
