"""--debug-lines, explain --asm and profile --sample, as a user meets them; binutils is the judge of what debuggers will see."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

MODEL = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 32, 28, 28), float32], %w: Tensor[(32, 32, 3, 3), float32], %b: Tensor[(32, 1, 1), float32]) {
  nn.relu(add(nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3]), %b))
}
"""


@pytest.fixture(name="model")
def fixture_model(tmp_path):
    path = tmp_path / "conv.relay"
    path.write_text(MODEL)
    return str(path)


def baton(*arguments, cwd, code=0, **environment):
    done = subprocess.run([os.environ["BATON_PROGRAM"], *arguments], cwd=cwd, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=120, env={**os.environ, **environment})
    assert done.returncode == code, done.stderr
    return done


def kernel_name(model, tmp_path):
    for kernel in json.loads(baton("explain", model, "--json", cwd=tmp_path).stdout)["kernels"]:
        if "conv2d" in kernel["func_name"]:
            return kernel["func_name"]
    raise AssertionError("no convolution")


def lines_of(library):
    """{(source file, line)} that the instructions of a library lead to."""
    text = subprocess.run(["objdump", "-dl", library], capture_output=True, text=True, check=True).stdout
    return {(pathlib.Path(path), int(line)) for path, line in re.findall(r"^(/\S+\.relay):(\d+)", text, re.M)}


@pytest.mark.skipif(not shutil.which("objdump"), reason="no objdump: binutils")
def test_objdump_shows_relay(model, tmp_path):
    folder = tmp_path / "lines"
    baton("build", model, "-o", "a.baton", "--debug-dir", str(folder), cwd=tmp_path)
    (library,) = folder.glob("kernels-*.so")
    found = lines_of(library)
    conv = [path for path in {path for path, _ in found} if "conv2d" in path.read_text()]
    assert len(conv) == 1
    source = conv[0].read_text().splitlines()
    assert {line for path, line in found if path == conv[0]} >= {
        next(i for i, text in enumerate(source, 1) if "nn.contrib_conv2d_NCHWc(" in text),
        next(i for i, text in enumerate(source, 1) if "nn.relu(" in text)}
    # The kernels are in the artifact, and lie beside it as a file again when it runs.
    shutil.rmtree(folder)
    ran = baton("run", "a.baton", "--debug-dir", str(folder), cwd=tmp_path)
    assert "output0" in ran.stdout
    (again,) = folder.glob("kernels-*.so")
    assert again.name == library.name
    by_environment = tmp_path / "kept"
    by_environment.mkdir()
    assert baton("run", "a.baton", cwd=tmp_path, BATON_KERNEL_FILES=str(by_environment)).stdout == ran.stdout
    assert [path.name for path in by_environment.iterdir()] == [library.name]


def test_lines_are_written_to_the_cache_when_nobody_says_where(model, tmp_path):
    baton("run", model, "--debug-lines", cwd=tmp_path, BATON_CACHE_DIR=str(tmp_path / "cache"))
    assert list((tmp_path / "cache" / "debug").glob("*.relay"))
    assert list((tmp_path / "cache" / "debug").glob("kernels-*.so"))


def test_without_an_assembler(model, tmp_path):
    for arguments in (["run", model, "--debug-dir", "lines"], ["profile", model, "--sample"],
                      ["explain", model, "--kernel", kernel_name(model, tmp_path), "--asm"]):
        done = baton(*arguments, cwd=tmp_path, code=1, BATON_ASSEMBLER="/nowhere/as", BATON_CACHE_DIR=str(tmp_path / "other"))
        assert "BATON_ASSEMBLER names `/nowhere/as`, which is no program that can be run" in done.stderr
        assert done.stdout == ""


def test_a_folder_that_cannot_be(model, tmp_path):
    (tmp_path / "file").write_text("")
    done = baton("build", model, "--debug-dir", "file/lines", cwd=tmp_path, code=1)
    assert "cannot be made" in done.stderr


def test_explain_shows_instructions_beside_operators(model, tmp_path):
    name = kernel_name(model, tmp_path)
    text = baton("explain", model, "--kernel", name, "--asm", cwd=tmp_path).stdout
    assert re.search(r"^ +\d+  conv2d .*\| \|.*vfmadd", text, re.M)
    assert re.search(r"^ +\d+  relu .*vmaxps", text, re.M)
    assert re.search(r"^ +3  nn\.contrib_conv2d_NCHWc +\d+", text, re.M)
    assert re.search(r"^ +4  add +0   in line 5$", text, re.M)
    data = json.loads(baton("explain", model, "--kernel", name, "--asm", "--json", cwd=tmp_path).stdout)
    assert (data["schema"], data["kernel"], data["samples"]) == (1, name, None)
    assert [each["op"] for each in data["operators"]] == ["nn.contrib_conv2d_NCHWc", "add", "nn.relu"]
    for function in data["functions"]:
        for block in function["blocks"]:
            assert block["samples"] is None
            if any(instruction.startswith("vfmadd") for instruction in block["instructions"]):
                assert (block["stage"], block["operators"]) == ("conv2d", [0])


def test_explain_with_time(model, tmp_path):
    data = json.loads(baton("explain", model, "--kernel", kernel_name(model, tmp_path), "--asm", "--time", "--json", cwd=tmp_path).stdout)
    blocks = [block for function in data["functions"] for block in function["blocks"]]
    assert data["samples"] == sum(block["samples"] for block in blocks) > 20
    assert sum(block["samples"] for block in blocks if block["stage"] == "conv2d") > data["samples"] / 2


def test_explain_asm_says_what_it_needs(model, tmp_path):
    assert "--asm shows one kernel" in baton("explain", model, "--asm", cwd=tmp_path, code=2).stderr
    assert "--asm" in baton("explain", model, "--time", cwd=tmp_path, code=2).stderr
    baton("build", model, "-o", "a.baton", cwd=tmp_path)
    done = baton("explain", "a.baton", "--kernel", kernel_name(model, tmp_path), "--asm", cwd=tmp_path, code=1)
    assert "an artifact does not keep how its kernels were made" in done.stderr


def test_profile_by_sampling(model, tmp_path):
    data = json.loads(baton("profile", model, "--sample", "--json", cwd=tmp_path).stdout)
    assert data["samples"] == data["outside"] + sum(kernel["samples"] for kernel in data["kernels"])
    assert abs(sum(kernel["share"] for kernel in data["kernels"]) + data["outside"] / data["samples"] - 1) < 1e-9
    (conv,) = [kernel for kernel in data["kernels"] if "conv2d" in kernel["func_names"][0]]
    assert conv["samples"] == sum(stage["samples"] for stage in conv["stages"])
    assert "conv2d" in [stage["stage"] for stage in conv["stages"]]
    assert data["runs"] > 0 and data["plain_us"] > 0


PROGRAM = """#[version = "0.0.5"]
def @loop(%i: int32, %x: Tensor[(?, 256), float32], %w: Tensor[(256, 256), float32]) -> Tensor[(?, 256), float32] {
  if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), tanh(nn.dense(%x, %w, units=256)), %w) }
}
def @main(%x: Tensor[(?, 256), float32], %w: Tensor[(256, 256), float32]) { @loop(40, %x, %w) }
"""


def test_programs_are_sampled(tmp_path):
    (tmp_path / "loop.relay").write_text(PROGRAM, encoding="utf-8")
    for more in ([], ["--executor", "vm"]):
        data = json.loads(baton("profile", "loop.relay", "--sample", "--shape", "x=33,256", "--json", "--threads", "1", *more, cwd=tmp_path).stdout)
        assert data["samples"] == data["outside"] + sum(kernel["samples"] for kernel in data["kernels"]) and data["plain_us"] > 0
        (dense,) = [kernel for kernel in data["kernels"] if any("dense" in name for name in kernel["func_names"])]
        assert dense["share"] > 0.5 and dense["samples"] == sum(stage["samples"] for stage in dense["stages"])
        assert any("nn.contrib_dense_pack" in stage["operators"] or "nn.dense" in stage["operators"] for stage in dense["stages"])
    assert "--shape has a range" in baton("profile", "loop.relay", "--sample", "--shape", "x=1:4,256", cwd=tmp_path, code=2).stderr
    assert "no value can be made up" in baton("profile", "loop.relay", "--sample", cwd=tmp_path, code=1).stderr
    assert "--inputs has no effect" in baton("profile", "mlp", "--sample", "--inputs", "x.npz", cwd=tmp_path, code=2).stderr


def test_sampling_as_a_table(model, tmp_path):
    text = baton("profile", model, "--sample", cwd=tmp_path).stdout
    assert "sampling adds" in text and "outside of kernels" in text
    assert max(map(len, text.splitlines())) <= 120


def test_linker_is_needed(model, tmp_path):
    done = baton("run", model, "--debug-dir", "lines", cwd=tmp_path, code=1, BATON_LINKER="/nowhere/ld")
    assert "need an assembler and a linker: install binutils" in done.stderr
    done = baton("profile", model, "--sample", cwd=tmp_path, code=1, BATON_LINKER="/nowhere/ld")
    assert "cannot be sampled: install binutils" in done.stderr
