"""Devices beside the processor: what is there, several in one build, other names for them, and a script for CUDA.

`byoc_annotates_cuda.py` is the code of a notebook on external code generators and CUDA, unedited.
"""
import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import baton as tvm
from baton import relay
from baton.contrib import graph_executor

SCRIPT = pathlib.Path(__file__).with_name("byoc_annotates_cuda.py")
X, W = np.linspace(-1, 1, 16, dtype="float32").reshape(2, 8), np.linspace(0, 1, 128, dtype="float32").reshape(16, 8)

needs_opencl = pytest.mark.skipif(not tvm.opencl(0).exist, reason=tvm.opencl(0).missing)
without_cuda = pytest.mark.skipif(tvm.cuda(0).exist, reason="there is a CUDA device")


def program(device):
    x, w = relay.var("x", shape=X.shape), relay.var("w", shape=W.shape)
    layer = relay.nn.relu(relay.nn.dense(relay.exp(x), w))
    if device:
        layer = relay.annotation.on_device(layer, device)
    return tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.softmax(layer)))


def result_of(module, x=X):
    module.set_input("x", x)
    module.set_input("w", W)
    module.run()
    return module.get_output(0).numpy()


def wanted():
    lib = relay.build(program(None), target="llvm")
    return result_of(graph_executor.GraphModule(lib["default"](tvm.cpu(0))))


def run_script(path, alias=None):
    environment = {name: value for name, value in os.environ.items() if name != "BATON_DEVICE_ALIAS"}
    if alias:
        environment["BATON_DEVICE_ALIAS"] = alias
    environment["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(tvm.__file__).parents[1]), environment.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, "-W", "always", "-m", "baton.tvm", str(path)], env=environment, capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL, timeout=580)


def small(tmp_path, more=""):
    """The notebook for images of 32 x 32, with `more` behind it."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.read_text().replace("(3, 224, 224)", "(3, 32, 32)") + more)
    return path


def expect_missing_device(done):
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert "device cuda(0) is not there" in last and "driver" in last
    assert "graph_runtime.create(graph, lib, ctx)" in done.stderr and done.stdout.count("Median inference latency") == 1


COMPARE = """
func_on_processor, given = relay.testing.vgg.get_workload(batch_size=1, num_classes=1000, image_shape=(3, 32, 32), num_layers=11)
data = np.random.default_rng(1).normal(size=(1, 3, 32, 32)).astype("float32")
weights = {name: np.random.default_rng(2).normal(size=each.shape).astype("float32") * 0.05 for name, each in given.items()}
with tvm.transform.PassContext(opt_level=3):
  split = relay.build(mod, target={'cpu': 'llvm', 'gpu': 'cuda'}, params=weights)
  plain = relay.build(func_on_processor, target="llvm", params=weights)
outputs = []
for graph, lib, params, devices in ((*split, ctx), (*plain, tvm.cpu(0))):
  module = graph_runtime.create(graph, lib, devices)
  module.set_input("data", data, **params)
  module.run()
  outputs.append(module.get_output(0).numpy())
assert outputs[0].std() > 0
print("largest difference", np.abs(outputs[0] - outputs[1]).max())
print("code for", [each.type_key for each in split.get_lib().imported_modules])
"""


@without_cuda
def test_the_notebook_stops_where_it_needs_the_device(tmp_path):
    done = run_script(small(tmp_path))
    expect_missing_device(done)
    assert "legacy graph executor behavior" in done.stderr


@needs_opencl
def test_the_notebook_runs_on_opencl_under_an_alias(tmp_path):
    done = run_script(small(tmp_path, COMPARE), "cuda:opencl")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Median inference latency") == 2 and "code for ['opencl']" in done.stdout
    assert float(re.search("largest difference (.*)", done.stdout)[1]) < 1e-4


@pytest.mark.slow
@without_cuda
def test_the_notebook_as_it_is_stops_where_it_needs_the_device():
    expect_missing_device(run_script(SCRIPT))


@pytest.mark.slow
@needs_opencl
def test_the_notebook_as_it_is_runs_on_opencl():
    done = run_script(SCRIPT, "cuda:opencl")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Median inference latency") == 2


@pytest.mark.parametrize("alias, said", [
    ("cuda", "`?\"cuda\" is no pair of kinds; write for example cuda:opencl"), ("cuda:opencl,", "\"\" is no pair"),
    ("cuda:opencx", "did you mean \"opencl\""), ("cpu:opencl", "nothing stands for the processor")])
def test_nonsense_in_the_alias_is_a_clear_error(tmp_path, alias, said):
    path = tmp_path / "nothing.py"
    path.write_text("import tvm\n")
    done = run_script(path, alias)
    assert done.returncode != 0 and re.search(said, done.stderr.strip().splitlines()[-1]), done.stderr


def test_several_aliases(tmp_path):
    path = tmp_path / "devices.py"
    path.write_text("import tvm\nprint(tvm.cuda(0), tvm.vulkan(1), tvm.device('nvptx'), tvm.metal(0), tvm.cpu(0))\n")
    done = run_script(path, "cuda:opencl,vulkan:mirror")
    assert done.stdout.split() == ["opencl(0)", "ext_dev(1)", "opencl(0)", "metal(0)", "cpu(0)"], done.stderr


@needs_opencl
def test_regions_for_cuda_follow_the_alias(tmp_path):
    path = tmp_path / "regions.py"
    path.write_text("""import tvm, numpy as np
from tvm import relay
from tvm.contrib import graph_executor
tvm.ir.register_op_attr("nn.dense", "target.cuda", lambda call: True)
x, w = relay.var("x", shape=(2, 8)), relay.var("w", shape=(16, 8))
mod = tvm.IRModule.from_expr(relay.Function([x, w], relay.exp(relay.nn.dense(x, w))))
for each in (relay.transform.AnnotateTarget("cuda"), relay.transform.MergeCompilerRegions(), relay.transform.PartitionGraph()):
    mod = each(relay.transform.InferType()(mod))
lib = relay.build(mod, target={"cpu": "llvm", "gpu": "cuda"})
module = graph_executor.GraphModule(lib["default"](tvm.cpu(0), tvm.cuda(0)))
module.set_input("x", np.ones((2, 8), "float32"))
module.set_input("w", np.full((16, 8), 0.25, "float32"))
module.run()
print([each.type_key for each in lib.get_lib().imported_modules], np.allclose(module.get_output(0).numpy(), np.exp(2)))
""")
    done = run_script(path, "cuda:opencl")
    assert done.stdout.strip() == "['opencl'] True", done.stderr


@needs_opencl
@pytest.mark.parametrize("target", [
    lambda: {"cpu": "llvm", "gpu": "opencl"}, lambda: [tvm.target.Target("llvm"), tvm.target.Target("opencl", host="llvm")],
    lambda: [tvm.target.Target("opencl", host=tvm.target.Target("llvm")), "llvm"],
    lambda: {tvm.cpu(0): "llvm", tvm.opencl(0): tvm.target.Target("opencl -device=mali", host="llvm")}])
def test_several_targets_and_devices(target):
    lib = relay.build(program(tvm.opencl(0)), target=target())
    assert lib.get_devices() == ["cpu", "opencl"] and [each.type_key for each in lib.get_lib().imported_modules] == ["opencl"]
    assert "__kernel void" in lib.get_lib().imported_modules[0].get_source()
    for devices in ((tvm.cpu(0), tvm.opencl(0)), (tvm.opencl(0),), (tvm.cpu(0),)):
        module = graph_executor.GraphModule(lib["default"](*devices))
        np.testing.assert_allclose(result_of(module, tvm.nd.array(X, device=tvm.opencl(0))), wanted(), rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(module.get_input("x").numpy(), X)
    assert module.benchmark(tvm.opencl(0), repeat=2, number=2).mean > 0


def check_arrays_on(device):
    made = tvm.nd.array(X, device=device)
    assert made.device == made.ctx == device and isinstance(made, tvm.nd.NDArray) and repr(device) in repr(made)
    np.testing.assert_array_equal(made.numpy(), X)
    assert made.copyto(tvm.cpu(0)).device == tvm.cpu(0) and tvm.nd.array(X).copyto(device).device == device
    other = tvm.nd.empty(X.shape, device=device).copyfrom(made)
    assert other.device == device and not other.same_as(made)
    np.testing.assert_array_equal(other.copyto(tvm.nd.empty(X.shape)).numpy(), X)
    assert tvm.nd.array(made).device == tvm.cpu(0) and pickle.loads(pickle.dumps(made)).device == tvm.cpu(0)
    assert tvm.relay.load_param_dict(tvm.relay.save_param_dict({"x": made}))["x"].shape == X.shape
    return made


def test_an_array_is_on_the_device_that_was_asked_for():
    assert tvm.device("sim_npu").exist and "npu" in tvm.device("sim_npu").device_name
    check_arrays_on(tvm.device("sim_npu"))
    for device in (None, tvm.cpu(0)):
        assert tvm.nd.array(X, device=device).device == tvm.cpu(0) == tvm.nd.empty((2,), device=device).device
    for device in (tvm.vulkan(0), tvm.device("sim_npu", 7)):
        for make in (lambda device=device: tvm.nd.array(X, device), lambda device=device: tvm.nd.empty((2,), device=device),
                     lambda device=device: tvm.nd.array(X).copyto(device)):
            with pytest.raises(tvm.TVMError, match=re.escape(f"device {device!r} is not there: ")):
                make()


@needs_opencl
def test_executors_take_arrays_of_their_device():
    made = check_arrays_on(tvm.opencl(0))
    lib = relay.build(program(None), target="opencl")
    module = graph_executor.GraphModule(lib["default"](tvm.opencl(0)))
    module.set_input("x", made)
    np.testing.assert_array_equal(module.get_input("x").numpy(), X)
    np.testing.assert_allclose(result_of(module, made), wanted(), rtol=1e-4, atol=1e-6)
    assert module.get_output(0).device == tvm.cpu(0) and module.get_output(0, tvm.nd.empty(wanted().shape, device=tvm.opencl(0))).device == tvm.opencl(0)


@needs_opencl
def test_rows_of_a_profile_say_their_devices():
    lib = relay.build(program(tvm.opencl(0)), target={"cpu": "llvm", "opencl": "opencl"})
    rows = tvm.profile(lib, {"x": X, "w": W}, inside=False, unfused=False, peaks=False, seconds=0.05).kernels
    ways = {(row["copied_from"], row["device"]) for row in rows if row["func_name"] == "__copy"}
    assert ("opencl", "cpu") in ways and {"cpu", "opencl"} == {row["device"] for row in rows}
    assert all(row["device"] == ("opencl" if row["target"] == "opencl" else "cpu") and "copied_from" not in row
               for row in rows if row["func_name"] != "__copy")


@needs_opencl
def test_a_device_that_computes_nothing():
    x = relay.var("x", shape=X.shape)
    there = relay.op.device_copy(x, tvm.cpu(0), tvm.opencl(0))
    mod = tvm.IRModule.from_expr(relay.tanh(relay.op.device_copy(there, tvm.opencl(0), tvm.cpu(0))))
    code = (f"import numpy as np, baton as tvm\nfrom baton.contrib import graph_executor\n"
            f"mod = tvm.parser.fromtext({mod.astext()!r})\n"
            "lib = tvm.relay.build(mod, target={'cpu': 'llvm', 'opencl': 'opencl'})\n"
            "assert not lib.get_lib().imported_modules\n"
            "module = graph_executor.GraphModule(lib['default'](tvm.cpu()))\n"
            "module.run(x=np.ones((2, 8), 'float32'))\n"
            "print(float(module.get_output(0).numpy().sum()))")
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True,
                          text=True, timeout=300)  # in a process that has not used the device yet
    assert done.returncode == 0, done.stderr
    assert abs(float(done.stdout) - 16 * np.tanh(1)) < 1e-4


@needs_opencl
def test_one_device_alone_in_a_file(tmp_path):
    lib = relay.build(program(None), target="opencl")
    path = str(tmp_path / "lib.tar")
    lib.export_library(path)
    loaded = tvm.runtime.load_module(path)
    assert loaded.imported_modules[0].get_source() == lib.get_lib().imported_modules[0].get_source()
    np.testing.assert_allclose(result_of(graph_executor.GraphModule(loaded["default"](tvm.opencl(0)))), wanted(), rtol=1e-4, atol=1e-6)
    module = graph_executor.create(lib.get_graph_json(), loaded, [tvm.cpu(0), tvm.opencl(0)])
    np.testing.assert_allclose(result_of(module), wanted(), rtol=1e-4, atol=1e-6)


@needs_opencl
def test_a_device_without_a_part_of_the_model_is_refused():
    lib = relay.build(program(None), target="llvm")
    with pytest.raises(tvm.TVMError, match=r"opencl\(0\) has no part of this model"):
        lib["default"](tvm.opencl(0))


def test_what_is_there():
    assert tvm.cpu(0).exist and tvm.cpu(0).missing == "" and not tvm.cpu(1).exist
    assert tvm.opencl(0).exist == (tvm.opencl(0).device_name is not None)
    if tvm.opencl(0).exist:
        assert not tvm.opencl(99).exist and "number 0" in tvm.opencl(99).missing
    assert "no backend" in tvm.vulkan(0).missing and tvm.device("cuda", 0) == tvm.cuda(0)


@without_cuda
def test_code_for_cuda_without_a_device():
    lib = relay.build(program(None), target=tvm.target.Target("cuda -arch=sm_80 -libs=cublas", host="llvm"))
    (module,) = lib.get_lib().imported_modules
    assert module.type_key == "cuda" and ".target sm_80" in module.get_source() and ".entry" in module.get_source()
    with pytest.raises(tvm.TVMError, match=r"device cuda\(0\) is not there: .*driver"):
        lib["default"](tvm.cuda(0))
    with pytest.raises(tvm.TVMError, match="driver"):
        lib["default"](tvm.cpu(0))
    with pytest.raises(tvm.TVMError, match="-arch=ampere is no architecture"):
        relay.build(program(None), target="cuda -arch=ampere")
    assert np.isfinite(wanted()).all()


def test_backends_without_text_have_no_source():
    (module,) = relay.build(program(None), target="mirror").get_lib().imported_modules
    with pytest.raises(NotImplementedError, match="mirror is no text"):
        module.get_source()
