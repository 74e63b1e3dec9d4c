"""`baton extract` and `baton partition`: what is cut out runs alone and computes what the model computes there."""
import json
import os
import pathlib
import resource
import signal
import subprocess

import numpy as np
import pytest

MODELS = pathlib.Path(__file__).parent / "models"
RESIDUAL, CHAIN = str(MODELS / "residual.relay"), str(MODELS / "chain.relay")


def run(*arguments, cwd, limit=None, status=0):
    def no_more_than():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run([os.environ["BATON_PROGRAM"], *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=120, preexec_fn=no_more_than if limit else None)
    assert done.returncode == status, done.stderr
    return done


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def check(folder, module="cut.relay"):
    """Runs the cut on its inputs; the outputs are those that the whole model has there."""
    module = folder / module
    arrays = module.with_suffix(".npz")
    run("run", module, "--params", arrays, "--inputs", arrays, "-o", folder / "out.npz", cwd=folder)
    expected, made = np.load(arrays), np.load(folder / "out.npz")
    names = [name for name in expected if name.startswith("outputs/")]
    assert names and len(names) == len(made)
    for name in names:
        scale = max(1.0, float(np.abs(expected[name]).max()))
        np.testing.assert_allclose(made[name.removeprefix("outputs/")], expected[name], rtol=0, atol=2e-5 * scale)
    (folder / "out.npz").unlink()


@pytest.mark.parametrize("model, part", [
    (RESIDUAL, ("--operators", "%1,%2,%3")),
    (RESIDUAL, ("--operators", "nn.conv2d,nn.batch_norm,nn.relu")),
    (RESIDUAL, ("--operators", "id:0")),
    (RESIDUAL, ("--nodes", "0:3")),
    (CHAIN, ("--nodes", "fused_nn_softmax")),
    (CHAIN, ("--nodes", "x:fused_nn_softmax")),
    (CHAIN, ("--nodes", "entry:2:3")),
    (CHAIN, ("--kernel", "fused_nn_avg_pool2d")),
])
def test_parts(tmp_path, model, part):
    run("extract", model, *part, cwd=tmp_path)
    assert files(tmp_path) == ["cut.npz", "cut.relay"]
    check(tmp_path)


def test_a_block_of_resnet_18(tmp_path):
    told = json.loads(run("extract", "resnet-18", "--operators", "%10,%11,%13,%14,%15,%16,%17,%19", "-o", tmp_path / "block", "--json", cwd=tmp_path).stdout)
    assert [each["op"] for each in told["operators"]] == ["nn.conv2d", "nn.batch_norm", "nn.relu", "nn.conv2d", "nn.conv2d", "add",
                                                          "nn.batch_norm", "nn.relu"]
    assert [each["name"] for each in told["inputs"]] == ["relu_9"]
    assert [each["value_of"] for each in told["outputs"]] == ["%16 add", "%19 nn.relu"]
    check(tmp_path / "block")
    # Each verb takes the module with its arrays.
    module, arrays = tmp_path / "block" / "cut.relay", tmp_path / "block" / "cut.npz"
    assert "%stage1_unit1_conv1_weight" in run("print", module, cwd=tmp_path).stdout
    rows = json.loads(run("profile", module, "--params", arrays, "--no-inside", "--no-unfused", "--no-peaks", "--repeat", "1", "--json", cwd=tmp_path).stdout)
    assert {each["op"] for each in rows["operators"]} == {"nn.conv2d", "nn.batch_norm", "nn.relu", "add"}


def test_real_inputs_flow_to_the_cut(tmp_path):
    x = np.random.default_rng(1).uniform(-1, 1, (1, 8, 10, 10)).astype("float32")
    np.savez(tmp_path / "in.npz", x=x)
    run("extract", RESIDUAL, "--input-name", "x", "--inputs", "in.npz", "--operators", "%1", cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "cut.npz")["inputs/relu_0"], np.maximum(x, 0))


def test_a_kernel_as_it_was_built(tmp_path):
    told = json.loads(run("extract", CHAIN, "--kernel", "fused_nn_max_pool2d", "--as-built", "-o", "k/pool.relay", "--json", cwd=tmp_path,
                          status=1).stdout or "{}")
    assert told == {}, "there is no folder k"
    (tmp_path / "k").mkdir()
    told = json.loads(run("extract", CHAIN, "--kernel", "fused_nn_max_pool2d", "--as-built", "-o", "k/pool.relay", "--json", cwd=tmp_path).stdout)
    assert told["as_built"] and [each["op"] for each in told["operators"]] == ["nn.max_pool2d"]
    check(tmp_path / "k", "pool.relay")


LARGE = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, 64, 64, 64), float32]) {\n  %0 = nn.relu(%x);\n  tanh(%0)\n}\n'


def test_a_full_disk_leaves_nothing(tmp_path):
    # The kernels fit, the arrays do not.
    (tmp_path / "large.relay").write_text(LARGE)
    done = run("extract", "large.relay", "--operators", "tanh", "-o", "out", cwd=tmp_path, limit=500_000, status=1)
    assert "cut.npz: cannot be written" in done.stderr
    assert files(tmp_path / "out") == []


def test_what_was_there_survives_a_failed_cut(tmp_path):
    (tmp_path / "cut.relay").write_text("old")
    (tmp_path / "cut.npz").write_text("old")
    (tmp_path / "large.relay").write_text(LARGE)
    run("extract", "large.relay", "--operators", "tanh", cwd=tmp_path, limit=500_000, status=1)
    run("extract", RESIDUAL, "--operators", "%0,%6", cwd=tmp_path, status=1)
    assert files(tmp_path) == ["cut.npz", "cut.relay", "large.relay"]
    assert (tmp_path / "cut.relay").read_text() == (tmp_path / "cut.npz").read_text() == "old"


def test_marks_are_read_again(tmp_path):
    told = json.loads(run("partition", RESIDUAL, "--operators", "%1,%2,%3", "--compiler", "mine", "-o", "marked.relay", "--json", cwd=tmp_path).stdout)
    assert [each["op"] for each in told["operators"]] == ["nn.conv2d", "nn.batch_norm", "nn.relu"]
    again = run("opt", "marked.relay", "--passes", "MergeCompilerRegions,PartitionGraph", cwd=tmp_path).stdout
    assert '@tvmgen_default_mine_main_0(' in again and 'Compiler="mine"' in again
    at_once = run("partition", RESIDUAL, "--operators", "%1,%2,%3", "--compiler", "mine", "--partitioned", cwd=tmp_path).stdout
    assert at_once == again


def test_marks_do_not_change_what_is_computed(tmp_path):
    run("partition", RESIDUAL, "--operators", "%1,%2,%3", "--compiler", "mine", "-o", "marked.relay", cwd=tmp_path)
    run("run", RESIDUAL, "-o", "a.npz", cwd=tmp_path)
    run("run", "marked.relay", "-o", "b.npz", cwd=tmp_path)
    np.testing.assert_allclose(np.load(tmp_path / "a.npz")["output0"], np.load(tmp_path / "b.npz")["output0"], rtol=1e-4, atol=1e-5)


def test_a_region_without_its_compiler_is_not_built(tmp_path):
    run("partition", RESIDUAL, "--operators", "%1", "--compiler", "mine", "--partitioned", "-o", "p.relay", cwd=tmp_path)
    assert "relay.ext.mine" in run("build", "p.relay", cwd=tmp_path, status=1).stderr


def test_arrays_with_and_without_sections(tmp_path):
    run("extract", RESIDUAL, "--operators", "%1", cwd=tmp_path)
    arrays = dict(np.load(tmp_path / "cut.npz"))
    plain = {name.removeprefix("params/"): value for name, value in arrays.items() if name.startswith("params/")}
    np.savez(tmp_path / "plain.npz", **plain)
    assert (run("run", "cut.relay", "--params", "plain.npz", cwd=tmp_path).stdout
            == run("run", "cut.relay", "--params", "cut.npz", cwd=tmp_path).stdout)
    np.savez(tmp_path / "mixed.npz", **arrays, w=plain["w1"])
    assert 'array "w" is in no section' in run("run", "cut.relay", "--params", "mixed.npz", cwd=tmp_path, status=1).stderr
