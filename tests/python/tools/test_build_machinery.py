"""cmake/BatonSources.cmake over a small tree: which files are compiled together, and builds over what an earlier one left."""
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOLS = ROOT / "build" / "venv" / "bin"

CMAKE = f"""
cmake_minimum_required(VERSION 3.28)
project(small LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH "{ROOT}/cmake")
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
option(BATON_CCACHE "" OFF)
include(BatonCcache)
include(BatonSources)
baton_sources(sources "*.cc" src)
add_executable(small ${{sources}})
target_include_directories(small PRIVATE src)
baton_pch(small <cstdio> <baton/ir/expr.h>)
baton_unity(small)
"""

SOURCES = {
    "src/baton/ir/expr.h": "#pragma once\nint depth();\nint width();\n",
    "src/baton/ir/depth.cc": '#include "baton/ir/expr.h"\nnamespace { int one() { return 1; } }\nint depth() { return one(); }\n',
    "src/baton/ir/width.cc": '#include "baton/ir/expr.h"\nint width() { return 2; }\n',
    "src/baton/cli/main.cc": '#include <cstdio>\n#include "baton/ir/expr.h"\n'
                             'int main() { std::printf("%d %d\\n", depth(), width()); }\n',
}


@pytest.fixture
def tree(tmp_path):
    for name, text in SOURCES.items():
        write(tmp_path / name, text)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def configure(tree, *flags):
    subprocess.run([TOOLS / "cmake", "-S", tree, "-B", tree / "build", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={TOOLS / 'ninja'}",
                    "-DBATON_UNITY_LEAST_KB=0",
                    *flags], check=True, capture_output=True)


def compiled(tree):
    """The files that the compiler is called for, without the precompiled header; a batch as its name."""
    commands = json.loads((tree / "build" / "compile_commands.json").read_text())
    names = [os.path.basename(entry["file"]) for entry in commands]
    return sorted(name.removesuffix("_cxx.cxx") for name in names if "cmake_pch" not in name)


def built(tree):
    """Builds, runs the program and returns what it prints."""
    done = subprocess.run([TOOLS / "ninja", "-C", tree / "build"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return subprocess.run([tree / "build" / "small"], check=True, capture_output=True, text=True).stdout


def test_the_files_of_a_folder_are_compiled_together(tree):
    configure(tree)
    assert compiled(tree) == ["unity_src_baton_cli_0", "unity_src_baton_ir_0"]
    assert built(tree) == "1 2\n"


def test_each_file_alone_gives_the_same(tree):
    configure(tree, "-DBATON_UNITY=OFF", "-DBATON_PCH=OFF")
    assert compiled(tree) == ["depth.cc", "main.cc", "width.cc"]
    assert built(tree) == "1 2\n"


def test_a_large_folder_is_several_batches(tree):
    for name in ("depth", "width"):
        path = tree / f"src/baton/ir/{name}.cc"
        path.write_text(path.read_text() + "// " + 40_000 * "." + "\n")
    configure(tree)
    assert compiled(tree) == ["unity_src_baton_cli_0", "unity_src_baton_ir_0", "unity_src_baton_ir_1"]


def test_small_folders_are_compiled_with_their_parent(tree):
    write(tree / "src/baton/ir/shape/rank.cc", "int rank() { return 3; }\n")
    configure(tree, "-DBATON_UNITY_LEAST_KB=16")
    assert compiled(tree) == ["unity_src_baton_0", "unity_src_baton_ir_0"]
    assert built(tree) == "1 2\n"


def test_what_holds_for_a_whole_file_stays_in_it(tree):
    write(tree / "src/baton/ir/fast.cc", '#pragma GCC optimize("O3")\nint fast() { return 3; }\n')
    write(tree / "src/baton/ir/rules.cc", "namespace rules { int one(); }\nusing namespace rules;\nint three() { return one(); }\n")
    configure(tree)
    assert compiled(tree) == ["fast.cc", "unity_src_baton_cli_0", "unity_src_baton_ir_0", "unity_src_baton_ir_rules_0"]


def test_a_build_of_another_layout_is_built_over(tree):
    configure(tree)
    assert built(tree) == "1 2\n"
    shutil.move(tree / "src/baton/ir/depth.cc", tree / "src/baton/ir/analysis.cc")
    write(tree / "src/baton/ir/shape/width.cc", SOURCES["src/baton/ir/width.cc"].replace("2", "4"))
    (tree / "src/baton/ir/width.cc").unlink()
    assert built(tree) == "1 4\n"
    assert compiled(tree) == ["unity_src_baton_cli_0", "unity_src_baton_ir_0", "unity_src_baton_ir_shape_0"]


def test_an_edit_of_a_header_reaches_the_precompiled_one(tree):
    configure(tree)
    built(tree)
    (tree / "src/baton/ir/expr.h").write_text(SOURCES["src/baton/ir/expr.h"] + "inline int extra() { return 5; }\n")
    main = tree / "src/baton/cli/main.cc"
    main.write_text(main.read_text().replace("width()", "extra()"))
    assert built(tree) == "1 5\n"


@pytest.mark.skipif(shutil.which("ccache") is None, reason="no ccache")
def test_a_cache_from_before_a_change_of_a_comment_gives_no_old_precompiled_header(tree, tmp_path, monkeypatch):
    """Neither one of today's builds, nor one of those before comments were hashed."""
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "cache"))
    header = tree / "src/baton/ir/expr.h"

    def build_with(comment, without=()):
        header.write_text(f"{SOURCES['src/baton/ir/expr.h']}struct Extent {{}};  // {comment}\n")
        an_hour_ago = time.time() - 3600  # ccache trusts no file that is as young as the build
        os.utime(header, (an_hour_ago, an_hour_ago))
        write(tree / "src/baton/cli/main.cc", f"{SOURCES['src/baton/cli/main.cc']}// {comment}\nint rank_{len(comment)}();\n")
        shutil.rmtree(tree / "build", ignore_errors=True)
        configure(tree, "-DBATON_CCACHE=ON")
        rules = tree / "build" / "build.ninja"
        text = rules.read_text()
        assert "CCACHE_COMMENTS=1" in text
        for setting in without:
            text = re.sub(rf"{setting}=\S+ ", "", text)
        rules.write_text(text)
        return built(tree)

    before = ("CCACHE_COMMENTS", "CCACHE_NAMESPACE")
    assert build_with("one", without=before) == "1 2\n"
    with pytest.raises(AssertionError, match="redefinition"):  # what this test is about
        build_with("another one", without=before)
    assert build_with("another one") == "1 2\n"
    assert build_with("a third") == "1 2\n"


@pytest.mark.parametrize("seconds", [0.05, 0.4, 1.0])
def test_a_build_that_was_killed_is_finished_by_the_next(tree, seconds):
    """As ./baton does, whose lock the compilers inherit: they outlive a killed ninja, and are waited for."""
    configure(tree)
    with open(tree / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ninja = subprocess.Popen([TOOLS / "ninja", "-C", tree / "build"], stdout=subprocess.DEVNULL, start_new_session=True,
                                 pass_fds=(lock.fileno(),))
    time.sleep(seconds)
    os.killpg(ninja.pid, signal.SIGKILL)
    ninja.wait()
    with open(tree / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    assert built(tree) == "1 2\n"


WITHOUT = ["-DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON"]


def configured(build, *flags):
    return subprocess.run([TOOLS / "cmake", "-S", ROOT, "-B", build, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={TOOLS / 'ninja'}",
                           f"-DPython_EXECUTABLE={TOOLS / 'python'}", *flags], check=False, capture_output=True, text=True)


def test_the_program_needs_no_package_of_the_laboratory_or_the_tests(tmp_path):
    """A first profile installs what every build needs, and no more."""
    done = configured(tmp_path, *WITHOUT)
    assert done.returncode == 0, done.stderr
    assert "not built: SQLite 3.38" in done.stdout and "./baton setup lab" in done.stdout
    rules = (tmp_path / "build.ninja").read_text()
    assert "\nbuild baton: " in rules and "\nbuild baton_lab_verbs: " not in rules and "\nbuild baton_unit_tests: " not in rules


def test_a_wheel_is_refused_without_them(tmp_path):
    done = configured(tmp_path, "-DSKBUILD=ON", *WITHOUT)
    assert done.returncode != 0 and "libsqlite3-dev" in done.stderr
