"""Kernels of the lengths that a program meets often, compiled while it runs."""
import threading

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.runtime import vm as vm_rt

HEAD = '#[version = "0.0.5"]\n'
LAYERS = HEAD + """
def @main(%x: Tensor[(?, 24), float32], %w: Tensor[(40, 24), float32]) {
  nn.softmax(nn.relu(nn.dense(%x, %w, units=40)))
}"""
WEIGHT = np.linspace(-1, 1, 40 * 24, dtype="float32").reshape(40, 24)


def executable(text=LAYERS, **more):
    return relay.vm.compile(tvm.parser.fromtext(text), "llvm", **more)


def rows(count):
    return np.linspace(0, 1, count * 24, dtype="float32").reshape(count, 24)


def wanted(count):
    values = np.exp(np.maximum(rows(count) @ WEIGHT.T, 0))
    return values / values.sum(axis=1, keepdims=True)


def test_what_is_met_again_gets_kernels_of_its_own():
    exe = executable()
    run = vm_rt.VirtualMachine(exe, tvm.cpu())
    assert run.run(rows(2), WEIGHT).shape == (2, 40)
    assert exe.specialized() == []
    assert exe.specialize_in_background(after_ms=0) is exe
    for count in (1, 2, 17, 0):
        for _ in range(3):
            np.testing.assert_allclose(run.run(rows(count), WEIGHT).numpy(), wanted(count), rtol=1e-5, atol=1e-6)
    made = exe.specialized(wait=60)
    assert {tuple(extents) for _, extents, why in made if not why} == {(1,), (2,), (17,)}
    assert all("fused" in kernel for kernel, _, _ in made)
    for count in (17, 3, 1, 0, 2, 17):
        np.testing.assert_allclose(run.run(rows(count), WEIGHT).numpy(), wanted(count), rtol=1e-5, atol=1e-6)


def test_measured_rows_have_the_names_that_they_had():
    exe = executable()
    run = vm_rt.VirtualMachine(exe, tvm.cpu())
    run.run(rows(2), WEIGHT)
    measured = lambda: [row[:3] for row in run._run_of("main")._call.run_measured()[2]]  # noqa: E731
    before = measured()
    exe.specialize_in_background(after_ms=0)
    run.run(rows(2), WEIGHT)
    assert len(exe.specialized(wait=60)) == 2
    assert measured() == before


def test_what_is_met_for_a_short_time_is_left():
    exe = executable()
    exe.specialize_in_background(after_ms=1e9)
    run = vm_rt.VirtualMachine(exe, tvm.cpu())
    for _ in range(100):
        run.run(rows(3), WEIGHT)
    assert exe.specialized(wait=60) == []
    exe.specialize_in_background(None)
    assert exe.specialized() == []


def test_a_program_may_end_while_its_kernels_are_compiled():
    exe = executable()
    exe.specialize_in_background(after_ms=0)
    run = vm_rt.VirtualMachine(exe, tvm.cpu())
    for count in range(1, 40):
        run.run(rows(count), WEIGHT)
    del run, exe


def test_loops_and_threads():
    text = HEAD + """
def @loop(%i: int32, %x: Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] {
  if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), concatenate((%x, tanh(%x)), axis=0)) }
}
def @main(%n: int32, %x: Tensor[(?, 4), float32]) { @loop(%n, %x) }"""
    exe = executable(text)
    exe.specialize_in_background(after_ms=0)
    interpreted = relay.create_executor("debug", tvm.parser.fromtext(text)).evaluate()
    given = np.array([[1, -2, 0.5, 3]], "float32")
    expected = interpreted(6, given).numpy()
    wrong = []

    def work():
        run = vm_rt.VirtualMachine(exe, tvm.cpu())
        for _ in range(50):
            if not np.allclose(run.run(6, given).numpy(), expected, rtol=1e-5, atol=1e-6):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    exe.specialized(wait=60)
    work()
    assert not wrong


def test_constants_may_be_given_later(tmp_path):
    exe = executable(params={"w": WEIGHT})
    exe.specialize_in_background(after_ms=0)
    constants = exe.get_late_bound_consts(1)
    exe.load_late_bound_consts_from_map(constants)
    run = vm_rt.VirtualMachine(exe, tvm.cpu())
    for _ in range(4):
        np.testing.assert_allclose(run.run(rows(5)).numpy(), wanted(5), rtol=1e-5, atol=1e-6)
        exe.specialized(wait=60)


def test_constant_shapes_have_nothing_to_specialize():
    exe = executable(LAYERS.replace("?", "3"))
    assert exe.specialize_in_background().specialized() == []


@pytest.mark.parametrize("wrong", [-1, "1", float("nan"), True])
def test_a_time_is_wanted(wrong):
    with pytest.raises(ValueError, match="after_ms is a number of milliseconds"):
        executable().specialize_in_background(wrong)


def test_a_file_has_nothing_to_compile(tmp_path):
    path = str(tmp_path / "program.so")
    executable().module.export_library(path)
    exe = vm_rt.Executable(tvm.runtime.load_module(path))
    with pytest.raises(tvm.TVMError, match="read from a file.*--specialize"):
        exe.specialize_in_background()
    exe.specialize_in_background(None)
