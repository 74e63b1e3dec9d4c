"""`baton map`, its file, `baton partition --mapping`, `baton explain --mapping`, and baton.map from Python."""
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from baton.relay import testing


def run(*words):
    return subprocess.run([os.environ["BATON_PROGRAM"], *map(str, words)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300)


def good(*words):
    done = run(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(*words):
    done = run(*words)
    assert done.returncode in (1, 2), done.stdout + done.stderr
    return done.stderr


def report(model, *words, seconds=1):
    measures = not {"--predictor", "--no-measure"} & set(words)
    return json.loads(good("map", model, "--threads", 1, *(["--max-seconds", seconds] if measures else []), "--json", *words))


def kept_single(found):
    """The note that a mapping was not faster beyond the noise of the machine after it was chosen, or too few rounds were measured to say so."""
    return next((note for note in found["notes"] if "the single backend is kept" in note), None)


@pytest.fixture(scope="module")
def vgg(tmp_path_factory):
    """VGG-11 for small images, as a file."""
    path = tmp_path_factory.mktemp("models") / "vgg.relay"
    path.write_text(testing.vgg.get_workload(batch_size=1, num_classes=10, image_shape=(3, 32, 32), num_layers=11)[0].astext())
    return path


@pytest.fixture(scope="module")
def mapped(vgg, tmp_path_factory):
    """The mapping of a small model over a simulated device that computes dense layers only: its report and file."""
    path = tmp_path_factory.mktemp("map") / "m.json"
    for seconds in (1, 5, 20):  # as many as it takes to tell a mapping from the best single backend beside other programs
        found = report(vgg, "--targets", "sim_in_memory", "-o", path, seconds=seconds)
        if found["chosen"] != found["best_single"]:
            break
    return found, path


@pytest.fixture(scope="module")
def divided(vgg, tmp_path_factory):
    """A mapping of the same that has dense layers on the simulated device, whatever else this machine does: a predicted one."""
    path = tmp_path_factory.mktemp("predicted") / "m.json"
    found = report(vgg, "--targets", "sim_in_memory", "--no-measure", "--for-device", "zen5", "-o", path)
    assert any(each["backend"] == "sim_in_memory" for each in found["mapping"]["operators"])
    return found, path


def test_modules_cost_what_their_operators_do():
    first = relay.var("x", shape=(1, 64))
    with tvm.module("block"):
        with tvm.module("first"):
            hidden = relay.nn.relu(relay.nn.dense(first, relay.const(np.ones((64, 64), "float32"))))
        result = relay.nn.softmax(hidden)
    module = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([first], result)))
    found = tvm.map(module, targets=["llvm", "sim_in_memory"], threads=1, seconds=1).report
    rows = {each["module"]: each for each in found["modules"]}
    assert list(rows) == ["", "block", "block/first"]
    priced = sum(each["us"] for each in found["mapping"]["operators"])
    assert rows[""]["us"] == pytest.approx(priced) and rows["block"]["us"] == pytest.approx(priced)
    assert all(sum(row["backend_us"].values()) == pytest.approx(row["us"]) for row in rows.values())


def test_the_fastest_is_kept(mapped):
    found, path = mapped
    models = {each["name"]: each for each in found["models"]}
    chosen = models[found["chosen"]]
    single = kept_single(found)
    assert found["speedup"] >= 1
    if found["chosen"] == found["best_single"]:
        assert chosen["single"] and found["speedup"] == 1 and found["plus_minus"] is None
        pytest.skip(single or "llvm alone was the fastest in the rounds that choose")
    assert chosen["measured_us"] == min(each["measured_us"] for each in models.values() if not each["why_not"])
    assert chosen["operators"]["sim_in_memory"] >= 2  # the dense layers that are worth a copy
    assert chosen["regions"] >= 1
    # Prices are measured in the same rounds as the whole. On a busy machine a second is little for both.
    assert abs(chosen["modelled_us"] / chosen["measured_us"] - 1) < 0.5
    saved = json.loads(path.read_text())
    assert saved == found["mapping"]
    dense = [each for each in saved["operators"] if each["operator"].endswith("nn.dense")]
    assert [each["backend"] for each in dense[:2]] == ["sim_in_memory"] * 2
    for each in dense[:2]:
        elsewhere = {other["backend"]: other["more_us"] for other in each["alternatives"]}
        assert elsewhere["sim_in_memory"] == 0 and elsewhere["llvm"] > 0


def test_rounds_that_choose_do_not_report(mapped):
    """The rounds that chose a mapping were those that reported: "1.259x +-0" of one that was slower when it was run afterwards."""
    found, _ = mapped
    models = {each["name"]: each for each in found["models"]}
    chosen, single = models[found["chosen"]], models[found["best_single"]]
    verified = [each for each in models.values() if each["verified_us"] > 0]
    if not verified:
        pytest.skip(f"{found['chosen']} alone was the fastest in the rounds that choose, beyond their interval")
    assert {each["name"] for each in verified} >= {found["best_single"]} and len(verified) >= 2
    for each in verified:
        assert len(each["verified_rounds_us"]) >= 3 and each["verified_rounds_us"] != each["rounds_us"]
    assert single["verified_us"] == min(each["verified_us"] for each in verified if each["single"])
    if found["chosen"] != found["best_single"]:
        assert found["speedup"] == pytest.approx(single["verified_us"] / chosen["verified_us"])
        assert 0 < found["plus_minus"] and found["speedup"] - 1 >= found["plus_minus"]
        assert found["mapping"]["measured_us"] == chosen["verified_us"]


def test_a_small_budget_keeps_rounds_for_the_verdict(vgg):
    """Nothing is claimed without an interval, however little time there is."""
    found = report(vgg, "--targets", "dnnl,sim_in_memory", seconds=0.1)
    models = {each["name"]: each for each in found["models"]}
    tried = [each for each in models.values() if each["verified_us"] > 0]
    for each in tried:
        assert len(each["verified_rounds_us"]) >= 3
    assert (found["plus_minus"] is None) == (found["speedup"] == 1)
    text = good("map", vgg, "--targets", "dnnl,sim_in_memory", "--max-seconds", 0.1, "--threads", 1)
    assert not re.search(r"\+-0(?![.\d])", text)
    kept = "alone is the fastest" in text or "single backend is kept" in text
    assert kept or re.search(r"\(\+-[\d.]+ %\), by \d+ rounds of both that were measured after it was chosen", text), text


def test_the_table_and_a_sweep(vgg):
    text = good("map", vgg, "--targets", "sim_in_memory", "--max-seconds", 1, "--sweep",
                "link=0.000001:1")
    assert "best single backend" in text or "alone is the fastest" in text
    assert "link cpu to sim_in_memory: 4.00 us, 12.0 GB/s" in text
    points = [line.split() for line in text.splitlines() if line.rstrip("# ").endswith(tuple("0123456789")) and "x " in line + " "]
    moved = [int(words[4]) for words in points if len(words) >= 5 and words[3].endswith("x")]
    assert len(moved) == 13 and moved[0] == 0 and moved[-1] >= 2  # nothing is worth a link that slow


def test_other_machines(vgg):
    """Sweeps over devices, memory and compute: each a table, and an array in the JSON."""
    words = ("--targets", "sim_in_memory", "--sweep", "devices=1:3", "--sweep", "memory=0.0001:1", "--sweep", "compute=0.001:100")
    found = report(vgg, *words)
    assert list(found["sweeps"]) == ["devices", "memory", "compute"]
    operators = len(found["mapping"]["operators"])
    for what, sweep in found["sweeps"].items():
        points = sweep["points"]
        assert [each["factor"] for each in points] == sorted(each["factor"] for each in points) and len(points) == (3 if what == "devices" else 13)
        for each in points:
            assert 0 < each["best_us"] <= each["best_single_us"] * (1 + 1e-9) and each["speedup"] == pytest.approx(each["best_single_us"] / each["best_us"])
            assert len(each["backend_of"]) == operators and each["best_single"] in found["backends"]
            assert (each["moved"] > 0) == any(found["backends"][backend] == "sim_in_memory" for backend in each["backend_of"] if backend >= 0)
            assert (each["transfers"] > 0) == (each["moved"] > 0)
        assert all(after["best_us"] <= before["best_us"] * (1 + 1e-9) for before, after in zip(points, points[1:]))
    assert "more devices help only where their memory is short" in found["sweeps"]["devices"]["note"]
    assert found["sweeps"]["memory"]["points"][0]["moved"] == 0  # nothing fits
    assert found["sweeps"]["compute"]["points"][0]["moved"] == 0 < found["sweeps"]["compute"]["points"][-1]["moved"]
    text = good("map", vgg, "--max-seconds", 1, "--threads", 1, *words)
    for heading in ("so many of\n  each device", "memory so many\n  times as large", "devices so many\n  times as fast"):
        assert heading in text
    assert "is given twice" in refused("map", vgg, "--targets", "sim_in_memory", "--sweep", "link=1:2", "--sweep", "link=2:3")


def test_streams_use_several_devices(vgg):
    found = report(vgg, "--targets", "sim_fast_gpu", "--objective", "throughput", "--sweep", "devices=1:4")
    points = found["sweeps"]["devices"]["points"]
    assert points[-1]["best_us"] < points[0]["best_us"] and found["sweeps"]["devices"]["note"] == ""


def test_page_and_mapping_from_one_run(vgg, tmp_path):
    done = run("map", vgg, "--targets", "sim_in_memory", "--max-seconds", 1, "--sweep", "link=0.1:10", "-o", tmp_path / "m.html", "-o", tmp_path / "m.json")
    assert done.returncode == 0 and f"wrote {tmp_path / 'm.html'}" in done.stderr and f"wrote {tmp_path / 'm.json'}" in done.stderr
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    held = json.loads(page.split('id="data">')[1].split("</script>")[0])
    saved = json.loads((tmp_path / "m.json").read_text())
    assert page.startswith("<!doctype html>") and ": Baton mapping</title>" in page
    assert [each["id"] for each in held["operators"]] == [each["id"] for each in saved["operators"]]
    assert [each.get("backend", "") for each in held["mapping"]["operators"]] == [each["backend"] for each in saved["operators"]]
    assert len(held["prices"]["points"]) == 25 and list(held["sweeps"]) == ["link"]
    assert any(each.get("reads_input") for each in held["operators"]) and any(each.get("returned") for each in held["operators"])


def test_ctrl_c_keeps_what_was_found(vgg, tmp_path):
    """Once backends are measured, Ctrl-C ends measuring and searching, and the best of them is reported. It reported nothing."""
    words = [os.environ["BATON_PROGRAM"], "map", vgg, "--targets", "sim_in_memory", "--max-seconds", "300", "--sweep", "link=0.1:10", "-o", tmp_path / "m.html", "-o", tmp_path / "m.json"]
    for delay in (2, 4, 8, 16, 32):
        process = subprocess.Popen([*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        text, complaints = process.communicate(timeout=120)
        assert process.returncode == 130
        if "baton map: interrupted" not in complaints:  # that is: before anything was measured
            break
    assert "interrupted: what was found until then is reported" in text and "interrupted: later points are missing" in text
    assert json.loads((tmp_path / "m.json").read_text())["operators"] and (tmp_path / "m.html").exists()


def test_partition_applies_a_mapping(vgg, divided, tmp_path):
    _, path = divided
    summary = json.loads(good("partition", vgg, "--mapping", path, "--json"))
    edited = json.loads(path.read_text())
    there = sum(each["backend"] == "sim_in_memory" for each in edited["operators"])
    assert summary["regions"] == {"sim_in_memory": there} and summary["operators"]["sim_in_memory"] == there
    first = next(each for each in edited["operators"] if each["operator"].endswith("nn.dense"))
    first["backend"] = "dnnl"
    (tmp_path / "e.json").write_text(json.dumps(edited))
    summary = json.loads(good("partition", vgg, "--mapping", tmp_path / "e.json", "--json"))
    assert summary["regions"] == {"sim_in_memory": there - 1, "dnnl": 1}
    assert 'Compiler="dnnl"' in summary["text"]


def test_a_mapping_of_another_build_is_applied_with_a_note(vgg, mapped, tmp_path):
    edited = json.loads(mapped[1].read_text())
    done = run("partition", vgg, "--mapping", mapped[1])
    assert done.returncode == 0 and "note:" not in done.stderr
    edited["machine"] = "a phone"
    for operator in edited["operators"]:
        operator.pop("variant", None)  # layouts are chosen at level 3 only
    (tmp_path / "e.json").write_text(json.dumps(edited))
    done = run("partition", vgg, "--mapping", tmp_path / "e.json", "--opt-level", 1)
    assert done.returncode == 0, done.stderr
    assert "note: the mapping was found on a phone, this is " in done.stderr
    assert "found at optimization level 3, this is 1: kernels and their times differ" in done.stderr


@pytest.mark.parametrize("change, message", [
    (lambda m: m["operators"].pop(), "it has 40 operators, this program has 41"),
    (lambda m: m["operators"].pop(3), "operator 3 is missing"),
    (lambda m: m["operators"].append(m["operators"][3]), "operator 3 is there twice"),
    (lambda m: m["operators"][0].update(backend="dnl"), "there is no such backend; did you mean `dnnl`?"),
    (lambda m: m["operators"][0].update(operator="%0 nn.dense"), "operator 0 is %0 nn.dense there, and %0 nn.conv2d here"),
    (lambda m: m.update(program="12"), "it is of another version of"),
    (lambda m: m.update(program="no"), "not a hash"),
    (lambda m: m.update(schema=99), "update Baton"),
    (lambda m: m.update(operators=3), "not the JSON of a mapping"),
    (lambda m: m.clear(), "this is no mapping"),
])
def test_damaged_mappings_are_refused(vgg, mapped, tmp_path, change, message):
    mapping = json.loads(mapped[1].read_text())
    change(mapping)
    (tmp_path / "m.json").write_text(json.dumps(mapping))
    for verb in ("partition", "explain"):
        assert message in refused(verb, vgg, "--mapping", tmp_path / "m.json")


def test_explain_says_why(vgg, divided):
    _, path = divided
    text = good("explain", vgg, "--mapping", path, "--operator", "nn.dense")
    assert text.count("on sim_in_memory, where it takes") >= 2
    # The processor computes dense layers in several ways.
    assert re.search(r"on llvm(, \w+)? its kernel would take", text) and re.search(r"[un]s more, with the copies", text)
    # No other backend takes convolutions, but the processor computes them in several ways.
    assert re.search(r"on llvm, \w+ its kernel would take", good("explain", vgg, "--mapping", path, "--operator", "id:0"))
    assert "cannot read the mapping" in refused("explain", "mlp", "--mapping", "/nowhere.json")


@pytest.mark.parametrize("words, message", [
    (["--pin", "id:0=llvm", "--forbid", "id:0=llvm"], "--forbid id:0=llvm contradicts --pin id:0=llvm: both name"),
    (["--pin", "id:0=llvm", "--pin", "id:0=dnnl"], "--pin id:0=dnnl contradicts --pin id:0=llvm"),
    (["--pin", "id:0=opencl"], "opencl is not among the targets"),
    (["--forbid", "id:0=llvm", "--forbid", "id:0=dnnl"], "leaves no backend for"),
    (["--pin", "id:0"], "write --pin %3,%5=dnnl"),
    (["--pin", "id:999=dnnl"], "999"),
    (["--memory", "dnnl=1MB"], "it computes in the memory of the processor"),
    (["--memory", "dnnl=much"], "is no amount of memory"),
    (["--sweep", "link=2:1"], "write --sweep link=0.1:100"),
    (["--sweep", "devices=1:2.5"], "whole numbers up to 16"),
    (["--sweep", "memory=0:1"], "write --sweep memory=0.1:10"),
    (["--sweep", "speed=1:2"], "there are link, devices, memory and compute"),
    (["--sweep", "linc=1:2"], "did you mean `link`?"),
    (["--sweep", "compute=1:2"], "--sweep compute: all targets compute on the processor"),
    (["-o", "m"], "`m` does not say what to write"),
    (["-o", "m.htm"], "did you mean `.html`?"),
    (["-o", "/nowhere/m.html"], "/nowhere/m.html"),
    (["-o", "m.json", "-o", "./m.json"], "would be written twice"),
    (["--predictor", "/nowhere"], "/nowhere"),
])
def test_says_what_is_wrong(words, message):
    assert message in refused("map", "mlp", "--targets", "llvm,dnnl", *words)


def test_unknown_and_useless_targets():
    assert "did you mean `dnnl`?" in refused("map", "mlp", "--targets", "dnl")
    assert "two backends at least" in refused("map", "mlp", "--targets", "llvm")
    found = report("mlp", "--targets", "sim_npu")  # of integers only
    assert "sim_npu takes no operator of this model" in found["notes"]
    # A mapping to the processor alone may still choose other schedules than the build does, and be faster.
    chosen = next(each for each in found["models"] if each["name"] == found["chosen"])
    assert chosen["regions"] == 0 and list(chosen["operators"]) == ["llvm"]
    assert "--pin nn.dense=sim_npu: sim_npu does not compute" in refused("map", "mlp", "--targets", "sim_npu", "--pin", "nn.dense=sim_npu",
                                                                         "--max-seconds", 1)


def test_rules_are_kept():
    found = report("dqn", "--targets", "dnnl,sim_fast_gpu", "--pin", "nn.dense=dnnl", "--forbid", "nn.conv2d=sim_fast_gpu")
    backends = {each["operator"].split()[-1]: set() for each in found["mapping"]["operators"]}
    for each in found["mapping"]["operators"]:
        backends[each["operator"].split()[-1]].add(each["backend"])
    assert backends["nn.dense"] == {"dnnl"} and "sim_fast_gpu" not in backends["nn.conv2d"]


def test_a_given_mapping_is_measured_too(vgg, divided, tmp_path):
    edited = json.loads(divided[1].read_text())
    for each in edited["operators"]:
        each["backend"] = "llvm" if each["backend"] == "sim_in_memory" else each["backend"]
    (tmp_path / "all.json").write_text(json.dumps(edited))
    found = report(vgg, "--targets", "sim_in_memory", "--also", tmp_path / "all.json", "--also", divided[1])
    models = {each["name"]: each for each in found["models"]}
    assert models[str(tmp_path / "all.json")]["regions"] == 0 and models[str(divided[1])]["regions"] >= 1
    assert all(each["measured_us"] > 0 for each in models.values())
    assert found["without_links_us"] >= found["bound_us"] * 0.999


def test_a_given_mapping_of_other_targets_is_refused(vgg, divided):
    assert "--also" in refused("map", vgg, "--targets", "dnnl", "--also", divided[1]) and "sim_in_memory is not among" in refused(
        "map", vgg, "--targets", "dnnl", "--max-seconds", 1, "--also", divided[1])


def test_few_regions(vgg):
    many = report(vgg, "--targets", "sim_in_memory")
    few = report(vgg, "--targets", "sim_in_memory", "--max-regions", 1)
    chosen = [next(each for each in found["models"] if each["name"] == found["chosen"]) for found in (many, few)]
    assert chosen[0]["regions"] >= 2
    assert chosen[1]["regions"] <= 1 or few["chosen"] == few["best_single"]
    assert any(not each["single"] and each["regions"] == 1 for each in few["models"])


def test_a_device_too_small_for_the_model_gets_what_fits(tmp_path):
    path = tmp_path / "mobilenet.relay"
    path.write_text(testing.mobilenet.get_workload(image_shape=(3, 64, 64), num_classes=10)[0].astext())
    found = report(path, "--targets", "sim_dsp")
    models = {each["name"]: each for each in found["models"]}
    assert "no memory" in models["sim_dsp"]["why_not"]
    assert any(name.startswith("sim_dsp, part") and not each["why_not"] for name, each in models.items())


def test_results_come_back(tmp_path):
    """The result of a region on a device stayed in its memory, and nobody paid for the copy that the caller makes."""
    (tmp_path / "m.relay").write_text('#[version = "0.0.5"]\ndef @main(%x: Tensor[(64, 1024), float32]) { exp(%x) }\n')
    found = report(tmp_path / "m.relay", "--targets", "sim_fast_gpu", "--pin", "exp=sim_fast_gpu")
    there = next(each for each in found["models"] if each["name"] == "sim_fast_gpu")
    bytes_per_copy = 4 * 64 * 1024
    assert there["measured_us"] >= 2 * (15 + bytes_per_copy / 3e3)  # in and out
    assert abs(there["modelled_us"] / there["measured_us"] - 1) < 0.1


def test_an_empty_shape_and_a_model_without_operators(tmp_path):
    (tmp_path / "empty.relay").write_text('#[version = "0.0.5"]\ndef @main(%x: Tensor[(0, 4), float32]) { nn.relu(%x) }\n')
    (tmp_path / "none.relay").write_text('#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 4), float32]) { %x }\n')
    for name in ("empty", "none"):
        done = run("map", tmp_path / f"{name}.relay", "--targets", "dnnl,sim_fast_gpu", "--max-seconds", 1)
        assert done.returncode == 0 or done.stderr.startswith("baton map: "), done.stderr


def test_predicted_without_devices(tmp_path):
    """From a predictor of the processor and the sheets of simulated devices: nothing is compiled."""
    sample = pathlib.Path(__file__).parents[2] / "reference" / "measurements.jsonl.gz"
    (tmp_path / "sample.jsonl").write_bytes(gzip.decompress(sample.read_bytes()))
    good("store", "import", tmp_path / "sample.jsonl", "--store", tmp_path / "s.db")
    good("train", "--store", tmp_path / "s.db", "--backend", "llvm", "-o", tmp_path / "p", "--rounds", 60)
    other = ("--predictor", tmp_path / "p", "--for-device", "zen3-vm")
    assert "--for-device zen3-vm" in refused("map", "resnet-18", "--targets", "sim_fast_gpu", *other[:2])
    found = report("resnet-18", "--targets", "sim_in_memory,sim_fast_gpu", *other, "--sweep", "memory=0.001:1", "--sweep", "compute=0.01:1",
                   "-o", tmp_path / "p.html")
    for sweep in found["sweeps"].values():
        assert sweep["points"][0]["best_us"] > sweep["points"][-1]["best_us"]  # without memory, or slow, the device is of no use
    assert '"predicted":true' in (tmp_path / "p.html").read_text(encoding="utf-8")
    assert found["predicted"] and found["measure_s"] == 0
    # Everything says whose times these are.
    assert found["machine"].startswith("zen3-vm: AMD EPYC"), found["machine"]
    assert found["machine"] in (tmp_path / "p.html").read_text(encoding="utf-8")
    assert found["machine"] in good("map", "mlp", "--targets", "sim_fast_gpu", *other)
    models = {each["name"]: each for each in found["models"]}
    assert all(each["measured_us"] == 0 and each["modelled_us"] > 0 for each in models.values())
    assert models["sim_fast_gpu"]["modelled_us"] < models["llvm"]["modelled_us"]
    assert found["chosen"] != "llvm"
    assert "choose one" in refused("map", "mlp", "--targets", "sim_fast_gpu", *other, "--artifact", tmp_path / "a.baton")
    # What the predictor has no kernels of is left out, and the others go on. It was the end of the command.
    left_out = report("mlp", "--targets", "dnnl,sim_fast_gpu", *other)
    assert any(note.startswith("dnnl is left out: the predictor has no kernels of backend dnnl (it has llvm)") for note in left_out["notes"])
    assert {each["name"]: bool(each["why_not"]) for each in left_out["models"] if each["single"]} == {"llvm": False, "dnnl": True, "sim_fast_gpu": False}
    assert "no kernels of backend dnnl" in refused("map", "mlp", "--targets", "dnnl,sim_fast_gpu", *other, "--pin", "nn.dense=dnnl")
    # From one device to another by way of the host: no sheet has such a link.
    (tmp_path / "two.relay").write_text("""#[version = "0.0.5"]
def @main(%x: Tensor[(8, 64), float32], %w: Tensor[(64, 64), float32]) {
  %0 = nn.dense(%x, %w, units=64);
  %1 = nn.dense(%0, %w, units=64);
  nn.relu(%1)
}
""")
    two = report(tmp_path / "two.relay", "--targets", "sim_in_memory,sim_fast_gpu", *other, "--input-name", "x",
                 "--pin", "%0=sim_fast_gpu", "--pin", "%1=sim_in_memory", "--module", tmp_path / "placed.relay")
    assert all(each["modelled_us"] > 0 for each in two["models"] if not each["why_not"])
    placed = json.loads(good("predict", tmp_path / "placed.relay", *other, "--input-name", "x", "--json"))
    assert any(kernel["copied_from"] == "sim_fast_gpu" and kernel["device"] == "sim_in_memory" for kernel in placed["kernels"] if kernel.get("copied_from"))


# ---- From Python.

def outputs(module, data, params=None):
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(module, target="llvm", params=params)
    model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    model.set_input("data", data)
    model.run()
    return [model.get_output(i).numpy() for i in range(model.get_num_outputs())]


def test_from_python(tmp_path):
    module, params = testing.resnet.get_workload(num_layers=18, image_shape=(3, 32, 32), num_classes=10)
    before = str(module)
    found = tvm.map(module, params, targets=["llvm", "dnnl", "sim_fast_gpu"], seconds=2, threads=1, name="small")
    assert str(module) == before
    assert found.report["model"] == "small" and found.report["chosen"] in str(found)
    data = np.random.default_rng(3).uniform(-1, 1, (1, 3, 32, 32)).astype("float32")
    expected = outputs(module, data, params)
    np.testing.assert_allclose(outputs(found.mod, data)[0], expected[0], rtol=1e-4, atol=1e-5)
    found.save(tmp_path / "m.json")
    again = tvm.apply_mapping(module, tmp_path / "m.json", params)
    assert tvm.ir.structural_equal(again, found.mod)
    with pytest.warns(UserWarning, match="the mapping was found on elsewhere"):
        tvm.apply_mapping(module, dict(found.mapping, machine="elsewhere"), params)
    np.testing.assert_allclose(outputs(tvm.apply_mapping(module, found.mapping, params), data)[0], expected[0], rtol=1e-4, atol=1e-5)
    operator = next(each for each in found.mapping["operators"] if each["backend"])
    assert operator["operator"] in found.why(operator["id"])
    found.save(tmp_path / "m.html")
    assert (tmp_path / "m.html").read_bytes().startswith(b"<!doctype html>") and found.report.get("sweeps") is None
    with pytest.raises(tvm.TVMError, match="another model"):
        tvm.apply_mapping(testing.mlp.get_workload(batch_size=1)[0], found.mapping)
    with pytest.raises(ValueError, match="no operator 4711"):
        tvm.map(module, params, targets="dnnl", pin={"dnnl": [4711]})
    with pytest.raises(tvm.TVMError, match="contradicts"):
        tvm.map(module, params, targets="dnnl", pin={"dnnl": [1]}, forbid={"dnnl": [1]})


def test_sweeps_from_python():
    module, params = testing.mlp.get_workload(batch_size=1)
    found = tvm.map(module, params, targets=["llvm", "sim_fast_gpu"], seconds=1, threads=1, sweep={"link": (0.5, 2), "devices": (1, 2)})
    assert [each["factor"] for each in found.report["sweeps"]["devices"]["points"]] == [1, 2] and len(found.report["sweeps"]["link"]["points"]) == 13
    assert "links so many" in str(found) and "so many of" in str(found)
    for sweep, message in (({"link": (2, 1)}, "link=0.1:100"), ({"links": (1, 2)}, "did you mean `link`"), ({"devices": (1, 99)}, "whole numbers up to 16")):
        with pytest.raises(tvm.error.TVMError, match=message):
            tvm.map(module, params, targets="sim_fast_gpu", sweep=sweep)


@pytest.mark.parametrize("seed", range(4))
def test_random_divisions_compute_the_same(seed):
    """Whatever a mapping says, the result is the program's, and no operator is lost."""
    from tests.python.baton_api.running.test_partitions import random_network, run as run_network

    module = random_network(seed)
    expected = run_network(module, {})[1]
    random = np.random.default_rng(seed)
    found = tvm.map(module, targets=["dnnl", "openblas", "sim_big_core"], seconds=0.5, tries=1)
    mapping = found.mapping
    for each in mapping["operators"]:
        each["backend"] = str(random.choice(["llvm", "dnnl", "openblas", "sim_big_core", "mirror"]))
    for got, want in zip(run_network(tvm.apply_mapping(module, mapping), {})[1], expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * max(1e-3, np.abs(want).max()))


@pytest.mark.parametrize("objective", ["latency", "throughput"])
def test_devices_side_by_side(vgg, objective):
    """No mapping is kept that a single backend beats by the objective; nothing takes longer than one after the other."""
    words = ("--targets", "sim_fast_gpu,sim_slow_gpu", "--objective", objective)
    found = report(vgg, *words)
    assert found["objective"] == objective
    usable = [each for each in found["models"] if not each["why_not"]]
    chosen = next(each for each in usable if each["name"] == found["chosen"])
    assert found["speedup"] >= 1
    assert chosen["single"] or chosen["verified_us"] < min(each["verified_us"] for each in usable if each["single"] and each["verified_us"] > 0)
    for each in usable:
        assert 0 < each["measured_us"] <= each["serial_us"] * (1 + 1e-9)
    for queue in found["queues"]:
        assert queue["busy_us"] == pytest.approx(sum(end - begin for begin, end in queue["spans"]))
        assert all(first[1] <= second[0] + 1e-9 for first, second in zip(queue["spans"], queue["spans"][1:]))
    text = good("map", vgg, *words, "--max-seconds", 1, "--threads", 1)
    assert "their overlap is computed" in text and "us from left to right" in text


@pytest.mark.parametrize("objective", ["latency", "throughput"])
def test_real_devices_are_run_side_by_side(vgg, objective):
    """`mirror` is a device with a thread and memory of its own: builds are run as the objective says, not computed."""
    words = ("--targets", "llvm,mirror", "--objective", objective)
    found = report(vgg, *words)
    assert found["overlap"] == "measured"
    for each in found["models"]:
        if not each["why_not"]:
            assert each["measured_us"] > 0 and each["computed_us"] > 0 and each["serial_us"] > 0
    assert 0 <= found["overlap_share"] <= 1
    assert "; runs are timed" in good("map", vgg, *words, "--max-seconds", 1, "--threads", 1)


@pytest.mark.parametrize("objective", ["latency", "throughput"])
def test_the_overlap_of_simulated_devices_is_computed(vgg, objective):
    computed = report(vgg, "--targets", "llvm,sim_fast_gpu", "--objective", objective)
    assert computed["overlap"] == "computed" and computed["overlap_share"] == 1


def test_without_an_objective_nothing_overlaps(vgg):
    assert report(vgg, "--targets", "llvm,mirror")["overlap"] == ""


@pytest.fixture
def powercap(tmp_path, monkeypatch):
    """A counter like the kernel's, of a machine that always draws 20 W; it begins again every 3 seconds."""
    zone = tmp_path / "intel-rapl:0"
    zone.mkdir()
    (zone / "name").write_text("package-0\n")
    (zone / "max_energy_range_uj").write_text("60000000\n")
    (zone / "energy_uj").write_text("0\n")
    monkeypatch.setenv("BATON_POWERCAP", str(tmp_path))
    over, begin = threading.Event(), time.monotonic()

    def count():
        while not over.wait(0.001):
            written = zone / "next"
            written.write_text(f"{int((time.monotonic() - begin) * 20e6) % 60000000}\n")
            written.replace(zone / "energy_uj")  # never half written

    thread = threading.Thread(target=count)
    thread.start()
    yield 20.0
    over.set()
    thread.join()


def test_energy_is_read_from_the_counter(vgg, powercap):
    found = report(vgg, "--targets", "llvm,mirror", "--objective", "energy")
    assert found["objective"] == "energy" and found["unit"] == "uJ" and found["overlap"] == ""
    usable = {each["name"]: each for each in found["models"] if not each["why_not"]}
    for each in usable.values():
        # uJ per us are W. Time and energy are of different runs, and other programs may lengthen either.
        assert powercap / 20 < each["measured_us"] / each["serial_us"] < powercap * 20
    assert usable[found["chosen"]]["measured_us"] == min(each["measured_us"] for each in usable.values()) or found["notes"]
    assert found["mapping"]["measured_us"] == usable[found["chosen"]]["serial_us"], "files of mappings tell times"
    text = good("map", vgg, "--targets", "llvm,mirror", "--objective", "energy", "--max-seconds", 1, "--threads", 1)
    assert "measured uJ" in text and "energy: of the whole machine" in text


def test_energy_needs_a_counter_and_real_devices(vgg, tmp_path, monkeypatch, powercap):
    assert "simulated devices use none" in refused("map", vgg, "--targets", "llvm,sim_npu", "--objective", "energy")
    assert "--sweep" in refused("map", vgg, "--targets", "llvm,mirror", "--objective", "energy", "--sweep", "link=1:10")
    assert ".html" in refused("map", vgg, "--targets", "llvm,mirror", "--objective", "energy", "-o", tmp_path / "m.html")
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("BATON_POWERCAP", str(tmp_path / "empty"))
    assert f"no counter of energy: {tmp_path / 'empty'} has no intel-rapl:N" in refused("map", vgg, "--targets", "llvm,mirror", "--objective", "energy")


def test_an_unknown_objective_is_refused(vgg):
    assert "there are serial, latency, throughput and energy" in refused("map", vgg, "--targets", "dnnl", "--objective", "speed")
    with pytest.raises(tvm.error.TVMError, match="there are serial, latency, throughput and energy"):
        tvm.map(testing.mlp.get_workload(batch_size=1)[0], objective="speed")


# ---- Candidates.

CONVS = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 32, 28, 28), float32], %w: Tensor[(32, 32, 3, 3), float32], %v: Tensor[(32, 32, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3]);
  %1 = nn.relu(%0);
  %2 = nn.conv2d(%1, %v, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3]);
  tanh(%2)
}
"""


@pytest.fixture(scope="module")
def convs(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "convs.relay"
    path.write_text(CONVS)
    return path


def test_layouts_and_algorithms_are_candidates(convs, tmp_path):
    found = report(convs, "--targets", "dnnl", "-o", tmp_path / "m.json")
    models = {each["name"]: each for each in found["models"]}
    assert models["llvm, plain"]["variants"] == {"plain": 2} and models["llvm, plain"]["measured_us"] > 0
    assert not models["llvm, plain"]["single"] and found["best_single"] in ("llvm", "dnnl")
    # The build chooses one of the others by itself: that one is not measured twice.
    assert {"llvm, blocked", "llvm, winograd"} & set(models) and len(models) <= 5 + 4
    places = {(other["backend"], other.get("variant")) for each in found["mapping"]["operators"] if "conv2d" in each["operator"]
              for other in each["alternatives"]}
    assert ("llvm", "plain") in places
    without = report(convs, "--targets", "dnnl", "--no-variants")
    assert not any("," in each["name"] for each in without["models"])


def test_a_file_with_variants_is_what_is_built(convs, tmp_path):
    mapping = report(convs, "--targets", "dnnl", "--no-variants")["mapping"]
    assert mapping["schema"] == 2
    for each in mapping["operators"]:
        each["backend"] = "llvm"
    mapping["operators"][0]["variant"], mapping["operators"][2]["variant"] = "plain", "winograd"
    (tmp_path / "v.json").write_text(json.dumps(mapping))
    (tmp_path / "split.relay").write_text(json.loads(good("partition", convs, "--mapping", tmp_path / "v.json", "--json"))["text"])
    kernels = {row["title"]: row for row in json.loads(good("profile", tmp_path / "split.relay", "--max-seconds", 0.2, "--json"))["kernels"]}
    text = "".join(good("explain", tmp_path / "split.relay", "--operator", name) for name in ("nn.conv2d", "nn.contrib_conv2d_winograd_without_weight_transform"))
    assert kernels and "winograd" in text and "nn.conv2d" in text
    found = report(convs, "--targets", "dnnl", "--also", tmp_path / "v.json")
    given = next(each for each in found["models"] if each["name"] == str(tmp_path / "v.json"))
    assert given["variants"] == {"plain": 1, "winograd": 1} and given["measured_us"] > 0
    for change, message in (({"variant": "fast"}, "there are plain, blocked and winograd"), ({"backend": "dnnl"}, "only llvm has variants")):
        bad = json.loads((tmp_path / "v.json").read_text())
        bad["operators"][0].update(change)
        (tmp_path / "bad.json").write_text(json.dumps(bad))
        assert message in refused("partition", convs, "--mapping", tmp_path / "bad.json")
    assert "use opt level 3" in refused("partition", convs, "--mapping", tmp_path / "v.json", "--opt-level", 2)
    old = json.loads((tmp_path / "v.json").read_text())
    old["schema"] = 1
    for each in old["operators"]:
        each.pop("variant", None)
    (tmp_path / "old.json").write_text(json.dumps(old))
    good("partition", convs, "--mapping", tmp_path / "old.json")


def test_variants_from_python():
    module = tvm.parser.fromtext(CONVS)
    random = np.random.default_rng(2)
    params = {name: random.uniform(-1, 1, (32, 32, 3, 3)).astype("float32") for name in "wv"}
    with tvm.transform.PassContext(opt_level=3):
        mapping = tvm.map(module, params, targets="dnnl", seconds=0.5, threads=1, variants=False).mapping
    for each in mapping["operators"]:
        each["backend"] = "llvm"
    data = random.uniform(-1, 1, (1, 32, 28, 28)).astype("float32")

    def result(mod, given=None):
        with tvm.transform.PassContext(opt_level=3):
            lib = relay.build(mod, target="llvm", params=given)
        model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
        model.run(x=data)
        return model.get_output(0).numpy()

    expected = result(module, params)
    for variant in ("plain", "blocked", "winograd"):
        mapping["operators"][2]["variant"] = variant
        with tvm.transform.PassContext(opt_level=3):
            np.testing.assert_allclose(result(tvm.apply_mapping(module, mapping, params)), expected, rtol=1e-3, atol=1e-4)
    with pytest.raises(ValueError, match="give prices"):
        tvm.map(module, targets="dnnl", predictor="p", prices="p")


def test_costs_from_a_store(convs, tmp_path):
    """Without measuring: the store's kernels, or a refusal that names what is not known."""
    words = ("--targets", "sim_fast_gpu", "--no-measure", "--store", tmp_path / "s.db")
    good("profile", "mlp", "--threads", 1, "--max-seconds", 0.5, "--store", tmp_path / "s.db")
    text = refused("map", convs, "--threads", 1, *words, "--pin", "nn.conv2d=llvm")
    assert "no cost is known of" in text and "nn.conv2d" in text
    good("profile", convs, "--threads", 1, "--max-seconds", 0.5, "--store", tmp_path / "s.db")
    found = report(convs, *words)
    assert found["predicted"] and found["measure_s"] == 0
    host = next(each for each in found["models"] if each["name"] == "llvm")
    measured = json.loads(good("store", "query", "--store", tmp_path / "s.db", "--kind", "kernel", "--backend", "llvm", "--json"))
    assert host["modelled_us"] > 0 and measured
    assert "no predictor" in refused("map", convs, "--targets", "dnnl", "--no-measure", "--for-device", "none such")
    assert "--no-measure builds nothing" in refused("map", convs, *words, "--artifact", tmp_path / "a.baton")
    assert "choose one" in refused("map", convs, "--targets", "dnnl", "--predictor", "p", "--prices", "p")


def test_a_cost_of_zero_is_refused(convs, tmp_path):
    good("profile", convs, "--threads", 1, "--max-seconds", 0.5, "--store", tmp_path / "s.db")
    good("store", "export", "--store", tmp_path / "s.db", "-o", tmp_path / "rows.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    for row in rows:
        for key in ("median_us", "min_us", "mean_us"):
            if key in row:
                row[key] = 0.0
        if "samples_us" in row:
            row["samples_us"] = [0.0] * len(row["samples_us"])
    (tmp_path / "zero.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    imported = run("store", "import", tmp_path / "zero.jsonl", "--store", tmp_path / "zero.db")
    if imported.returncode:  # the store has none of these
        assert "positive" in imported.stderr or "us" in imported.stderr
        return
    assert "a cost is a positive number" in refused("map", convs, "--threads", 1, "--targets", "sim_fast_gpu", "--no-measure", "--store", tmp_path / "zero.db")


def test_portions_come_behind_all_single_backends(convs):
    """Reasons and prices of a backend are looked up by its number."""
    found = report(convs, "--targets", "sim_fast_gpu,dnnl", "--memory", "sim_fast_gpu=350kB")
    names = [each["name"] for each in found["models"]]
    assert names[:3] == found["backends"] == ["llvm", "sim_fast_gpu", "dnnl"] and "sim_fast_gpu, part 1" in names[3:]
    assert all(each["single"] == (each["name"] in found["backends"]) for each in found["models"])


def test_a_device_too_small_for_everything(convs):
    found = report(convs, "--targets", "sim_fast_gpu", "--memory", "sim_fast_gpu=64")
    assert found["chosen"].startswith("llvm") or found["best_single"] == "llvm"
    assert any("sim_fast_gpu has no room for any kernel of this model: its memory is 64 bytes" in note for note in found["notes"])
    assert "sim_fast_gpu has 64 bytes, --pin nn.conv2d=sim_fast_gpu" in refused("map", convs, "--targets", "sim_fast_gpu", "--memory", "sim_fast_gpu=64", "--pin", "nn.conv2d=sim_fast_gpu",
                                               "--max-seconds", 1)
