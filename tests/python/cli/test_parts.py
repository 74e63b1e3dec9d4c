"""What a verb needs and nobody has built yet: in a clone it is built on first use, elsewhere the message says how."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

# Notes what it was asked for, and makes it out of the folder `built`.
LAUNCHER = """import os, pathlib, shutil, sys
here = pathlib.Path(__file__).parent
with open(here / "asked", "a") as asked:
    print(*sys.argv[1:], file=asked)
print("this goes to standard error")
if (here / "broken").exists():
    sys.exit("baton: the build failed")
name = f"libbaton_plugin_{sys.argv[2]}.so"
shutil.copy(here / "built" / name, here.parent / "lib" / name)
"""


@pytest.fixture
def bare(tmp_path):
    """The program with libraries of its own in `lib`, which has no plug-in; `clone` can build one."""
    program = pathlib.Path(os.environ["BATON_PROGRAM"]).resolve()
    (tmp_path / "lib").mkdir()
    (tmp_path / "clone" / "built").mkdir(parents=True)
    (tmp_path / "clone" / "baton").write_text(LAUNCHER, encoding="utf-8")
    for path in (program.parent / "lib").glob("lib*.so"):
        if path.name.startswith("libbaton_plugin_"):
            shutil.copy(path, tmp_path / "clone" / "built")
        else:
            (tmp_path / "lib" / path.name).symlink_to(path)

    def run(*words, clone=True):
        environment = {name: value for name, value in os.environ.items() if name not in ("BATON_ROOT", "BATON_PLUGINS", "BATON_BACKENDS")}
        environment |= {"LD_LIBRARY_PATH": str(tmp_path / "lib"), "BATON_PYTHON": sys.executable}
        if clone:
            environment["BATON_ROOT"] = str(tmp_path / "clone")
        return subprocess.run([program, *words], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment, timeout=300)

    return run


def asked(tmp_path):
    path = tmp_path / "clone" / "asked"
    return path.read_text().splitlines() if path.exists() else []


def test_a_plug_in_is_built_when_a_verb_needs_it_first(bare, tmp_path):
    """Any verb that ran a model on another backend ended with "there is no plug-in" in a fresh clone."""
    done = bare("run", "mlp", "--target", "sim -sheet=fast_gpu", "--opt-level", "0")
    assert done.returncode == 0, done.stderr
    assert asked(tmp_path) == ["setup sim"] and "this goes to standard error" in done.stderr
    assert bare("run", "mlp", "--target", "sim -sheet=slow_gpu", "--opt-level", "0").returncode == 0
    assert asked(tmp_path) == ["setup sim"]  # it is there


def test_targets_lists_what_a_clone_can_build(bare, tmp_path):
    """In a fresh clone it listed llvm alone."""
    done = bare("targets", "--quick", "--json")
    assert {"llvm", "dnnl", "sim_npu"} <= {each["name"] for each in json.loads(done.stdout)["targets"]}
    assert sorted(asked(tmp_path)) == [f"setup {name}" for name in ("cuda", "dnnl", "mirror", "openblas", "opencl", "sim")]


def test_nothing_is_built_for_models_on_the_processor(bare, tmp_path):
    assert bare("run", "mlp", "--opt-level", "0").returncode == 0
    assert asked(tmp_path) == []


def test_a_built_file_gets_its_plug_in_too(bare, tmp_path):
    assert bare("build", "mlp", "--target", "sim -sheet=fast_gpu", "-o", "m.baton", "--opt-level", "0").returncode == 0
    (tmp_path / "lib" / "libbaton_plugin_sim.so").unlink(missing_ok=True)
    done = bare("run", "m.baton")
    assert done.returncode == 0, done.stderr
    assert asked(tmp_path)[-1] == "setup sim"


@pytest.mark.parametrize("clone", [False, True])
def test_without_a_way_to_build_it_the_message_names_the_command(bare, tmp_path, clone):
    (tmp_path / "clone" / "broken").write_text("")
    done = bare("run", "mlp", "--target", "sim -sheet=fast_gpu", "--opt-level", "0", clone=clone)
    assert done.returncode == 1
    assert "there is no plug-in `sim` here" in done.stderr and "`./baton setup sim` builds it" in done.stderr
    assert asked(tmp_path) == (["setup sim"] if clone else [])  # once, however often it is looked for


def test_a_plug_in_of_somebody_else_is_not_looked_for_in_the_clone(bare, tmp_path):
    (tmp_path / "region.relay").write_text("""#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) { @region(%x) }
def @region(%a: Tensor[(2, 3), float32], Compiler="theirs", Primitive=1, Inline=1, global_symbol="region") -> Tensor[(2, 3), float32] {
  tanh(%a)
}
""", encoding="utf-8")
    bare("run", "region.relay")
    assert asked(tmp_path) == []


def test_python_gets_a_plug_in_as_the_program_does(bare, tmp_path):
    """`relay.build` and devices of a clone's Python ended with "there is no plug-in"."""
    script = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
import baton as tvm
print(tvm.opencl(0).exist in (True, False))
"""
    paths = [path for path in sys.path if path]
    environment = {**os.environ, "BATON_ROOT": str(tmp_path / "clone"), "BATON_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(paths)}
    for name in ("BATON_PLUGINS", "BATON_BACKENDS"):
        environment.pop(name, None)
    runtime = tmp_path / "lib" / "libbaton_runtime.so"
    target = runtime.resolve()
    runtime.unlink()
    shutil.copy(target, runtime)  # the folder of the library is where plug-ins are looked for
    done = subprocess.run([sys.executable, "-c", script, str(runtime)], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True" and asked(tmp_path) == ["setup opencl"]


def test_the_runtime_knows_every_plug_in_that_a_clone_can_build():
    root = pathlib.Path(__file__).resolve().parents[3]
    runtime = pathlib.Path(os.environ["BATON_PROGRAM"]).resolve().parent / "lib" / "libbaton_runtime.so"
    names = sorted(folder.name for folder in (root / "src/baton/runtime/plugins").iterdir())
    assert len(names) > 3 and f" {' '.join(names)} ".encode() in runtime.read_bytes()
