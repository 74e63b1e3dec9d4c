"""Executables of the virtual machine as bytes and files: read again, in other processes, damaged; constants that are bound late."""
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.runtime import vm as vm_rt

PROGRAM = """#[version = "0.0.5"]
type Chain { Link(Tensor[(4), float32], Chain), End, }
def @walk(%c: Chain, %acc: Tensor[(4), float32]) -> Tensor[(4), float32] {
  match (%c) { Link(%h, %t) => @walk(%t, add(%acc, %h)), End => %acc, }
}
def @build(%n: int32, %x: Tensor[(4), float32]) -> Chain {
  if (less(%n, 1)) { End } else { Link(multiply(%x, cast(%n, dtype="float32")), @build(subtract(%n, 1), %x)) }
}
def @main(%n: int32, %x: Tensor[(4), float32]) { let %c = @build(%n, %x); (@walk(%c, %x), %c) }
def @rows(%x: Tensor[(?, 4), float32]) { (argwhere(greater(%x, 0f)), nn.softmax(%x)) }"""
DENSE = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 256), float32], %w: Tensor[(64, 256), float32], %b: Tensor[(64), float32]) {
  nn.relu(add(nn.dense(%x, %w, units=64), %b))
}"""
X = np.arange(4, dtype="float32")
ROWS = np.array([[1, -1, 2, 0], [0, 0, 3, -4]], "float32")
RNG = np.random.default_rng(3)
PARAMS = {"w": RNG.standard_normal((64, 256)).astype("float32"), "b": RNG.standard_normal(64).astype("float32")}
DATA = RNG.standard_normal((5, 256)).astype("float32")
EXPECTED = np.maximum(DATA @ PARAMS["w"].T + PARAMS["b"], 0)


def program():
    return relay.vm.compile(tvm.parser.fromtext(PROGRAM), "llvm")


def dense():
    return relay.vm.compile(tvm.parser.fromtext(DENSE), "llvm", params=PARAMS)


def use(executable):
    machine = vm_rt.VirtualMachine(executable, tvm.cpu())
    total, chain = machine.run(3, X)
    np.testing.assert_array_equal(total.numpy(), 7 * X)
    assert chain.fields[1].fields[1].fields[0].numpy().tolist() == X.tolist()
    places, shares = machine.invoke("rows", ROWS)
    np.testing.assert_array_equal(places.numpy(), np.argwhere(ROWS > 0))
    np.testing.assert_allclose(shares.numpy().sum(1), 1, rtol=1e-5)


def use_dense(executable):
    np.testing.assert_allclose(vm_rt.VirtualMachine(executable, tvm.cpu()).run(DATA).numpy(), EXPECTED, rtol=1e-4, atol=1e-5)


def test_bytes_and_library(tmp_path):
    executable = program()
    code, lib = executable.save()
    assert isinstance(code, bytearray)
    use(vm_rt.Executable.load_exec(code, lib))
    lib.export_library(str(tmp_path / "lib.so"))
    (tmp_path / "code.ro").write_bytes(code)
    again = vm_rt.Executable.load_exec(bytearray((tmp_path / "code.ro").read_bytes()), tvm.runtime.load_module(str(tmp_path / "lib.so")))
    use(again)
    for name in ("globals", "stats", "primitive_ops", "primitives", "bytecode", "constants", "virtual_devices"):
        assert getattr(again, name) == getattr(executable, name), name
    assert again.get_function_params("main") == ["n", "x"]
    use(vm_rt.Executable.load_exec(*again.save()))


def test_one_file(tmp_path):
    program().mod.export_library(str(tmp_path / "program.so"))
    module = tvm.runtime.load_module(str(tmp_path / "program.so"))
    assert module.type_key == "VMExecutable"
    use(module)
    use(vm_rt.Executable(module))
    module.export_library(str(tmp_path / "copy.so"))
    use(tvm.runtime.load_module(str(tmp_path / "copy.so"), verify=False))
    for wrong in (lambda: module["default"], lambda: module["nothing"]):
        with pytest.raises(AttributeError, match="nothing|default"):
            wrong()


def test_another_process(tmp_path):
    path = str(tmp_path / "program.so")
    program().mod.export_library(path)
    script = textwrap.dedent(f"""
        import numpy as np
        import baton as tvm
        from baton.runtime import vm
        machine = vm.VirtualMachine(tvm.runtime.load_module({path!r}), tvm.cpu())
        print(machine.run(3, np.arange(4, dtype="float32"))[0].numpy().tolist())
        print(machine.invoke("rows", np.ones((1, 4), "float32"))[0].numpy().tolist())""")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.stdout.splitlines() == ["[0.0, 7.0, 14.0, 21.0]", "[[0, 0], [0, 1], [0, 2], [0, 3]]"], done.stderr


def test_plans_and_programs_are_told_apart(tmp_path):
    plan = relay.build(tvm.parser.fromtext('#[version = "0.0.5"]\ndef @main(%x: Tensor[(4), float32]) { exp(%x) }'), "llvm")
    plan.export_library(str(tmp_path / "plan.so"))
    loaded = tvm.runtime.load_module(str(tmp_path / "plan.so"))
    assert loaded.type_key == "GraphExecutorFactory"
    for refused in (vm_rt.Executable, lambda module: vm_rt.VirtualMachine(module, tvm.cpu())):
        with pytest.raises(TypeError):
            refused(loaded)
    code, _ = program().save()
    for wrong in (loaded, dense().lib, None):
        with pytest.raises(tvm.TVMError, match="load_exec"):
            vm_rt.Executable.load_exec(code, wrong)
    for wrong in ("text", 3):
        with pytest.raises(TypeError, match="lib is expected"):
            vm_rt.Executable.load_exec(code, wrong)
    with pytest.raises(TypeError, match="bytecode is expected"):
        vm_rt.Executable.load_exec("text", None)
    dense().mod.export_library(str(tmp_path / "program.so"))
    from baton.contrib import graph_executor

    with pytest.raises((TypeError, AttributeError)):
        graph_executor.GraphModule(tvm.runtime.load_module(str(tmp_path / "program.so"))["default"](tvm.cpu()))


def test_damaged_bytes():
    code, lib = program().save()
    for length in (0, 1, 7, 8, 20, 40, len(code) // 2, len(code) - 1):
        with pytest.raises(tvm.TVMError):
            vm_rt.Executable.load_exec(code[:length], lib)
    for at in range(0, len(code), max(1, len(code) // 60)):
        flipped = bytearray(code)
        flipped[at] ^= 0x41
        with pytest.raises(tvm.TVMError):
            vm_rt.Executable.load_exec(flipped, lib)
    for other in (b"something", bytes(code) + b"x"):
        with pytest.raises(tvm.TVMError):
            vm_rt.Executable.load_exec(other, lib)


def test_damaged_files(tmp_path):
    path, damaged = str(tmp_path / "program.so"), str(tmp_path / "damaged.so")
    program().mod.export_library(path)
    with open(path, "rb") as file:
        content = file.read()

    def load(written):
        with open(damaged, "wb") as file:
            file.write(written)
        return tvm.runtime.load_module(damaged)

    for length in (0, 1, 8, 100, 4096, len(content) // 3, len(content) // 2, len(content) - 1):
        with pytest.raises(tvm.TVMError):
            load(content[:length])
    found = 0
    for at in range(0, len(content), max(1, len(content) // 200)):
        flipped = bytearray(content)
        flipped[at] ^= 0x5A
        try:
            module = load(bytes(flipped))
        except tvm.TVMError:
            found += 1
            continue
        use(module)  # a byte between two sections
    assert found > 20
    with pytest.raises(tvm.TVMError):
        tvm.runtime.load_module(str(tmp_path / "nothing.so"))


def test_constants_bound_late(tmp_path):
    executable = dense()
    everything = len(executable.code.constants)
    weights = str(tmp_path / "weights.params")
    executable.move_late_bound_consts(weights, byte_limit=256)
    executable.mod.export_library(str(tmp_path / "program.so"))
    whole = str(tmp_path / "whole.so")
    dense().mod.export_library(whole)
    assert os.path.getsize(tmp_path / "program.so") < os.path.getsize(whole)
    os.link(tmp_path / "program.so", tmp_path / "late.baton")  # the command line has no way to give them
    np.savez(tmp_path / "in.npz", **{executable.get_function_params("main")[0]: DATA})
    done = subprocess.run([os.environ["BATON_PROGRAM"], "run", "late.baton", "--inputs", "in.npz"], cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "is it bound late" in done.stderr, done.stderr
    loaded = vm_rt.Executable(tvm.runtime.load_module(str(tmp_path / "program.so")))
    assert len(loaded.code.constants) == everything
    for each in (executable, loaded):
        with pytest.raises(tvm.TVMError, match="bound late"):
            vm_rt.VirtualMachine(each, tvm.cpu()).run(DATA)
        each.load_late_bound_consts(weights)
        use_dense(each)
    loaded.mod.export_library(str(tmp_path / "again.so"))
    use_dense(tvm.runtime.load_module(str(tmp_path / "again.so")))


def test_late_constants_as_a_map():
    executable = dense()
    taken = executable.get_late_bound_consts(256)
    assert taken and all(int(np.prod(each.shape)) * 4 >= 256 for each in taken.values())
    machine = vm_rt.VirtualMachine(executable, tvm.cpu())
    with pytest.raises(tvm.TVMError, match="bound late"):
        machine.run(DATA)
    name = next(iter(taken))
    with pytest.raises(tvm.TVMError, match=name):
        executable.load_late_bound_consts_from_map({name: np.zeros(3, "float32")})
    executable.load_late_bound_consts_from_map({**taken, "unknown": tvm.nd.array(X)})
    use_dense(executable)
    np.testing.assert_allclose(machine.run(DATA).numpy(), EXPECTED, rtol=1e-4, atol=1e-5)
    assert executable.get_late_bound_consts(1 << 30) == {}
    use_dense(executable)


def test_late_constants_used_wrongly(tmp_path):
    executable = dense()
    for wrong in ("256", None, 2.5):
        with pytest.raises(TypeError, match="byte_limit"):
            executable.get_late_bound_consts(wrong)
    with pytest.raises(TypeError, match="map"):
        executable.load_late_bound_consts_from_map([1])
    path = tmp_path / "weights.params"
    executable.move_late_bound_consts(str(path), 256)
    content = path.read_bytes()
    (tmp_path / "cut.params").write_bytes(content[:len(content) // 2])
    with pytest.raises(tvm.TVMError):
        executable.load_late_bound_consts(str(tmp_path / "cut.params"))
    with pytest.raises(FileNotFoundError):
        executable.load_late_bound_consts(str(tmp_path / "nothing"))
    executable.load_late_bound_consts(str(path))
    use_dense(executable)


def test_profile_of_a_file(tmp_path):
    from baton.runtime import profiler_vm

    dense().mod.export_library(str(tmp_path / "program.so"))
    report = profiler_vm.VirtualMachineProfiler(tvm.runtime.load_module(str(tmp_path / "program.so")), tvm.cpu()).profile(DATA)
    assert any("dense" in call["Name"] for call in report.calls)
