"""Quantised ONNX files: files that quantise and dequantise around operators become integer operators."""
import re

import baton as tvm
import numpy as np
import pytest
from baton import relay

onnx = pytest.importorskip("onnx")
helper = onnx.helper
RANDOM = np.random.default_rng(3)


def model(nodes, inputs, output, constants=(), opset=21):
    """`inputs`: {name: (dtype, shape)}; `constants`: {name: array, or a TensorProto}."""
    typed = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape) for name, (dtype, shape) in inputs.items()]
    held = [each if isinstance(each, onnx.TensorProto) else onnx.numpy_helper.from_array(np.asarray(each), name) for name, each in dict(constants).items()]
    graph = helper.make_graph(nodes, "g", typed, [onnx.ValueInfoProto(name=output)], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def imported(onnx_model):
    return relay.frontend.from_onnx(onnx_model.SerializeToString())[0]


def run(module, *inputs):
    return relay.create_executor("graph", module, tvm.cpu(), "llvm").evaluate()(*inputs).numpy()


def expected(onnx_model, *inputs):
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(onnx_model).run(None, dict(zip([each.name for each in onnx_model.graph.input], inputs)))[0]


def layered(per_channel):
    """Conv, Relu and MatMul between QuantizeLinear and DequantizeLinear, and a Gelu that there are no integers for."""
    node = helper.make_node
    weight = RANDOM.integers(-127, 128, (4, 3, 3, 3)).astype("int8")
    scale = RANDOM.uniform(0.005, 0.02, 4).astype("float32") if per_channel else np.float32(0.01)
    constants = {
        "s": np.float32(0.02), "z": np.uint8(128), "w": weight, "ws": scale, "wz": np.zeros_like(scale, "int8"), "b": RANDOM.integers(-500, 500, 4).astype("int32"),
        "bs": (np.float32(0.02) * scale).astype("float32"), "bz": np.zeros_like(scale, "int32"), "s1": np.float32(0.08), "z1": np.uint8(0),
        "m": RANDOM.integers(-127, 128, (6, 5)).astype("int8"), "ms": np.float32(0.02), "mz": np.int8(0), "s2": np.float32(0.4), "z2": np.uint8(120)}
    axis = {"axis": 0} if per_channel else {}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["xq"], name="q0"), node("DequantizeLinear", ["xq", "s", "z"], ["xd"], name="d0"),
        node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], name="dw", **axis), node("DequantizeLinear", ["b", "bs", "bz"], ["bd"], name="db", **axis),
        node("Conv", ["xd", "wd", "bd"], ["c"], name="conv"), node("Relu", ["c"], ["r"], name="relu"),
        node("QuantizeLinear", ["r", "s1", "z1"], ["rq"], name="q1"), node("DequantizeLinear", ["rq", "s1", "z1"], ["rd"], name="d1"),
        node("DequantizeLinear", ["m", "ms", "mz"], ["md"], name="dm"), node("MatMul", ["rd", "md"], ["p"], name="matmul"),
        node("QuantizeLinear", ["p", "s2", "z2"], ["y"], name="q2")]
    return model(nodes, {"x": ("float32", (1, 3, 8, 8))}, "y", constants)


@pytest.mark.parametrize("per_channel", [False, True])
def test_layers_between_quantisations_compute_in_integers(per_channel):
    onnx_model = layered(per_channel)
    module = imported(onnx_model)
    text = str(module["main"])
    assert "qnn.conv2d" in text and "qnn.dense" in text
    assert not re.search(r"(?<!q)nn\.(conv2d|dense)\(", text), text
    x = RANDOM.standard_normal((1, 3, 8, 8)).astype("float32")
    ours, theirs = run(module, x), expected(onnx_model, x)
    assert ours.dtype == theirs.dtype == np.uint8
    assert np.abs(ours.astype(int) - theirs.astype(int)).max() <= 1


def test_halves_are_quantised_to_even_numbers():
    onnx_model = model([helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])], {"x": ("float32", (8,))}, "y", {"s": np.float32(2), "z": np.int8(1)})
    x = np.array([-5, -3, -1, 1, 3, 5, 1000, -1000], "float32")
    np.testing.assert_array_equal(run(imported(onnx_model), x), expected(onnx_model, x))


def packed(name, kind, shape, values):
    return helper.make_tensor(name, kind, shape, values)


@pytest.mark.parametrize("kind, low, high", [(onnx.TensorProto.INT4, -8, 8), (onnx.TensorProto.UINT4, 0, 16)])
@pytest.mark.parametrize("how", ["tensor", "channels", "blocks"])
def test_weights_of_four_bits_become_numbers(kind, low, high, how):
    weight = packed("w", kind, (6, 5), RANDOM.integers(low, high, 30).tolist())
    shape, attributes = {"tensor": ((), {}), "channels": ((5,), {"axis": -1}), "blocks": ((2, 5), {"axis": 0, "block_size": 3})}[how]
    scale = RANDOM.uniform(0.1, 1, shape).astype("float32")
    zero = packed("z", kind, shape, RANDOM.integers(low, high, int(np.prod(shape))).tolist())
    onnx_model = model([helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"], **attributes), helper.make_node("MatMul", ["x", "d"], ["y"])],
                       {"x": ("float32", (2, 6))}, "y", {"w": weight, "s": scale, "z": zero})
    x = RANDOM.standard_normal((2, 6)).astype("float32")
    np.testing.assert_allclose(run(imported(onnx_model), x), expected(onnx_model, x), rtol=1e-5, atol=1e-5)


def test_few_bits_elsewhere_are_refused():
    weight = packed("w", onnx.TensorProto.INT4, (2,), [1, -2])
    onnx_model = model([helper.make_node("Add", ["w", "w"], ["y"], name="sum")], {"x": ("float32", (2,))}, "y", {"w": weight})
    with pytest.raises(Exception, match="Add `sum`: elements of 4 bits"):
        imported(onnx_model)


@pytest.mark.parametrize("inputs, attributes, shape", [
    (2, {}, ()), (2, {"axis": -1}, (4,)), (3, {"axis": 0}, (3,)), (3, {"axis": 0, "block_size": 2}, (2, 4))])
def test_quantisation_has_zero_points_or_not(inputs, attributes, shape):
    scale, zero = RANDOM.uniform(0.1, 1, shape).astype("float32"), RANDOM.integers(0, 200, shape).astype("uint8")
    names = ["x", "s", "z"][:inputs]
    onnx_model = model([helper.make_node("QuantizeLinear", names, ["q"], **attributes), helper.make_node("DequantizeLinear", ["q", *names[1:]], ["y"], **attributes)],
                       {"x": ("float32", (3, 4))}, "y", {"s": scale, "z": zero} if inputs == 3 else {"s": scale})
    x = RANDOM.standard_normal((3, 4)).astype("float32") * 30
    np.testing.assert_allclose(run(imported(onnx_model), x), expected(onnx_model, x), rtol=1e-6)
