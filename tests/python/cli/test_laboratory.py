"""The verbs that measure campaigns, keep, predict, tune and map are in a library that is loaded, and in a clone built, when one of
them is called."""
import os
import pathlib
import shutil
import subprocess

import pytest

LIBRARY = "libbaton_lab_verbs.so"
VERBS = ["bundle", "map", "measure", "predict", "store", "train", "tune"]


@pytest.fixture(name="folder")
def without_laboratory(tmp_path):
    """A folder with the libraries of the compiler, and no other."""
    here = pathlib.Path(os.environ["BATON_PROGRAM"]).parent / "lib"
    for name in ("libbaton.so", "libbaton_runtime.so"):
        shutil.copy(here / name, tmp_path)
    return tmp_path


def baton(folder, *arguments, root="/nowhere"):
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder), "BATON_ROOT": str(root)}
    environment.pop("BATON_PYTHON", None)
    return subprocess.run([os.environ["BATON_PROGRAM"], *map(str, arguments)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300, env=environment)


def clone(tmp_path, what):
    """A clone whose ./baton does this."""
    root = tmp_path / "clone"
    root.mkdir()
    (root / "baton").write_text(f"import os, shutil, sys\nprint('asked for', sys.argv[1:], file=sys.stderr)\n{what}\n")
    return root


def test_help_and_the_compilers_verbs_work_without_it(folder):
    done = baton(folder, "--help")
    assert done.returncode == 0 and all(f"\n  {verb} " in done.stdout for verb in VERBS)
    assert baton(folder, "print", "mlp").returncode == 0
    assert "cannot read the mapping" in baton(folder, "explain", "mlp", "--mapping", folder / "none.json").stderr


@pytest.mark.parametrize("arguments", [*([verb, "--help"] for verb in VERBS), ["profile", "mlp", "--store", "m.db"],
                                       ["profile", "mlp", "--compare", "llvm,dnnl"]])
def test_what_needs_it_says_where_it_comes_from(folder, arguments):
    done = baton(folder, *arguments)
    assert done.returncode == 1 and done.stdout == ""
    assert f"there is no {folder / LIBRARY}: install Baton again" in done.stderr


def test_a_clone_builds_it_or_says_why_it_could_not(folder, tmp_path):
    done = baton(folder, "map", "--help", root=clone(tmp_path, "sys.exit('no network')"))
    assert done.returncode == 1
    assert "asked for ['setup', 'lab']\nno network\n" in done.stderr and "`./baton setup lab` builds it, and said above" in done.stderr


def test_a_clone_builds_it_when_it_is_first_asked_for(folder, tmp_path):
    here = pathlib.Path(os.environ["BATON_PROGRAM"]).parent / "lib"
    copy = f"for name in ('{LIBRARY}', 'libbaton_lab.so'):\n    shutil.copy(os.path.join('{here}', name), '{folder}')"
    done = baton(folder, "predict", "--help", root=clone(tmp_path, copy))
    assert done.returncode == 0 and "--for-device" in done.stdout and "asked for ['setup', 'lab']" in done.stderr


def test_another_library_of_that_name_is_refused(folder):
    shutil.copy(folder / "libbaton_runtime.so", folder / LIBRARY)
    done = baton(folder, "map", "--help")
    assert done.returncode == 1 and "cannot load the laboratory" in done.stderr and "./baton setup lab" in done.stderr
