"""Reports in Python: tables, files, the difference of two."""
import json

import numpy as np
import pytest

import baton as tvm
import baton
from baton import relay

TEXT = """#[version = "0.0.5"]
def @main(%x: Tensor[(8, 16), float32], %w: Tensor[(16, 16), float32], %b: Tensor[(16), float32]) {
  %0 = nn.dense(%x, %w, units=16);
  %1 = nn.bias_add(%0, %b);
  %2 = nn.relu(%1);
  nn.softmax(%2)
}
"""
PARAMS = {"w": np.ones((16, 16), "float32"), "b": np.ones(16, "float32")}


def profiled(level):
    with tvm.transform.PassContext(opt_level=level):
        lib = relay.build(tvm.parser.fromtext(TEXT), "llvm", params=PARAMS)
    return baton.profile(lib, repeat=8, seconds=0.01, inside_ms=2, name=f"opt {level}")


@pytest.fixture(scope="module")
def report():
    return profiled(3)


def test_rows_are_the_kernels_and_operators_of_the_report(report):
    rows = report.rows()
    assert [(row["kernel"], row["median_us"], row["origins"]) for row in rows] == [
        (each["name"], each["median_us"], each["origins"]) for each in report.kernels]
    operators = report.rows("operators")
    assert [row["op"] for row in operators] == ["nn.dense", "nn.bias_add", "nn.relu", "nn.softmax"]
    assert {row["node"] for row in report.rows("parts")} <= {row["node"] for row in rows}
    belongs_to_none = sum(row["median_us"] for row in rows if not row["origins"])
    assert sum(row["us"] for row in operators) + belongs_to_none <= report.sum_us * (1 + 1e-9)
    with pytest.raises(tvm.TVMError, match="did you mean `kernels`"):
        report.rows("kernel")


def test_save_and_load(report, tmp_path):
    assert report.save(tmp_path / "p.json") == [str(tmp_path / "p.json")]
    again = baton.ProfileReport.load(str(tmp_path / "p.json"))
    assert again.json() == report.json() == baton.ProfileReport.from_json(report.json()).json()
    assert report.to_csv(tmp_path / "p.csv") == [str(tmp_path / f"p.{each}.csv") for each in ("kernels", "operators", "parts")]
    (trace,) = report.save(tmp_path / "p.trace.json", trace_runs=3)
    with open(trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    models = [each["name"] for each in events if each["ph"] == "X" and each["cat"] == "model"]
    assert models[:5] == ["opt 3", "opt 3, every operator alone", "run 0", "run 1", "run 2"]
    assert models[5:] == (["opt 3"] if "timeline" in json.loads(report.json()) else [])  # on several threads
    assert len(report.save(tmp_path / "p.explorer.json")) == 4


def test_refused(report, tmp_path):
    with pytest.raises(tvm.TVMError, match="ends with one of .json"):
        report.save(tmp_path / "p.cvs")
    with pytest.raises(tvm.TVMError, match="cannot write"):
        report.save(tmp_path / "none" / "p.csv")
    with pytest.raises(ValueError, match="does not end with .csv"):
        report.to_csv(tmp_path / "p.json")
    with pytest.raises(tvm.TVMError, match="is no profile"):
        baton.ProfileReport.from_json("{}")
    with pytest.raises(tvm.TVMError, match="has schema 99"):
        baton.ProfileReport.from_json(json.dumps({**json.loads(report.json()), "schema": 99}))
    with pytest.raises(TypeError, match="b is a ProfileReport, not str"):
        baton.diff(report, "p.json")
    assert list(tmp_path.iterdir()) == []


def test_diff(report):
    other = profiled(0)
    found = baton.diff(report, other, "three", "zero")
    assert str(found).startswith("A  opt 3 on llvm") and "zero" in str(found).splitlines()[1]
    assert [row["op"] for row in found.operators] == ["nn.dense", "nn.bias_add", "nn.relu", "nn.softmax"]
    assert found.operators[1]["only_a"] and not found.operators[1]["only_b"]
    assert sum(group["us"]["b"] for group in found.groups) + json.loads(found.json())["own_us"]["b"] == pytest.approx(other.sum_us)
    cut = json.loads(other.json())
    cut["operators"][0]["type"] = "Tensor[(1, 16), float32]"
    with pytest.raises(tvm.TVMError, match="different models: nn.dense"):
        baton.diff(report, baton.ProfileReport.from_json(json.dumps(cut)))


def test_parquet(report, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    paths = report.to_parquet(tmp_path / "p.parquet")
    assert sorted(paths) == sorted(str(each) for each in tmp_path.iterdir())
    for path, table in zip(paths, ("kernels", "operators", "parts")):
        assert parquet.read_table(path).to_pylist() == report.rows(table)


def test_parquet_without_pyarrow(report, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'baton-compiler\[profile\]'"):
        report.to_parquet(tmp_path / "p.parquet")
    assert list(tmp_path.iterdir()) == []


def test_pandas(report):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = report.to_pandas("operators")
    assert list(frame["op"]) == ["nn.dense", "nn.bias_add", "nn.relu", "nn.softmax"]
    assert frame["us"].sum() == pytest.approx(sum(row["us"] for row in report.rows("operators")))
    assert frame["unfused_us"].dtype == "Float64" and list(frame["nodes"])[0] == report.operators[0]["nodes"]


def test_pandas_without_pandas(report, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas"):
        report.to_pandas()


def built():
    with tvm.transform.PassContext(opt_level=3):
        return relay.build(tvm.parser.fromtext(TEXT), "llvm", params=PARAMS)


def test_progress_is_called_with_phases_and_the_rest():
    seen = []
    baton.profile(built(), repeat=8, seconds=0.01, inside_ms=2, peaks=False, progress=lambda *step: seen.append(step))
    assert {"measuring the model", "measuring inside kernels"} <= {phase for phase, *_ in seen}
    assert all(0 <= done <= total for _, done, total, _ in seen)
    assert all(rest is None or 0 <= rest <= 60 for *_, rest in seen)


def test_what_progress_raises_ends_the_profile():
    def progress(*_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        baton.profile(built(), repeat=8, seconds=0.01, inside_ms=2, progress=progress)


def test_max_seconds_must_be_positive():
    with pytest.raises(ValueError, match="max_seconds"):
        baton.profile(built(), max_seconds=0)


def test_a_bar_only_in_notebooks_with_tqdm(monkeypatch):
    from baton import _progress

    assert _progress.notebook_bar() is None
    drawn = []

    class Bar:
        def __init__(self, total, desc, leave):
            self.n, self.total = 0, total
            drawn.append((desc, total))

        def update(self, more):
            self.n += more

        def close(self):
            drawn.append(self.n)

    bar = _progress.NotebookBar(Bar)
    for step in (("a", 0, 2, None), ("a", 2, 2, 1.0), ("b", 1, 3, 0.5)):
        bar(*step)
    bar.close()
    assert drawn == [("a", 2), 2, ("b", 3), 1]


def test_intervals_are_in_the_report(report):
    for row in report.kernels:
        assert row["plus_minus_us"] >= 0
        assert len(row["rounds_us"]) >= 3
