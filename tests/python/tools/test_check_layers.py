"""tools/check_layers finds a wrong include, and allows what the table allows."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]

TABLE = """
| folder | what | may use |
|---|---|---|
| `src/baton/support/base/` | . | standard library |
| `src/baton/support/` | . | support/base |
| `src/baton/ir/` | . | support |
| `src/baton/runtime/` | . | support/base |
| `src/baton/ops/` | . | ir, Halide |
| `src/baton/tune/`, `src/baton/predict/` | . | ops |
| `src/python/` | . | all |
"""


def check(root, files, table=TABLE):
    (root / "ARCHITECTURE.md").write_text(table)
    for name, text in files.items():
        path = root / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run([sys.executable, ROOT / "tools" / "check_layers", "--root", root], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_what_the_row_names_and_what_that_names_is_allowed(tmp_path):
    status, output = check(tmp_path, {
        "baton/ops/conv.cc": '#include <Halide.h>\n#include <vector>\n#include "baton/ops/conv.h"\n'
                             '#include "baton/ir/expr.h"\n#include "baton/support/base/tensor.h"\n',
        "baton/predict/model.cc": '#include "baton/support/json.h"\n',
        "python/module.cc": '#include "baton/predict/model.h"\n',
    })
    assert status == 0, output
    assert "3 files, 0 wrong includes" in output


def test_an_include_against_the_direction_is_found(tmp_path):
    status, output = check(tmp_path, {"baton/ir/expr.h": '#pragma once\n\n  #  include "baton/ops/conv.h"\n'})
    assert status == 1
    assert "src/baton/ir/expr.h:3: baton/ir includes baton/ops/conv.h; it may use: support, support/base" in output


def test_a_subfolder_with_a_row_of_its_own_is_not_its_parent(tmp_path):
    status, output = check(tmp_path, {"baton/runtime/pool.cc": '#include "baton/support/base/tensor.h"\n'
                                                               '#include "baton/support/json.h"\n'})
    assert status == 1
    assert "pool.cc:2:" in output and "pool.cc:1:" not in output


def test_halide_is_for_rows_that_say_so_and_is_not_inherited(tmp_path):
    status, output = check(tmp_path, {"baton/tune/tuner.cc": "#include <Halide.h>\n"})
    assert status == 1
    assert "src/baton/tune/tuner.cc:1: baton/tune includes Halide.h" in output


def test_a_relative_include_is_found(tmp_path):
    status, output = check(tmp_path, {"baton/ir/expr.cc": '#include "expr.h"\n'})
    assert status == 1
    assert 'includes "expr.h"; our headers are named from the root' in output


def test_a_folder_without_a_row_is_found(tmp_path):
    status, output = check(tmp_path, {"baton/new/a.cc": "", "baton/ir/b.cc": '#include "baton/other/c.h"\n'})
    assert status == 1
    assert "src/baton/new/a.cc:1: its folder has no row" in output
    assert "src/baton/ir/b.cc:1: includes baton/other/c.h, whose folder has no row" in output


def test_a_row_that_names_an_unknown_folder_is_an_error(tmp_path):
    status, output = check(tmp_path, {}, TABLE.replace("| ir, Halide |", "| irr, Halide |"))
    assert status == 1
    assert 'the row of baton/ops names "irr", which has no row' in output
