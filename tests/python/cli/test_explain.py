"""baton explain: one map for a model and for the file that was built from it; what a file cannot tell is said."""
import json
import os
import pathlib
import subprocess

import pytest

MODELS = pathlib.Path(__file__).parent / "models"
SMALL = str(MODELS / "small.relay")
KERNEL = "tvmgen_default_fused_add_nn_relu"


def run(*arguments):
    return subprocess.run([os.environ["BATON_PROGRAM"], *arguments], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300)


def parsed(*arguments):
    done = run(*arguments, "--json")
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout)


def build(path, *arguments):
    done = run("build", *arguments, "-o", str(path))
    assert done.returncode == 0, done.stderr
    return str(path)


@pytest.fixture(scope="module", name="mlp")
def built_mlp(tmp_path_factory):
    return build(tmp_path_factory.mktemp("explain") / "mlp.baton", "mlp")


def test_a_built_file_has_the_map_of_its_model(mlp):
    of_model, of_file = parsed("explain", "mlp"), parsed("explain", mlp)
    assert of_model["artifact"] is False and of_file["artifact"] is True
    assert of_file["model"] == mlp and of_model["version"] == of_file["version"]
    assert of_model["kernels"] == of_file["kernels"]
    for one, other in zip(of_model["operators"], of_file["operators"], strict=True):
        assert one["text"] and one["steps"] is not None
        assert {**one, "text": None, "steps": None} == other


def test_every_kernel_of_a_file_says_what_it_computes(mlp):
    everything = parsed("explain", mlp)
    for row in everything["kernels"]:
        alone = parsed("explain", mlp, "--node", str(row["node"]))
        assert [each["id"] for each in alone["operators"]] == row["origins"]
        assert alone["kernels"][0]["ends"] is None
        assert {key: alone["kernels"][0][key] for key in row} == row
        assert alone["kernels"][0]["relay"] is None
        assert (alone["kernels"][0]["not_taken"] is None) == (alone["kernels"][0]["template"] is None)
        assert (alone["kernels"][0]["template"] is None) == (row["func_name"] == "__nop")


def test_code_is_said_to_be_the_same_in_both(mlp):
    node = str(parsed("explain", mlp)["kernels"][-1]["node"])
    of_model, of_file = (parsed("explain", each, "--node", node)["kernels"][0] for each in ("mlp", mlp))
    assert of_model["relay"].startswith("fn (") and "/* from=" in of_model["relay"]
    assert {key: of_model[key] for key in ("template", "params", "flops", "bytes")} == \
        {key: of_file[key] for key in ("template", "params", "flops", "bytes")}


def test_a_kernel_says_why_it_ends_also_with_an_operator_of_the_compiler():
    rows = parsed("explain", "resnet-18")["kernels"]
    made = next(row for row in rows if row["made_for"] and row["func_name"].endswith("_layout_transform"))
    assert made["reason"]
    found = parsed("explain", "resnet-18", "--node", str(made["node"]))["kernels"][0]
    assert found["ends"] == "layout_transform: `nn.contrib_conv2d_NCHWc` takes its inputs from memory"
    assert f"ends with the compiler's own {found['ends']}" in run("explain", "resnet-18", "--node", str(made["node"])).stdout


def test_what_a_file_cannot_tell_is_said(tmp_path):
    path = build(tmp_path / "small.baton", SMALL)
    done = run("explain", path, "--kernel", KERNEL)
    assert done.returncode == 0 and "an artifact does not keep the Relay of its kernels" in done.stdout and "    not " in done.stdout
    assert "Relay\n" not in done.stdout
    done = run("explain", path, "--operator", "add")
    assert done.returncode == 0 and "an artifact does not know which passes led to it" in done.stdout


def test_a_file_without_origins(tmp_path):
    path = build(tmp_path / "small.baton", SMALL, "--strip-origins")
    done = run("explain", path, "--kernel", KERNEL)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith(f"baton explain: {path}: its origins were stripped")
    assert run("run", path).returncode == 0


def test_a_file_that_is_none(tmp_path):
    (tmp_path / "text.baton").write_text("text")
    done = run("explain", str(tmp_path / "text.baton"))
    assert done.returncode == 1 and "text.baton" in done.stderr


def test_one_name_of_a_node_and_of_another_function():
    # The second node that calls a function is called like a function that is another kernel.
    rows = parsed("explain", "resnet-18")["kernels"]
    functions = {row["func_name"] for row in rows}
    both = next(row for row in rows if row["name"] in functions and row["name"] != row["func_name"])
    found = parsed("explain", "resnet-18", "--kernel", both["name"])["kernels"]
    assert {row["node"] for row in found} == {row["node"] for row in rows if row["func_name"] == both["name"]} | {both["node"]}
    assert f"is also the name of node {both['node']}, which calls another kernel" in run("explain", "resnet-18", "--kernel", both["name"]).stdout


def test_the_fused_stage_is_read_back(tmp_path):
    text = run("print", "mlp", "--stage", "fused", "--constants").stdout
    (tmp_path / "fused.relay").write_text(text)
    again = run("print", str(tmp_path / "fused.relay"), "--constants")
    assert again.returncode == 0, again.stderr
    assert again.stdout == text
    names = {row["func_name"] for row in parsed("explain", "mlp")["kernels"]} - {"__nop"}
    assert all(f"def @{name}(" in text for name in names)
    assert parsed("print", "mlp", "--stage", "fused")["stage"] == "fused"


def test_the_optimized_stage_has_the_same_kernels_without_names():
    text = run("print", "mlp", "--stage", "optimized").stdout
    assert text.count("Primitive=1") == len(parsed("explain", "mlp")["kernels"]) and "tvmgen_" not in text
