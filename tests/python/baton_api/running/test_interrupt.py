"""Ctrl-C and exceptions while C++ works."""
import os
import signal
import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import pytest

import baton as tvm
from baton import relay
from programs import DENSE

# Each prepares, says "ready", and then works until it is stopped.
START = """
import signal, sys, time
import numpy as np
import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from baton.contrib.debugger import debug_executor

def started():
    print("ready", flush=True)
    globals()["begin"] = time.perf_counter()

def module(rows=32, level=0):
    x, w = relay.var("x", shape=(rows, 2048)), relay.var("w", shape=(2048, 2048))
    body = x
    for _ in range(60):
        body = relay.tanh(relay.nn.dense(body, w))
    with tvm.transform.PassContext(opt_level=level):
        lib = relay.build(tvm.IRModule.from_expr(relay.Function([x, w], body)), "llvm")
    return lib
"""
END = """
    print("not stopped")
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
WORK = {
    "build": """
net, params = relay.testing.resnet.get_workload(num_layers=18)
started()
try:
    for level in (3, 2, 1, 0):
        with tvm.transform.PassContext(opt_level=level):
            relay.build(net, "llvm", params=params)
""",
    "run": """
model = graph_executor.GraphModule(module()["default"](tvm.cpu()))
started()
try:
    while True:
        model.run()
""",
    "benchmark": """
model = graph_executor.GraphModule(module()["default"](tvm.cpu()))
started()
try:
    model.benchmark(tvm.cpu(), number=10000, repeat=10)
""",
    "profile": """
lib = module()
model = debug_executor.create(lib.get_graph_json(), lib.get_lib(), tvm.cpu())
started()
try:
    while True:
        model.profile()
""",
    "individual": """
lib = module(rows=8)
model = debug_executor.create(lib.get_graph_json(), lib.get_lib(), tvm.cpu())
started()
try:
    model.run_individual(1, min_repeat_ms=100000)
""",
}


@pytest.mark.parametrize("what", list(WORK))
def test_ctrl_c(what, tmp_path):
    """KeyboardInterrupt within a second (more is allowed here: this machine may be loaded), and a clean end."""
    env = {**os.environ, "BATON_NUM_THREADS": "2"}
    if what == "build":
        env["BATON_CACHE_DIR"] = str(tmp_path)  # nothing is compiled yet
    code = START + WORK[what] + END
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as child:
        watchdog = threading.Timer(120, child.kill)
        watchdog.start()
        try:
            assert child.stdout.readline() == "ready\n", child.stderr.read()
            time.sleep(0.7)
            begin = time.perf_counter()
            child.send_signal(signal.SIGINT)
            heard = child.stdout.readline()
            took = time.perf_counter() - begin
            child.wait(timeout=100)
            assert heard == "stopped\n" and child.returncode == 0, (heard, child.returncode, child.stderr.read())
            assert took < 3, took
        finally:
            watchdog.cancel()
            child.kill()


def test_a_handler_that_raises_something_else():
    """What the program's own handler raises arrives; the handler is in place again afterwards."""
    code = START + """
import os, signal, threading
def handler(*_):
    raise LookupError("mine")
signal.signal(signal.SIGINT, handler)
model = graph_executor.GraphModule(module()["default"](tvm.cpu()))
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    model.benchmark(tvm.cpu(), number=100000)
except LookupError as why:
    print(why, signal.getsignal(signal.SIGINT) is handler)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert done.stdout == "mine True\n", done.stderr


class Odd(Exception):
    """Nobody else raises it."""


def test_progress_is_called_from_compile_threads(tmp_path, monkeypatch):
    seen = []
    relay.build(tvm.parser.fromtext(DENSE), "llvm", progress=lambda *each: seen.append(each))
    assert ("optimize", 1, 1) in seen and any(phase == "kernels" for phase, _, _ in seen) and seen[-1] == ("link", 1, 1)
    with pytest.raises(TypeError, match="progress"):
        relay.build(tvm.parser.fromtext(DENSE), "llvm", progress=3)


@pytest.mark.parametrize("wanted", ["optimize", "kernels", "link"])
def test_exception_in_progress(wanted):
    def progress(phase, done, total):
        if phase == wanted and done == total:
            raise Odd(phase)

    with pytest.raises(Odd, match=wanted) as caught:
        relay.build(tvm.parser.fromtext(DENSE), "llvm", progress=progress)
    assert any(frame.name == "progress" for frame in traceback.extract_tb(caught.value.__traceback__))
    relay.build(tvm.parser.fromtext(DENSE), "llvm")  # nothing is left locked


def test_exception_in_an_instrument():
    @tvm.instrument.pass_instrument
    class Refuses:
        def run_before_pass(self, mod, info):
            if info.name == "FuseOps":
                raise Odd(info.name)

    with pytest.raises(Odd, match="FuseOps") as caught:
        with tvm.transform.PassContext(opt_level=3, instruments=[Refuses()]):
            relay.build(tvm.parser.fromtext(DENSE), "llvm")
    assert any(frame.name == "run_before_pass" for frame in traceback.extract_tb(caught.value.__traceback__))


def test_builds_in_threads_hear_nothing():
    """Only the main thread handles signals; a build in another one is not disturbed by one that was stopped before."""
    import threading

    found = []

    def work():
        found.append(relay.build(tvm.parser.fromtext(DENSE), "llvm", params={"w": np.ones((4, 3), "float32")}))

    with pytest.raises(Odd):
        relay.build(tvm.parser.fromtext(DENSE), "llvm", progress=lambda *_: (_ for _ in ()).throw(Odd()))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(found) == 1
