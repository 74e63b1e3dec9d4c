"""baton.store: profiles in, rows, data frames and files out."""
import json
import subprocess
import sys

import numpy as np
import pytest

import baton
import baton as tvm
from baton import relay

TEXT = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 16, 16), float32], %w: Tensor[(8, 3, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], kernel_size=[3, 3]);
  nn.softmax(nn.batch_flatten(nn.relu(%0)))
}
"""


@pytest.fixture(scope="module")
def report():
    lib = relay.build(tvm.parser.fromtext(TEXT), "llvm", params={"w": np.ones((8, 3, 3, 3), "float32")})
    return baton.profile(lib, repeat=8, seconds=0.01, inside_ms=2, name="net", peaks=False)


@pytest.fixture
def path(report, tmp_path):
    with baton.store.open(tmp_path / "m.db", "a") as store:
        assert store.insert(report, family="tiny", machine="here") == len(store) > 0
        assert store.insert_lines(store.lines()) == 0
    return tmp_path / "m.db"


def test_query(path, report):
    store = baton.store.open(path)
    rows = store.query(kind="kernel")
    assert [row["median_us"] for row in rows if row["method"] is None] == [kernel["median_us"] for kernel in report.kernels]
    assert set(rows["family"]) == {"tiny"} and rows.places == [("here", report.machine, rows["sheet"][0], len(rows))]
    found = store.query(operators=["*conv2d*", "nn.relu"], attributes={"*conv2d*": {"kernel_size": [3, 3], "strides": [2, 2]}}, kind="kernel")
    assert len(found) == 1 and found["operators"][0].endswith(" + nn.relu")
    assert len(store.query(attributes={"": {"strides": [1, 1]}})) == 0
    assert list(store.query(columns=["target", "flops"]).columns) == ["target", "flops"]
    assert store.sql("SELECT count(*) AS n FROM rows").columns == {"n": [len(store)]}
    assert store.damage() == []
    samples = json.loads(store.lines(kind="model")[0])["samples_us"]
    assert np.median(samples) == pytest.approx(report.end_to_end_us, rel=0.5)


def test_wrong_use(path, tmp_path):
    store = baton.store.open(path)
    with pytest.raises(TypeError, match="no filter 'colour'"):
        store.query(colour="red")
    with pytest.raises(TypeError, match="a list of names"):
        store.query(operators="nn.relu")
    with pytest.raises(TypeError, match="int is expected"):
        store.query(threads="1")
    with pytest.raises(ValueError, match="kind=colonel"):
        store.query(kind="colonel")
    with pytest.raises(tvm.TVMError, match="no column `median`"):
        store.query(columns=["median"])
    with pytest.raises(tvm.TVMError, match="only statements that read"):
        store.sql("DELETE FROM work")
    with pytest.raises(tvm.TVMError, match="opened for reading"):
        store.insert_lines(store.lines(limit=1))
    with pytest.raises(tvm.TVMError, match="there is no store"):
        baton.store.open(tmp_path / "none.db")
    with pytest.raises(ValueError, match="mode='w'"):
        baton.store.open(path, "w")
    store.close()
    with pytest.raises(ValueError, match="closed"):
        store.query()


def test_rows_of_two_machines(path, report, tmp_path):
    with baton.store.open(tmp_path / "there.db", "a") as there:
        there.insert(report, machine="there")
    with baton.store.open(path, "a") as store:
        assert store.merge(tmp_path / "there.db") == len(store) / 2
        with pytest.warns(UserWarning, match="several devices or machines"):
            rows = store.query()
        assert [place[0] for place in rows.places] == ["here", "there"]
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            store.query(machine="there")


def test_a_loaded_profile_has_the_same_works(path, report, tmp_path):
    report.save(tmp_path / "p.json")
    with baton.store.open(tmp_path / "loaded.db", "a") as store:
        store.insert(baton.ProfileReport.load(str(tmp_path / "p.json")))
        assert set(store.query()["machine"]) == {report.machine}
        works = "SELECT work_id FROM works WHERE kind <> 'model' ORDER BY work_id"
        assert store.sql(works).columns == baton.store.open(path).sql(works).columns


def test_pandas_and_parquet(path, tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    rows = baton.store.open(path).query(kind="kernel")
    frame = rows.to_pandas()
    assert list(frame["median_us"]) == rows["median_us"] and frame["threads"].dtype == "Int64" and len(frame) == len(rows)
    assert len(baton.store.open(path).query(kind="transfer").to_pandas()) == 0
    pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    rows.to_parquet(tmp_path / "m.parquet")
    assert list(pandas.read_parquet(tmp_path / "m.parquet")["median_us"]) == rows["median_us"]


def test_without_pandas(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas"):
        baton.store.open(path).query().to_pandas()


def test_importing_baton_needs_no_pandas():
    code = "import sys, baton; assert baton.store.open and not {'pandas', 'pyarrow', 'sqlite3'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
