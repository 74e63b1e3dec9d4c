"""Build and run."""
import json
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from programs import CONV, DENSE, TWO_RESULTS

RNG = np.random.default_rng(1)
X, W = RNG.standard_normal((2, 3), "float32"), RNG.standard_normal((4, 3), "float32")
EXPECTED = np.maximum(X @ W.T - 1, 0)


def dense(opt_level=1):
    with tvm.transform.PassContext(opt_level=opt_level):
        return relay.build(tvm.parser.fromtext(DENSE), target="llvm", params={"w": W})


@pytest.mark.parametrize("opt_level", [0, 1, 2])
def test_build_and_run(opt_level):
    lib = dense(opt_level)
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.set_input("x", X)
    module.run()
    np.testing.assert_allclose(module.get_output(0).numpy(), EXPECTED, rtol=1e-5, atol=1e-6)
    constants = list(lib.get_params())
    assert module.get_num_inputs() == 1 + len(constants) and module.get_num_outputs() == 1
    assert module.get_input_index("x") == 0 and module.get_input_index("y") == -1
    shapes, dtypes = module.get_input_info()
    assert shapes["x"] == (2, 3) and dtypes["x"] == "float32" and list(shapes) == ["x", *constants]
    np.testing.assert_array_equal(module.get_input("x").numpy(), X)
    graph = json.loads(lib.get_graph_json())
    assert graph["nodes"][0]["name"] == "x" and "tvmgen_default_fused_nn_dense" in lib.get_graph_json()
    assert all(isinstance(each, tvm.nd.NDArray) for each in lib.get_params().values())
    assert "__tvm_main__" in lib.function_metadata


def test_inputs_by_keyword_number_and_type():
    module = graph_executor.GraphModule(dense()["default"](tvm.cpu(0)))
    for give in (lambda: module.set_input(x=X.astype("float64")), lambda: module.set_input(0, tvm.nd.array(X)),
                 lambda: module.set_input("x", np.asfortranarray(X)), lambda: module.run(x=X)):
        module.set_input("x", np.zeros((2, 3), "float32"))
        give()
        module.run()
        np.testing.assert_allclose(module.get_output(0).numpy(), EXPECTED, rtol=1e-5, atol=1e-6)
    with pytest.raises(RuntimeError, match="nothing"):
        module.set_input("nothing", X)
    with pytest.raises(tvm.TVMError, match=r"\[3, 2\]|3, 2"):
        module.set_input("x", X.T)
    with pytest.raises(IndexError, match="1 outputs"):
        module.get_output(1)


def test_read_only_inputs():
    module = graph_executor.GraphModule(dense()["default"](tvm.cpu()))
    frozen = X.copy()
    frozen.flags.writeable = False
    for give in (frozen, frozen[:, ::-1][:, ::-1], np.broadcast_to(np.float32(2), (2, 3)), X.tolist()):
        module.set_input("x", give)
        np.testing.assert_array_equal(module.get_input("x").numpy(), np.asarray(give, "float32"))


def test_an_input_is_copied_once():
    # Beside the model's own memory of 64 MB, which the first copy touches, nothing of that size.
    script = """if True:
        import resource
        import numpy as np
        import baton as tvm
        from baton import relay
        from baton.contrib import graph_executor
        x = relay.var("x", shape=(4096, 4096))
        lib = relay.build(tvm.IRModule.from_expr(relay.Function([x], relay.sum(x, axis=[1]))), target="llvm")
        module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
        value = np.ones((4096, 4096), "float32")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        module.set_input("x", value)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    grown = int(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)
    assert grown < 96 * 1024, f"{grown} KB"


def test_benchmark():
    result = graph_executor.GraphModule(dense()["default"]()).benchmark(tvm.cpu(), repeat=3, number=2, x=X)
    assert len(result.results) == 3 and 0 < result.min <= result.median <= result.max


def test_export(tmp_path):
    path = tmp_path / "dense.baton"
    dense().export_library(str(path))
    module = graph_executor.GraphModule(tvm.runtime.load_module(str(path))["default"](tvm.cpu()))
    module.run(x=X)
    np.testing.assert_allclose(module.get_output(0).numpy(), EXPECTED, rtol=1e-5, atol=1e-6)
    path.write_bytes(b"something else")
    with pytest.raises(tvm.TVMError):
        tvm.runtime.load_module(str(path))


def test_kernels_run_when_python_has_loaded_us_locally():
    """A fresh interpreter, libraries loaded RTLD_LOCAL as Python does, nothing of ours in the global scope."""
    code = "import sys; sys.path[:0] = sys.argv[1:]; import test_build as t; t.test_build_and_run(1); print('fine')"
    here = pathlib.Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", code, here, here.parent], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "fine", done.stderr


@pytest.mark.parametrize("kind", ["graph", "debug"])
def test_create_executor(kind):
    run = relay.create_executor(kind, mod=tvm.parser.fromtext(TWO_RESULTS), device=tvm.cpu(), target="llvm").evaluate()
    first, (second, third) = run(X)
    np.testing.assert_allclose(first.numpy(), np.maximum(X, 0))
    np.testing.assert_allclose(second.numpy(), 2 * np.maximum(X, 0))
    np.testing.assert_array_equal(third.numpy(), X)
    with pytest.raises(ValueError, match="1 arguments"):
        run()
    value = relay.create_executor(kind).evaluate(relay.const(1.0) + relay.const(2.0))
    assert value.numpy() == 3.0


def test_optimize_and_bind():
    module = tvm.parser.fromtext(CONV)
    weights = np.zeros((4, 3, 3, 3), "float32")
    bound = relay.build_module.bind_params_by_name(module["main"], {"w": tvm.nd.array(weights)})
    assert [each.name_hint for each in bound.params] == ["data"]
    optimized, params = relay.optimize(module, target="llvm", params={"w": weights})
    assert "Primitive=1" in optimized.astext(show_meta_data=False) and list(params) == ["w"]
    with pytest.raises(tvm.TVMError, match="w"):
        relay.build_module.bind_params_by_name(module["main"], {"w": np.zeros(3, "float32")})


def test_targets():
    with pytest.raises(NotImplementedError, match="rocm"):
        relay.build(tvm.parser.fromtext(DENSE), target="rocm")
    with pytest.raises(ValueError, match="Target"):
        relay.build(tvm.parser.fromtext(DENSE))
    with tvm.target.Target("llvm -mcpu=core-avx2") as target:
        assert tvm.target.Target.current() is target and target.kind.name == "llvm" and target.mcpu == "core-avx2"
        relay.build(tvm.parser.fromtext(DENSE))
    assert tvm.target.Target.current() is None


def test_two_threads():
    outputs = {}

    def work(name):
        with tvm.transform.PassContext(opt_level=1):
            module = graph_executor.GraphModule(dense()["default"](tvm.cpu()))
        for _ in range(50):
            module.run(x=X)
        outputs[name] = module.get_output(0).numpy()

    threads = [threading.Thread(target=work, args=(each,)) for each in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for each in range(2):
        np.testing.assert_allclose(outputs[each], EXPECTED, rtol=1e-5, atol=1e-6)


def test_two_models_at_once():
    """Two threads build and run models of their own, different ones each time."""
    def model(width, level=3):
        text = f"""#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16, {width}, {width}), float32], %w: Tensor[(24, 16, 3, 3), float32]) {{
  nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=24, kernel_size=[3, 3]))
}}"""
        random = np.random.default_rng(width)
        x, w = (random.uniform(-1, 1, shape).astype("float32") for shape in ((1, 16, width, width), (24, 16, 3, 3)))
        with tvm.transform.PassContext(opt_level=level):
            lib = relay.build(tvm.parser.fromtext(text), "llvm", params={"w": w})
        graph = graph_executor.GraphModule(lib["default"](tvm.cpu()))
        for _ in range(10):
            graph.run(x=x)
        return graph.get_output(0).numpy()

    widths, found, begun = (range(21, 27, 2), range(20, 26, 2)), {}, threading.Barrier(2)

    def work(mine):
        begun.wait()
        for width in mine:
            found[width] = model(width)

    threads = [threading.Thread(target=work, args=(each,)) for each in widths]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 6
    for width, values in found.items():
        np.testing.assert_allclose(values, model(width, level=0), rtol=0, atol=1e-4)


def test_weights_in_bfloat16(tmp_path):
    """Precision "bf16": near to float32, also in a file; half the bytes of weights."""
    text = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 512), float32], %w: Tensor[(300, 512), float32]) { nn.relu(nn.dense(%x, %w, units=300)) }"""
    random = np.random.default_rng(7)
    x, w = (random.uniform(-1, 1, shape).astype("float32") for shape in ((1, 512), (300, 512)))

    def built(precision):
        with tvm.transform.PassContext(opt_level=3, config={"baton.precision": precision}):
            return relay.build(tvm.parser.fromtext(text), "llvm", params={"w": w})

    def output(lib):
        graph = graph_executor.GraphModule(lib["default"](tvm.cpu()))
        graph.run(x=x)
        return graph.get_output(0).numpy()

    small = built("bf16")
    got = output(small)
    assert np.abs(got - np.maximum(x @ w.T, 0)).max() < 0.02 * np.abs(x @ w.T).max()
    assert not np.array_equal(got, output(built("f32")))
    assert sorted({value.dtype for value in small.get_params().values()}) == ["bfloat16"]
    small.export_library(str(tmp_path / "small.baton"))
    np.testing.assert_array_equal(output(tvm.runtime.load_module(str(tmp_path / "small.baton"))), got)
    with pytest.raises(ValueError, match='"bf16" are known'):
        built("bfloat16")


def test_networks():
    weights = relay.testing.init.Xavier()
    module, params = relay.testing.mlp.get_workload(1, initializer=weights)
    assert params["fc1_weight"].shape == (128, 784) and not params["fc1_bias"].numpy().any()
    for net, names in ((relay.testing.resnet.get_net(), "conv0_weight"), (relay.testing.mobilenet.mobile_net(), "conv_block_1_conv_weight"),
                       (relay.testing.vgg.get_net(1, (3, 224, 224), 1000, "float32"), "conv1_1_weight")):
        assert names in [each.name_hint for each in net.params]
    with tvm.transform.PassContext(opt_level=1):
        lib = relay.build(module, "llvm", params=params)
    run = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    run.run(data=np.ones((1, 1, 28, 28), "float32"))
    np.testing.assert_allclose(run.get_output(0).numpy().sum(), 1.0, rtol=1e-5)
