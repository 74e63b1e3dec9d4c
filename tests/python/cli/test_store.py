"""`baton store` and `profile --store`: what goes in comes out, and what is wrong is said."""
import csv
import io
import json
import os
import pathlib
import sqlite3
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
SMALL = str(HERE / "models" / "small.relay")
QUICK = ["--repeat", "8", "--inside-ms", "2", "--no-peaks", "--threads", "1"]


def baton(*arguments, **environment):
    return subprocess.run([os.environ["BATON_PROGRAM"], *map(str, arguments)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300, env={**os.environ, **environment})


def good(*arguments, **environment):
    done = baton(*arguments, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """m.db: one profile; p.json: the same as a file; m.jsonl: its measurements."""
    path = tmp_path_factory.mktemp("store")
    done = baton("profile", SMALL, *QUICK, "--store", path / "m.db", "--family", "tiny", "-o", path / "p.json", BATON_MACHINE="here")
    assert done.returncode == 0, done.stderr
    rows = len(good("store", "export", "--store", path / "m.db").splitlines())
    assert f"{rows} rows are new in {path / 'm.db'}" in done.stderr
    good("store", "export", "--store", path / "m.db", "-o", path / "m.jsonl")
    return path


def lines(path, *flags):
    return [json.loads(line) for line in good("store", "export", "--store", path, *flags).splitlines()]


def test_a_profile_is_in_the_store(folder):
    report = json.loads((folder / "p.json").read_text())
    rows = lines(folder / "m.db")
    model, = [row for row in rows if row["work"]["kind"] == "model"]
    assert model["samples_us"] and model["median_us"] == report["end_to_end_us"]["median"]
    kernels = [row for row in rows if row["work"]["kind"] == "kernel" and "method" not in row]
    assert [row["median_us"] for row in kernels] == [kernel["median_us"] for kernel in report["kernels"]]
    assert [row["samples_us"] for row in kernels] == [kernel["samples"] + kernel.get("disturbed_us", []) for kernel in report["kernels"]]
    assert all(row["core_ns"] > 0 and row["protocol"] == "profile" for row in rows)
    assert [op["op"] for op in kernels[0]["work"]["operators"]] == ["add", "nn.relu"]
    assert [origin["op"] for origin in kernels[0]["origins"]] == ["add", "nn.relu"]
    assert [origin["source"] for origin in kernels[0]["origins"]] == ["line 3", "line 3"]
    assert {(row["machine"], row["family"], row["model"], row["threads"]) for row in rows} == {("here", "tiny", "small", 1)}
    unfused = [row for row in rows if row.get("method") == "unfused"]
    assert [[op["op"] for op in row["work"]["operators"]] for row in unfused] == [["add"], ["nn.relu"]]


def test_lines_read_back(folder, tmp_path):
    store = tmp_path / "again.db"
    done = baton("store", "import", folder / "m.jsonl", folder / "m.jsonl", "--store", store)
    count = len(lines(folder / "m.db"))
    assert done.stderr.splitlines() == [f"{folder / 'm.jsonl'}: {count} rows, {count} of them new", f"{folder / 'm.jsonl'}: {count} rows, 0 of them new"]
    assert good("store", "export", "--store", store) == (folder / "m.jsonl").read_text()


def test_a_saved_profile_has_the_same_works(folder, tmp_path):
    store = tmp_path / "saved.db"
    good("store", "import", folder / "p.json", "--store", store, "--as-machine", "here", "--as-family", "tiny")

    def works(path):
        return sorted((row["work"]["text"], row["median_us"], row.get("method", "")) for row in lines(path))

    assert works(store) == works(folder / "m.db")


def test_a_saved_profile_is_of_the_machine_that_measured_it(folder, tmp_path):
    """Imported profiles were of another machine and device than rows of a campaign on the same computer."""
    store = tmp_path / "saved.db"
    good("store", "import", folder / "p.json", "--store", store)

    def devices(path, *columns):
        sql = f"SELECT DISTINCT {', '.join(columns)} FROM rows"
        return json.loads(good("store", "query", "--store", path, "--json", "--sql", sql))

    assert devices(store, "sheet", "device") == devices(folder / "m.db", "sheet", "device")
    assert devices(store, "machine") == [{"machine": json.loads((folder / "p.json").read_text())["host"]}]


def test_merge(folder, tmp_path):
    for name, operator in (("a", "add"), ("b", "nn.relu")):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines(folder / "m.db", "--op", operator)))
        good("store", "import", tmp_path / f"{name}.jsonl", "--store", tmp_path / f"{name}.db")
    good("store", "merge", tmp_path / "b.db", "--store", tmp_path / "a.db")
    both = {json.dumps(row) for name in "ab" for row in map(json.loads, (tmp_path / f"{name}.jsonl").read_text().splitlines())}
    assert {json.dumps(row) for row in lines(tmp_path / "a.db")} == both and len(both) > len(lines(tmp_path / "b.db"))
    done = baton("store", "merge", tmp_path / "a.db", "--store", tmp_path / "a.db")
    assert done.returncode == 2 and "merged into itself" in done.stderr


def test_query(folder):
    ask = lambda *flags: json.loads(good("store", "query", "--store", folder / "m.db", "--json", *flags))  # noqa: E731
    assert len(ask("--op", "add", "--fused-with", "nn.relu", "--kind", "kernel")) == 1
    assert {row["kind"] for row in ask("--kind", "part")} <= {"part"} and ask("--backend", "dnnl") == []
    table = good("store", "query", "--store", folder / "m.db", "--kind", "model")
    assert table.splitlines()[0].split()[:3] == ["what", "of", "backend"] and table.splitlines()[-1] == "1 row"
    rows = list(csv.DictReader(io.StringIO(good("store", "query", "--store", folder / "m.db", "--csv", "--kind", "kernel"))))
    assert [float(row["median_us"]) for row in rows] == [row["median_us"] for row in ask("--kind", "kernel")]
    answer = good("store", "query", "--store", folder / "m.db", "--sql", "SELECT kind, count(*) AS n FROM rows GROUP BY kind ORDER BY kind")
    assert answer.split()[:4] == ["kind", "n", "kernel", "3"]


def test_operators_are_found_as_the_model_has_them(tmp_path):
    """`store query --op nn.dense` found nothing: the rows are of nn.contrib_dense_pack, which it was built as."""
    net = tmp_path / "net.relay"
    net.write_text('#[version = "0.0.5"]\ndef @main(%x: Tensor[(16, 128), float32], %w: Tensor[(96, 128), float32], %b: Tensor[(96), float32]) {\n'
                   "  %0 = nn.dense(%x, %w, units=96);\n  nn.relu(nn.bias_add(%0, %b))\n}\n")
    store = tmp_path / "m.db"
    good("profile", net, *QUICK, "--no-inside", "--no-unfused", "--store", store)
    ask = lambda *flags: json.loads(good("store", "query", "--store", store, "--json", "--kind", "kernel", *flags))  # noqa: E731
    row, = ask("--op", "nn.dense")
    assert row["op_source"] == "nn.dense + nn.bias_add + nn.relu" and row["operators"] == "nn.contrib_dense_pack + add + nn.relu"
    for flags in (["--op", "nn.contrib_dense_pack"], ["--op", "*dense*", "--fused-with", "nn.bias_add"], ["--op", "nn.bias_add"],
                  ["--op", "nn.dense", "--attr", "units=96"], ["--op", "nn.contrib_dense_pack", "--attr", "units=96"]):
        assert ask(*flags) == [row], flags
    for flags in (["--op", "nn.conv2d"], ["--op", "nn.dense", "--attr", "units=97"], ["--op", "nn.dense", "--fused-with", "tanh"],
                  ["--attr", "nn.dense.units=96"]):
        assert ask(*flags) == [], flags
    assert "nn.dense + nn.bias_add" in good("store", "query", "--store", store, "--op", "nn.dense")
    answer = good("store", "query", "--store", store, "--sql", "SELECT count(*) AS n FROM rows WHERE op_source LIKE 'nn.dense%' AND kind = 'kernel'")
    assert answer.split() == ["n", "1"]


def test_attributes(tmp_path):
    net = tmp_path / "net.relay"
    net.write_text('#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(8, 4, 3, 3), float32]) {\n'
                   "  nn.relu(nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1]))\n}\n")
    store = tmp_path / "m.db"
    good("profile", net, *QUICK, "--no-inside", "--no-unfused", "--store", store)
    ask = lambda *flags: len(json.loads(good("store", "query", "--store", store, "--json", "--kind", "kernel", *flags)))  # noqa: E731
    conv = lines(store, "--fused-with", "nn.relu")[0]["work"]["operators"]
    name = [op["op"] for op in conv if "conv2d" in op["op"]][0]
    assert ask("--attr", "strides=2,2", "--attr", "kernel_size=3,3") == 1 == ask("--op", name, "--attr", "strides=[2, 2]", "--attr", "groups=1")
    assert ask("--attr", f"{name}.strides=1,1") == 0 == ask("--attr", "strides=2,2", "--attr", "kernel_size=1,1")
    for wrong in ("strides", "=2", "strides="):
        done = baton("store", "query", "--store", store, "--attr", wrong)
        assert done.returncode == 2 and "NAME=VALUE" in done.stderr


def test_operators_by_pattern(folder):
    assert lines(folder / "m.db", "--op", "nn.r*") == lines(folder / "m.db", "--op", "nn.relu") != []
    assert lines(folder / "m.db", "--op", "relu") == []


def test_rows_of_two_machines_are_not_mixed_silently(folder, tmp_path):
    good("store", "import", folder / "m.jsonl", "--store", tmp_path / "two.db")
    done = baton("store", "query", "--store", tmp_path / "two.db")
    assert "machines" not in done.stdout
    (tmp_path / "there.jsonl").write_text((folder / "m.jsonl").read_text().replace('"machine":"here"', '"machine":"there"'))
    good("store", "import", tmp_path / "there.jsonl", "--store", tmp_path / "two.db")
    assert "2 devices or machines" in good("store", "query", "--store", tmp_path / "two.db")
    assert "2 devices or machines" not in good("store", "query", "--store", tmp_path / "two.db", "--machine", "there")
    done = baton("store", "query", "--store", tmp_path / "two.db", "--json")
    assert "2 devices or machines" in done.stderr and json.loads(done.stdout)
    assert "2 devices or machines" in baton("store", "export", "--store", tmp_path / "two.db", "-o", tmp_path / "x.csv").stderr


def test_stats(folder):
    text = good("store", "stats", "--store", folder / "m.db")
    assert "by kind" in text and "tiny" in text and "here" in text and "variation of the samples" in text
    rows = json.loads(good("store", "stats", "--store", folder / "m.db", "--json"))
    assert rows["rows"] == len(lines(folder / "m.db")) == sum(each["rows"] for each in rows["by kind"])
    done = baton("store", "stats", "--store", folder / "m.db", "--check")
    assert done.returncode == 0 and done.stderr == "nothing is damaged\n"


def test_files(folder, tmp_path):
    good("store", "export", "--store", folder / "m.db", "-o", tmp_path / "m.csv")
    rows = list(csv.DictReader((tmp_path / "m.csv").open(newline="")))
    assert len(rows) == len(lines(folder / "m.db"))
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    good("store", "export", "--store", folder / "m.db", "-o", tmp_path / "m.parquet", BATON_PYTHON=os.environ.get("BATON_PYTHON", __import__("sys").executable))
    assert parquet.read_table(tmp_path / "m.parquet").column("median_us").to_pylist() == [float(row["median_us"]) for row in rows]


def test_the_default_store(folder, tmp_path):
    environment = {"BATON_STORE": "", "XDG_CACHE_HOME": str(tmp_path)}
    good("store", "import", folder / "m.jsonl", **environment)
    assert (tmp_path / "baton" / "measurements.db").exists()
    good("store", "import", folder / "m.jsonl", "--store", "default", BATON_STORE=str(tmp_path / "named.db"))
    assert (tmp_path / "named.db").exists()


def test_compare_brings_the_rows_of_all_backends(tmp_path):
    done = baton("profile", "mlp", "--compare", "llvm,opencl", "--max-seconds", "4", "--no-peaks", "--threads", "1", "--store", tmp_path / "m.db")
    if "opencl" in done.stderr and done.returncode == 1 and "no " in done.stderr:
        pytest.skip("no OpenCL here")
    assert done.returncode == 0, done.stderr
    rows = lines(tmp_path / "m.db")
    assert {row["build"]["backend"] for row in rows if row.get("method") == "compare"} == {"opencl"}
    assert {row["work"]["text"] for row in rows if row.get("method") == "compare"} <= {row["work"]["text"] for row in rows if row.get("method") == "alone"}


@pytest.mark.parametrize("flags, status, what", [
    (["query"], 1, "there is no store"),
    (["import"], 2, "which files?"),
    (["query", "x.json"], 2, "takes no files"),
    (["export", "-o", "x.xls"], 1, "there is no store"),
    (["steal"], 2, "ACTION"),
])
def test_wrong_use(tmp_path, flags, status, what):
    done = baton("store", *flags, "--store", tmp_path / "none.db")
    assert done.returncode == status and what in done.stderr and not (tmp_path / "none.db").exists()


def test_wrong_files(folder, tmp_path):
    store = tmp_path / "m.db"
    good_line = (folder / "m.jsonl").read_text().splitlines()[0]
    for name, text, what in [("empty.jsonl", "", "is empty"), ("not.json", "{", "not"), ("text.jsonl", "hello\n", "text.jsonl"),
                             ("second.jsonl", good_line + "\n{]\n", "second.jsonl, line 2: this is not JSON"),
                             ("newer.jsonl", good_line.replace('"baton_measurement":1', '"baton_measurement":2') + "\n", "version 2")]:
        (tmp_path / name).write_text(text)
        done = baton("store", "import", tmp_path / name, "--store", store)
        assert done.returncode == 1 and what in done.stderr, done.stderr
    assert baton("store", "import", tmp_path / "nowhere.jsonl", "--store", store).returncode == 1
    assert len(lines(store)) == 1  # the row before the line that cannot be read
    done = baton("store", "export", "--store", store, "-o", tmp_path / "m.xls")
    assert done.returncode == 2 and ".parquet" in done.stderr
    done = baton("store", "query", "--store", store, "--sql", "DELETE FROM work")
    assert done.returncode == 2 and "only statements that read" in done.stderr
    (tmp_path / "other.db").write_bytes(b"not a store" * 1000)
    done = baton("store", "stats", "--store", tmp_path / "other.db")
    assert done.returncode == 1 and "no SQLite file" in done.stderr
    done = baton("profile", SMALL, "--store", tmp_path / "other.db")
    assert done.returncode == 1 and "no SQLite file" in done.stderr and not done.stdout  # before anything is measured


def test_damage_is_found(folder, tmp_path):
    good("store", "import", folder / "m.jsonl", "--store", tmp_path / "m.db")
    with sqlite3.connect(tmp_path / "m.db") as database:
        database.execute("UPDATE measurement SET median_us = median_us + 1 WHERE id = 2")
    database.close()
    done = baton("store", "stats", "--store", tmp_path / "m.db", "--check")
    assert done.returncode == 1 and "row 2 is not what was stored" in done.stderr
    done = baton("store", "export", "--store", tmp_path / "m.db")
    assert done.returncode == 1 and "row 2" in done.stderr
