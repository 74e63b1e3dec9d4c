"""`baton train` and `baton predict`, on measurements of a made-up machine: what was measured answers, the rest is predicted, what is
wrong is said."""
import csv
import gzip
import json
import math
import os
import pathlib
import random
import re
import sqlite3
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
SMALL = str(HERE / "models" / "small.relay")
TANH = """#[version = "0.0.5"]
def @main(%x: Tensor[(40, 64), float32], %w: Tensor[(96, 64), float32]) {
  tanh(nn.dense(%x, %w, units=96))
}
"""
QUICK = ["--repeat", "8", "--no-inside", "--no-unfused", "--no-peaks", "--threads", "1"]
DENSE = """#[version = "0.0.5"]
def @main(%x: Tensor[({rows}, {depth}), float32], %w: Tensor[({units}, {depth}), float32]) {{
  nn.relu(nn.dense(%x, %w, units={units}))
}}
"""


def baton(*arguments):
    return subprocess.run([os.environ["BATON_PROGRAM"], *map(str, arguments)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300, env={**os.environ, "BATON_MACHINE": "made up"})


def good(*arguments):
    done = baton(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def bad(*arguments):
    done = baton(*arguments)
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr, done.stderr
    return done.stderr


def us(row, slow=1.0):
    """A kernel's time on the machine: launch, operations, bytes."""
    return slow * (1 + row["work"]["flops"] / 5e4 + row["work"]["bytes"] / 1e4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """m.db: 30 models of one dense layer each, real kernels with made-up times; p: a predictor trained with them."""
    path = tmp_path_factory.mktemp("predict")
    draw = random.Random(3)
    models = []
    for i in range(30):
        sizes = {name: draw.choice([8, 16, 24, 40, 64, 96, 128, 200]) for name in ("rows", "depth", "units")}
        models.append(path / f"dense{i}.relay")
        models[-1].write_text(DENSE.format(**sizes))
    good("profile", *models[:1], *QUICK, "--input-name", "x", "--store", path / "one.db", "--family", "mlp")
    # Measuring thirty models is slow: the texts are planned and timed by the formula.
    template = [json.loads(line) for line in good("store", "export", "--store", path / "one.db").splitlines()]
    kernel = next(row for row in template if row["work"]["kind"] == "kernel" and len(row["work"]["operators"]) > 1)
    whole = next(row for row in template if row["work"]["kind"] == "model")
    lines = []
    for i in range(90):
        draw = random.Random(i % 80)
        rows, depth, units = (draw.choice([8, 16, 24, 40, 64, 96, 128, 200]) for _ in range(3))
        row = json.loads(json.dumps(kernel))
        row["work"]["flops"] = 2 * rows * depth * units
        row["work"]["bytes"] = 4 * (rows * depth + depth * units + rows * units)
        row["work"]["text"] = f"fn dense {rows} {depth} {units}"
        for op in row["work"]["operators"]:
            op["type"] = f"Tensor[({rows}, {units}), float32]"
            op["input_types"] = [f"Tensor[({rows}, {depth}), float32]", f"Tensor[({units}, {depth}), float32]"][:len(op["input_types"])]
        model = json.loads(json.dumps(whole))
        model["work"]["text"] = f"model {i}"
        for each in (row, model):
            each.pop("unreliable", None)
            each.update(cv=0.01, model=f"m{i}", family="mlp", samples_us=[us(row)], disturbed=[], outliers=[], begun_s=1000 + i)
        row["median_us"] = us(row) * math.exp(0.01 * draw.gauss(0, 1))
        model["median_us"] = us(row) + 0.5
        lines += [row, model]
    (path / "models.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines[1::2]))
    good("store", "import", path / "models.jsonl", "--store", path / "ids.db")
    with sqlite3.connect(path / "ids.db") as ids:
        id_of = dict(ids.execute("SELECT text, work_id FROM works"))
    for row, model in zip(lines[::2], lines[1::2]):
        row["model_id"] = id_of[model["work"]["text"]]
    (path / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    good("store", "import", path / "all.jsonl", "--store", path / "m.db")
    good("train", "--store", path / "m.db", "-o", path / "p", "--rounds", 100)
    return path


def test_a_model_is_predicted_like_a_profile(folder):
    report = json.loads(good("predict", folder / "dense3.relay", "--predictor", folder / "p", "--input-name", "x", "--json"))
    assert report["predicted"].startswith(str(folder / "p"))
    assert report["interval"]["level"] == 0.9
    assert report["interval"]["low_us"] < report["end_to_end_us"]["median"] < report["interval"]["high_us"]
    assert {kernel["basis"] for kernel in report["kernels"]} == {"predicted"}
    for kernel in report["kernels"]:
        assert 0 < kernel["low_us"] < kernel["median_us"] < kernel["high_us"]
    assert sum(kernel["share"] for kernel in report["kernels"]) == pytest.approx(1)
    assert {op["op"] for op in report["operators"]} == {"nn.dense", "nn.relu"}
    wide = json.loads(good("predict", folder / "dense3.relay", "--predictor", folder / "p", "--input-name", "x", "--json", "--level", "0.99"))
    assert wide["interval"]["high_us"] > report["interval"]["high_us"]


def test_a_backend_with_too_few_kernels_is_named(folder, tmp_path):
    rows = [json.loads(line) for line in (folder / "all.jsonl").read_text().splitlines()]
    for row in [row for row in rows if row["work"]["kind"] == "kernel"][:3]:
        row["build"]["backend"] = "dnnl"
    (tmp_path / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    good("store", "import", tmp_path / "two.jsonl", "--store", tmp_path / "two.db")
    printed = good("train", "--store", tmp_path / "two.db", "-o", tmp_path / "p", "--rounds", 20)
    assert re.search(r"held out: \d+ kernels of llvm, median error [0-9.]+ %", printed), printed
    assert re.search(r"left out: 3, kernels of dnnl: .* at least 20 different kernels", printed), printed
    assert re.search(r"llvm: \d+ kernels", printed)


def test_features_for_a_predictor_of_ones_own(folder, tmp_path):
    done = baton("train", "--store", folder / "m.db", "--features", tmp_path / "f.csv")
    assert done.returncode == 0 and done.stdout == "", done.stderr
    tables = {name: list(csv.DictReader((tmp_path / f"f.{name}.csv").open(encoding="utf-8", newline=""))) for name in ("kernels", "models", "calls")}
    assert [row["kernel"] for row in tables["kernels"]] == [str(i) for i in range(len(tables["kernels"]))]
    assert {row["model"] for row in tables["calls"]} == {row["model"] for row in tables["models"]}
    for call in tables["calls"]:
        kernel, model = tables["kernels"][int(call["kernel"])], tables["models"][int(call["model"])]
        assert 0 < float(kernel["median_us"]) < float(model["median_us"]) * 1.1 and float(kernel["base_us"]) > 0
    with sqlite3.connect(folder / "m.db") as store:
        flops = [flops for (flops,) in store.execute("SELECT DISTINCT flops FROM work WHERE kind = 'kernel' ORDER BY flops")]
    assert sorted({float(row["log2 flops"]) for row in tables["kernels"]}) == pytest.approx([math.log2(each) for each in flops], rel=1e-6)
    assert ".csv, .parquet" in bad("train", "--store", folder / "m.db", "--features", tmp_path / "f.txt")
    assert "nothing to do" in bad("train", "--store", folder / "m.db")


def test_features_as_parquet_are_those_as_csv(folder, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    good("train", "--store", folder / "m.db", "--features", tmp_path / "f.csv", "--features", tmp_path / "f.parquet")
    for name in ("kernels", "models", "calls"):
        with (tmp_path / f"f.{name}.csv").open(encoding="utf-8", newline="") as file:
            as_csv = list(csv.DictReader(file))
        as_parquet = parquet.read_table(tmp_path / f"f.{name}.parquet").to_pylist()
        assert len(as_csv) == len(as_parquet) > 0
        for text, value in ((row[key], read[key]) for row, read in zip(as_csv, as_parquet) for key in row):
            if isinstance(value, (int, float)):
                assert float(text) == pytest.approx(value)
            else:
                assert text == (value or "")


def test_table_page_and_saved_reports_say_predicted(folder, tmp_path):
    (tmp_path / "tanh.relay").write_text(TANH)
    table = good("predict", tmp_path / "tanh.relay", "--predictor", folder / "p", "-o", tmp_path / "r.html", "-o", tmp_path / "r.json", "--input-name", "x")
    assert "end to end, predicted" in table and "predicted, not run" in table and "a guess" in table
    # An operator that training never saw: no interval holds.
    assert "of 100 cases" not in table and "no interval holds" in table
    assert '"predicted":' in (tmp_path / "r.html").read_text()
    assert "end to end, predicted" in good("report", tmp_path / "r.json")
    again = json.loads((tmp_path / "r.json").read_text())
    assert "never seen in training" in again["kernels"][0]["out_of_range"]
    assert "interval" not in again and again["out_of_range"] and again["kernels"][0].get("plus_minus_us") is None
    assert re.search(r"in 90 of 100 cases between [0-9.]+ (us|ms) and [0-9.]+ (us|ms)",
                     good("predict", folder / "dense3.relay", "--predictor", folder / "p", "--input-name", "x"))


def test_what_was_measured_answers(folder):
    report = json.loads(good("predict", folder / "dense0.relay", "--predictor", folder / "p", "--input-name", "x", "--store",
                             folder / "one.db", "--threads", "1", "--json"))
    measured = {row["work"]["brief"]: row for row in map(json.loads, good("store", "export", "--store", folder / "one.db").splitlines())
                if row["work"]["kind"] == "kernel" and "unreliable" not in row}
    for kernel in report["kernels"]:
        row = measured.get(report["functions"][kernel["func_name"]]["brief"])
        assert kernel["basis"] == ("measured" if row else "predicted")
        assert not row or kernel["median_us"] == pytest.approx(row["median_us"])


def test_accuracy_is_printed_and_kept(folder, tmp_path):
    card = json.loads(good("train", "--store", folder / "m.db", "-o", tmp_path / "p", "--evaluate", "--report", tmp_path / "r.html",
                           "--rounds", 60, "--json"))
    rows = {(row["of"], row["held_out"], row["predictor"]): row for row in card["accuracy"]["rows"]}
    ours = rows["kernels", "model", "baton"]
    assert ours["median_error"] < rows["kernels", "model", "operations"]["median_error"]
    assert 0.7 <= ours["coverage"] <= 1
    assert card["families"] == {"mlp": 90} and card["kernels"] >= 60
    assert sum(card["importance"]["llvm"].values()) == pytest.approx(1)
    assert "<svg" in (tmp_path / "r.html").read_text()
    assert "one family only" in good("train", "--store", folder / "m.db", "-o", tmp_path / "p", "--rounds", 5)


def test_carried_over_to_slower_hardware(folder, tmp_path):
    lines = []
    for line in (folder / "all.jsonl").read_text().splitlines():
        row = json.loads(line)
        row["machine"] = "slower"
        row["median_us"] *= 3
        lines.append(json.dumps(row))
    (tmp_path / "slower.jsonl").write_text("\n".join(lines) + "\n")
    good("store", "import", tmp_path / "slower.jsonl", "--store", tmp_path / "slower.db")
    made = json.loads(good("train", "--store", tmp_path / "slower.db", "--from", folder / "p", "-o", tmp_path / "new", "--json"))
    curve = {row["kernels"]: row for row in made["carried"]}
    assert curve[0]["carried_median_error"] == pytest.approx(2 / 3, abs=0.05)
    assert curve[50]["carried_median_error"] < curve[50]["scratch_median_error"]
    report = json.loads(good("predict", folder / "dense3.relay", "--predictor", tmp_path / "new", "--input-name", "x", "--json"))
    before = json.loads(good("predict", folder / "dense3.relay", "--predictor", folder / "p", "--input-name", "x", "--json"))
    assert report["sum_us"] == pytest.approx(3 * before["sum_us"], rel=0.2)


def test_the_same_store_gives_the_same_file(folder, tmp_path):
    for name in ("a", "b"):
        good("train", "--store", folder / "m.db", "-o", tmp_path / name, "--rounds", 20, "--threads", 1 if name == "a" else 2)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_is_wrong_is_said(folder, tmp_path):
    assert "there is no store" in bad("train", "--store", tmp_path / "none.db", "-o", tmp_path / "p")
    assert "at least 20" in bad("train", "--store", folder / "one.db", "-o", tmp_path / "p")
    assert "has no kernels of backend dnnl; it has llvm" in bad("train", "--store", folder / "m.db", "--backend", "dnnl", "-o", tmp_path / "p")
    assert "nothing to do" in bad("train", "--store", folder / "m.db")
    assert "is no predictor" in bad("predict", SMALL, "--predictor", SMALL)
    assert "cannot be read" in bad("predict", SMALL, "--predictor", tmp_path / "none")
    assert "no kernels of backend opencl" in bad("predict", SMALL, "--predictor", folder / "p", "--target", "opencl")
    bytes_ = bytearray((folder / "p").read_bytes())
    bytes_[len(bytes_) // 2] ^= 1
    (tmp_path / "damaged").write_bytes(bytes_)
    assert "is damaged" in bad("predict", SMALL, "--predictor", tmp_path / "damaged")
    (tmp_path / "empty").write_bytes(b"")
    assert "is no predictor" in bad("predict", SMALL, "--predictor", tmp_path / "empty")
    dense = ("predict", folder / "dense3.relay", "--predictor", folder / "p", "--input-name", "x", "--target", "llvm -mcpu=x86-64")
    assert "the target asks for code of x86-64-linux" in bad(*dense)
    # Kernels of a kind that training has none of: nothing to predict with.
    few = bad("predict", SMALL, "--predictor", folder / "p")
    assert "too few elementwise kernels" in few and "100 %" in few


def test_python(folder, tmp_path):
    import baton as tvm

    predictor = tvm.train(folder / "m.db", tmp_path / "p", rounds=30)
    assert predictor.card["models"] == 90 and next(iter(predictor.importance().values())) > 0
    mod = tvm.parser.parse((folder / "dense3.relay").read_text())
    report = tvm.predict(mod, tmp_path / "p", level=0.8)
    assert {kernel["basis"] for kernel in report.kernels} == {"predicted"}
    assert "end to end, predicted" in str(report)
    with pytest.raises(tvm.TVMError, match="is no predictor"):
        tvm.predict(mod, SMALL)
    with pytest.raises(ValueError, match="level"):
        tvm.predict(mod, predictor, level=2)
    with pytest.raises(KeyError):
        predictor.importance("dnnl")
    with pytest.raises(TypeError):
        tvm.predict(mod, 3)


def test_a_sample_of_real_measurements_is_queried_and_learned_from(tmp_path):
    lines = gzip.decompress((HERE.parents[1] / "reference" / "measurements.jsonl.gz").read_bytes())
    (tmp_path / "sample.jsonl").write_bytes(lines)
    good("store", "import", tmp_path / "sample.jsonl", "--store", tmp_path / "s.db")
    found = json.loads(good("store", "query", "--store", tmp_path / "s.db", "--op", "*conv2d*", "--attr", "kernel_size=3,3",
                            "--attr", "strides=2,2", "--fused-with", "nn.relu", "--json"))
    assert found and all(re.search(r"conv2d\w* 3x3/2", row["brief"]) and "relu" in row["brief"] for row in found)
    card = json.loads(good("train", "--store", tmp_path / "s.db", "-o", tmp_path / "p", "--rounds", 60, "--json"))
    assert len(card["families"]) == 15 and card["kernels"] > 500
    # The sample has some models without their kernels.
    assert sum(count for why, count in card["left_out"].items() if "none of whose kernels" not in why) < 20
    # What campaigns measure is what users build.
    assert "zen3-vm, AMD EPYC" in bad("predict", "resnet-18", "--predictor", tmp_path / "p")
    predicted = json.loads(good("predict", "resnet-18", "--predictor", tmp_path / "p", "--for-device", "zen3-vm", "--json"))
    unseen = [kernel for kernel in predicted["kernels"] if "never seen" in kernel.get("out_of_range", "")]
    assert not unseen, unseen
