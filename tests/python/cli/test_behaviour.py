"""What goes wrong outside of Baton: full disks, caches that cannot be written, damaged files, an impatient user."""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import time

MODELS = pathlib.Path(__file__).parent / "models"


def run(*arguments, cwd, limit=None, **environment):
    def no_more_than():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run([os.environ["BATON_PROGRAM"], *arguments], cwd=cwd, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=120, env={**os.environ, **environment},
                          preexec_fn=no_more_than if limit else None)


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_full_disk_leaves_no_artifact(tmp_path):
    # A limit on the size of files stands in for a full disk; the kernels are in the cache already.
    model, cache = str(MODELS / "small.relay"), {"BATON_CACHE_DIR": str(tmp_path / "cache")}
    out = tmp_path / "out"
    out.mkdir()
    assert run("build", model, "-o", "a.baton", cwd=out, **cache).returncode == 0
    (out / "a.baton").rename(tmp_path / "a.baton")
    size = (tmp_path / "a.baton").stat().st_size
    done = run("build", model, "-o", "a.baton", cwd=out, limit=size - 1000, **cache)
    assert done.returncode == 1
    assert "cannot write `a.baton`" in done.stderr
    assert files(out) == []


def test_an_old_artifact_survives_a_failed_build(tmp_path):
    model, cache = str(MODELS / "small.relay"), {"BATON_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "a.baton").write_text("old")
    assert run("build", model, "-o", "a.baton", cwd=tmp_path, limit=2000, **cache).returncode == 1
    assert (tmp_path / "a.baton").read_text() == "old"


def test_a_disk_that_is_full_from_the_start(tmp_path):
    done = run("run", str(MODELS / "small.relay"), cwd=tmp_path, limit=100, BATON_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert re.search(r"cannot write `/\S+` \(File too large\): is the disk full\?", done.stderr)  # where, why, what to look at
    assert files(tmp_path) == []


def test_a_cache_that_cannot_be_made_is_done_without(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("run", str(MODELS / "small.relay"), cwd=tmp_path, BATON_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert done.returncode == 0
    assert "set BATON_CACHE_DIR to another folder" in done.stderr


def test_a_damaged_cache_is_made_again(tmp_path):
    model, cache = str(MODELS / "small.relay"), {"BATON_CACHE_DIR": str(tmp_path / "cache")}
    first = run("run", model, cwd=tmp_path, **cache)
    for path in (tmp_path / "cache").rglob("*.kernel"):
        path.write_bytes(path.read_bytes()[:-100])
    again = run("run", model, cwd=tmp_path, **cache)
    assert (again.returncode, again.stdout) == (0, first.stdout)


def test_a_truncated_artifact_says_so(tmp_path):
    model = str(MODELS / "small.relay")
    assert run("build", model, "-o", "a.baton", cwd=tmp_path).returncode == 0
    whole = (tmp_path / "a.baton").read_bytes()
    assert "output0" in run("run", "a.baton", cwd=tmp_path).stdout
    (tmp_path / "a.baton").write_bytes(whole[: len(whole) // 2])
    done = run("run", "a.baton", cwd=tmp_path)
    assert done.returncode == 1
    assert "is not complete: it has" in done.stderr
    assert "Traceback" not in done.stderr


def test_outputs_are_the_same_from_model_and_artifact(tmp_path):
    model = str(MODELS / "small.relay")
    assert run("build", model, "-o", "a.baton", cwd=tmp_path).returncode == 0
    assert run("run", "a.baton", cwd=tmp_path).stdout == run("run", model, cwd=tmp_path).stdout


def interrupted(tmp_path, *arguments, after):
    process = subprocess.Popen([os.environ["BATON_PROGRAM"], *arguments], cwd=tmp_path, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, "BATON_CACHE_DIR": str(tmp_path / "cache")})
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    output, error = process.communicate(timeout=30)
    return process.returncode, output, error, time.monotonic() - began


def test_ctrl_c_while_building(tmp_path):
    status, output, error, seconds = interrupted(tmp_path, "build", "resnet-50", "-o", "a.baton", after=1.0)
    assert status == 130, error
    assert "interrupted" in error
    assert output == ""
    assert seconds < 5
    assert not (tmp_path / "a.baton").exists()
    assert all(name.endswith((".kernel", ".so")) for name in files(tmp_path)), "half-written files in the cache"


def test_ctrl_c_while_measuring(tmp_path):
    assert run("run", "mobilenet", cwd=tmp_path, BATON_CACHE_DIR=str(tmp_path / "cache")).returncode == 0
    status, output, error, seconds = interrupted(tmp_path, "profile", "mobilenet", "--json", "--no-unfused", "--repeat", "1000000", after=2.0)
    assert status == 130, error
    assert seconds < 5
    if output:  # the signal came after the first run: what was measured is reported, and marked
        assert json.loads(output)["partial"] == "interrupted"
        assert "interrupted: what was measured until then" in error
    else:
        assert "interrupted" in error


def test_the_heading_comes_before_measuring_and_sigterm_writes_what_was_measured(tmp_path):
    process = subprocess.Popen([os.environ["BATON_PROGRAM"], "profile", str(MODELS / "small.relay"), "--repeat", "1000000", "--no-peaks",
                                "--no-inside", "-o", "p.json"], cwd=tmp_path, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    heading = process.stdout.readline()
    assert process.poll() is None and " on llvm, " in heading
    time.sleep(2)  # until there is something to report
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "partial: interrupted" in output and " on llvm, " not in output
    assert json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))["partial"] == "interrupted"


def test_measuring_is_bounded(tmp_path):
    began = time.monotonic()
    done = run("profile", str(MODELS / "small.relay"), "--json", "--repeat", "1000000", "--max-seconds", "1", cwd=tmp_path)
    assert done.returncode == 0
    assert "partial" not in json.loads(done.stdout)
    assert time.monotonic() - began < 60


def test_json_is_alone_on_standard_output(tmp_path):
    done = run("profile", str(MODELS / "small.relay"), "--json", "--repeat", "3", "--inside-ms", "2", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["schema"] == 1
    assert {row["op"] for row in report["operators"]} == {"add", "nn.relu"}
    assert [part["method"] for part in report["kernels"][0]["inside"]][-1] == "whole"


def test_a_build_says_where_its_time_goes(tmp_path):
    arguments = ("build", str(MODELS / "small.relay"), "-o", "a.baton", "--timing")
    done = run(*arguments, cwd=tmp_path, BATON_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0
    for line in (r"\tFoldConstant: \d+us", r"LowerTE: \d+us", r"kernels: 1, 1 of them compiled;", r"  \d\.\d{3} choosing templates and parameters",
                 r"  \d\.\d{3} lowering \(Halide\)", r"  \d\.\d{3} of it the slowest: tvmgen_default_fused_add_nn_relu \(pointwise\)"):
        assert re.search(line, done.stdout), line
    done = run(*arguments, "--json", cwd=tmp_path, BATON_CACHE_DIR=str(tmp_path / "cache"))
    report = json.loads(done.stdout)
    assert set(report["threads_s"]) == {"tuned", "choose", "lower", "llvm"} and report["threads_s"]["llvm"] == 0
    assert "kernels: 1, 0 of them compiled" in done.stderr and "slowest" not in done.stderr


def test_an_artifact_can_be_profiled(tmp_path):
    assert run("build", str(MODELS / "small.relay"), "-o", "a.baton", cwd=tmp_path).returncode == 0
    done = run("profile", "a.baton", "--json", "--repeat", "3", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["model"] == "a.baton" and report["opt_level"] is None
    assert {row["op"] for row in report["operators"]} == {"add", "nn.relu"}
    assert report["kernels"][0]["origins"] == [0, 1] and report["kernels"][0]["median_us"] > 0
    assert report["kernels"][0]["inside"] == [] and report["unfused"]["kernels"] == []
    assert any("an artifact holds no Relay" in note for note in report["notes"])


def test_waiting_for_a_quiet_machine_ends(tmp_path):
    arguments = ("profile", str(MODELS / "small.relay"), "--no-inside", "--no-unfused", "--no-peaks", "--repeat", "2", "--wait=2")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sum of kernels" in done.stdout
    assert run("profile", str(MODELS / "small.relay"), "--wait=0", cwd=tmp_path).returncode == 2


def test_the_html_page_comes_beside_the_table(tmp_path):
    done = run("profile", str(MODELS / "small.relay"), "-o", "page.html", "--repeat", "3", "--no-inside", cwd=tmp_path)
    assert done.returncode == 0 and "sum of kernels" in done.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    assert '"op":"nn.relu"' in page
    assert files(tmp_path) == ["page.html"], "nothing half-written is left"


def test_a_page_for_which_there_is_no_room_leaves_the_old_one(tmp_path):
    (tmp_path / "page.html").write_text("old")
    cache = {"BATON_CACHE_DIR": str(tmp_path / "cache")}
    assert run("run", str(MODELS / "small.relay"), cwd=tmp_path, **cache).returncode == 0
    done = run("profile", str(MODELS / "small.relay"), "-o", "page.html", "--repeat", "3", "--no-inside", cwd=tmp_path, limit=50_000, **cache)
    assert done.returncode == 1
    assert "cannot write `page.html`: File too large" in done.stderr
    assert (tmp_path / "page.html").read_text() == "old"
    assert [name for name in files(tmp_path) if name.startswith("page")] == ["page.html"]
