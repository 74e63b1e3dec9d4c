"""Files that profile, report and diff write: which, when they are refused, and that the numbers in all of them are the same."""
import csv
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
SMALL = str(HERE / "models" / "small.relay")
NOTES = HERE.parents[2] / "docs" / "design"
QUICK = ["--repeat", "8", "--inside-ms", "2"]


def baton(*arguments, cwd=None, **environment):
    return subprocess.run([os.environ["BATON_PROGRAM"], *arguments], cwd=cwd, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300, env={**os.environ, **environment})


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Everything at once, from one run."""
    path = tmp_path_factory.mktemp("outputs")
    done = baton("profile", SMALL, *QUICK, "--trace-runs", "2", "-o", "p.json", "-o", "p.csv", "-o", "p.trace.json", "-o", "p.explorer.json",
                 "-o", "p.html", "-o", "p.txt", cwd=path)
    assert done.returncode == 0, done.stderr
    assert (path / "p.txt").read_text(encoding="utf-8") == done.stdout
    written = re.findall(r"^wrote (.*)$", done.stderr, flags=re.M)
    assert sorted(written) == sorted(each.name for each in path.iterdir()), "written, said so, and nothing else"
    return path


def test_one_run_gives_the_same_numbers_everywhere(folder):
    report = json.loads((folder / "p.json").read_text())
    kernel = report["kernels"][0]
    row, = read(folder / "p.kernels.csv")
    assert float(row["median_us"]) == kernel["median_us"] and row["kernel"] == kernel["name"]
    assert row["origins"] == " ".join(map(str, kernel["origins"])) and row["ops"] == "add, nn.relu"
    operators = read(folder / "p.operators.csv")
    assert [each["op"] for each in operators] == ["add", "nn.relu"] and [each["line"] for each in operators] == ["3", "3"]
    parts = read(folder / "p.parts.csv")
    assert [float(each["us"]) for each in parts] == [each["us"] for each in kernel["inside"]]
    events = json.loads((folder / "p.trace.json").read_text())["traceEvents"]
    assert any(each["name"] == kernel["title"] and each["args"].get("median_us") == kernel["median_us"] for each in events)
    assert sum(each["cat"] == "model" and each["name"].startswith("run ") for each in events if each["ph"] == "X") == 2
    graphs = json.loads((folder / "p.explorer.json").read_text())["graphs"]
    times = json.loads((folder / "p.fused_us.explorer.json").read_text())
    assert {graph["id"] for graph in graphs} == set(times)
    assert times["kernels"]["results"][f"kernel{kernel['node']}"]["value"] == kernel["median_us"]
    assert kernel["name"] in (folder / "p.html").read_text(encoding="utf-8")


def test_report_writes_again_what_profile_wrote(folder, tmp_path):
    done = baton("report", str(folder / "p.json"), "-o", "q.json", "-o", "q.csv", "-o", "q.explorer.json", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (folder / "p.json").read_text()
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (folder / path.name.replace("q.", "p.")).read_bytes(), path.name
    assert baton("report", str(folder / "p.json")).stdout == (folder / "p.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", ["kernels", "operators", "parts"])
def test_the_note_lists_every_column(folder, table):
    note = (NOTES / "0011-profile-tables.md").read_text(encoding="utf-8").split(f"## {table}\n", 1)[1].split("\n## ", 1)[0]
    with open(folder / f"p.{table}.csv", newline="", encoding="utf-8") as file:
        assert re.findall(r"^\| `(\w+)` \|", note, flags=re.M) == next(csv.reader(file))


def test_refused_before_anything_is_measured(tmp_path):
    (tmp_path / "there.json").write_text("old")
    (tmp_path / "folder.json").mkdir()
    long = ["profile", "resnet-18", "--repeat", "1000000"]
    for arguments, status, said in ((["-o", "p.jsn"], 2, "did you mean `.json`?"), (["-o", "p"], 2, "does not say what to write"),
                                    (["-o", "none/p.json"], 1, "cannot write `none/p.json`: No such file"),
                                    (["-o", "folder.json"], 1, "it is there and is no regular file"),
                                    (["-o", "/dev/null/p.json"], 1, "Not a directory"),
                                    (["-o", "p.csv", "-o", "./p.parts.csv"], 2, "would be written twice"),
                                    (["-o", "there.json", "-o", "none/p.csv"], 1, "cannot write `none/p.kernels.csv`"),
                                    (["-o", "p.parquet"], 1, "ended without an answer")):
        done = baton(*long, *arguments, cwd=tmp_path, BATON_PYTHON="/bin/false")
        assert (done.returncode, done.stdout) == (status, ""), done.stderr
        assert said in done.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder.json", "there.json"]
    assert (tmp_path / "there.json").read_text() == "old"


def test_interrupted_runs_write_nothing(folder, tmp_path):
    (tmp_path / "p.json").write_text("old")
    damaged = tmp_path / "damaged.json"
    damaged.write_text((folder / "p.json").read_text()[:-200])
    assert baton("report", str(damaged), "-o", "p.json", cwd=tmp_path).returncode == 1
    assert (tmp_path / "p.json").read_text() == "old"


def test_what_cannot_be_written_keeps_nothing_else_from_it(folder, tmp_path):
    # A limit on the size of files stands in for a disk that is full by the time that everything is measured.
    limit = (folder / "p.html").stat().st_size - 1

    def no_more():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run([os.environ["BATON_PROGRAM"], "report", str(folder / "p.json"), "-o", "q.html", "-o", "q.json"], cwd=tmp_path,
                          capture_output=True, text=True, check=False, timeout=60, preexec_fn=no_more)
    assert done.returncode == 1 and "cannot write `q.html`" in done.stderr and "wrote q.json" in done.stderr, done.stderr
    assert done.stdout == (folder / "p.txt").read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["q.json"]


def test_reports_that_are_none(folder, tmp_path):
    whole = json.loads((folder / "p.json").read_text())
    for change, said in (({"schema": 99}, "has schema 99, this Baton reads schema 1"), ({"kernels": None}, "is damaged"),
                         ({"operators": [{"id": 5}]}, "is damaged")):
        path = tmp_path / "p.json"
        path.write_text(json.dumps({**whole, **change}))
        done = baton("report", str(path))
        assert done.returncode == 1 and said in done.stderr and "p.json" in done.stderr, done.stderr
    for path, said in ((tmp_path / "none.json", "No such file"), (tmp_path, "cannot be read: "), (pathlib.Path(SMALL), "is no profile")):
        done = baton("report", str(path))
        assert done.returncode == 1 and said in done.stderr, done.stderr


def test_a_profile_without_origins(folder, tmp_path):
    whole = json.loads((folder / "p.json").read_text())
    for kernel in whole["kernels"]:
        kernel.update({"origins": [], "made_for": [], "inside": []})
    (tmp_path / "p.json").write_text(json.dumps({**whole, "operators": [], "unfused": {"end_to_end_us": 0, "kernels": []}}))
    done = baton("report", "p.json", "-o", "q.csv", "-o", "q.trace.json", "-o", "q.explorer.json", "-o", "q.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "q.operators.csv") == [] and len(read(tmp_path / "q.kernels.csv")) == 1
    done = baton("diff", "p.json", str(folder / "p.json"), cwd=tmp_path)
    assert done.returncode == 1 and "p.json names no operators" in done.stderr


def test_parquet_says_what_is_missing(folder, tmp_path):
    for python, said in (("/no/such/python", "Parquet needs a Python with pyarrow"), (sys.executable, None)):
        done = baton("report", str(folder / "p.json"), "-o", "q.parquet", cwd=tmp_path, BATON_PYTHON=python, PYTHONPATH=str(tmp_path))
        if said:
            assert done.returncode == 1 and said in done.stderr, done.stderr
    (tmp_path / "pyarrow.py").write_text("raise ImportError('not here')")
    done = baton("report", str(folder / "p.json"), "-o", "r.parquet", cwd=tmp_path, BATON_PYTHON=sys.executable, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1 and "pip install 'baton-compiler[profile]'" in done.stderr, done.stderr
    assert not list(tmp_path.glob("r.*"))


def test_parquet(folder, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    done = baton("report", str(folder / "p.json"), "-o", "q.parquet", cwd=tmp_path, BATON_PYTHON=sys.executable)
    assert done.returncode == 0, done.stderr
    for table in ("kernels", "operators", "parts"):
        rows = parquet.read_table(tmp_path / f"q.{table}.parquet")
        texts = read(folder / f"p.{table}.csv")
        assert rows.column_names == list(texts[0]) and rows.num_rows == len(texts)
    kernel = parquet.read_table(tmp_path / "q.kernels.parquet").to_pylist()[0]
    assert kernel["origins"] == [0, 1] and kernel["compiler"] is None
    assert kernel["median_us"] == float(read(folder / "p.kernels.csv")[0]["median_us"])


def test_diff_of_two_profiles(folder, tmp_path):
    done = baton("diff", str(folder / "p.json"), str(folder / "p.json"), "--json", "-o", "d.json", "-o", "d.html", "-o", "d.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "d.json").read_text()
    found = json.loads(done.stdout)
    assert all(each["us"]["delta"] == 0 and not each["us"]["differs"] for each in found["operators"] + found["groups"])
    assert "within noise" in (tmp_path / "d.txt").read_text()
    assert (tmp_path / "d.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_diff_measures_both_builds_in_turn(tmp_path):
    (tmp_path / "net.relay").write_text("""#[version = "0.0.5"]
def @main(%x: Tensor[(64, 64), float32], %w: Tensor[(64, 64), float32]) {
  %0 = nn.dense(%x, %w, units=64);
  %1 = nn.relu(%0);
  %2 = exp(%w);
  nn.softmax(%1) + %2
}
""")
    done = baton("diff", "net.relay", "--a", "--opt-level 3", "--b", "--opt-level 0 --threads 2", "--repeat", "20", "--inside-ms", "2",
                 "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["paired"] and (found["a"]["opt_level"], found["b"]["opt_level"], found["b"]["threads"]) == (3, 0, 2)
    for side in "ab":
        parts = sum(found[each][side] for each in ("operators_us", "rest_us", "own_us"))
        assert parts == pytest.approx(found["sum_us"][side], rel=1e-9)
        assert sum(each["us"][side] for each in found["groups"] + found["own"]) == pytest.approx(found["sum_us"][side], rel=1e-9)
    operators = {each["op"]: each for each in found["operators"]}
    assert operators["exp"]["a"]["instead"] == "folded" and operators["exp"]["b"]["kernels"]
    assert operators["nn.relu"]["only_a"] == [operators["nn.dense"]["id"]] and len(operators["nn.relu"]["b"]["kernels"]) == 1


DENSE = """#[version = "0.0.5"]
def @main(%x: Tensor[(64, 64), float32], %w: Tensor[(64, 64), float32]) {
  %0 = nn.dense(%x, %w, units=64);
  nn.relu(%0)
}
"""


def test_a_side_of_diff_takes_every_option_of_a_build(tmp_path):
    (tmp_path / "net.relay").write_text(DENSE)
    quick = ("--repeat", "6", "--no-inside", "--json")
    done = baton("diff", "net.relay", "--a", "--precision strict", "--b", '--precision bf16 --target "llvm -mcpu=x86-64-v3" --untuned', *quick,
                 cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["a"]["precision"], found["b"]["precision"]) == ("strict", "bf16")
    assert (found["a"]["target"], found["b"]["target"]) == ("llvm", "llvm -mcpu=x86-64-v3")
    assert found["b"]["label"].startswith("--precision bf16") and "--opt-level 3" in found["b"]["label"]
    assert any("A has the precision strict, B bf16" in note for note in found["notes"])


def test_the_precision_is_in_every_form_of_a_report(tmp_path):
    (tmp_path / "net.relay").write_text(DENSE)
    found = {}
    for precision in ("f32", "strict"):
        done = baton("profile", "net.relay", *QUICK, "--precision", precision, "-o", f"{precision}.json", "-o", f"{precision}.csv",
                     "-o", f"{precision}.html", "--store", "m.db", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f", precision {precision}," in done.stdout
        found[precision] = json.loads((tmp_path / f"{precision}.json").read_text())
        assert found[precision]["precision"] == precision
        assert read(tmp_path / f"{precision}.kernels.csv")[0]["precision"] == precision
        assert f'"precision":"{precision}"' in (tmp_path / f"{precision}.html").read_text().replace(" ", "")
    rows = json.loads(baton("store", "query", "--store", "m.db", "--kind", "model", "--precision", "strict", "--json", cwd=tmp_path).stdout)
    assert len(rows) == 1
    done = baton("diff", "f32.json", "strict.json", cwd=tmp_path)
    assert ", precision f32," in done.stdout and ", precision strict," in done.stdout
    assert baton("build", "net.relay", "--precision", "strict", "-o", "a.baton", cwd=tmp_path).returncode == 0
    assert ", precision strict," in baton("profile", "a.baton", "--no-peaks", cwd=tmp_path).stdout


def test_diff_refuses_another_model(folder, tmp_path):
    (tmp_path / "other.relay").write_text((HERE / "models" / "small.relay").read_text().replace("nn.relu", "exp"))
    assert baton("profile", "other.relay", *QUICK, "-o", "other.json", cwd=tmp_path).returncode == 0
    done = baton("diff", str(folder / "p.json"), "other.json", "-o", "d.html", cwd=tmp_path)
    assert done.returncode == 1
    assert "are of different models: nn.relu line 3 (operator 1) and exp line 3 differ, they are nn.relu and exp" in done.stderr
    assert not (tmp_path / "d.html").exists()


def test_diff_says_what_it_needs(folder):
    one = str(folder / "p.json")
    for arguments, said in (([one], "a second one is needed"), ([SMALL], "Give a second profile, or --a and --b"),
                            ([SMALL, "--a", "--opt-level 3"], "Give a second profile, or --a and --b"),
                            ([one, one, "--a", "--opt-level 3"], "are built already"),
                            ([SMALL, "--a", "--opt-level 9", "--b", "--threads 1"], "a side takes --opt-level, --precision, --target"),
                            ([SMALL, "--a", "--precision f8", "--b", "--threads 1"], "a side takes --opt-level, --precision, --target"),
                            ([SMALL, "--a", "--taget llvm", "--b", "--threads 1"], "Did you mean `--target`?")):
        done = baton("diff", *arguments)
        assert done.returncode == 2 and said in done.stderr, done.stderr
