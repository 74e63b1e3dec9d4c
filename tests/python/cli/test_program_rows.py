"""Programs of the virtual machine in the store, in `bench`, and in `diff`."""
import json
import os
import sqlite3

import numpy as np
import pytest
from command_line import QUICK, baton

LOOP = """#[version = "0.0.5"]
def @loop(%i: int32, %x: Tensor[(?, 16), float32], %w: Tensor[(16, 16), float32]) -> Tensor[(?, 16), float32] {
  if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), concatenate((tanh(nn.dense(%x, %w, units=16)), %x)), %w) }
}
def @main(%n: int32, %x: Tensor[(?, 16), float32], %w: Tensor[(16, 16), float32]) {
  (nn.relu(@loop(%n, %x, %w)), exp(%w))
}
"""
OPEN = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 16), float32], %w: Tensor[(32, 16), float32]) { nn.softmax(nn.dense(%x, %w, units=32)) }
"""


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for name, text in (("loop", LOOP), ("open", OPEN)):
        (folder / f"{name}.relay").write_text(text, encoding="utf-8")
    np.savez(folder / "in.npz", n=np.int32(3), x=np.ones((3, 16), "float32"), w=np.full((16, 16), 0.1, "float32"))
    os.mkdir(folder / "values")
    for name, value in (("n", np.int32(3)), ("x", np.ones((3, 16), "float32")), ("w", np.full((16, 16), 0.1, "float32"))):
        np.save(folder / "values" / f"{name}.npy", value)
    baton(folder, "build", "loop.relay", "-o", "loop.baton")
    return folder


def rows_of(folder, store):
    lines = baton(folder, "store", "export", "--store", store).splitlines()
    return [json.loads(line) for line in lines]


def test_rows_have_the_shapes_of_the_calls(folder):
    baton(folder, "profile", "loop.relay", "--inputs", "in.npz", "--store", "loop.db", *QUICK)
    rows = rows_of(folder, "loop.db")
    assert {row["protocol"] for row in rows} == {"program"}
    models = [row for row in rows if row["work"]["kind"] == "model"]
    assert len(models) == 1 and models[0]["work"]["text"].endswith("\non int32[], float32[3, 16], float32[16, 16]")
    dense = {row["work"]["text"]: row for row in rows if "dense_pack" in row["work"]["text"] and row["work"]["kind"] == "kernel"}
    for extent in (3, 6, 12):  # the rows that each turn of the loop has met
        row = next(row for text, row in dense.items() if f"Tensor[({extent}, 16), float32]" in text)
        assert row["calls"] == 1 and row["median_us"] > 0 and row["build"]["parameters"]["symbolic_extents"] == 1
        assert row["work"]["flops"] >= 2 * extent * 16 * 16
    exp = next(row for row in rows if row["work"]["kind"] == "kernel" and "exp(" in row["work"]["text"])
    assert "symbolic_extents" not in exp["build"]["parameters"] and exp["samples_us"]
    assert all(row.get("origins") or row.get("made_for") for row in rows if row["work"]["kind"] == "kernel")


def test_curves_and_files_in_the_store(folder):
    shown = baton(folder, "profile", "open.relay", "--input-name", "x", "--shape", "x=1:16:x4,16", "--store", "curve.db", *QUICK)
    assert "x=16,16" in shown
    rows = rows_of(folder, "curve.db")
    texts = [row["work"]["text"] for row in rows if row["work"]["kind"] == "kernel" and "nn.softmax" in row["work"]["text"]]
    assert all(any(f"Tensor[({extent}, 32), float32]" in text for text in texts) for extent in (1, 4, 16))
    assert len([row for row in rows if row["work"]["kind"] == "model"]) == 3
    baton(folder, "profile", "loop.baton", "--inputs", "in.npz", "--store", "file.db", *QUICK)
    kernels = [row["work"]["text"] for row in rows_of(folder, "file.db") if row["work"]["kind"] == "kernel"]
    assert any("Tensor[(12, 16), float32]" in text and "dense_pack" in text for text in kernels)
    # Of a saved profile only kernels of constant shapes have types.
    baton(folder, "profile", "loop.relay", "--inputs", "in.npz", "-o", "p.json", *QUICK)
    baton(folder, "store", "import", "p.json", "--store", "saved.db")
    saved = rows_of(folder, "saved.db")
    assert any("exp(" in row["work"]["text"] for row in saved)
    assert not any("dense_pack" in row["work"]["text"] for row in saved if row["work"]["kind"] == "kernel")


def test_the_trainer_leaves_programs_out(folder):
    baton(folder, "profile", "open.relay", "--input-name", "x", "--shape", "x=1:64:x2,16", "--store", "train.db", *QUICK)
    text = baton(folder, "train", "--store", "train.db", "-o", "p.predictor", code=1)
    assert "no kernels" in text or "programs of the virtual machine" in text or "kernel" in text, text
    with sqlite3.connect(folder / "train.db") as store:
        assert store.execute("select count(*) from rows where protocol = 'program'").fetchone()[0] > 0


def test_bench(folder):
    quick = ["--min-ms", "5", "--bursts", "3", "--threads", "1"]
    report = json.loads(baton(folder, "bench", "loop.relay", "--input", "values", "--output", "out", "--json", *quick))
    assert report["best_wall_s"] > 0 and report["threads"] == 1 and len(report["bursts"]) >= 3
    result = np.load(folder / "out" / "output0.npy")
    assert result.shape == (24, 16) and np.allclose(np.load(folder / "out" / "output1.npy"), np.exp(np.float32(0.1)))
    assert "baton" in baton(folder, "bench", "loop.relay", "--shape", "x=3,16", "--input", "values", *quick)
    assert "--shape x=... its shape" in baton(folder, "bench", "open.relay", "--input-name", "x", *quick, code=1)
    np.save(folder / "values" / "x.npy", np.ones((3, 17), "float32"))
    assert "x" in baton(folder, "bench", "loop.relay", "--input", "values", *quick, code=1)
    np.save(folder / "values" / "x.npy", np.ones((3, 16), "float32"))


def test_differences_of_two_profiles(folder):
    for name, level in (("a", "3"), ("b", "0")):
        baton(folder, "profile", "loop.relay", "--inputs", "in.npz", "--opt-level", level, "-o", f"{name}.json", *QUICK)
    shown = baton(folder, "diff", "a.json", "b.json")
    assert "dense" in shown and "end to end" in shown
    difference = json.loads(baton(folder, "diff", "a.json", "b.json", "--json"))
    assert [each["op"] for each in difference["operators"] if each["op"] == "nn.dense"] == ["nn.dense"]
    np.savez(folder / "other.npz", n=np.int32(3), x=np.ones((5, 16), "float32"), w=np.full((16, 16), 0.1, "float32"))
    baton(folder, "profile", "loop.relay", "--inputs", "other.npz", "-o", "c.json", *QUICK)
    assert "were measured on different inputs: x is float32[3, 16] and float32[5, 16]" in baton(folder, "diff", "a.json", "c.json", code=1)
    why = baton(folder, "diff", "loop.relay", "--a", "--opt-level 3", "--b", "--opt-level 0", code=1)
    assert "two builds are measured in turn for models of constant shapes" in why
