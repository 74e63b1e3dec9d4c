"""Devices and links side by side: baton.side_by_side, `baton run --stream`."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from baton.relay import testing


PLAIN = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 16), float32], %w: Tensor[(16, 16), float32]) {
  %0 = exp(%x);
  %1 = nn.dense(%0, %w, units=16);
  %2 = tanh(%1);
  %3 = nn.dense(%0, %w, units=16);
  %4 = nn.softmax(%3);
  %5 = add(%2, %4);
  (%5, %0)
}
"""
ON_MIRROR = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 16), float32], %w: Tensor[(16, 16), float32]) {
  %0 = exp(%x);
  %2 = @mirror_0(%0, %w);
  %3 = nn.dense(%0, %w, units=16);
  %4 = nn.softmax(%3);
  %5 = add(%2, %4);
  (%5, %0)
}
def @mirror_0(%a: Tensor[(4, 16), float32], %b: Tensor[(16, 16), float32], Inline=1, Compiler="mirror", global_symbol="mirror_0", Primitive=1) -> Tensor[(4, 16), float32] {
  %1 = nn.dense(%a, %b, units=16);
  tanh(%1)
}
"""


def built(on_mirror=True):
    """Two branches, one of them on `mirror` if asked, with a value that both read, and two outputs."""
    weight = np.linspace(-1, 1, 256, dtype="float32").reshape(16, 16)
    module = tvm.parser.parse(ON_MIRROR if on_mirror else PLAIN)
    return relay.build(module, target="llvm", params={"w": weight})


def value(i):
    return np.random.default_rng(i).uniform(-1, 1, (4, 16)).astype("float32")


def plain(lib, x):
    module = graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
    module.run(x=x)
    return [module.get_output(i).numpy() for i in range(2)]


def test_results_are_those_of_the_graph_executor(tmp_path):
    lib = built()
    lib.export_library(str(tmp_path / "m.baton"))
    for each in (lib, tvm.runtime.load_module(str(tmp_path / "m.baton")), built(on_mirror=False)):
        model = tvm.side_by_side(each)
        assert model.queues == ([(1, 1), (12, 12), (1, 12)] if each.graph_json == lib.graph_json else [(1, 1)])
        assert model.instances == (4 if len(model.queues) > 1 else 1)
        for i in range(3):
            got = model.run(x=value(i))
            for a, b in zip(got, plain(each, value(i)), strict=True):
                np.testing.assert_array_equal(a.numpy(), b)


def test_a_stream_in_order():
    lib = built()
    for instances in (0, 1, 2, 5):
        model = tvm.side_by_side(lib, instances=instances, threads=2)
        assert model.threads == 2 and model.instances == (instances or 4)
        outputs = list(model.stream({"x": value(i)} for i in range(11)))
        assert len(outputs) == 11 and model.on_the_way == 0
        for i in (0, 3, 10):
            np.testing.assert_array_equal(outputs[i][0].numpy(), plain(lib, value(i))[0])
    assert not list(model.stream([]))


def test_push_and_pop():
    model = tvm.side_by_side(built(), instances=2)
    with pytest.raises(tvm.TVMError, match="no input is on the way"):
        model.pop()
    model.push({"x": value(0)})
    model.push(x=tvm.nd.array(value(1).astype("float64")))  # is cast
    assert model.on_the_way == 2
    with pytest.raises(tvm.TVMError, match="all 2 instances are on the way"):
        model.push(x=value(2))
    with pytest.raises(tvm.TVMError, match="one at a time"):
        model.run(x=value(2))
    first, second = model.pop(), model.pop()
    np.testing.assert_array_equal(first[1].numpy(), plain(built(), value(0))[1])
    np.testing.assert_array_equal(second[1].numpy(), plain(built(), value(1))[1])


def test_wrong_use():
    model = tvm.side_by_side(built())
    with pytest.raises(ValueError, match="`y` is no input of the model; it has x"):
        model.push(y=value(0))
    with pytest.raises(tvm.TVMError, match="input `x` is float32"):
        model.push(x=np.zeros((2, 2), "float32"))
    with pytest.raises(TypeError):
        model.push([value(0)])
    with pytest.raises(TypeError):
        tvm.side_by_side("model")
    for wrong in (-1, 1.5, True):
        with pytest.raises(ValueError, match="instances"):
            tvm.side_by_side(built(), instances=wrong)
    model.run(x=value(0))  # nothing of that is on the way


def test_threads_that_share_one_take_turns():
    model, lib, wrong = tvm.side_by_side(built()), built(), []
    expected = plain(lib, value(7))[0]

    def work():
        for _ in range(30):
            try:
                model.push(x=value(7))
                if not np.array_equal(model.pop()[0].numpy(), expected):
                    wrong.append("result")
            except tvm.TVMError as why:  # the other one had filled it
                if "on the way" not in str(why):
                    wrong.append(str(why))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_a_simulated_device_computes_right_results():
    module, params = testing.mlp.get_workload(batch_size=1)
    data = np.random.default_rng(0).uniform(-1, 1, (1, 1, 28, 28)).astype("float32")
    lib = relay.build(tvm.map(module, params, targets=["llvm", "sim_big_core"], seconds=0.5, tries=1, pin={"sim_big_core": [0, 1, 2]}).mod, target="llvm")
    model = tvm.side_by_side(lib)
    assert any(1024 <= max(queue) for queue in model.queues)
    got = list(model.stream([{"data": data}] * 5))
    expected = graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
    expected.run(data=data)
    for each in got:
        np.testing.assert_array_equal(each[0].numpy(), expected.get_output(0).numpy())


def test_in_the_child_of_a_fork_it_says_so():
    model = tvm.side_by_side(built(), instances=1)
    model.run(x=value(0))
    child = os.fork()
    if child == 0:
        try:
            model.push(x=value(0))
            os._exit(1)
        except tvm.TVMError as why:
            os._exit(0 if "create another one after the fork" in str(why) else 2)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert os.waitstatus_to_exitcode(status) == 0


INTERRUPTED = """
import sys
import numpy as np
import baton as tvm
from baton import relay
from baton.relay import testing

module, params = testing.resnet.get_workload(num_layers=50)
model = tvm.side_by_side(relay.build(module, target="llvm", params=params), threads=1)
data = np.zeros((1, 3, 224, 224), "float32")
model.run(data=data)
print("ready", flush=True)
try:
    for _ in model.stream({"data": data} for _ in range(100000)):
        pass
except KeyboardInterrupt:
    assert model.on_the_way <= model.instances
    while model.on_the_way:
        model.pop()
    model.run(data=data)
    print("interrupted, and runs again", flush=True)
"""


@pytest.mark.slow
def test_ctrl_c_ends_a_stream():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert out == "interrupted, and runs again\n" and process.returncode == 0, err
