"""Whose times a prediction tells: those of this machine only if the predictor was trained here, and every output says so."""
import gzip
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
SAMPLE = HERE.parents[1] / "reference" / "measurements.jsonl.gz"
SMALL = """#[version = "0.0.5"]
def @main(%x: Tensor[(16, 64), float32], %w: Tensor[(32, 64), float32], %b: Tensor[(32), float32]) {
  nn.relu(nn.bias_add(nn.dense(%x, %w, units=32), %b))
}
"""


def baton(*arguments, **environment):
    return subprocess.run([os.environ["BATON_PROGRAM"], *map(str, arguments)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300, env={**os.environ, "BATON_MACHINE": "here", **environment})


def good(*arguments, **environment):
    done = baton(*arguments, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def bad(*arguments, **environment):
    done = baton(*arguments, **environment)
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """other: a predictor of a Zen 3, whose rows do not say which processor it was; here: the same rows as if they were of this machine."""
    path = tmp_path_factory.mktemp("devices")
    (path / "small.relay").write_text(SMALL)
    (path / "sample.jsonl").write_bytes(gzip.decompress(SAMPLE.read_bytes()))
    good("store", "import", path / "sample.jsonl", "--store", path / "other.db")
    good("train", "--store", path / "other.db", "--backend", "llvm", "-o", path / "other.predictor", "--rounds", 30, "--name", "zen3")
    good("profile", path / "small.relay", "--repeat", 5, "--no-inside", "--no-unfused", "--no-peaks", "--threads", 1, "--input-name", "x",
         "--store", path / "mine.db")
    mine = json.loads(good("store", "export", "--store", path / "mine.db").splitlines()[0])["device"]
    assert re.search(r"^processor: \w+", mine, re.M), mine
    rows = [json.loads(line) for line in (path / "sample.jsonl").read_text().splitlines()]

    def trained(name, device):
        for row in rows:
            row.update(device=device, machine=name)
        (path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        good("store", "import", path / f"{name}.jsonl", "--store", path / f"{name}.db")
        good("train", "--store", path / f"{name}.db", "--backend", "llvm", "-o", path / f"{name}.predictor", "--rounds", 10)

    trained("here", mine)
    trained("stepping", re.sub(r"(?m)^(processor: .*)$", r"\1 of another stepping", mine))
    without = re.sub(r"(?m)^processor: .*\n", "", mine)
    trained("unknown", without)
    trained("faster", without + "peak.threads: 1\npeak.gflops: 9000\npeak.gbytes_per_s: 900\npeak.cache_gbytes_per_s: 9000\npeak.cache_bytes: 1048576\n"
            "peak.l3_gbytes_per_s: 900\npeak.l3_program_bytes: 16777216\npeak.measured_s: 1795664632\n")
    return path


def test_a_predictor_of_this_machine_answers(folder):
    report = json.loads(good("predict", folder / "small.relay", "--predictor", folder / "here.predictor", "--input-name", "x", "--json"))
    assert "other_machine" not in report and "family" in report["machine"] and "not of this machine" not in " ".join(report["notes"])
    # Asked for by name it is this machine nevertheless.
    named = json.loads(good("predict", folder / "small.relay", "--predictor", folder / "here.predictor", "--for-device", "here", "--input-name", "x",
                            "--json"))
    assert "other_machine" not in named and named["machine"] == report["machine"]


@pytest.mark.parametrize("which, why", [
    ("other", "it runs code for znver3|it has|it is called|it runs code"),
    ("stepping", "of another stepping"),
    ("unknown", "which processor it is was not recorded"),
    ("faster", "it computes 9000 GFLOP/s|could not be measured"),
])
def test_another_device_is_refused_unless_it_is_asked_for(folder, which, why):
    name = "zen3" if which == "other" else which
    refused = bad("predict", folder / "small.relay", "--predictor", folder / f"{which}.predictor", "--input-name", "x")
    assert re.search(why, refused) and f"--for-device {name}" in refused and "this machine" in refused
    answer = json.loads(good("predict", folder / "small.relay", "--predictor", folder / f"{which}.predictor", "--for-device", name, "--input-name", "x",
                             "--json"))
    assert answer["other_machine"] is True and answer["machine"].startswith(name + ": ")


def test_another_precision_is_a_guess(folder):
    model = ("predict", folder / "small.relay", "--predictor", folder / "here.predictor", "--input-name", "x", "--json")
    assert "precision" not in json.loads(good(*model)).get("out_of_range", "")
    strict = json.loads(good(*model, "--precision", "strict"))
    assert "precision strict" in strict["out_of_range"] and "interval" not in strict


def test_every_output_names_whose_times_these_are(folder, tmp_path):
    model = (folder / "small.relay", "--predictor", folder / "other.predictor", "--for-device", "zen3", "--input-name", "x")
    table = good("predict", *model, "-o", tmp_path / "r.json", "-o", tmp_path / "r.html", "-o", tmp_path / "r.csv")
    flat = " ".join(table.split())
    assert "zen3: AMD EPYC (znver3)" in flat.splitlines()[0] and "not of this machine" in flat
    assert "roofs of this machine" not in flat and "roofs of the machine that times are predicted for" in flat
    saved = json.loads((tmp_path / "r.json").read_text())
    assert saved["other_machine"] is True and saved["machine"] == "zen3: AMD EPYC (znver3)"
    assert saved["peaks"]["gflops"] == pytest.approx(95.6, rel=0.05)  # of the Zen 3
    assert "zen3: AMD EPYC (znver3)" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "zen3: AMD EPYC (znver3)" in "".join(path.read_text() for path in tmp_path.glob("*.csv"))
    again = good("report", tmp_path / "r.json")
    assert "zen3: AMD EPYC (znver3)" in again and "roofs of this machine" not in again
    assert "--for-device takes zen3, zen3-vm" in bad("predict", *model[:3], "--for-device", "zen9", "--input-name", "x")


def test_predictors_that_come_with_baton_are_found(folder, tmp_path):
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    shutil.copy(folder / "other.predictor", shipped / "zen3.predictor")
    missing = bad("predict", folder / "small.relay", "--input-name", "x", BATON_PREDICTORS=str(shipped))
    assert "of this machine" in missing and "zen3, AMD EPYC (znver3)" in missing and "--for-device" in missing
    there = json.loads(good("predict", folder / "small.relay", "--for-device", "zen3", "--input-name", "x", "--json", BATON_PREDICTORS=str(shipped)))
    assert there["other_machine"] is True and there["predicted"].startswith(str(shipped))
    assert "of a device `zen9`" in bad("predict", folder / "small.relay", "--for-device", "zen9", BATON_PREDICTORS=str(shipped))
    shutil.copy(folder / "here.predictor", shipped / "a.predictor")
    mine = json.loads(good("predict", folder / "small.relay", "--input-name", "x", "--json", BATON_PREDICTORS=str(shipped)))
    assert "other_machine" not in mine and mine["predicted"].startswith(str(shipped / "a.predictor"))
    assert "no predictor comes" in bad("predict", folder / "small.relay", BATON_PREDICTORS=str(tmp_path))


def test_those_that_are_in_the_tree_can_be_read():
    """Trained with the features of this version, small, and of the devices that docs/prediction.md names."""
    folder = HERE.parents[2] / "python" / "baton" / "predictors"
    files = sorted(folder.glob("*.predictor"))
    assert [file.stem for file in files] == ["zen3", "zen5"]
    for file in files:
        assert file.stat().st_size <= 3_000_000
        report = json.loads(good("predict", "resnet-18", "--for-device", file.stem, "--json", BATON_PREDICTORS=str(folder)))
        assert file.stem in report["machine"] or "other_machine" not in report
        assert report["end_to_end_us"]["median"] > 0


def test_parts_that_were_not_measured_are_split_by_their_rooflines(folder):
    report = json.loads(good("predict", "resnet-18", "--predictor", folder / "other.predictor", "--for-device", "zen3", "--json"))
    assert any("in proportion to their rooflines" in note for note in report["notes"])
    convs = {op["id"] for op in report["operators"] if op["op"] == "nn.conv2d"}
    all_us = sum(kernel["median_us"] for kernel in report["kernels"])
    conv_us = sum(part["us"] / len(part["ids"]) for kernel in report["kernels"] for part in kernel["inside"] for each in part["ids"] if each in convs)
    alone_us = sum(kernel["median_us"] for kernel in report["kernels"] if not kernel["inside"] and kernel["origins"] and set(kernel["origins"]) <= convs)
    assert (conv_us + alone_us) / all_us > 0.9  # convolutions are nearly all of it


@pytest.mark.parametrize("pack, suffix", [(lzma.compress, "xz"), (gzip.compress, "gz")])
def test_packed_measurements_are_imported(folder, tmp_path, pack, suffix):
    lines = (folder / "sample.jsonl").read_bytes().splitlines(keepends=True)[:20]
    (tmp_path / f"rows.jsonl.{suffix}").write_bytes(pack(b"".join(lines)))
    good("store", "import", tmp_path / f"rows.jsonl.{suffix}", "--store", tmp_path / "s.db")
    assert len(good("store", "export", "--store", tmp_path / "s.db").splitlines()) == 20
    (tmp_path / f"cut.jsonl.{suffix}").write_bytes(pack(b"".join(lines))[:-20])
    assert "cut.jsonl" in bad("store", "import", tmp_path / f"cut.jsonl.{suffix}", "--store", tmp_path / "t.db")
    (tmp_path / f"twice.{suffix}").write_bytes(pack(pack(b"".join(lines))))
    assert "more than once" in bad("store", "import", tmp_path / f"twice.{suffix}", "--store", tmp_path / "t.db")


def test_python(folder):
    import baton as tvm

    mod = tvm.parser.parse(SMALL)
    with pytest.raises(tvm.TVMError, match="for_device"):
        tvm.predict(mod, folder / "other.predictor")
    report = tvm.predict(mod, folder / "other.predictor", for_device="zen3")
    assert "zen3: AMD EPYC (znver3)" in str(report)
    with pytest.raises(tvm.TVMError, match="--for-device takes"):
        tvm.predict(mod, folder / "other.predictor", for_device="zen9")
