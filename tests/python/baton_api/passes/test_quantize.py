"""relay.quantize, relay.qnn.op and relay.qnn.transform: the names, and that integers come near the floats."""
import numpy as np
import pytest

import baton
from baton import relay
from baton.contrib import graph_executor


def run(module, **inputs):
    module = baton.IRModule.from_expr(module) if isinstance(module, relay.Function) else module
    with baton.transform.PassContext(opt_level=3):
        library = relay.build(module, target="llvm")
    executor = graph_executor.GraphModule(library["default"](baton.cpu(0)))
    for name, value in inputs.items():
        executor.set_input(name, value)
    executor.run()
    return executor.get_output(0).numpy()


def test_quantized_dense_is_the_product_of_the_numbers():
    x, w = relay.var("x", shape=(2, 8), dtype="int8"), relay.var("w", shape=(4, 8), dtype="int8")
    product = relay.qnn.op.dense(x, w, relay.const(3), relay.const(-2), relay.const(0.5), relay.const(0.25), units=4)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, shape).astype("int8") for shape in ((2, 8), (4, 8)))
    expected = (a.astype(int) - 3) @ (b.astype(int) + 2).T
    np.testing.assert_array_equal(run(relay.Function([x, w], product), x=a, w=b), expected)


@pytest.mark.parametrize("compute_dtype", ["int64", "float32"])
@pytest.mark.parametrize("rounding, expected", [("UPWARD", [3, -2, 1, 2, -1]), ("TONEAREST", [3, -3, 1, 2, -2]), ("TONEVEN", [2, -2, 1, 2, -2])])
def test_requantize_rounds_halves(rounding, expected, compute_dtype):
    x = relay.var("x", shape=(5,), dtype="int32")
    half = relay.qnn.op.requantize(x, relay.const(0.5), relay.const(0), relay.const(1.0), relay.const(0))
    with relay.qnn.op.requantize_config(rounding=rounding, compute_dtype=compute_dtype):
        assert relay.qnn.op.current_requantize_config().rounding == rounding
        module = relay.qnn.transform.CanonicalizeOps()(relay.transform.InferType()(baton.IRModule.from_expr(relay.Function([x], half))))
    assert relay.qnn.op.current_requantize_config().rounding == "UPWARD"
    np.testing.assert_array_equal(run(module, x=np.array([5, -5, 2, 3, -3], "int32")), expected)


def test_requantize_config_refuses_other_roundings():
    with pytest.raises(Exception, match="TONEAREST"):
        relay.qnn.op.requantize_config(rounding="DOWNWARD").__enter__()


def network():
    x, w = relay.var("x", shape=(1, 4, 8, 8)), relay.var("w", shape=(8, 4, 3, 3))
    body = relay.nn.relu(relay.nn.conv2d(x, w, channels=8, kernel_size=(3, 3), padding=(1, 1, 1, 1)))
    return baton.IRModule.from_expr(relay.Function([x, w], relay.nn.max_pool2d(body, pool_size=(2, 2), strides=(2, 2))))


def test_quantized_network_comes_near():
    rng = np.random.default_rng(1)
    weight, data = rng.uniform(-0.1, 0.1, (8, 4, 3, 3)).astype("float32"), rng.uniform(-1, 1, (1, 4, 8, 8)).astype("float32")
    module = relay.transform.InferType()(network())
    with relay.quantize.qconfig(global_scale=1.0, skip_conv_layers=[]):
        quantized = relay.quantize.quantize(module, params={"w": weight})
    assert "int8" in str(quantized)
    np.testing.assert_allclose(run(quantized, x=data), run(module, x=data, w=weight), atol=0.02)


def test_the_first_convolution_is_skipped_by_default():
    weight = np.full((8, 4, 3, 3), 0.1, "float32")
    assert "int8" not in str(relay.quantize.quantize(relay.transform.InferType()(network()), params={"w": weight}))


def test_quantize_needs_constants():
    with relay.quantize.qconfig(skip_conv_layers=[]), pytest.raises(Exception, match="constant"):
        relay.quantize.quantize(relay.transform.InferType()(network()))


def test_fake_quantization_becomes_integers():
    x, w = relay.var("x", shape=(2, 8), dtype="int8"), relay.var("w", shape=(4, 8), dtype="int8")
    one = lambda value: relay.qnn.op.dequantize(value, relay.const(0.5), relay.const(0))
    body = relay.qnn.op.quantize(relay.nn.dense(one(x), one(w), units=4), relay.const(1.0), relay.const(0))
    module = relay.transform.InferType()(baton.IRModule.from_expr(relay.Function([x, w], body)))
    integer = relay.transform.FakeQuantizationToInteger(True)(module)
    assert "qnn.dense" in str(integer) and "dequantize" not in str(integer)
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-4, 4, shape).astype("int8") for shape in ((2, 8), (4, 8)))
    assert np.abs(run(integer, x=a, w=b).astype(int) - run(module, x=a, w=b).astype(int)).max() <= 1


def convolutions():
    """Two convolutions with a relu between them, with weights for some of which 8 as the largest magnitude is far off."""
    rng = np.random.default_rng(1)
    x, w, v = relay.var("data", shape=(1, 8, 8, 8)), relay.var("w", shape=(8, 8, 3, 3)), relay.var("v", shape=(8, 8, 3, 3))
    middle = relay.nn.relu(relay.nn.conv2d(x, w, padding=(1, 1), channels=8, kernel_size=(3, 3)))
    module = baton.IRModule.from_expr(relay.Function([x, w, v], relay.nn.conv2d(middle, v, padding=(1, 1), channels=8, kernel_size=(3, 3))))
    params = {name: (0.1 * rng.standard_normal((8, 8, 3, 3))).astype("float32") for name in "wv"}
    return module, params, [{"data": (20 * rng.standard_normal((1, 8, 8, 8))).astype("float32")} for _ in range(4)]


@pytest.mark.parametrize("options", [{"calibrate_mode": "kl_divergence"}, {"calibrate_mode": "kl_divergence", "calibrate_chunk_by": 1},
                                     {"calibrate_mode": "percentile"}])
def test_a_data_set_finds_scales_that_fit(options):
    module, params, samples = convolutions()
    bound = relay.build_module.bind_params_by_name(module["main"], params)
    expected = run(bound, **samples[0])
    with relay.quantize.qconfig(skip_conv_layers=[], **options):
        quantized = relay.quantize.quantize(module, params, samples)
    with relay.quantize.qconfig(skip_conv_layers=[]):
        by_constant = relay.quantize.quantize(module, params)
    assert "int8" in str(quantized)
    distance = lambda result: np.abs(result - expected).mean() / np.abs(expected).mean()  # noqa: E731
    assert distance(run(quantized, **samples[0])) < 0.05 < 0.3 < distance(run(by_constant, **samples[0]))


def test_calibrate_is_a_pass_that_runs_the_data_set():
    module, params, samples = convolutions()
    quantize = relay.quantize
    with quantize.qconfig(skip_conv_layers=[], calibrate_mode="percentile"):
        annotated = quantize.annotate()(quantize.partition()(quantize.prerequisite_optimize(module, params)))
        calibrated = quantize.calibrate(samples)(annotated)
    assert len(annotated["main"].params) > 1 and len(calibrated["main"].params) == 1
    with pytest.raises(ValueError, match="give dataset="), quantize.qconfig(calibrate_mode="percentile"):
        quantize.quantize(module, params)
    with pytest.raises(ValueError, match="no sample"), quantize.qconfig(calibrate_mode="percentile"):
        quantize.quantize(module, params, [])
    with pytest.raises(baton.error.TVMError, match="NaN or infinite"), quantize.qconfig(skip_conv_layers=[], calibrate_mode="kl_divergence"):
        quantize.quantize(module, params, [{"data": np.full((1, 8, 8, 8), np.nan, "float32")}])


def test_scales_ignore_a_few_outliers():
    from baton.runtime import ndarray

    rng = np.random.default_rng(0)
    usual = rng.standard_normal(200_000).astype("float32")
    with_outlier = np.append(usual, np.float32(1000))
    by_divergence, by_percentile = (lambda values, choose=choose: choose(ndarray.to_native(values))
                                    for choose in (baton._load.core.scale_by_divergence, baton._load.core.scale_by_percentile))
    assert by_percentile(with_outlier) == np.sort(np.abs(with_outlier))[int(len(with_outlier) * 0.99999)] < 10
    assert by_divergence(with_outlier) < 64  # a cut has 255 of the 8001 bins at least, and up to 510 they are as fine
    flat = rng.uniform(-1, 1, 200_000).astype("float32")
    assert 0.95 < by_divergence(flat) <= 1 and 0.99 < by_percentile(flat) <= 1
    assert by_divergence(np.zeros(5, "float32")) == by_percentile(np.zeros(5, "float32")) == 1


def test_a_rule_that_raises_cannot_do_the_call():
    x, w = relay.var("x", shape=(2, 8), dtype="int8"), relay.var("w", shape=(4, 8), dtype="int8")
    one = lambda value: relay.qnn.op.dequantize(value, relay.const(0.5), relay.const(0))
    product = relay.nn.dense(one(x), one(w), units=4)
    ended = relay.transform.InferType()(baton.IRModule.from_expr(relay.Function([x, w], relay.qnn.op.quantize(product, relay.const(1.0), relay.const(0)))))
    open_end = relay.transform.InferType()(baton.IRModule.from_expr(relay.Function([x, w], relay.exp(product))))

    def rule(expr, type_map):
        raise ValueError("not on Sundays")

    relay.op.register_fake_quantization_to_integer("nn.dense", rule, level=11)
    try:
        for module, use_qat in ((ended, False), (ended, True), (open_end, True)):
            assert baton.ir.structural_equal(relay.transform.FakeQuantizationToInteger(False, use_qat)(module), module)
        with pytest.raises(Exception, match="not on Sundays"):
            relay.transform.FakeQuantizationToInteger(True)(ended)
    finally:
        relay.op.op.get("nn.dense").reset_attr("FTVMFakeQuantizationToInteger")
    assert "qnn.dense" in str(relay.transform.FakeQuantizationToInteger()(ended))


def test_an_unknown_option_is_named_and_ignored():
    with pytest.warns(UserWarning, match="skip_dense_layers"):
        assert relay.quantize.qconfig(skip_dense_layers=False).skip_dense_layer is True
    assert relay.quantize.current_qconfig().global_scale == 8.0


def quantized(text, mode):
    module = baton.parser.fromtext('#[version = "0.0.5"]\n' + text)
    rng = np.random.default_rng(0)
    params = {param.name_hint: rng.uniform(0, 1, param.checked_type.concrete_shape).astype("float32")
              for param in module["main"].params if param.name_hint[0] != "x"}
    with relay.quantize.qconfig(skip_conv_layers=[], partition_conversions=mode):
        return relay.quantize.quantize(module, params)


CONV = "nn.conv2d({}, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3])"
HEAD = "def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], %b: Tensor[(4), float32]) {{ {} }}"


@pytest.mark.parametrize("text", [
    HEAD.format(CONV.format("%x")),
    "def @main(%x: Tensor[(1, 4, 8, 8), float32], %x2: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) "
    "{ add(" + CONV.format("%x") + ", " + CONV.format("%x2") + ") }"])
def test_conversions_become_functions_of_their_own(text):
    whole, parts = quantized(text, "disabled"), quantized(text, "fully_integral")
    assert [var.name_hint for var in whole.get_global_vars()] == ["main"]
    assert {var.name_hint for var in parts.get_global_vars()} == {"main", "quantize_inputs", "quantized_main", "dequantize_outputs"}
    assert "float" not in str(parts["quantized_main"]) and "int" in str(parts["quantized_main"])
    rng = np.random.default_rng(1)
    values = [rng.uniform(0, 1, param.checked_type.concrete_shape).astype("float32") for param in parts["main"].params]
    results = [relay.create_executor("vm", mod=module, device=baton.cpu(0), target="llvm").evaluate()(*values).numpy() for module in (whole, parts)]
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("body, obstacle", [
    (CONV.format("nn.softmax(%x, axis=1)"), "nn.softmax before the integers"),
    ("nn.softmax(" + CONV.format("%x") + ", axis=1)", "nn.softmax after the integers"),
    (CONV.format("nn.softmax(" + CONV.format("%x") + ", axis=1)"), "between integers"),
    ("nn.softmax(%x, axis=1)", "nn.softmax before the integers")])
def test_what_is_not_integral_is_named(body, obstacle):
    text = HEAD.format(body)
    assert quantized(text, "enabled")["quantized_main"] is not None
    with pytest.raises(AssertionError, match=obstacle):
        quantized(text, "fully_integral")
