"""examples/*.py: each under 80 lines, run as a user runs it, with what it prints."""
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@functools.lru_cache(maxsize=None)
def lines_of(name, *arguments):
    done = subprocess.run([sys.executable, "-m", "baton.tvm", str(EXAMPLES / name), *arguments], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL, timeout=580)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_is_short(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80 and f"python -m baton.tvm examples/{path.name}" in text


def between(lines, first, last=None):
    """The lines behind the one that begins with `first`, up to the one that begins with `last`."""
    start = next(i for i, line in enumerate(lines) if line.startswith(first)) + 1
    end = next((i for i in range(start, len(lines)) if last and lines[i].startswith(last)), len(lines))
    return lines[start:end]


def test_pass_instruments():
    lines = lines_of("pass_instruments.py")
    tree = between(lines, "time per pass", "what changed")
    assert tree[0].startswith("sequential: ") and "\tConvertLayout: " in "\n".join(tree) and any(line.startswith("\t\tInferType: ") for line in tree)
    changes = between(lines, "what changed", "the second")
    assert "  CanonicalizeOps {'add': 1, 'nn.bias_add': -1}" in changes
    assert changes[-1] == "sequential {'add': 20, 'layout_transform': 2, 'multiply': 19, 'nn.batch_norm': -19, 'nn.bias_add': -1}"
    said = lambda *parts: ["  " + part for part in parts]  # noqa: E731
    everyone = lambda point: [f"{who}: {point}" for who in "abc"]  # noqa: E731
    failing = "b: run_before_pass raises"
    assert between(lines, "the second of three fails in enter", "the second of three fails in exit") == said(
        "a: enter_pass_ctx", "b: enter_pass_ctx raises", "a: exit_pass_ctx", "caught: b in enter_pass_ctx")
    assert between(lines, "the second of three fails in exit", "the second of three fails in run") == said(
        *everyone("enter_pass_ctx"), *everyone("should_run"), *everyone("run_before_pass"), *everyone("run_after_pass"),
        "a: exit_pass_ctx", "b: exit_pass_ctx raises", "caught: b in exit_pass_ctx")
    body = [*everyone("enter_pass_ctx"), *everyone("should_run"), "a: run_before_pass", failing]
    assert between(lines, "the second of three fails in run", "the same") == said(
        *body, *everyone("exit_pass_ctx"), "caught: b in run_before_pass")
    assert between(lines, "the same without", "nobody") == said(*body, "caught: b in run_before_pass")
    assert between(lines, "nobody left") == said(*everyone("exit_pass_ctx"))


def test_pass_infrastructure():
    lines = lines_of("pass_infrastructure.py")
    half, twice = "multiply add nn.relu", "multiply add nn.relu multiply add nn.relu add"
    assert lines[1:4] == [f"folded: {twice}", f"shared: {half} add", f"fused: one function of {half} add"]
    assert [each.rsplit(": ", 1)[1] for each in lines[4:8]] == [lines[0].split(": ")[1], f"{half} add", twice, twice]
    assert lines[8] == f"ScaleConstants, level 1: {twice}; 12.0 became 36.0"
    assert [each for each in lines[9:] if "InferType" not in each] == [
        "  runs sequential", "  runs FoldConstant", "  runs EliminateCommonSubexpr"]


def test_quick_start():
    lines = lines_of("quick_start.py", "32")
    assert lines[0].endswith("result Tensor[(1, 1000), float32]") and lines[1].startswith("the probabilities sum up to 1.0")
    assert lines[2:] == ["saved: ['deploy_lib.tar']", "the saved library computes the same"]


def test_training():
    for line, name in zip(lines_of("training.py", "300"), ("mlp", "convnet")):
        first, last, right = map(float, re.fullmatch(name + r": loss ([\d.]+) -> ([\d.]+); (\d+) % of new images right", line).groups())
        assert last < first / 3 and right >= 70, line


def test_relay_viz():
    lines = lines_of("relay_viz.py")
    assert lines[1:3] == ["@main", "`--Function params: data, weight, offset"] and any("(see 1) nn.relu" in each for each in lines)
    assert sum(each.endswith("nn.conv2d <-- heavy") for each in lines) == 1
    assert lines[-2:] == ["@main: 8 nodes, 8 edges", "@shift: 4 nodes, 3 edges"]


def test_byoc_vgg11():
    lines = lines_of("byoc_vgg11.py")
    names = [f"tvmgen_default_cuda_main_{number}" for number in (0, 3, 6, 11, 16, 21, 23, 25)]
    assert lines[:3] == [" ".join(["8 regions:", *names]), "built by relay.ext.cuda: 8", "same result: True"]
    conv = "nn.conv2d+nn.bias_add+nn.relu"
    rows = [re.fullmatch(r"  (\S+) +\d+ us  (\S+)", line).groups() for line in between(lines, "what runs in each region")]
    assert rows == list(zip(names, [conv, conv, *["+".join([conv, conv])] * 3, *["nn.dense"] * 3]))


def test_profile_outputs(tmp_path):
    lines = lines_of("profile_outputs.py", "mlp", str(tmp_path))
    written = [line.split(" ", 1)[1] for line in lines if line.startswith("wrote ")]
    assert sorted(written) == sorted(str(path) for path in tmp_path.iterdir()) and len(written) == 10
    slowest = between(lines, "slowest operators", "what optimisation")
    times = [float(line.split()[0]) for line in slowest]
    assert len(times) == 5 and times == sorted(times, reverse=True) and "nn.dense Tensor[(1, " in slowest[0]
    fusion = between(lines, "what optimisation", "kernels sum")
    assert len(fusion) == 4 and all(re.search(r"-> [0-9.]+ us in \d+ -> \d+ kernels: \w", line) for line in fusion)


def test_relay_profile():
    lines = lines_of("relay_profile.py", "mlp")
    rows = between(lines, "operator -> kernel", "operator, as")
    assert any(re.match(r" +[0-9.]+ us  tvmgen_default_fused_nn_.*dense", line) for line in rows)
    assert any(line.rstrip().endswith("nn.dense") for line in rows)
    names = [line.split(" x ")[1] for line in between(lines, "operator, as", "without time")]
    assert {"nn.dense", "nn.softmax"} <= set(names)
    assert "every operator accounted for: True" in lines


def test_graph_and_back():
    lines = lines_of("graph_and_back.py")
    assert lines[1:3] == ["  tvmgen_default_fused_nn_conv2d_nn_bias_add_nn_relu: nn.conv2d (line 3), nn.bias_add (line 4), nn.relu (line 5)",
                          "  tvmgen_default_fused_nn_max_pool2d: nn.max_pool2d (line 6)"]
    assert lines[3] == "the function of tvmgen_default_fused_nn_conv2d_nn_bias_add_nn_relu" and "Primitive=1" in lines[4]
    assert "built alone: tvmgen_default_fused_nn_conv2d_nn_bias_add_nn_relu" in lines
    assert lines[-2] == "alone and in the network it computes the same: True"
    assert lines[-1].endswith("['nn.bias_add', 'nn.conv2d', 'nn.relu']")


def test_the_notebook_of_the_store(tmp_path):
    pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    cells = json.loads((EXAMPLES / "store.ipynb").read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code"), "outputs are not kept in the tree"
    query = next(source for source in sources if "kernel_size" in source)
    assert len(query.splitlines()) <= 10, "the documented query"
    # Values of a cell's last line are shown by a notebook; here they are only computed.
    (tmp_path / "notebook.py").write_text("\n".join([*sources, "print(len(frame), 'convolutions of', *sorted(set(frame['target'])))",
                                                    "assert (frame['flops'] > 0).all() and (frame['median_us'] > 0).all()"]), encoding="utf-8")
    done = subprocess.run([sys.executable, "notebook.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=580,
                          env={**os.environ, "MPLBACKEND": "Agg", "BATON_STORE": str(tmp_path / "m.db"), "MPLCONFIGDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^(\w+) (\d+) rows$", done.stdout, flags=re.M)
    assert [name for name, _ in rows] == ["resnet", "mobilenet"] and all(int(count) > 20 for _, count in rows)
    convolutions = re.search(r"^(\d+) convolutions of llvm$", done.stdout, flags=re.M)
    assert int(convolutions[1]) >= 5
    for name in ("convolutions.png", "shares.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
