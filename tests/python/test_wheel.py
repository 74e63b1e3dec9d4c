"""The wheel: what it says of itself, and that it works in a fresh environment without compiler or linker."""
import ast
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import venv
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SCRIPT = """
import shutil, tvm
from tvm import relay
from tvm.contrib import graph_executor
assert not any(shutil.which(name) for name in ("c++", "cc", "gcc", "clang", "ld"))
module, params = relay.testing.mlp.get_workload(batch_size=1)
model = graph_executor.GraphModule(relay.build(module, "llvm", params=params)["default"](tvm.cpu()))
model.run(data=__import__("numpy").ones((1, 1, 28, 28), "float32"))
print(tvm.__file__, abs(model.get_output(0).numpy().sum() - 1) < 1e-5)
"""


def pins(lines):
    return dict(line.split("==") for line in lines if "==" in line)


def test_pins_are_those_of_the_build():
    """Halide's ABI has no version of its own: what compiles, what is built in, and what runs must be one version."""
    ours = pins((ROOT / "tools" / "requirements.txt").read_text(encoding="utf-8").split())
    build = pins(PROJECT["build-system"]["requires"])
    assert set(build) == {"scikit-build-core", "nanobind", "halide"}
    assert build == {name: ours[name] for name in build}
    assert pins(PROJECT["project"]["dependencies"]) == {"halide": ours["halide"]}
    dnnl = PROJECT["project"]["optional-dependencies"]["dnnl"]
    assert pins(dnnl) == {"onednn-cpu-gomp": ours["onednn-cpu-gomp"]}
    assert dnnl[0] in (ROOT / "src/baton/runtime/plugin.cc").read_text(encoding="utf-8")  # what it says is missing


def test_says_which_pythons():
    assert PROJECT["project"]["requires-python"] == ">=3.10,<3.14"
    version = re.search(PROJECT["tool"]["dynamic-metadata"][0]["regex"].replace("?P<value>", ""),
                        (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    import baton

    assert baton.__version__ == version


PACKAGE = [*(ROOT / "python").rglob("*.py"), *(ROOT / "python").rglob("*.pyi"), *(ROOT / "examples").glob("*.py")]
NEWER_MODULES = {"tomllib", "compression", "annotationlib", "concurrent.interpreters", "string.templatelib", "pathlib.types"}


def test_is_written_for_the_oldest_python():
    oldest = tuple(int(part) for part in re.match(r">=(\d+)\.(\d+)", PROJECT["project"]["requires-python"]).groups())
    assert len(PACKAGE) > 100
    for path in PACKAGE:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=oldest)
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
        assert not imported & NEWER_MODULES, path


@pytest.fixture(scope="module", name="wheel")
def _wheel(tmp_path_factory):
    build = os.environ.get("BATON_BUILD_DIR") or str(ROOT / "build" / "release")
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "make_wheel"), str(tmp_path_factory.mktemp("wheel")), build],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]})
    assert done.returncode == 0, done.stderr
    return pathlib.Path(done.stdout.strip().splitlines()[-1])


@pytest.mark.slow
def test_holds_what_is_ours_and_no_halide(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert re.fullmatch(rf"baton_compiler-[0-9.]+-{tag}-{tag}-\w+\.whl", wheel.name)
    assert {"baton/bin/baton", "baton/lib/libbaton.so", "baton/lib/libbaton_runtime.so", "baton/py.typed", "baton/_baton.pyi",
            "_baton_command.py", "baton/bin/baton-runner"} <= set(names)
    # Nobody has to build them before.
    assert {f"baton/lib/libbaton_plugin_{name}.so" for name in ("cuda", "dnnl", "openblas", "opencl", "sim")} <= set(names)
    assert [name for name in names if name.startswith("baton/_baton.cpython") and name.endswith(".so")]
    assert not [name for name in names if "alide" in name or name.endswith((".pyc", ".cc", ".a"))]
    # What own backends are compiled against.
    assert {name for name in names if name.endswith(".h")} == {
        f"baton/include/baton/{name}" for name in ("codegen/baton_compiler.h", "runtime/baton_backend.h", "support/base/kernel_table.h")}


@pytest.mark.slow
def test_works_in_a_fresh_environment_without_a_compiler(wheel, tmp_path):
    folder = tmp_path / "environment"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel], check=True, timeout=500)
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "nothing").mkdir()
    environment = {"PATH": str(tmp_path / "nothing"), "HOME": str(tmp_path), "BATON_CACHE_DIR": str(tmp_path / "cache")}

    def run(*command):
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=500)

    done = run(python, "-m", "baton.tvm", "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(next(folder.glob("lib/*/site-packages")) / "baton" / "__init__.py"), "True"]
    program = folder / "bin" / "baton"
    assert run(program, "--version").stdout.startswith("baton ")
    done = run(program, "profile", "mlp", "--repeat", "2", "--inside-ms", "1")
    assert done.returncode == 0 and "softmax" in done.stdout, done.stderr
    assert run(program, "print", "no-such-model").returncode == 1
    # The laboratory, which uses functions of the program itself.
    done = run(program, "predict", "mlp", "--for-device", "zen5")
    assert done.returncode == 0 and "zen5: AMD EPYC" in done.stdout, done.stderr
    done = run(program, "profile", "mlp", "--repeat", "2", "--no-inside", "--store", tmp_path / "m.db")
    assert done.returncode == 0 and "rows are new in" in done.stderr, done.stderr
