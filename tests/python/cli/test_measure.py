"""`baton measure`: campaigns go on where they were killed, lose nothing and have nothing twice; what is wrong is said."""
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import time

import pytest


def command(tmp_path, *words):
    return [os.environ["BATON_PROGRAM"], "measure", *map(str, words)], {**os.environ, "BATON_MACHINE_LOCK": str(tmp_path / "lock"),
                                                                      "BATON_MACHINE": "here"}


def run(tmp_path, *words):
    line, environment = command(tmp_path, *words)
    return subprocess.run(line, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=600, env=environment)


def good(tmp_path, *words):
    done = run(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


QUICK = ["--campaign", "c", "--wait", "0", "--seed", "5"]


def design(tmp_path, **fields):
    path = tmp_path / "design.json"
    path.write_text(json.dumps({"visits": 1, "protocol": {"max_seconds": 0.2}, **fields}))
    return ["--design", path]


def rows(tmp_path):
    """(configuration, node, cache, begun) of every kernel and model."""
    found = good_export(tmp_path)
    return [(row["configuration"], row["node"], row["cache"]) for row in found if row["work"]["kind"] != "reference"]


def good_export(tmp_path):
    done = subprocess.run([os.environ["BATON_PROGRAM"], "store", "export", "--store", str(tmp_path / "s.db")], capture_output=True,
                          text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def killed(tmp_path, kills, patterns):
    """A campaign that is killed at random moments, then left alone."""
    words = [*design(tmp_path, patterns=patterns, backends=["llvm", "dnnl"]), "--store", tmp_path / "s.db", *QUICK, "--json"]
    planned = json.loads(good(tmp_path, *words, "--dry-run"))["configurations"]
    moments = random.Random(7)
    before = set()
    for _ in range(kills):
        line, environment = command(tmp_path, *words)
        process = subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.3, 4))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (tmp_path / "s.db").exists():
            after = {row[0] for row in rows(tmp_path)}
            assert before <= after, "a kill lost rows that were committed"
            before = after
    report = json.loads(good(tmp_path, *words))
    assert report["finished_before"] == len(before)
    assert report["finished_before"] + report["measured"] + report["failed"] == len(planned)
    found = rows(tmp_path)
    assert {row[0] for row in found} == {each["configuration"] for each in planned}
    assert len(found) == len(set(found)), "rows are there twice"
    assert sqlite3.connect(tmp_path / "s.db").execute("pragma integrity_check").fetchone() == ("ok",)


def test_five_kills_lose_nothing(tmp_path):
    killed(tmp_path, 5, 8)


@pytest.mark.slow
def test_twenty_kills_lose_nothing(tmp_path):
    killed(tmp_path, 20, 40)


def test_rows_say_what_was_measured_and_how(tmp_path):
    words = [*design(tmp_path, models=["dqn"], patterns=2, caches=["hot", "flushed"]), "--store", tmp_path / "s.db", *QUICK]
    report = json.loads(good(tmp_path, *words, "--json"))
    assert report["measured"] == 3 and report["failed"] == 0 and report["rows"] == len(good_export(tmp_path))
    kinds = {}
    for row in good_export(tmp_path):
        kinds.setdefault(row["work"]["kind"], []).append(row)
        assert row["machine"] == "here" and row["campaign"] == "c" and row["median_us"] > 0 and row["reference_us"] > 0
    assert {row["cache"] for row in kinds["model"]} == {"hot", "flushed"}
    assert all(row["model"] == "dqn" for row in kinds["model"])
    assert {"hot", "flushed", "in model"} <= {row["cache"] for row in kinds["kernel"]}
    for row in kinds["kernel"]:  # of the model: as they run in it, or in a loop where they are too short for the clock
        assert row.get("model") != "dqn" or row["cache"] == "in model" or row["median_us"] < 3
    assert any(row.get("model") == "dqn" and row.get("origins") for row in kinds["kernel"]) and len(kinds["reference"]) == 1
    status = json.loads(good(tmp_path, "--status", "--json", "--campaign", "c", "--store", tmp_path / "s.db"))
    assert status["configurations"] == 3
    again = good(tmp_path, *words)
    assert "3 of 3 configurations, 3 of them before" in again


@pytest.mark.parametrize("level, operator", [(None, "nn.contrib_conv2d_NCHWc"), (2, "nn.conv2d")])
def test_programs_are_built_at_the_level_that_rows_say(tmp_path, level, operator):
    (tmp_path / "conv.relay").write_text(
        '#[version = "0.0.5"]\ndef @main(%data: Tensor[(1, 16, 14, 14), float32], %w: Tensor[(32, 16, 1, 1), float32]) {\n'
        "  nn.conv2d(%data, %w, padding=[0, 0, 0, 0], channels=32, kernel_size=[1, 1])\n}\n")
    words = [tmp_path / "conv.relay", "--store", tmp_path / "s.db", *QUICK, "--json"]
    here = [*words, *(["--opt-level", level] if level else [])]
    good(tmp_path, *here)
    kernels = [row for row in good_export(tmp_path) if row["work"]["kind"] == "kernel"]
    assert {row["build"]["opt_level"] for row in kernels} == {level or 3}
    assert operator in {op["op"] for row in kernels for op in row["work"]["operators"]}
    assert json.loads(good(tmp_path, *here))["finished_before"] == 1
    assert json.loads(good(tmp_path, *words, "--opt-level", 1))["finished_before"] == 0, "another level is another configuration"


def test_dry_run_measures_nothing_and_is_the_same_each_time(tmp_path):
    words = ["--families", "vgg,bert", "--variations", "2", "--patterns", "5", "--dry-run", "--json", "--store", tmp_path / "s.db"]
    first, second = good(tmp_path, *words), good(tmp_path, *words)
    assert first == second and not (tmp_path / "s.db").exists()
    listed = json.loads(first)
    assert listed["subjects"] == 9 and len(listed["configurations"]) == 9
    assert len({each["configuration"] for each in listed["configurations"]}) == 9


def test_ctrl_c_ends_cleanly(tmp_path):
    words = [*design(tmp_path, patterns=1000), "--store", tmp_path / "s.db", *QUICK, "--json"]
    line, environment = command(tmp_path, *words)
    process = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and json.loads(out)["partial"] == "interrupted"


def test_ctrl_c_while_kernels_are_compiled_ends_cleanly(tmp_path):
    """The compiler's threads go on for a while, and use objects that a process which ends destroys."""
    words = [*design(tmp_path, models=["resnet-18", "vgg-11"]), "--store", tmp_path / "s.db", *QUICK, "--json"]
    line, environment = command(tmp_path, *words)
    for moment in (0.3, 0.6, 0.9, 1.2):  # after the first kernel
        process = subprocess.Popen(line, env={**environment, "BATON_CACHE_DIR": str(tmp_path / f"cache{moment}")}, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        while process.poll() is None and not (tmp_path / f"cache{moment}").exists():
            time.sleep(0.01)
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 130 and json.loads(out)["partial"] == "interrupted", err
        assert not re.search("Input to|terminate|rror|baton measure", err), err


@pytest.mark.parametrize("words, message", [
    ((), "there is nothing to measure"),
    (("--families", "resnt"), 'did you mean "resnet"?'),
    (("--patterns", "1", "--backends", "lvm"), "did you mean `llvm`?"),
    (("--patterns", "1", "--on", "moon"), '--on moon: give local'),
    (("--patterns", "1", "--cache", "warm"), "neither hot nor flushed"),
    (("--patterns", "1", "--threads", "two"), "two is no number"),
    (("--design", "/nowhere.json"), "/nowhere.json: cannot be read"),
    (("nosuchmodel",), 'there is no model "nosuchmodel"'),
])
def test_says_what_is_wrong(tmp_path, words, message):
    done = run(tmp_path, *words, "--store", tmp_path / "s.db", "--wait", "0")
    assert done.returncode in (1, 2) and message in done.stderr


def test_from_python(tmp_path, monkeypatch):
    import baton

    monkeypatch.setenv("BATON_MACHINE_LOCK", str(tmp_path / "lock"))
    seen = []
    report = baton.measure(store=tmp_path / "s.db", patterns=2, seed=1, wait=0, progress=lambda *now: seen.append(now),
                           design={"protocol": {"max_seconds": 0.2}, "visits": 1})
    assert report["measured"] + report["failed"] == 2 and seen[-1][1:3] == (2, 2)
    with pytest.raises(baton.error.TVMError, match="did you mean"):
        baton.measure(store=tmp_path / "s.db", families={"resnt": 1})


def runners_of(pid: int) -> list[int]:
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(each) for each in children if pathlib.Path(f"/proc/{each}/comm").read_text().strip() == "baton-runner"]
    except FileNotFoundError:
        return []


def test_killed_runners_cost_nothing(tmp_path):
    words = [*design(tmp_path, patterns=12), "--store", tmp_path / "s.db", *QUICK, "--json"]
    line, environment = command(tmp_path, *words)
    process = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    ended = set()
    # Two, since a job is given up when its third runner is lost, and on a busy machine all of them may hit the same job.
    while process.poll() is None and len(ended) < 2:
        for runner in set(runners_of(process.pid)) - ended:
            time.sleep(0.3)
            with contextlib.suppress(ProcessLookupError):
                os.kill(runner, signal.SIGKILL)
            ended.add(runner)
        time.sleep(0.02)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    report = json.loads(out)
    assert ended and report["failed"] == 0 and report["measured"] == report["configurations"]
    rows = sqlite3.connect(tmp_path / "s.db").execute(
        "select count(*), count(distinct configuration || ' ' || coalesce(node, '') || ' ' || cache) from rows where kind = 'kernel'"
    )
    total, different = rows.fetchone()
    assert total == different > 0
