"""Other processors than this one, fewer of them, and more threads than there are."""
import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

MODEL = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 20, 13, 11), float32], %w: Tensor[(24, 20, 3, 3), float32], %v: Tensor[(10, 24), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=24, kernel_size=[3, 3]));
  %1 = nn.batch_flatten(nn.global_avg_pool2d(%0));
  nn.softmax(nn.dense(%1, %v, units=10))
}
"""
QEMU = shutil.which("qemu-x86_64")


@pytest.fixture
def model(tmp_path):
    (tmp_path / "net.relay").write_text(MODEL)
    return tmp_path


def baton(*words, folder, prefix=(), cpus=None, fails=False):
    """`prefix`: a program that runs Baton; `cpus`: those that it may use."""
    done = subprocess.run([*prefix, os.environ["BATON_PROGRAM"], *words], capture_output=True, text=True, check=False, timeout=600,
                          cwd=folder, stdin=subprocess.DEVNULL, env={**os.environ, "BATON_CACHE_DIR": str(folder / "cache")},
                          preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None)
    assert (done.returncode != 0) == fails, done.stderr
    return done


def output(name, *words, folder, **how):
    baton("run", "net.relay", "--input-name", "x", "--output", f"{name}.npz", *words, folder=folder, **how)
    return np.load(folder / f"{name}.npz")["output0"]


def emulated(processor):
    return (QEMU, "-cpu", processor)


@pytest.mark.slow
@pytest.mark.skipif(not QEMU, reason="needs qemu-x86_64: install the Debian package qemu-user")
@pytest.mark.parametrize("processor", ["qemu64", "Nehalem", "SandyBridge", "Haswell"])
def test_processors_without_avx2(model, processor):
    """SSE2, SSE4, AVX, AVX2: the whole program there, with a cache that holds the kernels of this processor."""
    here = output("here", folder=model)
    before = {path.name for path in (model / "cache").rglob("*.kernel")}
    there = output("there", folder=model, prefix=emulated(processor))
    np.testing.assert_allclose(there, here, rtol=0, atol=1e-6)
    assert {path.name for path in (model / "cache").rglob("*.kernel")} > before
    np.testing.assert_array_equal(output("again", folder=model), here)


@pytest.mark.slow
@pytest.mark.skipif(not QEMU, reason="needs qemu-x86_64: install the Debian package qemu-user")
def test_an_artifact_of_a_better_processor(model):
    """It ended by an illegal instruction."""
    if "avx2" not in pathlib.Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2 to lack elsewhere")
    baton("build", "net.relay", "--input-name", "x", "-o", "net.baton", folder=model)
    baton("run", "net.baton", folder=model)
    done = baton("run", "net.baton", folder=model, prefix=emulated("Nehalem"), fails=True)
    assert "the model's kernels were built for another processor (x86-64-linux" in done.stderr
    assert "this one lacks avx, f16c, fma, avx2" in done.stderr


def test_one_processor_of_several(model):
    """As under `taskset`: one thread by default, and the same values."""
    one = {min(os.sched_getaffinity(0))}
    everywhere = output("everywhere", "--threads", "1", folder=model)
    np.testing.assert_allclose(output("one", folder=model, cpus=one), everywhere, rtol=0, atol=1e-6)
    report = json.loads(baton("profile", "net.relay", "--input-name", "x", "--json", "--repeat", "2", "--inside-ms", "1", folder=model,
                              cpus=one).stdout)
    assert report["threads"] == 1


@pytest.mark.parametrize("threads", [3, 64])
def test_more_threads_than_processors(model, threads):
    one = {min(os.sched_getaffinity(0))}
    alone = output("alone", "--threads", "1", folder=model)
    np.testing.assert_array_equal(output("many", "--threads", str(threads), folder=model), alone)
    np.testing.assert_allclose(output("many_on_one", "--threads", str(threads), folder=model, cpus=one), alone, rtol=0, atol=1e-6)
