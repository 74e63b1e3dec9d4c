"""What `with` makes current belongs to the thread that entered it, and to what C++ calls back into Python."""
import json
import threading

import numpy as np
import pytest
import baton as tvm
from baton import relay

NET = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 4), float32]) { nn.relu(exp(tanh(%x))) }"""


def kernels(lib):
    return sum(node["op"] == "tvm_op" for node in json.loads(lib.get_graph_json())["nodes"])


def built(level):
    with tvm.transform.PassContext(opt_level=level):
        return relay.build(tvm.parser.fromtext(NET), target="llvm")


def test_threads_build_at_their_own_level():
    found = {0: [], 3: []}

    def work(level):
        found[level] += [kernels(built(level)) for _ in range(4)]

    threads = [threading.Thread(target=work, args=(level,)) for level in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: [3] * 4, 3: [1] * 4}


def test_a_pass_in_python_sees_the_context_that_it_runs_under():
    seen = []

    @tvm.transform.module_pass(opt_level=0)
    def look(module, context):
        current = tvm.transform.PassContext.current()
        seen.append((context.opt_level, current.opt_level))
        with tvm.transform.PassContext(opt_level=1):
            seen.append(tvm.transform.PassContext.current().opt_level)
            relay.transform.InferType()(module)
        return module

    with tvm.transform.PassContext(opt_level=3):
        look(tvm.parser.fromtext(NET))
    assert seen == [(3, 3), 1]
    assert tvm.transform.PassContext.current().opt_level == 2


def test_targets_go_down_to_what_was_built():
    lib = relay.build(tvm.parser.fromtext(NET), target=tvm.target.Target("llvm -mcpu=haswell"))
    from baton.contrib import graph_executor
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    x = np.ones((4, 4), "float32")
    module.set_input("x", x)
    module.run()
    np.testing.assert_allclose(module.get_output(0).numpy(), np.exp(np.tanh(x)), rtol=1e-5)
    with pytest.raises(Exception, match="no backend builds for rocm; there are backends for: llvm, mirror, opencl, cuda"):
        relay.build(tvm.parser.fromtext(NET), target="rocm")


def test_a_processor_of_another_machine_needs_its_triple():
    with pytest.raises(Exception, match="a processor of aarch64-linux-gnu: write -mtriple=aarch64-linux-gnu too"):
        relay.build(tvm.parser.fromtext(NET), target="llvm -mcpu=cortex-a72")


def test_the_processor_has_a_sheet():
    sheet = dict(line.split(": ", 1) for line in tvm.target.device_sheets()[0].splitlines()[1:])
    assert sheet["kind"] == "llvm" and int(sheet["cores"]) >= 1 and int(sheet["float_lanes"]) in (4, 8, 16)


def test_everything_can_be_built_for_the_second_device():
    lib = relay.build(tvm.parser.fromtext(NET), target="mirror")
    from baton.contrib import graph_executor
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    x = np.linspace(-2, 2, 16, dtype="float32").reshape(4, 4)
    module.set_input("x", x)
    module.run()
    np.testing.assert_allclose(module.get_output(0).numpy(), np.exp(np.tanh(x)), rtol=1e-5)
    # A JSON object may hold a key twice; readers then differ in which one they take.
    nodes = json.loads(lib.get_graph_json(), object_pairs_hook=no_key_twice)["nodes"]
    assert {node["attrs"]["backend"] for node in nodes if node["op"] == "tvm_op" and node["name"] != "__copy"} == {"mirror"}


def test_a_program_is_split_over_the_processor_and_opencl():
    from baton.contrib import graph_executor
    x, w = relay.var("x", shape=(2, 8)), relay.var("w", shape=(16, 8))
    layer = relay.annotation.on_device(relay.nn.relu(relay.nn.dense(relay.exp(x), w)), tvm.opencl(0))
    module = tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.softmax(layer)))
    lib = relay.build(module, target={"cpu": "llvm", "opencl": "opencl"})
    nodes = json.loads(lib.get_graph_json())["nodes"]
    assert {node["attrs"].get("backend") for node in nodes if node["op"] == "tvm_op"} == {None, "opencl"}
    try:
        runner = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    except Exception as error:
        if "OpenCL" in str(error) or "no plug-in `opencl`" in str(error):
            pytest.skip(str(error))
        raise
    data, weight = np.linspace(-1, 1, 16, dtype="float32").reshape(2, 8), np.linspace(0, 1, 128, dtype="float32").reshape(16, 8)
    runner.set_input("x", data)
    runner.set_input("w", weight)
    runner.run()
    sums = np.maximum(np.exp(data) @ weight.T, 0)
    wanted = np.exp(sums - sums.max(axis=1, keepdims=True))
    np.testing.assert_allclose(runner.get_output(0).numpy(), wanted / wanted.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-6)


def no_key_twice(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), pairs
    return dict(pairs)
