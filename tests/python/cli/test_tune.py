"""`baton tune`: what it finds is kept, used, explained and forgotten."""
import json
import os
import pathlib
import signal
import subprocess
import time

import numpy as np

SMALL = str(pathlib.Path(__file__).parent / "models" / "small.relay")


def baton(*words, cache, **how):
    done = subprocess.run([os.environ["BATON_PROGRAM"], *words], capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, "BATON_CACHE_DIR": str(cache)}, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tunes_once_and_says_so(tmp_path):
    first = json.loads(baton("tune", SMALL, "--seconds", "60", "--json", cache=tmp_path))
    assert first["kernels"]
    for kernel in first["kernels"]:
        assert kernel["tried"] == kernel["candidates"] or kernel["disturbed"]
        assert kernel["tuned"] is None or kernel["us"] < kernel["default_us"]
    # Nothing is left to try.
    begin = time.monotonic()
    again = json.loads(baton("tune", SMALL, "--json", cache=tmp_path))
    assert time.monotonic() - begin < 60
    for before, after in zip(first["kernels"], again["kernels"]):
        assert after["tried"] >= before["tried"]
    assert "chosen by" in baton("explain", SMALL, "--kernel", first["kernels"][0]["kernel"], cache=tmp_path)
    assert "kernel, the longest first" in baton("tune", SMALL, cache=tmp_path)
    assert "forgot what was tuned for" in baton("tune", SMALL, "--forget", cache=tmp_path)
    assert "the cost model; not tuned" in baton("explain", SMALL, "--kernel", first["kernels"][0]["kernel"], cache=tmp_path)


def test_results_are_the_same(tmp_path):
    outputs = []
    for name in ("before", "after"):
        baton("run", SMALL, "--output", str(tmp_path / f"{name}.npz"), cache=tmp_path)
        outputs.append(np.load(tmp_path / f"{name}.npz")["output0"])
        baton("tune", SMALL, "--seconds", "20", cache=tmp_path)
    np.testing.assert_allclose(*outputs, rtol=1e-4, atol=1e-5)


def test_an_interrupt_keeps_what_was_found(tmp_path):
    run = subprocess.Popen([os.environ["BATON_PROGRAM"], "tune", "dqn", "--seconds", "300", "--json"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, env={**os.environ, "BATON_CACHE_DIR": str(tmp_path)})
    begin = time.monotonic()
    while run.poll() is None and not list(tmp_path.rglob("*.tuned")) and time.monotonic() - begin < 60:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    found = json.loads(run.communicate()[0])
    assert run.returncode in (130, 0)  # 0: it was done already
    assert any(kernel["tried"] or kernel["disturbed"] for kernel in found["kernels"])


def test_tables_are_written_and_added_to(tmp_path):
    table = tmp_path / "table.txt"
    baton("tune", SMALL, "--seconds", "5", "--export", str(table), cache=tmp_path)
    title, *entries = table.read_text().splitlines()
    assert title.startswith("tuned schedules 1: ")
    assert not entries, "an add has no template of its own"
    kept = "nn.dense(%p0: Tensor[(1, 9), float32], %p1: Tensor[(9, 9), float32]) units=9 | rows lanes=8 tile_n=4 | 1 | 2 | x | 2"
    table.write_text(f"{title}\n# by hand\n{kept}\n")
    baton("tune", SMALL, "--seconds", "5", "--export", str(table), cache=tmp_path)
    assert table.read_text() == f"{title}\n{kept}\n"
    for text, said in (("tuned schedules 1: z80\n", "is a table for z80"), ("what\n", "line 1 no title")):
        table.write_text(text)
        done = subprocess.run([os.environ["BATON_PROGRAM"], "tune", SMALL, "--export", str(table)], capture_output=True, text=True,
                              check=False, timeout=300, env={**os.environ, "BATON_CACHE_DIR": str(tmp_path)})
        assert done.returncode != 0 and said in done.stderr
        assert table.read_text() == text
