"""Reports by module and by source: their sums against the whole run, and what every output says of modules and lines."""
import csv
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import threading

import baton as tvm
import numpy as np
import pytest
from baton import relay
from onnx_fields import field, integer, node, tensor, value

QUICK = ["--repeat", "8", "--inside-ms", "2", "--no-unfused", "--no-peaks"]
LAYERS = 3

FUNCTIONS = """#[version = "0.0.5"]
def @norm(%x: Tensor[(8, 64), float32], Inline=1) -> Tensor[(8, 64), float32] {
  divide(%x, 3f)
}

def @block(%x: Tensor[(8, 64), float32], %w: Tensor[(64, 64), float32], Inline=1) -> Tensor[(8, 64), float32] {
  %0 = nn.dense(%x, %w, units=64);
  @norm(nn.relu(%0))
}

def @main(%x: Tensor[(8, 64), float32], %w: Tensor[(64, 64), float32]) {
  tanh(@block(%x, %w))
}
"""

BUILT = """import sys
import baton
from baton import relay


@baton.module("act")
def act(x):
    return relay.nn.relu(x)


def net():
    x = relay.var("x", shape=(8, 64))
    with baton.module("encoder"):
        for i in range(3):
            with baton.module(f"layer{i}"):
                x = act(relay.nn.dense(x, relay.var(f"w{i}", shape=(64, 64))))
    return baton.IRModule.from_expr(relay.Function(relay.analysis.free_vars(x), relay.tanh(x)))


lib = relay.build(net(), "llvm")
baton.profile(lib, repeat=8, inside_ms=2, unfused=False, peaks=False).save(sys.argv[1])
"""


def exported(folder, with_metadata=True):
    """A network as torch.onnx writes it, three layers alike, beside its Python."""
    lines = ["class Layer:", "    def forward(self, x):", "        x = self.linear(x)", "        return relu(x)", ""]
    program = folder / "net.py"
    program.write_text("\n".join(lines), encoding="utf-8")
    random = np.random.default_rng(0)

    def made(op, inputs, output, scopes, line):
        metadata = [("pkg.torch.onnx.name_scopes", str(scopes)),
                    ("pkg.torch.onnx.stack_trace", f'File "{program}", line {line}, in forward\n    {lines[line - 1].strip()}\n'
                     f'  File "/usr/lib/python3/dist-packages/torch/nn.py", line 9, in forward\n    return f(x)')]
        name = "/".join(["", *scopes[1:-1], op])
        return node(op, inputs, [output], name, metadata if with_metadata else ())

    graph, data = b"", "x"
    for i in range(LAYERS):
        layer = ["", "layers", f"layers.{i}"]
        graph += made("MatMul", [data, f"w{i}"], f"m{i}", [*layer, f"layers.{i}.linear", "linear"], 3)
        graph += made("Relu", [f"m{i}"], f"r{i}", [*layer, "relu"], 4)
        graph += tensor(f"w{i}", random.normal(size=(64, 64)).astype("float32"))
        data = f"r{i}"
    graph += node("Tanh", [data], ["y"], "end")
    path = folder / "net.onnx"
    path.write_bytes(integer(1, 8) + field(8, integer(2, 17)) + field(7, graph + value(11, "x", [8, 64]) + value(12, "y", [8, 64])))
    return path


def baton(*arguments, cwd=None):
    done = subprocess.run([os.environ["BATON_PROGRAM"], *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def torch_net(tmp_path_factory):
    folder = tmp_path_factory.mktemp("torch")
    exported(folder)
    baton("profile", "net.onnx", *QUICK, "-o", "p.json", "-o", "p.csv", "-o", "p.trace.json", "-o", "p.explorer.json", cwd=folder)
    return folder


def of_path(report, path):
    return next(each for each in report["modules"] if each["path"] == path)


def check_sums(report):
    """By module and by line, as far as both are known, exactly the sum of the kernels; with the residual the whole run."""
    whole, residual = report["end_to_end_us"]["median"], report["residual_us"]
    kernels = sum(each["median_us"] for each in report["kernels"])
    assert abs(kernels + residual - whole) < 1e-6 * whole
    rows = report["modules"]
    if rows:
        assert abs(rows[0]["us"] + residual - whole) < 1e-6 * whole
    for i, row in enumerate(rows):
        parts = row["own_us"] + row["rest_us"] + row["added_us"] + sum(each["us"] for each in rows if each["parent"] == i)
        assert abs(parts - row["us"]) < 1e-6 * whole, row
    lines = sum(each["us"] for each in report["lines"])
    assert lines < kernels * (1 + 1e-6)
    ids = sorted(i for each in rows for i in each["operators"])
    assert not rows or ids == list(range(len(report["operators"]))), "every operator is of one module"


def test_modules_and_lines_of_an_exported_file(torch_net):
    report = json.loads((torch_net / "p.json").read_text())
    check_sums(report)
    assert of_path(report, "layers/1/linear")["operators"] == [2]
    assert {each["alike"] for each in report["modules"] if each["path"] in ("layers/0", "layers/1", "layers/2")} == {LAYERS}
    row = report["operators"][0]
    assert row["module"] == "layers/0/linear" and row["source"] == "/layers/layers.0/layers.0.linear/MatMul"
    assert row["source_line"] == {"file": str(torch_net / "net.py"), "line": 3, "function": "forward", "text": "x = self.linear(x)"}
    assert report["operators"][-1]["module"] is None and report["operators"][-1]["source_line"] is None
    assert [each["file"] for each in report["sources"]] == [str(torch_net / "net.py")]
    assert [each["line"] for each in report["lines"]] == [3, 4] and len(report["lines"][0]["operators"]) == LAYERS


def test_tables_of_all_views(torch_net):
    text = baton("report", "p.json", "--by", "module", cwd=torch_net)
    assert "0 .. 2  x3 alike" in text and "outside kernels" in text and "linear" in text
    assert "1  x3 alike" in baton("report", "p.json", "--by", "module", "--all", cwd=torch_net)
    text = baton("report", "p.json", "--by", "source", cwd=torch_net)
    assert "net.py" in text and "x = self.linear(x)" in text and "def forward" in text
    (torch_net / "net.py").rename(torch_net / "gone.py")  # the text came with the report
    assert text == baton("report", "p.json", "--by", "source", cwd=torch_net)
    assert "tanh 8x64, end" in baton("report", "p.json", "--by", "operator", cwd=torch_net)
    assert "kernels, the longest first" in baton("report", "p.json", "--by", "kernel", cwd=torch_net)
    text = baton("diff", "p.json", "p.json", "--by", "module", cwd=torch_net)
    assert "  layers" in text and "1.00x" in text


def test_files_have_modules_and_lines(torch_net):
    with open(torch_net / "p.operators.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows[2]["module"] == "layers/1/linear" and rows[2]["source_line"].endswith("net.py:3") and rows[-1]["module"] == ""
    events = json.loads((torch_net / "p.trace.json").read_text())["traceEvents"]
    visits = [each for each in events if each.get("cat") == "module"]
    assert [each["args"]["module"] for each in visits if each["name"] in "012"] == [f"layers/{i}" for i in range(LAYERS)]
    graphs = {each["id"]: each["nodes"] for each in json.loads((torch_net / "p.explorer.json").read_text())["graphs"]}
    assert graphs["modules"][2]["namespace"] == "layers/1/linear"


def test_an_artifact_and_explain_keep_them(torch_net):
    baton("build", "net.onnx", "-o", "net.baton", cwd=torch_net)
    for model in "net.onnx", "net.baton":
        rows = json.loads(baton("explain", model, "--json", cwd=torch_net))["operators"]
        assert rows[2]["module"] == "layers/1/linear" and rows[2]["source_line"]["line"] == 3, model
    assert "in module layers/0\n  called at" in baton("explain", "net.onnx", "--operator", "/layers/layers.0/Relu", cwd=torch_net)
    report = json.loads(baton("profile", "net.baton", *QUICK, "--json", cwd=torch_net))
    check_sums(report)
    assert of_path(report, "layers/2")["operators"] == [5]


def written(folder, name):
    """A profile of that kind of model."""
    if name == "functions":
        (folder / "net.relay").write_text(FUNCTIONS, encoding="utf-8")
    elif name == "python":
        (folder / "net.py").write_text(BUILT, encoding="utf-8")
        subprocess.run([sys.executable, folder / "net.py", folder / "p.json"], check=True, timeout=300)
        return json.loads((folder / "p.json").read_text())
    elif name != "mlp":
        exported(folder, name == "metadata")
    model = {"functions": "net.relay", "mlp": "mlp"}.get(name, "net.onnx")
    return json.loads(baton("profile", model, *QUICK, "--json", cwd=folder))


@pytest.mark.parametrize("name, modules", [
    ("functions", {"block": 3, "block/norm": 1}), ("python", {"encoder": 6, "encoder/layer1": 2, "encoder/layer1/act": 1}),
    ("metadata", {"layers": 6, "layers/1": 2}), ("names", {"layers": 6, "layers/1/linear": 1}), ("mlp", {})])
def test_sums_by_module_and_by_line_are_the_whole_run(tmp_path, name, modules):
    report = written(tmp_path, name)
    check_sums(report)
    rows = {each["path"]: each for each in report["modules"]}
    assert bool(rows) == bool(modules)
    for path, count in modules.items():
        assert sum(len(each["operators"]) for each in rows.values() if (each["path"] + "/").startswith(path + "/")) == count, path
    if name == "python":
        lines = {(pathlib.Path(each["file"]).name, each["line"]): len(each["operators"]) for each in report["lines"]}
        assert lines == {("net.py", 8): 3, ("net.py", 16): 3, ("net.py", 17): 1}
    if name == "names":
        assert all(each["source_line"] is None for each in report["operators"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["squeezenet", "shufflenet", "resnet50", "inception_v1", "densenet121", "zfnet512"])
def test_sums_of_networks_of_onnx(tmp_path, name):
    wheel = importlib.util.find_spec("onnx")
    if not wheel:
        pytest.skip("the wheel onnx, which has these files, is not installed")
    path = pathlib.Path(wheel.origin).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"
    report = json.loads(baton("profile", path, "--repeat", "8", "--inside-ms", "5", "--no-unfused", "--max-seconds", "20", "--json", cwd=tmp_path))
    check_sums(report)


def test_what_has_no_effect_is_refused(torch_net):
    for options, why in ((["--by", "module", "--top", "3"], "in the order of the program"), (["--by", "operator", "--sort", "time"], "longest first"),
                         (["--by", "modul"], "module")):
        done = subprocess.run([os.environ["BATON_PROGRAM"], "report", "p.json", *options], cwd=torch_net, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and why in done.stderr, done.stderr


def modules_of(body):
    """The modules of the operators that `body` calls on a tensor, by operator."""
    module = tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(body), body))
    return {row["op"]: row["module"] for row in tvm.origins(relay.build(module, "llvm"))}


X = relay.var("x", shape=(4, 4))


def test_scopes_of_python_nest_and_end():
    outer = tvm.module("a/b")
    with pytest.raises(KeyError), tvm.module("lost"):
        raise KeyError
    with outer:
        y = relay.exp(X)
        with tvm.module("c"), outer:
            y = relay.tanh(y)
        y = relay.sqrt(y)
        text = tvm.parser.fromtext('#[version = "0.0.5"]\ndef @main(%x: Tensor[(4, 4), float32]) { sin(%x) }')
    assert modules_of(relay.nn.relu(y)) == {"exp": "a/b", "tanh": "a/b/c/a/b", "sqrt": "a/b", "nn.relu": None}
    assert modules_of(text["main"].body)["sin"] == "a/b"
    other = []
    with outer:
        thread = threading.Thread(target=lambda: other.append(relay.cos(X)))
        thread.start()
        thread.join()
    assert modules_of(other[0]) == {"cos": None}, "scopes are of one thread"
    for wrong, why in ((3, TypeError), ("", ValueError), ("//", ValueError)):
        with pytest.raises(why, match="module"):
            tvm.module(wrong)


def test_an_imported_file_is_within_the_scope(tmp_path):
    with tvm.module("backbone"):
        module, _ = relay.frontend.from_onnx(str(exported(tmp_path)))
    rows = tvm.origins(relay.build(module, "llvm"))
    assert rows[0]["module"] == "backbone/layers/0/linear" and rows[-1]["module"] == "backbone"


def test_modules_survive_passes_text_and_json(tmp_path):
    module, _ = relay.frontend.from_onnx(str(exported(tmp_path)))
    for again in (tvm.ir.load_json(tvm.ir.save_json(module)), tvm.transform.Sequential([relay.transform.SimplifyInference(), relay.transform.FoldConstant()])(module)):
        assert [row["module"] for row in tvm.origins(relay.build(again, "llvm"))][2] == "layers/1/linear"
