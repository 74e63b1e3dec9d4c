"""What the other engines are given is the network that Baton runs: same outputs, for every network and every converted operator."""
import json
import pathlib
import subprocess
import sys

import networks
import numpy as np
import pytest

import baton as tvm
from baton import relay

ROOT = pathlib.Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.peers


def of_baton(module, params, inputs):
    with tvm.transform.PassContext(opt_level=3):
        built = relay.build(module, "llvm", params={name: tvm.nd.array(value) for name, value in params.items()})
    model = tvm.contrib.graph_executor.GraphModule(built["default"](tvm.cpu()))
    model.run(**inputs)
    return model.get_output(0).numpy()


def of_onnx(onnxruntime, model, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, inputs)[0]


def assert_equal(ours, theirs, tolerance=1e-4):
    assert ours.shape == theirs.shape
    assert np.abs(theirs).max() > 1e-3, "outputs that tell nothing"
    assert np.abs(ours - theirs).max() <= tolerance * np.abs(theirs).max()


@pytest.mark.parametrize("name", networks.NETWORKS)
def test_network(name, onnxruntime):
    import relay_to_onnx

    network = networks.NETWORKS[name]
    module, params = network.build()
    shape = module["main"].params[0].checked_type.concrete_shape
    inputs = {"data": np.random.default_rng(1).normal(0, 1, shape).astype("float32")}
    model = network.onnx(params) if network.onnx else relay_to_onnx.convert(module.astext(show_meta_data=False), params)
    assert_equal(of_baton(module, params, inputs), of_onnx(onnxruntime, model, inputs))


def test_the_export_of_lstm_equals_its_conversion(onnxruntime):
    import relay_to_onnx

    network = networks.NETWORKS["lstm"]
    module, params = network.build()
    inputs = {"data": np.random.default_rng(1).normal(0, 1, (64, 256)).astype("float32")}
    converted = relay_to_onnx.convert(module.astext(show_meta_data=False), params)
    assert_equal(of_onnx(onnxruntime, converted, inputs), of_onnx(onnxruntime, network.onnx(params), inputs))


X, IMAGE, VECTOR = (2, 3, 4), (1, 4, 9, 8), (4,)
nn = relay.op.nn
PROGRAMS = {
    "conv1d": ([(1, 4, 9), (6, 4, 3)], lambda x, w: nn.conv1d(x, w, padding=(1, 0), strides=2)),
    "conv2d dilated": ([IMAGE, (6, 4, 3, 3)], lambda x, w: nn.conv2d(x, w, padding=(1, 2), dilation=(2, 1))),
    "conv2d grouped": ([IMAGE, (6, 2, 3, 3)], lambda x, w: nn.conv2d(x, w, groups=2, channels=6, kernel_size=(3, 3), padding=(0, 1, 2, 1))),
    "conv3d": ([(1, 2, 5, 4, 6), (3, 2, 2, 3, 1)], lambda x, w: nn.conv3d(x, w, padding=(1, 0, 0))),
    "conv2d_transpose": ([IMAGE, (4, 5, 3, 2)], lambda x, w: nn.conv2d_transpose(
        x, w, channels=5, kernel_size=(3, 2), strides=(2, 3), padding=(1, 0), output_padding=(1, 2), kernel_layout="IOHW")),
    "bias of a convolution used twice": ([IMAGE, (4, 4, 1, 1), VECTOR], lambda x, w, b: (lambda y: nn.bias_add(y, b) + y)(nn.conv2d(x, w))),
    "bias_add of the last axis": ([X, VECTOR], lambda x, b: nn.bias_add(x, b, axis=-1)),
    "bias_add of an axis inside": ([IMAGE, VECTOR], lambda x, b: nn.bias_add(nn.relu(x), b)),
    "dense with a bias": ([(3, 5), (6, 5), (6,)], lambda x, w, b: nn.dense(x, w) + b),
    "dense between reshapes": ([(1, 6, 5), (4, 5)], lambda x, w: relay.reshape(nn.dense(relay.reshape(x, (6, 5)), w), (1, 6, 4)) * relay.const(2.0)),
    "dense between reshapes that mix": ([(2, 6, 5), (10, 5)], lambda x, w: relay.reshape(nn.dense(relay.reshape(x, (12, 5)), w), (6, 2, 10))),
    "batch_matmul NT": ([(2, 3, 4), (2, 5, 4)], lambda x, y: nn.batch_matmul(x, y, transpose_b=True)),
    "batch_matmul TN": ([(2, 4, 3), (2, 4, 5)], lambda x, y: nn.batch_matmul(x, y, transpose_a=True, transpose_b=False)),
    "batch_norm": ([IMAGE, *[VECTOR] * 4], lambda x, *parts: nn.relu(nn.batch_norm(x, *parts, epsilon=0.01)[0])),
    "batch_norm without scale": ([IMAGE, *[VECTOR] * 4], lambda x, *parts: nn.relu(nn.batch_norm(x, *parts, scale=False, center=False)[0])),
    "layer_norm": ([X, VECTOR, VECTOR], lambda x, g, b: nn.layer_norm(x, g, b)),
    "max_pool2d": ([IMAGE], lambda x: nn.max_pool2d(x, pool_size=(3, 2), strides=(2, 2), padding=(1, 0), ceil_mode=True)),
    "avg_pool2d": ([IMAGE], lambda x: nn.avg_pool2d(x, pool_size=(3, 3), strides=(2, 1), padding=(1, 1))),
    "avg_pool2d with padding": ([IMAGE], lambda x: nn.avg_pool2d(x, pool_size=(3, 3), padding=(1, 1), count_include_pad=True)),
    "global pools": ([IMAGE], lambda x: nn.global_avg_pool2d(x) + nn.adaptive_avg_pool2d(x, (1, 1))),
    "softmax": ([X], lambda x: nn.softmax(x, axis=1) + nn.log_softmax(x)),
    "reductions": ([X], lambda x: relay.sum(x, axis=1, keepdims=True) + relay.max(x, axis=[1], keepdims=True) * relay.mean(x) + relay.min(x, axis=0)),
    "variance": ([X], lambda x: relay.variance(x, axis=[0, 2]) + relay.sum(x, axis=1, exclude=True)),
    "elementwise": ([X], lambda x: relay.sqrt(relay.abs(x)) * relay.tanh(x) / relay.exp(x) - relay.rsqrt(relay.abs(x) + relay.const(1.0))),
    "clip and others": ([X], lambda x: relay.clip(x, -0.5, 0.75) + nn.leaky_relu(x, 0.1) + relay.power(relay.abs(x), relay.const(1.5))),
    "prelu": ([IMAGE, VECTOR], lambda x, a: nn.prelu(x, a)),
    "shapes": ([X], lambda x: relay.transpose(relay.squeeze(relay.expand_dims(x, 1), [1]), (2, 0, 1)) + relay.const(0.25)),
    "split and concatenate": ([X], lambda x: (lambda s: relay.concatenate([s[1], s[0]], axis=-1))(relay.split(x, [1], axis=2))),
    "stack": ([X], lambda x: relay.stack([x, nn.relu(x)], axis=2)),
    "strided_slice": ([X], lambda x: relay.strided_slice(x, begin=[0, 1, 0], end=[2, 3, 4], strides=[1, 1, 2])),
    "pad": ([X], lambda x: nn.pad(x, ((0, 1), (2, 0), (1, 1)), pad_value=0.5)),
    "upsampling": ([IMAGE], lambda x: nn.upsampling(x, 2, 3)),
    "lrn": ([IMAGE], lambda x: nn.lrn(x, size=3)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_operator(name, onnxruntime):
    import relay_to_onnx

    shapes, build = PROGRAMS[name]
    variables = [relay.var(f"value{index}", shape=shape, dtype="float32") for index, shape in enumerate(shapes)]
    module = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function(variables, build(*variables))))
    random = np.random.default_rng(3)
    params = {f"value{index}": random.uniform(0.1, 1, shape).astype("float32") for index, shape in enumerate(shapes)}
    inputs = {"value0": params.pop("value0") * random.choice([-1, 1], shapes[0]).astype("float32")}
    model = relay_to_onnx.convert(module.astext(show_meta_data=False), params)
    assert_equal(of_baton(module, params, inputs), of_onnx(onnxruntime, model, inputs), 1e-5)


@pytest.mark.parametrize("text, why", [
    ("argmax(%x, axis=[1])", "no ONNX form for"),
    ("nn.softmax(%x, axis=1)", ""),
    ("nn.avg_pool2d(%x, pool_size=[2, 2], layout=\"NHWC\")", "layout is not converted"),
])
def test_what_is_not_converted_is_named(text, why, onnxruntime):
    del onnxruntime
    import relay_to_onnx

    module = tvm.parser.fromtext('#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, 4, 6, 8), float32]) { ' + text + " }")
    text = relay.transform.InferType()(module).astext(show_meta_data=False)
    if why:
        with pytest.raises(ValueError, match=why):
            relay_to_onnx.convert(text, {})
    else:
        relay_to_onnx.convert(text, {})


SHORT = ["--bursts", "3", "--min-ms", "1"]


def run(script, *arguments, folder):
    command = [sys.executable, ROOT / "bench" / "compare" / script, *arguments, "--output", folder / "out.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 1), done.stderr  # 1: a bar is missed, which is no matter here
    return done, json.loads((folder / "out.json").read_text())


def test_networks_beside_their_peers(tmp_path, onnxruntime):
    done, found = run("run_networks.py", "--networks", "mlp,lstm", "--threads", "1,2", *SHORT, folder=tmp_path)
    assert list(found["networks"]) == ["mlp", "lstm"], done.stderr
    for each in found["networks"].values():
        assert [row["threads"] for row in each["rows"]] == [1, 2]
        for row in each["rows"]:
            assert set(row["peers_ms"]) == {"ort", "openvino"} and row["difference"] < 1e-4
            assert row["versions"]["ort"] == "onnxruntime " + onnxruntime.__version__
    assert "bar <= 0.60" in done.stdout and "| mlp | 2 |" in done.stdout


def test_an_unknown_network_is_refused(tmp_path):
    command = [sys.executable, ROOT / "bench" / "compare" / "run_networks.py", "--networks", "resnet-19"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100, cwd=tmp_path)
    assert done.returncode == 1 and "no network is called resnet-19" in done.stderr


def test_random_layers_beside_onednn(tmp_path):
    """One of every kind, two of the frequent ones: oneDNN is told the same layer."""
    done, found = run("run_layers.py", "--count", "26", "--only", "0,4,6,9,10,11,12,14,17,18,19,21,22,23,24,25", *SHORT, folder=tmp_path)
    kinds = {"conv", "depthwise", "grouped", "transposed", "dense", "batch_matmul", "reduce", "pool"}
    assert {row["kind"] for row in found["layers"]} == kinds, done.stderr
    assert len(found["layers"]) == 16 and all(row["difference"] < 1e-4 for row in found["layers"])


def test_builds(tmp_path):
    done, found = run("run_builds.py", "--networks", "mlp", "--repeat", "1", folder=tmp_path)
    mlp = found["networks"]["mlp"]
    assert mlp["cold"]["seconds"] > mlp["cached"]["seconds"] and mlp["cold"]["kernels"] == 4
    assert set(mlp["memory_mb"]) == {"baton", "ort", "loaded"} and min(mlp["memory_mb"].values()) > 10
    assert "bar <= 1.2 x" in done.stdout
