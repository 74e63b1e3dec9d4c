"""Artifacts for other processors than this one: what they are made of, and what they compute where they belong."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[3]
HEAD = '#[version = "0.0.5"]\n'
NETS = {
    "conv": HEAD + """def @main(%x: Tensor[(1, 20, 13, 11), float32], %w: Tensor[(24, 20, 3, 3), float32],
          %v: Tensor[(10, 24), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=24, kernel_size=[3, 3]));
  %1 = nn.batch_flatten(nn.global_avg_pool2d(%0));
  nn.softmax(nn.dense(%1, %v, units=10))
}
""",
    "int8": HEAD + """def @main(%x: Tensor[(1, 16, 9, 9), int8], %w: Tensor[(8, 16, 3, 3), int8]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3], out_dtype="int32");
  cast(clip(right_shift(%0, 7), a_min=-128f, a_max=127f), dtype="int8")
}
""",
    "odd": HEAD + """def @main(%x: Tensor[(3, 7, 5), float32]) {
  %0 = strided_slice(%x, begin=[0, 0, 0], end=[0, 7, 5], strides=[1, 1, 1], axes=None);
  %1 = transpose(%x, axes=[2, 0, 1]);
  (%0, tanh(%1), sum(%x, axis=[1]), argmax(%x, axis=[2]))
}
""",
    "half": HEAD + """def @main(%x: Tensor[(3, 7, 5), float32]) {
  add(cast(%x, dtype="float16"), cast(1.5f, dtype="float16"))
}
""",
}
WORKLOADS = ("resnet-18", "mobilenet", "lstm", "mlp")
TRIPLES = {"aarch64": "aarch64-linux-gnu", "riscv64": "riscv64-linux-gnu"}
EMULATORS = {"aarch64": [], "riscv64": ["-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0"]}


def baton(*words, folder, fails=False, prefix=(), **environment):
    done = subprocess.run([*prefix, os.environ["BATON_PROGRAM"], *map(str, words)], capture_output=True, text=True, check=False,
                          cwd=folder, stdin=subprocess.DEVNULL, timeout=900, env={**os.environ, **environment})
    assert (done.returncode != 0) == fails, done.stderr
    return done


def small_image(name):
    """The text of a network of `relay.testing` for images of 32x32."""
    from baton.relay import testing
    if name == "resnet-18":
        return testing.resnet.get_workload(num_layers=18, image_shape=(3, 32, 32), num_classes=10)[0].astext()
    return testing.mobilenet.get_workload(image_shape=(3, 32, 32), num_classes=10)[0].astext()


@pytest.fixture
def model(tmp_path):
    for name, text in NETS.items():
        (tmp_path / f"{name}.relay").write_text(text)
    return tmp_path


def kernels_of(artifact, folder):
    """The shared library inside of an artifact."""
    data = artifact.read_bytes()
    (folder / "kernels.so").write_bytes(data[data.index(b"\x7fELF"):])
    return folder / "kernels.so"


def assembly(artifact, folder):
    if not shutil.which("objdump"):
        pytest.skip("needs objdump: install the Debian package binutils")
    return subprocess.run(["objdump", "-d", "--no-show-raw-insn", kernels_of(artifact, folder)], capture_output=True, text=True,
                          check=True).stdout


def outputs(path):
    with np.load(path) as file:
        return [file[f"output{i}"] for i in range(len(file.files))]


def same(got, want, tolerance=1e-5):
    assert len(got) == len(want)
    for mine, theirs in zip(got, want):
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
        if mine.size:
            allowed = tolerance * max(1.0, float(np.abs(theirs.astype("float64")).max()))
            np.testing.assert_allclose(mine.astype("float64"), theirs.astype("float64"), rtol=0, atol=allowed)


def has_avx2():
    return "avx2" in pathlib.Path("/proc/cpuinfo").read_text()


@pytest.mark.parametrize("target, allowed", [("x86-64-v2", "xmm"), ("x86-64-v3", "ymm"), ("haswell", "ymm"),
                                             ("x86-64-v4", "zmm")])
def test_a_level_of_x86_uses_its_registers_and_no_wider_ones(model, target, allowed):
    baton("build", "conv.relay", "--input-name", "x", "--target", f"llvm -mcpu={target}", "-o", "net.baton", folder=model)
    registers = set(re.findall(r"%([xyz]mm)", assembly(model / "net.baton", model)))
    assert allowed in registers and not {width for width in registers if width > allowed}


@pytest.mark.parametrize("target", ["-mcpu=x86-64-v2", "-mattr=+avx", "-mcpu=skylake -mattr=-fma,-avx2", "-mcpu=x86-64-v3"])
@pytest.mark.parametrize("net", sorted(NETS))
def test_what_this_machine_has_runs_here(model, target, net):
    if target != "-mcpu=x86-64-v2" and not has_avx2():
        pytest.skip("this processor has no AVX2")
    baton("run", f"{net}.relay", "--input-name", "x", "-o", "here.npz", folder=model)
    baton("run", f"{net}.relay", "--input-name", "x", "--target", f"llvm {target}", "-o", "there.npz", folder=model)
    same(outputs(model / "there.npz"), outputs(model / "here.npz"))


def test_a_profile_of_code_for_a_lesser_processor(model):
    done = baton("profile", "conv.relay", "--input-name", "x", "--target", "llvm -mcpu=x86-64-v2", "--repeat", "3", "--inside-ms", "5",
                 folder=model)
    assert "6 operators in 6 kernels" in done.stdout and "llvm -mcpu=x86-64-v2" in done.stdout


@pytest.mark.parametrize("target, why", [
    ("llvm -mtriple=armv7l-linux-gnueabihf", "no code generator for the architecture `armv7l`; code is made for x86_64"),
    ("llvm -mtriple=aarch64-apple-darwin", "`aarch64-apple-darwin` is not a system of Linux"),
    ("llvm -mcpu=cortex-a72", "`cortex-a72` is a processor of aarch64-linux-gnu: write -mtriple=aarch64-linux-gnu too"),
    ("llvm -mtriple=aarch64-linux-gnu -mcpu=skylake", "`skylake` is a processor of x86_64-linux-gnu"),
    ("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-m4", "a processor of 32 bits"),
    ("llvm -mtriple=riscv64-linux-gnu -mattr=-v", "needs the V extension"),
    ("llvm -mtriple=riscv64-linux-gnu -mattr=+zvl256b", "for vectors of 128 bits"),
    ("llvm -mattr=avx2", "-mattr takes features as +avx2,-fma"),
    ("llvm -num-cores=0", "-num-cores takes a number of cores"),
])
def test_targets_that_no_code_is_made_for(model, target, why):
    done = baton("build", "conv.relay", "--target", target, "-o", "net.baton", folder=model, fails=True)
    assert why in done.stderr and "bug" not in done.stderr
    assert not (model / "net.baton").exists()


@pytest.mark.parametrize("machine", sorted(TRIPLES))
def test_without_a_compiler_the_package_is_named(model, machine):
    triple = TRIPLES[machine]
    done = baton("build", "conv.relay", "--target", f"llvm -mtriple={triple}", "-o", "net.baton", folder=model, fails=True,
                 BATON_CROSS_CC="no-such-compiler")
    assert f"install the Debian package gcc-{triple}" in done.stderr


@pytest.mark.parametrize("machine", sorted(TRIPLES))
def test_code_of_another_machine_is_not_run_here(model, machine):
    triple = TRIPLES[machine]
    if not shutil.which(f"{triple}-gcc"):
        pytest.skip(f"needs {triple}-gcc: install the Debian package gcc-{triple}")
    target = f"llvm -mtriple={triple}"
    done = baton("run", "conv.relay", "--target", target, folder=model, fails=True)
    assert f"built for another processor, {machine} (" in done.stderr
    baton("build", "conv.relay", "--target", target, "-o", "net.baton", folder=model)
    done = baton("run", "net.baton", folder=model, fails=True)
    assert f"built for another processor, {machine} (" in done.stderr and "build the model for this machine" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("processor, target, fails", [("Nehalem", "x86-64-v2", False), ("Haswell", "x86-64-v3", False),
                                                      ("Nehalem", "x86-64-v3", True)])
def test_levels_of_x86_on_processors_that_have_them(model, processor, target, fails):
    emulator = shutil.which("qemu-x86_64")
    if not emulator:
        pytest.skip("needs qemu-x86_64: install the Debian package qemu-user")
    baton("run", "conv.relay", "--input-name", "x", "-o", "here.npz", folder=model)
    baton("build", "conv.relay", "--input-name", "x", "--target", f"llvm -mcpu={target}", "-o", "net.baton", folder=model)
    done = baton("run", "net.baton", "-o", "there.npz", folder=model, prefix=(emulator, "-cpu", processor), fails=fails)
    if fails:
        assert "this one lacks" in done.stderr and "avx2" in done.stderr
    else:
        same(outputs(model / "there.npz"), outputs(model / "here.npz"))


@pytest.fixture(scope="module")
def runtimes(tmp_path_factory):
    """Builds the runtime of a machine when it is first asked for: a folder."""
    made = {}

    def runtime(machine):
        triple = TRIPLES[machine]
        for program, package in ((f"{triple}-g++", f"g++-{triple}"), (f"qemu-{machine}", "qemu-user")):
            if not shutil.which(program):
                pytest.skip(f"needs {program}: install the Debian package {package}")
        if machine not in made:
            halide = pathlib.Path(importlib.util.find_spec("halide").origin).parent / "include"
            made[machine] = tmp_path_factory.mktemp(machine)
            subprocess.run([sys.executable, ROOT / "tools/make_runtime", "--triple", triple, "--output", made[machine], "--include",
                            halide], check=True, timeout=1800)
        return made[machine]

    return runtime


def input_of(name, folder):
    """The name of its input, and values in a file of each form."""
    rng = np.random.default_rng(5)
    shapes = {"conv": ("x", (1, 20, 13, 11)), "int8": ("x", (1, 16, 9, 9)), "odd": ("x", (3, 7, 5)), "half": ("x", (3, 7, 5)), "lstm": ("data", (1, 8)),
              "mlp": ("data", (1, 1, 28, 28))}
    label, shape = shapes.get(name, ("data", (1, 3, 32, 32)))
    value = rng.integers(-128, 128, shape).astype("int8") if name == "int8" else rng.standard_normal(shape).astype("float32")
    np.save(folder / "input.npy", value)
    np.savez(folder / "input.npz", **{label: value})
    return label


def emulated(machine, runtime, artifact, label, folder):
    done = subprocess.run([f"qemu-{machine}", *EMULATORS[machine], "-L", f"/usr/{TRIPLES[machine]}", runtime / "run_artifact", artifact,
                           "--out", "there", f"{label}=input.npy"], cwd=folder, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    found = sorted(folder.glob("there*.npy"))
    return [np.load(path) for path in found]


def cross_and_compare(machine, runtime, name, folder, level=3, more=""):
    label, source = input_of(name, folder), name
    if name in ("resnet-18", "mobilenet"):
        (folder / f"{name}.relay").write_text(small_image(name))
    if (folder / f"{name}.relay").exists():
        source = f"{name}.relay"
    how = [source, "--input-name", label, "--opt-level", level]
    baton("build", *how, "--target", f"llvm -mtriple={TRIPLES[machine]}{more}", "-o", "net.baton", folder=folder)
    baton("run", *how, "--inputs", "input.npz", "-o", "here.npz", folder=folder)
    same(emulated(machine, runtime, "net.baton", label, folder), outputs(folder / "here.npz"))


def emulator_version():
    program = shutil.which("qemu-riscv64")
    if not program:
        return 0
    text = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"version (\d+)", text)[1])


@pytest.mark.slow
@pytest.mark.parametrize("machine", sorted(TRIPLES))
@pytest.mark.parametrize("name", [*NETS, *WORKLOADS])
def test_networks_on_another_machine(model, runtimes, machine, name):
    if (machine, name) == ("riscv64", "half") and emulator_version() < 8:
        pytest.skip("QEMU before 8 stops with an assertion at the conversions to float16 that LLVM makes for RISC-V")
    cross_and_compare(machine, runtimes(machine), name, model)


@pytest.mark.slow
@pytest.mark.parametrize("machine", sorted(TRIPLES))
@pytest.mark.parametrize("name", ["conv", "resnet-18"])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_levels_on_another_machine(model, runtimes, machine, name, level):
    cross_and_compare(machine, runtimes(machine), name, model, level=level)


@pytest.mark.slow
@pytest.mark.parametrize("cpu", ["cortex-a72", "neoverse-n1"])
def test_processors_of_arm(model, runtimes, cpu):
    cross_and_compare("aarch64", runtimes("aarch64"), "int8", model, more=f" -mcpu={cpu}")


@pytest.mark.slow
def test_vectors_of_another_length_are_refused(model, runtimes):
    """Code for RISC-V is made for one length of vectors."""
    runtime = runtimes("riscv64")
    label = input_of("conv", model)
    baton("build", "conv.relay", "--input-name", "x", "--target", "llvm -mtriple=riscv64-linux-gnu", "-o", "net.baton", folder=model)
    done = subprocess.run(["qemu-riscv64", "-cpu", "rv64,v=true,vlen=256,vext_spec=v1.0", "-L", "/usr/riscv64-linux-gnu",
                           runtime / "run_artifact", "net.baton", f"{label}=input.npy"], cwd=model, capture_output=True, text=True,
                          check=False, timeout=900)
    assert done.returncode == 1 and "this one lacks vector_bits_128" in done.stderr
