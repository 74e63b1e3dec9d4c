"""Values at the edges of operators, against numpy or numbers worked out by hand."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from lstm_reference import last_hidden


def run(expr, *inputs, kind="graph"):
    """The value of an expression, or of a Function, for these inputs."""
    function = expr if isinstance(expr, relay.Function) else relay.Function(relay.analysis.free_vars(expr), expr)
    module = tvm.IRModule.from_expr(function)
    result = relay.create_executor(kind, mod=module, device=tvm.cpu(), target="llvm").evaluate()(*inputs)
    return [each.numpy() for each in result] if isinstance(result, (list, tuple, tvm.runtime.container.ADT)) else result.numpy()



# ---- Quantised regions in integers

def quantized(x, scale, zero, dtype):
    limits = np.iinfo(dtype)
    return np.clip(np.round(x / np.float64(np.float32(scale))) + zero, limits.min, limits.max).astype(dtype)


def dequantize(x, scale, zero):
    return relay.qnn.op.dequantize(x, relay.const(scale, "float32"), relay.const(zero, "int32"))


def quantize(x, scale, zero, dtype):
    return relay.qnn.op.quantize(x, relay.const(scale, "float32"), relay.const(zero, "int32"), out_dtype=dtype)


def in_integers(body):
    """The function of free variables whose quantised region is computed in integers; and that it is."""
    module = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(body), body)))
    result = relay.transform.FakeQuantizationToInteger()(module)
    assert "qnn.dequantize" not in str(result) or "bias" in str(result)
    return relay.transform.InferType()(result)["main"]


def steps_off(body, inputs, expected):
    got = run(in_integers(body), *inputs).astype("int64")
    return np.abs(got - expected.astype("int64")).max()


def windows(x, size, stride=1, padding=0, value=0.0):
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)), constant_values=value)
    view = np.lib.stride_tricks.sliding_window_view(x, size, axis=(2, 3))
    return view[:, :, ::stride, ::stride]


INT8 = np.random.default_rng(0).integers(-128, 128, (1, 3, 8, 8), dtype="int8")


@pytest.mark.parametrize("out", [(0.5, 10, "int8"), (2.0, -12, "int8"), (0.7, 100, "uint8"), (3.0, 0, "int32")])
def test_average_pool_in_integers(out):
    x = relay.var("x", shape=INT8.shape, dtype="int8")
    body = quantize(relay.nn.avg_pool2d(dequantize(x, 2.0, -12), (3, 3)), *out)
    exact = windows((INT8.astype("float64") + 12) * 2.0, (3, 3)).mean(axis=(-1, -2))
    assert steps_off(body, [INT8], quantized(exact, *out)) <= 1


def test_average_pool_in_integers_is_clipped():
    x = relay.var("x", shape=(1, 1, 2, 2), dtype="int8")
    body = quantize(relay.nn.avg_pool2d(dequantize(x, 4.0, 0), (2, 2)), 0.5, 0, "int8")
    value = np.array([100, 90, 120, 110], "int8").reshape(1, 1, 2, 2)  # 420, which is 840 steps of 0.5
    assert run(in_integers(body), value).ravel() == [127]


def test_average_pool_in_integers_counts_padding_as_zero():
    x = relay.var("x", shape=INT8.shape, dtype="int8")
    body = quantize(relay.nn.avg_pool2d(dequantize(x, 0.5, 40), (3, 3), padding=(1, 1), count_include_pad=True), 0.25, -60, "int8")
    exact = windows((INT8.astype("float64") - 40) * 0.5, (3, 3), padding=1).mean(axis=(-1, -2))
    assert steps_off(body, [INT8], quantized(exact, 0.25, -60, "int8")) <= 1


def test_global_and_adaptive_average_pools_in_integers():
    x = relay.var("x", shape=INT8.shape, dtype="int8")
    exact = ((INT8.astype("float64") + 12) * 2.0).mean(axis=(2, 3), keepdims=True)
    body = quantize(relay.nn.global_avg_pool2d(dequantize(x, 2.0, -12)), 0.25, -5, "int8")
    assert steps_off(body, [INT8], quantized(exact, 0.25, -5, "int8")) <= 1
    row = INT8[:, :, 0]
    y = relay.var("y", shape=row.shape, dtype="int8")
    body = quantize(relay.nn.adaptive_avg_pool1d(dequantize(y, 2.0, -12), 2), 0.5, 10, "int8")
    exact = ((row.astype("float64") + 12) * 2.0).reshape(1, 3, 2, 4).mean(axis=-1)
    assert steps_off(body, [row], quantized(exact, 0.5, 10, "int8")) <= 1


UINT8 = np.random.default_rng(1).integers(0, 256, (2, 16), dtype="uint8")


@pytest.mark.parametrize("out", [(0.1, 128, "uint8"), (0.1, 0, "int8"), (0.2, 100, "uint8")])
@pytest.mark.parametrize("other", ["tensor", "constant", "negative"])
def test_differences_in_integers_keep_their_sign(out, other):
    x, y = (relay.var(name, shape=UINT8.shape, dtype="uint8") for name in "xy")
    value = {"constant": 12.0, "negative": -7.0}.get(other)
    right = dequantize(y, 0.1, 0) if value is None else relay.const(np.full((16,), value, "float32"))
    inputs = [UINT8, UINT8[::-1].copy()][:2 if value is None else 1]
    exact = UINT8 * 0.1 - (UINT8[::-1] * 0.1 if value is None else value)
    body = quantize(relay.subtract(dequantize(x, 0.1, 0), right), *out)
    assert steps_off(body, inputs, quantized(exact, *out)) <= 1


def test_products_with_negative_constants_in_integers():
    x = relay.var("x", shape=UINT8.shape, dtype="uint8")
    body = quantize(relay.multiply(dequantize(x, 0.1, 0), relay.const(np.full((16,), -2.0, "float32"))), 0.25, 250, "uint8")
    assert steps_off(body, [UINT8], quantized(UINT8 * -0.2, 0.25, 250, "uint8")) <= 1


def test_functions_in_integers_with_another_sign_of_the_result():
    x = relay.var("x", shape=(256,), dtype="int8")
    value = np.arange(-128, 128, dtype="int8")
    body = quantize(relay.tanh(dequantize(x, 0.02, 0)), 1 / 128, 128, "uint8")
    assert steps_off(body, [value], quantized(np.tanh(value * 0.02), 1 / 128, 128, "uint8")) <= 1


@pytest.mark.parametrize("bias_scales", ["equal", "other"])
@pytest.mark.parametrize("add", [relay.add, relay.nn.bias_add], ids=["add", "bias_add"])
def test_dense_with_scales_per_unit_takes_its_bias(add, bias_scales):
    generator = np.random.default_rng(2)
    q, k = generator.integers(-128, 128, (2, 8), dtype="int8"), generator.integers(-128, 128, (4, 8), dtype="int8")
    b = generator.integers(-2000, 2000, (4,), dtype="int32")
    weight_scale = np.array([0.01, 0.02, 0.03, 0.04], "float32")
    bias_scale = weight_scale * np.float32(0.5) * (1 if bias_scales == "equal" else np.float32(2))
    x, w, bias = (relay.var(name, shape=each.shape, dtype=str(each.dtype)) for name, each in (("x", q), ("w", k), ("bias", b)))
    dense = relay.nn.dense(dequantize(x, 0.5, 3), relay.qnn.op.dequantize(w, relay.const(weight_scale), relay.const(0), axis=0))
    body = quantize(add(dense, relay.qnn.op.dequantize(bias, relay.const(bias_scale), relay.const(0))), 0.5, 5, "int8")
    assert "qnn.dense" in str(in_integers(body))
    exact = (q.astype("float64") - 3) * 0.5 @ (k * weight_scale[:, None].astype("float64")).T + b * bias_scale.astype("float64")
    assert steps_off(body, [q, k, b], quantized(exact, 0.5, 5, "int8")) <= 1


# ---- Floats that become integers

@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("kind", ["int16", "int32", "int64"])
def test_arithmetic_of_negative_floats_that_become_integers(dtype, kind):
    """Sums are computed as unsigned numbers; all of -3.0 became -1."""
    value = np.array([-300.0, -3.5, -1.0, -0.5, -0.0, 0.0, 2.5, 300.0], dtype)
    whole, other = value.astype(kind), np.arange(1, 9).astype(kind)
    x, y = relay.var("x", shape=(8,), dtype=dtype), relay.var("y", shape=(8,), dtype=kind)
    cast = relay.cast(x, kind)
    for op, expected in ((relay.add, whole + other), (relay.subtract, whole - other), (relay.multiply, whole * other),
                         (relay.left_shift, whole << other)):
        assert (run(op(cast, y), value, other) == expected).all()
    assert (run(relay.negative(cast), value) == -whole).all() and run(relay.sum(cast, axis=[0]), value) == whole.sum()
    for unsigned in ("uint8", "uint16", "uint32", "uint64"):
        assert (run(relay.cast(cast, unsigned), value) == whole.astype(unsigned)).all()


# ---- Pools

def test_gradient_of_max_pool_ignores_windows_in_the_padding():
    data = relay.var("data", shape=(1, 1, 2, 2))
    grad = relay.var("grad", shape=(1, 1, 4, 4))
    body = relay.nn.max_pool2d_grad(grad, data, pool_size=(1, 1), strides=(1, 1), padding=(1, 1, 1, 1))
    result = run(relay.Function([grad, data], body), np.ones((1, 1, 4, 4), "float32"), np.zeros((1, 1, 2, 2), "float32"))
    assert result.ravel().tolist() == [1, 1, 1, 1]


def test_gradient_of_max_pool_of_the_least_numbers():
    data = relay.var("data", shape=(1, 1, 1, 2))
    grad = relay.var("grad", shape=(1, 1, 1, 2))
    body = relay.nn.max_pool2d_grad(grad, data, pool_size=(1, 2), strides=(1, 2), padding=(0, 1, 0, 1))
    result = run(relay.Function([grad, data], body), np.array([[[[3, 5]]]], "float32"), np.full((1, 1, 1, 2), -np.inf, "float32"))
    assert result.ravel().tolist() == [3, 5]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_max_pool_of_padding_alone_is_the_least_number(dtype):
    least = np.finfo(dtype).min if "float" in dtype else np.iinfo(dtype).min
    value = np.array([[1, -2], [3, 4]], dtype)
    x = relay.var("x", shape=(1, 1, 2, 2), dtype=dtype)
    expected = np.pad(value, 1, constant_values=least)
    assert (run(relay.nn.max_pool2d(x, (1, 1), padding=(1, 1)), value.reshape(1, 1, 2, 2))[0, 0] == expected).all()
    line = relay.var("line", shape=(1, 1, 2), dtype=dtype)
    assert (run(relay.nn.max_pool1d(line, (1,), padding=(1,)), value[:1].reshape(1, 1, 2))[0, 0] == [least, 1, -2, least]).all()


@pytest.mark.parametrize("pool", [lambda x: relay.nn.avg_pool2d(x, (1, 2)), relay.nn.global_avg_pool2d,
                                  lambda x: relay.nn.adaptive_avg_pool2d(x, 1)], ids=["window", "global", "adaptive"])
def test_means_of_integers_are_rounded_toward_zero(pool):
    x = relay.var("x", shape=(1, 1, 1, 2), dtype="int32")
    assert run(pool(x), np.array([[[[-3, -4]]]], "int32")).ravel() == [-3]
    assert run(pool(x), np.array([[[[3, 4]]]], "int32")).ravel() == [3]


# ---- Other operators

def test_reverse_sequence_longer_than_the_data():
    x, lengths = relay.var("x", shape=(4, 2), dtype="int32"), relay.var("lengths", shape=(2,), dtype="int32")
    body = relay.reverse_sequence(x, lengths, seq_axis=0, batch_axis=1)
    value = np.array([[12, 1], [13, 2], [14, 3], [15, 4]], "int32")
    assert run(body, value, np.array([5, 3], "int32")).T.tolist() == [[15, 14, 13, 12], [3, 2, 1, 4]]


def test_sparse_reshape_to_the_same_shape_keeps_indices():
    indices, before, after = (relay.var(name, shape=shape, dtype="int64") for name, shape in
                              (("indices", (2, 2)), ("before", (2,)), ("after", (2,))))
    body = relay.sparse_reshape(indices, before, after)
    if not isinstance(body, relay.Expr):
        body = body.astuple()
    value = np.array([[0, 9], [7, -1]], "int64")  # outside of the shape
    shape = np.array([4, 6], "int64")
    got = run(body, value, shape, shape)
    assert got[0].tolist() == value.tolist() and got[1].tolist() == [4, 6]
    got = run(body, np.array([[0, 5], [3, 1]], "int64"), shape, np.array([6, 4], "int64"))
    assert got[0].tolist() == [[1, 1], [4, 3]]


def test_ndarray_size_of_a_scalar():
    for shape, size in (((), 0), ((3, 4), 12), ((0, 2), 0)):
        x = relay.var("x", shape=shape)
        assert int(run(relay.ndarray_size(x), np.zeros(shape, "float32"))) == size
        module = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([x], relay.ndarray_size(x))))
        assert int(relay.transform.FoldConstant()(module)["main"].body.data.numpy()) == size


@pytest.mark.parametrize("count, word", [(4, 11), (6, 15), (1, 11), (8, 15)])
def test_random_keys_advance_by_whole_blocks(count, word):
    key = relay.var("key", shape=(10,), dtype="uint64")
    body = relay.random.uniform(key, (count,))
    got = run(body if isinstance(body, relay.Expr) else body.astuple(), np.arange(10, dtype="uint64"))
    assert got[0].tolist() == [0, 1, 2, 3, 4, 5, 0, word, 8, 9]


def test_floats_of_attributes_are_compared_as_float32():
    x, vector = relay.var("x", shape=(1, 3)), relay.var("v", shape=(3,))
    one, other = (relay.nn.batch_norm(x, vector, vector, vector, vector, epsilon=epsilon)[0]
                  for epsilon in (1e-5, float(np.float32(1e-5))))
    assert tvm.ir.structural_equal(one, other) and tvm.ir.structural_hash(one) == tvm.ir.structural_hash(other)
    assert "epsilon" not in str(other)
    assert not tvm.ir.structural_equal(one, relay.nn.batch_norm(x, vector, vector, vector, vector, epsilon=2e-5)[0])


def test_depth_to_space_in_any_other_mode():
    x = relay.var("x", shape=(1, 8, 1, 2))
    value = np.arange(16, dtype="float32").reshape(1, 8, 1, 2)
    expected = value.reshape(1, 2, 2, 2, 1, 2).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 2, 4)
    for mode in ("CRD", "CDR"):
        assert (run(relay.nn.depth_to_space(x, 2, mode=mode), value) == expected).all()


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
@pytest.mark.parametrize("widths", [((-1, 0), (0, -2)), ((-1, 1), (1, -1)), ((-2, -1), (0, 0)), ((2, -1), (-1, 2))])
def test_negative_pad_widths_cut_off(widths, mode):
    value = np.arange(20, dtype="float32").reshape(4, 5)
    kept = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, value.shape))
    added = [(max(a, 0), max(b, 0)) for a, b in widths]
    if mode == "constant":
        expected = np.pad(value[kept], added, constant_values=7)
    else:  # what is added comes from the whole data
        whole = np.pad(value, added, mode=mode)
        expected = whole[tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, whole.shape))]
    x = relay.var("x", shape=value.shape)
    assert (run(relay.nn.pad(x, widths, 7.0, mode), value) == expected).all()


def test_pads_that_leave_fewer_than_nothing_are_refused():
    with pytest.raises(tvm.TVMError, match="fewer than none"):
        relay.transform.InferType()(tvm.IRModule.from_expr(relay.nn.pad(relay.var("x", shape=(2,)), ((-2, -1),))))


def test_padding_that_cuts_off_is_not_folded_into_a_convolution():
    x, w = relay.var("x", shape=(1, 1, 5, 5)), relay.var("w", shape=(1, 1, 3, 3))
    body = relay.nn.conv2d(relay.nn.pad(x, ((0, 0), (0, 0), (-1, 1), (0, 0))), w, channels=1, kernel_size=(3, 3), padding=(1, 1))
    module = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([x, w], body)))
    assert "nn.pad" in str(relay.transform.FoldExplicitPadding()(module))


def test_scans_that_say_nothing_of_exclusive():
    x = relay.var("x", shape=(4,))
    value = np.array([1, 2, 3, 4], "float32")
    assert run(relay.cumsum(x, axis=0, exclusive=None), value).tolist() == [1, 3, 6, 10]
    assert run(relay.cumprod(x, axis=0, exclusive=None), value).tolist() == [1, 2, 6, 24]
    text = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(4), float32]) { cumsum(%x, axis=0, dtype="", exclusive=None) }'
    assert "exclusive=None" in str(tvm.parser.fromtext(text))


def test_segment_sum_of_fewer_ids_than_rows():
    x = relay.var("x", shape=(5, 2))
    value = np.arange(10, dtype="float32").reshape(5, 2)
    ids = relay.const(np.array([1, 1, 0], "int64"))
    assert run(relay.Function([x], relay.segment_sum(x, ids, 3)), value, kind="vm").tolist() == [[4, 5], [2, 4], [0, 0]]


# ---- Scales and zero points

def test_scales_per_channel_may_be_float64():
    scale = np.array([0.1, 0.25, 0.5])
    x, q = relay.var("x", shape=(3, 4)), relay.var("q", shape=(3, 4), dtype="int8")
    value = np.linspace(-20, 20, 12, dtype="float32").reshape(3, 4)
    zero = relay.const(np.array([1, 2, 3], "int32"))
    got = run(relay.qnn.op.quantize(x, relay.const(scale), zero, axis=0), value)
    expected = np.clip(np.round(value / scale[:, None].astype("float32")) + [[1], [2], [3]], -128, 127)
    assert np.abs(got - expected).max() <= 1 and (got == expected).mean() > 0.9
    back = run(relay.qnn.op.dequantize(q, relay.const(scale), zero, axis=0), got)
    np.testing.assert_allclose(back, (got.astype("float64") - [[1], [2], [3]]) * scale[:, None], rtol=1e-6)
    again = run(relay.qnn.op.requantize(q, relay.const(scale), zero, relay.const(0.2), relay.const(0), axis=0), got)
    assert np.abs(again - np.clip(np.round(back / 0.2), -128, 127)).max() <= 1


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_tensors_of_one_element_are_scales_and_zero_points(shape):
    def one(value, dtype):
        return relay.const(np.full(shape, value, dtype))

    x, y = relay.var("x", shape=(3, 4)), relay.var("y", shape=(3, 4), dtype="int8")
    value = np.linspace(-20, 20, 12, dtype="float32").reshape(3, 4)
    q = run(relay.qnn.op.quantize(x, one(0.5, "float32"), one(3, "int32")), value)
    assert (q == np.round(value / 0.5) + 3).all()
    assert (run(relay.qnn.op.dequantize(y, one(0.5, "float32"), one(3, "int32")), q) == (q.astype("float32") - 3) * 0.5).all()
    pair = one(0.5, "float32"), one(3, "int32")
    again = run(relay.qnn.op.requantize(y, *pair, one(0.25, "float32"), one(-3, "int32")), q)
    assert (again == np.clip((q.astype("int32") - 3) * 2 - 3, -128, 127)).all()
    total = run(relay.qnn.op.add(y, y, *pair, *pair, one(1.0, "float32"), one(0, "int32")), q)
    assert np.abs(total - np.clip(q.astype("int32") - 3, -128, 127)).max() <= 1  # each operand is rounded
    w = relay.const(np.arange(8, dtype="int8").reshape(2, 4))
    dense = run(relay.qnn.op.dense(y, w, one(3, "int32"), one(1, "int32"), pair[0], pair[0], 2), q)
    assert (dense == (q.astype("int32") - 3) @ (np.arange(8).reshape(2, 4) - 1).T).all()
    joined = relay.qnn.op.concatenate(relay.Tuple([y, y]), relay.Tuple([pair[0]] * 2), relay.Tuple([pair[1]] * 2), one(1.0, "float32"),
                                      one(0, "int32"), 0)
    assert run(joined, q).shape == (6, 4)
    assert run(relay.qnn.op.tanh(y, *pair, one(1 / 127, "float32"), one(0, "int32")), q).dtype == "int8"


def test_scales_of_one_element_that_are_inputs():
    x, scale = relay.var("x", shape=(4,)), relay.var("scale", shape=(1,))
    body = relay.qnn.op.quantize(x, scale, relay.const([5]))
    value = np.array([-1, 0, 0.5, 3], "float32")
    assert run(relay.Function([x, scale], body), value, np.array([0.5], "float32")).tolist() == [3, 5, 6, 11]


# ---- Parameters

def test_int64_numbers_for_an_int32_parameter():
    x, i = relay.var("x", shape=(4,)), relay.var("i", shape=(2,), dtype="int32")
    function = relay.Function([x, i], relay.take(x, relay.add(i, relay.const(1))))
    bound = relay.build_module.bind_params_by_name(function, {"i": np.array([0, 2])})
    assert run(bound, np.arange(4, dtype="float32")).tolist() == [1, 3]
    for other in (np.array([0, 2**40]), np.array([0.0, 2.0])):  # bound as they are, which then does not fit
        with pytest.raises(tvm.TVMError, match="element types"):
            relay.build(tvm.IRModule.from_expr(relay.build_module.bind_params_by_name(function, {"i": other})), "llvm")
        with pytest.raises(tvm.TVMError, match="declares"):
            relay.build(tvm.IRModule.from_expr(function), "llvm", params={"i": other})


@pytest.mark.parametrize("kind", ["graph", "vm", "aot", "debug"])
def test_parameters_of_one_name_are_passed_by_position(kind):
    a, b, c = relay.var("data", shape=(2,)), relay.var("data", shape=(2,)), relay.var("other", shape=(2,))
    function = relay.Function([a, b, c], relay.subtract(relay.multiply(a, c), b))
    values = [np.array(each, "float32") for each in ([1, 2], [10, 20], [3, 4])]
    assert run(function, *values, kind=kind).tolist() == [-7, -12]


@pytest.mark.parametrize("kind", ["graph", "vm"])
def test_an_lstm_runs_whole(kind):
    module, params = relay.testing.lstm.get_workload(3, 8)
    data = [np.random.default_rng(i).random((1, 8), dtype="float32") for i in range(3)]
    executor = relay.create_executor(kind, mod=module, device=tvm.cpu(), target="llvm", params=params)
    np.testing.assert_allclose(executor.evaluate()(*data).numpy(), last_hidden(params, data), atol=1e-6)


def test_inputs_of_one_name_are_set_by_number():
    module, params = relay.testing.lstm.get_workload(2, 4)
    lib = relay.build(module, "llvm", params=params)
    executor = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.cpu()))
    first, second = (np.full((1, 4), each, "float32") for each in (0.5, -2.0))
    inputs = [i for i in range(executor.get_num_inputs()) if executor.module.executor.input_name(i) == "data"]
    assert len(inputs) == 2
    results = []
    for pair in ((first, second), (second, first)):
        for number, value in zip(inputs, pair):
            executor.set_input(number, value)
        executor.run()
        results.append(executor.get_output(0).numpy())
    whole = relay.create_executor("debug", mod=module, device=tvm.cpu(), target="llvm", params=params).evaluate()
    np.testing.assert_allclose(results[0], whole(first, second).numpy(), atol=1e-6)
    np.testing.assert_allclose(results[1], whole(second, first).numpy(), atol=1e-6)
    assert np.abs(results[0] - results[1]).max() > 1e-3


# ---- Folding

def test_shapes_as_numbers_of_any_type_are_folded():
    x = relay.var("x", shape=(3, 4))
    for dtype in ("float32", "float64", "float16", "int32", "int64", "uint8", "int16"):
        function = relay.Function([x], relay.shape_of(x, dtype=dtype))
        body = relay.transform.FoldConstant()(relay.transform.InferType()(tvm.IRModule.from_expr(function)))["main"].body
        assert body.data.dtype == dtype and body.data.numpy().tolist() == [3, 4]


@pytest.mark.parametrize("block", [2, 4])
def test_factors_of_blocked_channels_go_into_the_weight(block):
    generator = np.random.default_rng(3)
    x, s, t, b, w = (relay.var(name, shape=shape) for name, shape in (
        ("x", (1, 8 // block, 5, 5, block)), ("s", (1, 8 // block, 1, 1, block)), ("t", (1, 8 // block, 1, 1, block)),
        ("b", (1, 8 // block, 1, 1, block)), ("w", (8 // block, 8 // block, 3, 3, block, block))))
    conv = relay.nn.conv2d(relay.multiply(x, s), w, channels=8, kernel_size=(3, 3), padding=(1, 1), data_layout=f"NCHW{block}c",
                           kernel_layout=f"OIHW{block}i{block}o")
    function = relay.Function([x, s, t, b, w], relay.multiply(relay.add(conv, b), t))
    module = relay.transform.InferType()(tvm.IRModule.from_expr(function))
    moved = relay.transform.ForwardFoldScaleAxis()(relay.transform.BackwardFoldScaleAxis()(module))
    text = str(moved["main"])
    assert "reshape" in text and "multiply(%x" not in text
    values = [generator.random([int(each) for each in var.type_annotation.shape], dtype="float32") + 0.5 for var in function.params]
    with tvm.transform.PassContext(opt_level=0):
        expected = run(function, *values)
        np.testing.assert_allclose(run(relay.transform.InferType()(moved)["main"], *values), expected, rtol=1e-4)


def test_quantised_regions_with_scales_of_one_element():
    x = relay.var("x", shape=INT8.shape, dtype="int8")
    scale, zero = relay.const(np.array([2.0], "float32")), relay.const(np.array([-12], "int32"))
    body = quantize(relay.nn.relu(relay.nn.avg_pool2d(relay.qnn.op.dequantize(x, scale, zero), (3, 3))), 0.5, 10, "int8")
    exact = np.maximum(windows((INT8.astype("float64") + 12) * 2.0, (3, 3)).mean(axis=(-1, -2)), 0)
    assert steps_off(body, [INT8], quantized(exact, 0.5, 10, "int8")) <= 1


def test_constants_on_a_device_are_folded():
    x = relay.var("x", shape=(2,))
    place = lambda value: relay.annotation.on_device(value, tvm.cpu(), constrain_result=True)
    a, b = relay.var("a"), relay.var("b")
    body = relay.Let(a, place(relay.const(2.0)), relay.Let(b, place(relay.add(a, a)), relay.add(b, x)))
    module = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([x], body)))
    folded = relay.transform.FoldConstant()(module)["main"].body
    assert not isinstance(folded, relay.Let) and folded.op.name == "add"
    assert folded.args[0].op.name == "on_device" and float(folded.args[0].args[0].data.numpy()) == 4
