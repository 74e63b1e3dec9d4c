"""Programs of the virtual machine with several devices: regions of backends, kernels on devices, files, machines, profiles."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.relay import transform
from baton.runtime import profiler_vm
from baton.runtime import vm as vm_rt

HEAD = '#[version = "0.0.5"]\n'
LOOP = HEAD + """
def @loop(%i: int32, %x: Tensor[(4, 4), float32], %w: Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32] {
  if (less(%i, 1)) { %x } else { @loop(subtract(%i, 1), nn.relu(nn.dense(%x, %w, units=4)), %w) } }
def @main(%i: int32, %x: Tensor[(4, 4), float32], %w: Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32] { @loop(%i, %x, %w) }"""
OPEN = HEAD + "def @main(%x: Tensor[(?, 4), float32], %w: Tensor[(4, 4), float32]) { nn.relu(nn.dense(%x, %w, units=4)) }"
X = np.linspace(-1, 1, 16, dtype="float32").reshape(4, 4)
W = np.linspace(1, -0.5, 16, dtype="float32").reshape(4, 4)
OTHERS = [each for each, there in (("mirror", True), ("opencl", tvm.opencl(0).exist)) if there]


def module(text=LOOP):
    return transform.InferType()(tvm.parser.fromtext(text))


def wanted(turns):
    return relay.create_executor("debug", module(), tvm.cpu(), "llvm").evaluate()(np.int32(turns), X, W).numpy()


def is_right(run):
    for turns in (0, 1, 5):
        np.testing.assert_allclose(run(np.int32(turns), X, W).numpy(), wanted(turns), rtol=1e-5)


@pytest.mark.parametrize("target", OTHERS)
def test_a_loop_on_a_device(target):
    exe = relay.vm.compile(module(), target)
    machine = vm_rt.VirtualMachine(exe, [tvm.cpu(0), tvm.device(target, 0)])
    is_right(machine.run)
    assert "device_copy" in exe.bytecode and "device type 1," in exe.virtual_devices
    assert f"device type {tvm.device(target).device_type}," in exe.virtual_devices
    is_right(relay.create_executor("vm", module(), tvm.device(target, 0), target).evaluate())
    report = profiler_vm.VirtualMachineProfiler(exe, tvm.cpu()).profile(np.int32(5), X, W)
    spent = sum(call["Duration (us)"].microseconds for call in report.calls)
    assert any(call["Name"] == "__copy" for call in report.calls)
    assert spent == pytest.approx(report.device_metrics["cpu0"]["Duration (us)"].microseconds, rel=0.02)


@pytest.mark.parametrize("target", OTHERS)
def test_targets_by_device_and_annotations(target):
    on = tvm.device(target, 0)
    x, i = relay.var("x", shape=(4, 4)), relay.var("i", shape=(), dtype="int32")
    there = relay.annotation.on_device(relay.nn.dense(x, x), on)
    body = relay.If(relay.less(i, relay.const(3)), relay.nn.relu(there), relay.add(there, x))
    mod = tvm.IRModule.from_expr(relay.Function([i, x], body))
    expected = relay.create_executor("debug", tvm.IRModule.from_expr(relay.Function([i, x], relay.If(
        relay.less(i, relay.const(3)), relay.nn.relu(relay.nn.dense(x, x)), relay.add(relay.nn.dense(x, x), x)))), tvm.cpu(), "llvm").evaluate()
    for targets in ({"cpu": "llvm", target: target}, ["llvm", target]):
        exe = relay.vm.compile(mod, targets)
        machine = vm_rt.VirtualMachine(exe, [tvm.cpu(0), on])
        assert "device_copy" in exe.bytecode
        for turns in (1, 4):
            np.testing.assert_allclose(machine.run(np.int32(turns), X).numpy(), expected(np.int32(turns), X).numpy(), rtol=1e-5)


@pytest.mark.parametrize("target", OTHERS)
def test_files(target, tmp_path):
    exe = relay.vm.compile(module(), target)
    exe.mod.export_library(str(tmp_path / "program.so"))
    is_right(vm_rt.VirtualMachine(tvm.runtime.load_module(str(tmp_path / "program.so")), tvm.device(target, 0)).run)
    code, lib = exe.save()
    lib.export_library(str(tmp_path / "lib.so"))
    again = vm_rt.Executable.load_exec(code, tvm.runtime.load_module(str(tmp_path / "lib.so")))
    is_right(vm_rt.VirtualMachine(again, tvm.cpu()).run)
    assert again.bytecode == exe.bytecode


CHAIN = HEAD + """
type Chain { Link(Tensor[(4, 4), float32], Chain), End, }
def @main(%x: Tensor[(4, 4), float32]) { Link(%x, Link(nn.relu(%x), End)) }"""


def test_copies_that_no_instruction_makes_have_rows():
    exe = relay.vm.compile(module(CHAIN), "mirror")
    report = profiler_vm.VirtualMachineProfiler(exe, [tvm.cpu(0), tvm.device("mirror", 0)]).profile(X)
    (copies,) = [call for call in report.calls if call["Name"] == "VM::DeviceCopy"]
    assert copies["Count"].value == 2
    total = report.device_metrics["cpu0"]["Duration (us)"].microseconds
    assert sum(call["Duration (us)"].microseconds for call in report.calls) == pytest.approx(total, rel=1e-6)


def test_devices_without_a_part_are_refused():
    exe = relay.vm.compile(module(), "llvm")
    with pytest.raises(tvm.TVMError, match="has no part of this model"):
        vm_rt.VirtualMachine(exe, tvm.device("mirror", 0))
    with pytest.raises(tvm.TVMError, match="is not there"):
        vm_rt.VirtualMachine(exe, tvm.vulkan(0))


@pytest.mark.parametrize("compiler", ["dnnl", "openblas"])
def test_regions_in_a_loop(compiler):
    mod = module()
    for each in (transform.AnnotateTarget(compiler), transform.MergeCompilerRegions(), transform.PartitionGraph()):
        mod = each(mod)
    exe = relay.vm.compile(mod, "llvm")
    assert any(name.startswith(f"default_{compiler}_loop_0") for name in exe.primitive_ops), exe.primitive_ops
    is_right(vm_rt.VirtualMachine(exe, tvm.cpu()).run)


def test_open_extents_are_of_the_processor(capfd):
    exe = relay.vm.compile(module(OPEN), "mirror")
    assert "the processor computes it" in capfd.readouterr().err
    machine = vm_rt.VirtualMachine(exe, tvm.cpu())
    for rows in (1, 3):
        np.testing.assert_allclose(machine.run(X[:rows], W).numpy(), np.maximum(X[:rows] @ W.T, 0), rtol=1e-5, atol=1e-6)
    with tvm.transform.PassContext(config={"baton.strict_regions": True}), pytest.raises(NotImplementedError, match="known at run time only"):
        relay.vm.compile(module(OPEN), "mirror")
