"""An operator, a pass, a verb and a schedule template are each one file and one line, and are found everywhere then. A backend is
two folders and a line; a column of the store, or of a report, is three lines; an option two; a feature of predictors is one, and
predictors of before remain; a peer is a file."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
GIVEN = pathlib.Path(__file__).parent / "additions"
# The file, where it goes, the list, the line, and the line that stands behind it.
ADDITIONS = [
    ("twice.cc", "src/baton/ops/tensor", "src/baton/ops/ops.def", "BATON_OP(op_twice)", "BATON_OP(op_unique)"),
    ("add_to_twice.cc", "src/baton/transform/simplify", "src/baton/transform/passes.def", 'BATON_PASS("AddToTwice", add_to_twice)',
     'BATON_PASS("AlterOpLayout"'),
    ("operators.cc", "src/baton/cli", "src/baton/cli/verbs.def", "BATON_VERB(operators_verb)", "BATON_VERB(opt_verb)"),
    ("doubling.cc", "src/baton/schedule", "src/baton/schedule/templates.def", "BATON_TEMPLATE(template_doubling)",
     "BATON_TEMPLATE(template_pointwise)"),
]
# A line behind another one: a column of the store, one of the report and an option, with their members.
LINES = [
    ("src/baton/store/measurement.h", "  std::string protocol;\n", "  int luck = 0;\n"),
    ("src/baton/store/columns.h", '    {"protocol", &Measurement::protocol},\n', '    {"luck", &Measurement::luck},\n'),
    ("src/baton/store/migrations/migrations.def", 'BATON_MIGRATION(kProtocolSql, "the protocol of each measurement")\n',
     'BATON_MIGRATION(kLuckSql, "luck")\n'),
    ("src/baton/profile/report/rows.h", "  double live_bytes = 0;      ///< of all results that are needed while it runs, its own included\n",
     "  double luck = 7;\n"),
    ("src/baton/profile/write/report_json.cc", '    may_lack<KernelRow, &KernelRow::live_bytes>("live_bytes"),\n',
     '    may_lack<KernelRow, &KernelRow::luck>("luck"),\n'),
    ("src/baton/profile/write/tables.cc", '      {"live_bytes", kNumber, [](const KernelCells& k) -> Cell { return k.row.live_bytes; }},\n',
     '      {"luck", kNumber, [](const KernelCells& k) -> Cell { return k.row.luck; }},\n'),
    ("src/baton/predict/features.cc", '    {"log2 batch", "", kShape, kNear, [](const KernelFacts& f) { return log2_of(f.e.batch); }},\n',
     '    {"luck", "", false, false, [](const KernelFacts&) { return 7.0; }},\n'),
    ("src/baton/profile/report/run_profile.h", "  int threads = 0;  ///< of the runs; 0: the default of all runs\n", "  int luck = 3;\n"),
    ("src/baton/profile/report/run_profile.cc", "  add_measuring(flags);\n",
     '  flags.option("luck", &luck, "of the runs").show_default().range(1, 7);\n'),
    ("src/baton/codegen/backends.def", "BATON_BACKEND(mirror)\n", "BATON_BACKEND(echo)\n"),
]
MIGRATION = """#include "baton/store/migrations/migrations.h"

namespace baton {
const char* const kLuckSql = "ALTER TABLE measurement ADD COLUMN luck INTEGER NOT NULL DEFAULT 0";
}
"""
PROGRAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(3, 5), float32]) {
  add(%x, %x)
}
"""
IN_PYTHON = """
import baton
from baton import relay
from baton._load import core
x = relay.var("x", shape=(3, 5))
call = relay.op.tensor.twice(x)
assert "twice" in core.list_op_names() and "twice" in dir(relay.op) and "Two times x." in relay.op.tensor.twice.__doc__
module = relay.transform.InferType()(relay.transform.AddToTwice()(relay.transform.InferType()(core.IRModule.from_expr(relay.add(x, x)))))
assert baton.profile.__signature__.parameters["luck"].default == 3 and "luck : of the runs" in baton.profile.__doc__
assert "twice(%x)" in module.astext(False) and "(3, 5)" in str(module["main"].ret_type)
"""


def add_to(tree):
    """All additions, in a tree of sources."""
    for file, behind, line in LINES:
        text = (tree / file).read_text()
        assert text.count(behind) == 1, f"{behind} in {file}"
        (tree / file).write_text(text.replace(behind, behind + line))
    (tree / "src/baton/store/migrations/9999_luck.cc").write_text(MIGRATION)
    (tree / "bench/peers/run_echo.py").write_text("# A peer.\n")
    # A backend like `mirror`, for devices of another number.
    for folder, new in (("src/baton/codegen/mirror", "backend.cc"), ("src/baton/runtime/plugins/mirror", "echo.cc")):
        source, = (tree / folder).glob("*.cc")
        text = source.read_text().replace("mirror", "echo").replace("kOtherKind = 12", "kOtherKind = 14")
        target = tree / folder.replace("mirror", "echo") / new
        target.parent.mkdir()
        target.write_text(text)
    for file, folder, listed, line, behind in ADDITIONS:
        (tree / folder / file).write_text((GIVEN / file).read_text())
        text = (tree / listed).read_text()
        assert text.count(behind) == 1, f"{behind} in {listed}"
        (tree / listed).write_text(text.replace(behind, f"{line}\n{behind}"))


def find(build, tree):
    """Everything that `baton` and `_baton` of `build` must know of them."""
    model = build / "twice.relay"
    model.write_text(PROGRAM)

    def baton(*args):
        done = subprocess.run([build / "baton", *args], capture_output=True, text=True, check=False,
                              env={**os.environ, "BATON_PREDICTORS": str(tree / "python/baton/predictors")})
        assert done.returncode == 0, f"{args}: {done.stdout}{done.stderr}"
        return done.stdout

    assert "  --luck INT:INT in [1 - 7]=3" in baton("profile", "--help")
    assert "operators" in baton("--help") and "with what each does" in baton("operators", "--help")
    assert "twice: Two times x." in baton("operators", "--docs").splitlines()
    unknown = subprocess.run([build / "baton", "opt", model, "--passes", "?"], capture_output=True, text=True, check=False)
    assert unknown.returncode == 2 and "AddToTwice" in unknown.stderr
    rewritten = baton("opt", model, "--passes", "InferType,AddToTwice,InferType")
    assert "twice(%x)" in rewritten and "add(" not in rewritten
    model.write_text(PROGRAM.replace("add(%x, %x)", "twice(%x)"))
    kernel, = json.loads(baton("explain", model, "--node", "1", "--json"))["kernels"]
    assert kernel["template"] == "doubling" and kernel["params"] == {"vector": 4} and kernel["flops"] == 15
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'python'}:{build / 'python'}"}
    report = json.loads(baton("profile", model, "--target", "echo", "--json", "--no-peaks", "--no-unfused", "--store", build / "m.db"))
    assert report["target"] == "echo" and {each["luck"] for each in report["kernels"]} == {7}
    (build / "p.json").write_text(json.dumps(report))
    baton("report", build / "p.json", "-o", build / "p.csv")
    assert "luck" in (build / "p.kernels.csv").read_text().splitlines()[0].split(",")
    assert "0" in baton("store", "query", "--sql", "SELECT luck FROM rows LIMIT 1", "--store", build / "m.db").split()
    baton("train", "--store", build / "m.db", "--features", build / "f.csv")
    header, row = (build / "f.kernels.csv").read_text().splitlines()[:2]
    assert dict(zip(header.split(","), row.split(",")))["luck"] == "7"
    assert "us" in baton("predict", "mlp", "--for-device", "zen5")
    peer = subprocess.run([build / "baton", "bench", model, "--peers", "bogus"], capture_output=True, text=True, check=False,
                          env={**os.environ, "BATON_ROOT": str(tree)})
    assert peer.returncode == 2 and "echo" in peer.stderr
    done = subprocess.run([sys.executable, "-c", IN_PYTHON], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_one_file_and_one_line_each(tmp_path):
    tree, build = tmp_path / "tree", tmp_path / "tree" / "build" / "test"
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes((ROOT / name).read_bytes())
    add_to(tree)
    for command in (["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -g0 -DNDEBUG",
                     f"-DPython_EXECUTABLE={sys.executable}"], ["cmake", "--build", build, "--target", "baton", "_baton", "baton_lab_verbs", "baton_plugin_echo"]):
        environment = {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    find(build, tree)


def test_a_column_of_the_store_is_three_places():
    """Its member, its line in the table of columns, its migration (a file, and the line that lists it)."""
    store = ROOT / "src/baton/store"
    named = {file.relative_to(store).as_posix() for file in store.rglob("*.*") if "protocol" in file.read_text()}
    assert named == {"measurement.h", "columns.h", "migrations/0006_protocol.cc", "migrations/migrations.def"}
