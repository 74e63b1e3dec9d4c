"""tools/check_layers finds what ARCHITECTURE.md does not allow, and allows what it does."""
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
    """Status and output for a tree of `files`: below src/, or from the root where the name begins with "/"."""
    (root / "ARCHITECTURE.md").write_text(table)
    (root / "CMakeLists.txt").write_text('set(baton_lab_folders "tune|predict")\n')
    for name, text in files.items():
        path = root / name[1:] if name.startswith("/") else root / "src" / name
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


def test_what_the_compiler_may_not_use_is_the_laboratory(tmp_path):
    table = TABLE + "| `src/baton/driver/` | . | predict |\n| `src/baton/cli/lab/`, `src/baton/predict/model/` | . | predict |\n"
    status, output = check(tmp_path, {"baton/ir/expr.h": "#pragma once\n"}, table)
    assert status == 1 and output.count("in the laboratory's library") == 1
    assert "ARCHITECTURE.md: baton/driver may use baton/predict, which is in the laboratory's library" in output


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


ROOMS = TABLE.replace("| `src/baton/ops/` | . | ir, Halide |",
                      "| `src/baton/ops/nn/` | . | ir |\n| `src/baton/ops/` | . | ops/nn, Halide |")


def test_a_room_may_use_less_than_its_hall(tmp_path):
    status, output = check(tmp_path, {"baton/ops/nn/conv.cc": '#include "baton/ir/expr.h"\n#include "baton/ops/spec.h"\n',
                                      "baton/ops/list.cc": '#include "baton/ops/nn/conv.h"\n'}, ROOMS)
    assert status == 1
    assert "conv.cc:2: baton/ops/nn includes baton/ops/spec.h; it may use: ir, support, support/base" in output
    assert "1 wrong includes" in output


def test_the_right_to_halide_does_not_reach_a_room(tmp_path):
    status, output = check(tmp_path, {"baton/ops/nn/conv.cc": "#include <Halide.h>\n"}, ROOMS)
    assert status == 1
    assert "baton/ops/nn includes Halide.h" in output


def test_two_rows_for_one_folder_are_an_error(tmp_path):
    status, output = check(tmp_path, {}, TABLE + "| `src/baton/ir/` | . | support/base |\n")
    assert status == 1
    assert "two rows for baton/ir" in output


def test_a_circle_of_files_is_found_with_its_chain(tmp_path):
    status, output = check(tmp_path, {
        "baton/ir/a.h": '#include "baton/ir/b.h"\n',
        "baton/ir/b.h": "",
        "baton/ir/b.cc": '#include "baton/ir/b.h"\n#include "baton/ir/c.h"\n',
        "baton/ir/c.h": "\n",
        "baton/ir/c.cc": '#include "baton/ir/c.h"\n\n#include "baton/ir/a.h"\n',
        "baton/ir/d.cc": '#include "baton/ir/a.h"\n',
    })
    assert status == 1
    assert ("a circle of 3 files: src/baton/ir/a.h:1 includes baton/ir/b; src/baton/ir/b.cc:2 includes baton/ir/c; "
            "src/baton/ir/c.cc:3 includes baton/ir/a") in output
    assert "1 circles" in output


def test_a_header_and_its_source_are_no_circle(tmp_path):
    status, output = check(tmp_path, {"baton/ir/a.h": "", "baton/ir/a.cc": '#include "baton/ir/a.h"\n'})
    assert status == 0, output


def test_a_circle_of_modules_is_found_behind_a_lazy_import(tmp_path):
    status, output = check(tmp_path, {
        "/python/baton/relay/__init__.py": "from .vm import run\nfrom . import build\n",
        "/python/baton/relay/build.py": "def build():\n    from .vm import run\n    return run\n",
        "/python/baton/relay/vm.py": "from baton.relay import build\n\ndef run():\n    pass\n",
        "/python/baton/__init__.py": "from . import relay\n",
    })
    assert status == 1
    assert ("a circle of 2 files: python/baton/relay/build.py:2 imports baton.relay.vm; "
            "python/baton/relay/vm.py:1 imports baton.relay.build") in output
    assert "1 circles" in output


def test_a_package_and_a_module_that_imports_it_are_no_circle(tmp_path):
    status, output = check(tmp_path, {"/python/baton/__init__.py": "from . import one\n",
                                      "/python/baton/one.py": "import baton\n"})
    assert status == 0, output


def test_a_crowded_folder_is_found(tmp_path):
    full = {f"/tests/golden/{i}.relay": "" for i in range(40)}
    status, output = check(tmp_path, full)
    assert status == 0, output
    status, output = check(tmp_path, {"/tests/golden/40.relay": "", "/tests/golden/room/1.relay": ""})
    assert status == 1
    assert "tests/golden: 41 files in one folder, at most 40" in output


HEADER = """/// dead() is not used, whatever this says.
int used(int x);
int dead(int x);
inline std::vector<int> by_a_header(const std::vector<int>& all) { return called_inline(all); }
std::vector<int> called_inline(
    const std::vector<int>& all);
"""


def test_a_function_without_a_caller_is_found(tmp_path):
    status, output = check(tmp_path, {
        "baton/ir/a.h": HEADER,
        "baton/ir/a.cc": '#include "baton/ir/a.h"\nint used(int x) { return x; }\nint dead(int x) {\n  throw "dead(1)";\n}\n',
        "/tests/unit/ir/a_test.cc": "void test() {\n  used(1);\n  by_a_header({});\n}\n",
    })
    assert status == 1
    assert "src/baton/ir/a.h:3: nobody calls dead" in output
    assert "1 functions without a caller" in output


def test_the_c_interface_may_be_called_from_python(tmp_path):
    files = {"baton/runtime/c_api.h": "int baton_load(const char* file);\n"}
    assert check(tmp_path, files)[0] == 1
    assert check(tmp_path, {**files, "/tests/python/test_c_api.py": "library.baton_load(b'x')\n"})[0] == 0


def a_class(name, lines):
    return f"class {name} final\n    : public Base<{name}> {{\n" + "  int a();\n" * lines + "};\n"


def test_a_long_class_is_found(tmp_path):
    inner = "namespace {\n  struct Inner {\n" + "    int a;\n" * 301 + "  };\n}\n"
    status, output = check(tmp_path, {"baton/ir/a.h": a_class("Fits", 300) + a_class("Long", 301),
                                      "baton/ir/a.cc": f"struct Forward;\n{inner}enum class Many {{\n" + "  k,\n" * 301 + "};\n"})
    assert status == 1
    assert "src/baton/ir/a.h:304: the class Long has 301 lines, at most 300" in output
    assert "src/baton/ir/a.cc:3: the class Inner has 301 lines" in output
    assert "2 long classes" in output


def test_an_exception_that_is_none_any_more_is_found(tmp_path):
    status, output = check(tmp_path, {"baton/ir/a.h": "", "baton/text/json/tvm_json.cc": a_class("TvmReader", 9)},
                           TABLE + "| `src/baton/text/json/` | . | ir |\n")
    assert status == 1
    assert "tvm_json.cc: the class TvmReader is no longer too long" in output


def test_reads_of_the_environment_are_found(tmp_path):
    files = {"baton/support/base/environment.cc": 'auto a = std::getenv("A");\n', "baton/support/subprocess.cc": "extern char** environ;\n",
             "baton/ir/a.cc": "// getenv and environ\nint environment();\n"}
    assert check(tmp_path, files)[0] == 0
    status, output = check(tmp_path, {**files, "baton/ir/b.cc": "int a;\nconst char* b = getenv(\"B\");\n",
                                      "python/c.cc": "extern char** environ;\n", "baton/support/line_process.cc": "secure_getenv(\"D\");\n"})
    assert status == 1 and "3 reads of the environment" in output
    assert "src/baton/ir/b.cc:2: reads the environment: add a setting to baton/support/base/environment.def" in output
    assert "src/python/c.cc:1:" in output and "line_process.cc:1:" in output
