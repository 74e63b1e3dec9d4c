"""Inside times as a user gets them: on several threads, by another clock, every kernel split."""
import json
import os
import pathlib
import subprocess

import pytest

MODEL = """#[version = "0.0.5"]
def @main(%data: Tensor[(1, 16, 20, 20), float32], %weight: Tensor[(32, 16, 3, 3), float32], %bias: Tensor[(32), float32]) {
  %0 = nn.conv2d(%data, %weight, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3]);
  %1 = nn.bias_add(%0, %bias);
  %2 = nn.relu(%1);
  %3 = nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2]);
  %4 = cast(%3, dtype="float64");
  %5 = nn.batch_flatten(%4);
  nn.softmax(%5)
}
"""


def profile(folder: pathlib.Path, *arguments, model=MODEL, **environment):
    (folder / "net.relay").write_text(model)
    done = subprocess.run([os.environ["BATON_PROGRAM"], "profile", "net.relay", "--json", "--repeat", "3", "--inside-ms", "10", *arguments],
                          cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=300,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(report):
    for kernel in report["kernels"]:
        assert kernel["inside"], kernel["name"]
        named = {i for part in kernel["inside"] for i in part["ids"]}
        assert named >= set(kernel["origins"]), kernel["name"]
        for part in kernel["inside"]:
            assert part["method"] in ("whole", "markers", "ablation", "sampling")
            assert part["share"] >= 0
            assert part["us"] >= 0
            # Time that is nobody's is load, store and loop of a stage, or the compiler's own.
            assert part["ids"] or part["rest"] or not kernel["origins"] or part["label"] == "layout_transform", (kernel["name"], part)
        if not any(part["method"] == "sampling" for part in kernel["inside"]):
            assert kernel["trusted"] == (0.97 <= kernel["stage_sum"] <= 1.03)


def test_every_operator_of_every_kernel_has_a_part(tmp_path):
    report = profile(tmp_path, "--threads", "1")
    check(report)
    assert not any("on_threads" in kernel for kernel in report["kernels"])


def test_on_two_threads_it_says_what_they_did(tmp_path):
    report = profile(tmp_path, "--threads", "2")
    check(report)
    for kernel in report["kernels"]:
        on = kernel["on_threads"]
        assert on["threads"] == 2
        assert on["us"] > 0
        assert on["stages"]
        busy = sum(stage["busy_us"] for stage in on["stages"])
        assert abs(busy / (2 * on["us"]) - on["utilisation"]) < 1e-6


def test_by_the_clock_of_the_system(tmp_path):
    report = profile(tmp_path, BATON_CLOCK="system")
    check(report)
    assert report["end_to_end_us"]["median"] > 0


HEAD = '#[version = "0.0.5"]\n'
DATA = "%x: Tensor[(1, 64, 8, 96), float32]"
NORM = "%g: Tensor[(96), float32], %b: Tensor[(96), float32]"
# What computes, and what is only another way to count the same elements.
COUNTED_OTHERWISE = {
    "layer_norm, reshape": (f"{DATA}, {NORM}", "nn.layer_norm(%x, %g, %b)", "reshape(%0, newshape=[64, 768])"),
    "sigmoid, reshape": (DATA, "sigmoid(%x)", "reshape(%0, newshape=[8, 6144])"),
    "tanh, squeeze": (DATA, "tanh(%x)", "squeeze(%0, axis=[0])"),
    "exp, expand_dims": (DATA, "exp(%x)", "expand_dims(%0, axis=1, num_newaxis=2)"),
    "add, batch_flatten": (f"{DATA}, %y: Tensor[(1, 64, 8, 96), float32]", "add(%x, %y)", "nn.batch_flatten(%0)"),
    "erf, reshape, tanh": (DATA, "erf(%x)", "tanh(reshape(%0, newshape=[64, 768]))"),
}
ORDERED_OTHERWISE = {
    "tanh, transpose": (DATA, "tanh(%x)", "transpose(%0, axes=[0, 2, 1, 3])"),
    "layer_norm, transpose": (f"{DATA}, {NORM}", "nn.layer_norm(%x, %g, %b)", "transpose(%0, axes=[0, 2, 1, 3])"),
    "tanh, transpose, reshape": (DATA, "tanh(%x)", "reshape(transpose(%0, axes=[0, 2, 1, 3]), newshape=[8, 6144])"),
}


MOVES = ("reshape", "squeeze", "expand_dims", "nn.batch_flatten", "transpose")


@pytest.mark.parametrize("form", [*COUNTED_OTHERWISE, *ORDERED_OTHERWISE])
def test_arithmetic_belongs_to_the_operators_that_compute_it(tmp_path, form):
    """A kernel that ended in a reshape or a transposition gave all that its last loop computes to that.

    Which part the time of the loop belongs to is asserted here, not how long it takes: on a processor whose other
    thread is busy, what a reshape adds was measured as a fifth and as a third of the same kernel.
    """
    parameters, first, last = {**COUNTED_OTHERWISE, **ORDERED_OTHERWISE}[form]
    report = profile(tmp_path, "--threads", "1", "--no-unfused", "--no-peaks",
                     model=f"{HEAD}def @main({parameters}) {{\n  %0 = {first};\n  {last}\n}}\n")
    check(report)
    assert any(len(kernel["origins"]) > 1 for kernel in report["kernels"]), "they are not fused"
    names = {operator["id"]: operator["op"] for operator in report["operators"]}
    for kernel in report["kernels"]:
        moves = {i for i in kernel["origins"] if names[i] in MOVES}
        parts = [(set(part["ids"]), part) for part in kernel["inside"]]
        for ids, part in parts:
            if ids & moves:
                assert ids <= moves, part
                assert part["method"] == "ablation", part  # what the kernel is slower for moving, and nothing else
        computing = set(kernel["origins"]) - moves
        assert computing <= set().union(*(ids for ids, _ in parts if not ids & moves)), parts
        # What neither removal explains is the loop's, and nobody's.
        assert all(part["rest"] for ids, part in parts if not ids), parts
