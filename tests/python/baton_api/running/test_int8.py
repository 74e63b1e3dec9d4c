"""Convolutions and dense layers of integers: packed (opt level 3) they compute exactly what plain loops do (opt level 1)."""
import re

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor

nn, qnn = relay.op.nn, relay.qnn.op
RANGES = {"int8": (-128, 128), "uint8": (0, 256), "int16": (-32768, 32768), "int32": (-(1 << 31), 1 << 31)}


def random(shape, dtype, seed=0, largest=None):
    low, high = RANGES[dtype] if largest is None else (-largest, largest + 1)
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def run(function, inputs, opt_level):
    with tvm.transform.PassContext(opt_level=opt_level):
        lib = relay.build(tvm.IRModule.from_expr(function), "llvm")
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    for name, value in inputs.items():
        module.set_input(name, value)
    module.run()
    return module.get_output(0).numpy()


def text(function):
    with tvm.transform.PassContext(opt_level=3):
        return relay.optimize(tvm.IRModule.from_expr(function), target="llvm")[0].astext(show_meta_data=False)


def assert_same(function, inputs, holds=""):
    """The packed form is the plain one; `holds` is part of the optimised program."""
    np.testing.assert_array_equal(run(function, inputs, 3), run(function, inputs, 1))
    assert holds in text(function)


def conv(shape, data_dtype, weight, **attrs):
    data = relay.var("data", shape=shape, dtype=data_dtype)
    channels = weight.shape[0]
    made = nn.conv2d(data, relay.const(weight), channels=channels, kernel_size=weight.shape[2:], out_dtype="int32", **attrs)
    return relay.Function([data], made), {"data": random(shape, data_dtype, 1)}


PAIRS, BYTES = ("8i16o2i", "8i16o2i"), ("4i16o2i2i", "4i16o4i")  # without and with VNNI


@pytest.mark.parametrize("shape, weight_shape, attrs", [
    ((1, 16, 7, 7), (32, 16, 3, 3), {"padding": (1, 1)}),
    ((2, 32, 9, 5), (16, 32, 3, 3), {"strides": (2, 2), "padding": (0, 1, 2, 1)}),
    ((1, 32, 8, 6), (48, 32, 1, 1), {}),
    ((1, 32, 9, 7), (16, 32, 1, 1), {"strides": (2, 2)}),
    ((1, 3, 23, 21), (16, 3, 7, 7), {"strides": (2, 2), "padding": (3, 3)}),
    ((1, 25, 5, 6), (16, 25, 3, 3), {"dilation": (2, 2), "padding": (2, 2)}),
    ((1, 40, 1, 1), (24, 40, 1, 1), {}),
    ((1, 6, 4, 4), (7, 6, 3, 3), {}),
    ((1, 1, 6, 6), (1, 1, 3, 3), {"padding": (1, 1)}),
    ((1, 16, 6, 6), (16, 8, 3, 3), {"groups": 2}),
    ((0, 16, 6, 6), (16, 16, 3, 3), {}),
], ids=str)
@pytest.mark.parametrize("dtypes", [("int16", "int16"), ("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8")], ids="x".join)
def test_convolution(shape, weight_shape, attrs, dtypes):
    assert_same(*conv(shape, dtypes[0], random(weight_shape, dtypes[1]), **attrs))


def test_weights_decide_how_bytes_are_multiplied():
    shape, weight_shape = (1, 32, 6, 6), (16, 32, 3, 3)
    function, inputs = conv(shape, "uint8", random(weight_shape, "int8", largest=64), padding=(1, 1))
    inputs["data"][:] = 255
    assert any(layout in text(function) for layout in BYTES)
    assert_same(function, inputs)
    # The largest pairs that fit, and the smallest that do not.
    for pair, fits in (((127, 1), True), ((-127, -1), True), ((127, -128), True), ((127, 2), False), ((-128, -1), False), ((65, 64), False)):
        weight = np.zeros(weight_shape, "int8")
        weight[5, 6:8, 1, 2] = pair
        function, inputs = conv(shape, "uint8", weight, padding=(1, 1))
        inputs["data"][:] = 255
        assert_same(function, inputs)
        if "4i16o4i" not in text(function):
            assert ("4i16o2i2i" in text(function)) == fits, pair


@pytest.mark.parametrize("rows, depth, units", [(1, 64, 32), (5, 33, 17), (7, 1, 3), (4, 2048, 40), (130, 96, 1000), (0, 8, 8), (3, 6, 1)])
@pytest.mark.parametrize("dtypes", [("int16", "int16"), ("int8", "int8"), ("uint8", "int8")], ids="x".join)
@pytest.mark.parametrize("largest", [64, 127])
def test_dense(rows, depth, units, dtypes, largest):
    data = relay.var("data", shape=(rows, depth), dtype=dtypes[0])
    weight = random((units, depth), dtypes[1], largest=largest)
    function = relay.Function([data], nn.dense(data, relay.const(weight), out_dtype="int32"))
    assert_same(function, {"data": random((rows, depth), dtypes[0], 1)})


def test_dense_with_a_weight_that_is_no_constant():
    data, weight = relay.var("data", shape=(6, 31), dtype="uint8"), relay.var("weight", shape=(21, 31), dtype="int8")
    function = relay.Function([data, weight], nn.dense(data, weight, out_dtype="int32"))
    assert_same(function, {"data": random((6, 31), "uint8"), "weight": random((21, 31), "int8")})


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("channels", [5, 16, 24])
@pytest.mark.parametrize("dtypes", [("int16", "int16"), ("uint8", "int8")], ids="x".join)
def test_depthwise(channels, stride, dtypes):
    weight = random((channels, 1, 3, 3), dtypes[1])
    assert_same(*conv((1, channels, 9, 10), dtypes[0], weight, groups=channels, strides=(stride, stride), padding=(1, 1)))


def quantized(data, channels, seed, zero, out_zero, out_dtype, size=3, **attrs):
    """A layer as importers make it: qnn.conv2d, bias, qnn.requantize with scales per channel."""
    inputs = attrs.pop("inputs")
    scales = np.random.default_rng(seed).uniform(0.5, 1.5, channels).astype("float32") / 500
    weight = relay.const(random((channels, inputs // attrs.get("groups", 1), size, size), "int8", seed, largest=63))
    made = qnn.conv2d(data, weight, relay.const(np.int32(zero)), relay.const(np.int32(0)), relay.const(np.float32(0.1)), relay.const(scales),
                      channels=channels, kernel_size=(size, size), out_dtype="int32", **attrs)
    made = nn.bias_add(made, relay.const(random((channels,), "int32", seed, largest=3000)))
    return qnn.requantize(made, relay.const(scales * np.float32(0.1)), relay.const(np.int32(0)), relay.const(np.float32(0.07)),
                          relay.const(np.int32(out_zero)), axis=1, out_dtype=out_dtype)


def scalar(value, dtype="float32"):
    return relay.const(np.asarray(value, dtype))


def residual_network(height=12):
    data = relay.var("data", shape=(1, 3, height, 10), dtype="float32")
    x = qnn.quantize(data, scalar(0.02), scalar(120, "int32"), out_dtype="uint8")
    first = quantized(x, 32, 1, 120, 0, "uint8", inputs=3, padding=(1, 1))
    pooled = nn.max_pool2d(first, pool_size=(3, 3), padding=(1, 1), strides=(1, 1))
    second = quantized(pooled, 32, 2, 0, 0, "uint8", size=1, inputs=32)
    third = quantized(second, 32, 3, 0, 7, "uint8", inputs=32, padding=(1, 1))
    joined = qnn.add(third, pooled, scalar(0.07), scalar(7, "int32"), scalar(0.07), scalar(0, "int32"), scalar(0.09), scalar(0, "int32"))
    wise = quantized(joined, 32, 4, 0, -5, "int8", inputs=32, groups=32, padding=(1, 1), strides=(2, 2))
    last = quantized(wise, 16, 5, -5, 3, "int8", size=1, inputs=32, strides=(2, 2))
    return relay.Function([data], qnn.dequantize(last, scalar(0.07), scalar(3, "int32")))


@pytest.mark.parametrize("height", [12, 7])
def test_quantized_network(height):
    function = residual_network(height)
    image = np.random.default_rng(3).normal(0, 1, (1, 3, height, 10)).astype("float32")
    assert_same(function, {"data": image}, "conv2d_NCHWc")
    assert len(np.unique(run(function, {"data": image}, 3))) > 10, "outputs that tell nothing"
    optimized = text(function)
    assert not re.search(r'kernel_layout="OIHW\d+i\d+o2i"', optimized), "all are multiplied as bytes, whatever their zero points"
    # Rescaling along packed channels: between its layers nothing is brought back to plain layouts.
    assert optimized.count("layout_transform") <= 3


@pytest.mark.parametrize("dtype, zero", [("uint8", 0), ("uint8", 131), ("int8", 0), ("int8", -128), ("int8", 127)])
@pytest.mark.parametrize("largest", [64, 127])
@pytest.mark.parametrize("padding", [(0, 0), (1, 2)])
def test_zero_points(dtype, zero, largest, padding):
    """The largest and smallest data, and padding by the zero point."""
    low, high = RANGES[dtype]
    data = relay.var("data", shape=(1, 16, 6, 5), dtype=dtype)
    weight = random((32, 16, 3, 3), "int8", largest=largest)
    zeros = [scalar(zero, "int32"), scalar(0, "int32"), scalar(0.1), scalar(0.2)]
    made = qnn.conv2d(data, relay.const(weight), *zeros, kernel_size=(3, 3), channels=32, padding=padding, out_dtype="int32")
    function = relay.Function([data], made)
    for values in (random((1, 16, 6, 5), dtype), np.full((1, 16, 6, 5), low, dtype), np.full((1, 16, 6, 5), high - 1, dtype)):
        assert_same(function, {"data": values})
    rows = relay.var("rows", shape=(5, 33), dtype=dtype)
    weight = random((17, 33), "int8", largest=largest)
    function = relay.Function([rows], qnn.dense(rows, relay.const(weight), *zeros, units=17, out_dtype="int32"))
    assert_same(function, {"rows": random((5, 33), dtype)})


def test_origins_of_narrowed_products():
    function = residual_network()
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(tvm.IRModule.from_expr(function), "llvm")
    operators = [each for each in tvm.origins(lib) if each["op"] == "qnn.conv2d"]
    assert len(operators) == 5 and all(each["nodes"] for each in operators)


@pytest.mark.parametrize("shift", [0, -1, -2, -3, -30, 2])
def test_fixed_point(shift):
    values = np.concatenate([random((999,), "int32"), np.array([0, 1, -1, (1 << 31) - 1, -(1 << 31)], "int32")])
    values = values >> max(shift, 0)  # products of 64 bits at most
    for multiplier in (1 << 30, 1288490189, (1 << 31) - 1):
        data = relay.var("data", shape=values.shape, dtype="int32")
        function = relay.Function([data], relay.fixed_point_multiply(data, multiplier, shift))
        left, right = max(shift, 0), max(-shift, 0)
        wide = [(int(each) << left) * multiplier + (1 << (30 + right)) >> (31 + right) for each in values]
        expected = np.array([(each + (1 << 31)) % (1 << 32) - (1 << 31) for each in wide], "int32")
        np.testing.assert_array_equal(run(function, {"data": values}, 3), expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("shift", [14, 3, 0, -1, -15, -16, -31])
def test_fixed_point_of_short_values(dtype, shift):
    """Known to be short by the cast: they go without 64 bits, unless a shift is too long; int16 only after the clip."""
    low, high = RANGES[dtype]
    values = np.arange(low, high).astype(dtype)
    for multiplier in (1 << 30, 1288490189, (1 << 31) - 1):
        data = relay.var("data", shape=values.shape, dtype=dtype)
        short = relay.clip(relay.cast(data, "int32"), -(1 << 14), 1 << 14)
        function = relay.Function([data], relay.fixed_point_multiply(short, multiplier, shift))
        clipped = np.clip(values.astype("int64"), -(1 << 14), 1 << 14)
        expected = [(int(each) << max(shift, 0)) * multiplier + (1 << (30 + max(-shift, 0))) >> (31 + max(-shift, 0)) for each in clipped]
        np.testing.assert_array_equal(run(function, {"data": values}, 3), np.array(expected, "int64").astype("int32"))


def test_fixed_point_per_channel():
    values = random((1, 32, 5, 7), "int32")
    random_bits = np.random.default_rng(1)
    multipliers, shifts = random_bits.integers(1 << 30, 1 << 31, 32).astype("int32"), random_bits.integers(0, 31, 32).astype("int32")
    data = relay.var("data", shape=values.shape, dtype="int32")
    factors = [relay.const(multipliers), relay.const(np.zeros(32, "int32")), relay.const(shifts)]
    function = relay.Function([data], relay.fixed_point_multiply_per_axis(data, *factors, False, True, [1]))
    wide = values.astype(object) * multipliers.reshape(1, 32, 1, 1).astype(object)
    expected = np.vectorize(lambda each, by: (each + (1 << (30 + int(by)))) >> (31 + int(by)), otypes=[object])(wide, shifts.reshape(1, 32, 1, 1))
    np.testing.assert_array_equal(run(function, {"data": values}, 3), expected.astype("int32"))
