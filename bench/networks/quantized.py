"""Networks in int8 as ONNX Runtime quantises them: a float network, calibrated on random images, with QuantizeLinear and
DequantizeLinear around its layers (uint8 activations, int8 weights per channel). Both engines are given the same numbers:
ONNX Runtime the file, Baton the same graph in Relay, made integer by FakeQuantizationToInteger.

Weights have 7 bits (reduce_range), as ONNX Runtime's documentation advises for processors without VNNI: with 8 bits its sums of two
products saturate there.
"""
import functools
import logging
import os
import tempfile

import numpy as np

from baton import IRModule, relay

nn, qnn = relay.op.nn, relay.qnn.op


def of(build):
    """`build` and `onnx` of a Network that computes in int8 what `build()` makes in float32."""
    made = functools.cache(lambda: quantize(*build()))
    return {"build": lambda: made()[:2], "onnx": lambda params: made()[2]}


def quantize(module, params, images=4):
    """(module, params, ONNX file) of the quantised network."""
    import onnx
    import onnxruntime
    import relay_to_onnx
    from onnxruntime import quantization

    shape = module["main"].params[0].checked_type.concrete_shape
    random = np.random.default_rng(2)
    reader = Images({"data": random.normal(0, 1, shape).astype("float32")} for _ in range(images))
    logging.getLogger().setLevel(logging.ERROR)  # it recommends a step that is done here
    with tempfile.TemporaryDirectory(prefix="baton-quantize-") as folder:
        plain, quantized = os.path.join(folder, "float.onnx"), os.path.join(folder, "int8.onnx")
        options = onnxruntime.SessionOptions()  # batch norms become part of convolutions
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath, options.log_severity_level = plain, 3
        onnxruntime.InferenceSession(relay_to_onnx.convert(module.astext(show_meta_data=False), params), options,
                                     providers=["CPUExecutionProvider"])
        kind = quantization.QuantType
        quantization.quantize_static(plain, quantized, reader, quant_format=quantization.QuantFormat.QDQ, per_channel=True,
                                     reduce_range=True, activation_type=kind.QUInt8, weight_type=kind.QInt8)
        model = onnx.load(quantized)
    return *relay_of(model, shape), model.SerializeToString()


class Images:
    """What quantize_static reads its calibration data from."""

    def __init__(self, images):
        self.images = iter(images)

    def get_next(self):
        return next(self.images, None)


def relay_of(model, shape):
    """(module, params) of a QDQ model of one input and one output, in integers."""
    from onnx import helper, numpy_helper

    graph = model.graph
    numbers = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    data = relay.var("data", shape=shape, dtype="float32")
    values = {graph.input[0].name: data}

    def value(name):
        return values[name] if name in values else relay.const(numbers[name])

    for node in graph.node:
        attrs = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        values[node.output[0]] = OPERATORS[node.op_type](node, attrs, value, numbers)
    function = relay.Function([data], values[graph.output[0].name])
    module = relay.transform.InferType()(IRModule.from_expr(function))
    for each in (relay.transform.FakeQuantizationToInteger(), relay.transform.FoldConstant(), relay.transform.InferType()):
        module = each(module)
    return with_params(module)


def quantize_linear(node, attrs, value, numbers):
    scale, zero = (numbers[name] for name in node.input[1:])
    return qnn.quantize(value(node.input[0]), relay.const(scale), relay.const(zero.astype("int32")), axis=attrs.get("axis", 1),
                        out_dtype=str(zero.dtype))


def dequantize_linear(node, attrs, value, numbers):
    scale, zero = (numbers[name] for name in node.input[1:])
    if node.input[0] in numbers and numbers[node.input[0]].dtype == np.int32:  # a bias: an ordinary constant
        return relay.const((numbers[node.input[0]] * scale.astype("float64")).astype("float32"))
    if zero.ndim and not zero.any():
        zero = np.zeros((), "int32")
    return qnn.dequantize(value(node.input[0]), relay.const(scale), relay.const(zero.astype("int32")), axis=attrs.get("axis", -1))


def conv(node, attrs, value, numbers):
    weight = value(node.input[1])
    channels = relay.transform.InferTypeLocal(weight).concrete_shape[0]
    made = nn.conv2d(value(node.input[0]), weight, strides=attrs["strides"], padding=attrs.get("pads", [0] * 4), groups=attrs.get("group", 1),
                     dilation=attrs.get("dilations", [1, 1]), channels=channels, kernel_size=attrs["kernel_shape"])
    return nn.bias_add(made, value(node.input[2])) if len(node.input) > 2 else made


def gemm(node, attrs, value, numbers):
    weight = value(node.input[1])
    units = relay.transform.InferTypeLocal(weight).concrete_shape[0]
    assert attrs.get("transB") == 1
    return nn.bias_add(nn.dense(value(node.input[0]), weight, units=units), value(node.input[2]), axis=-1)


def max_pool(node, attrs, value, numbers):
    return nn.max_pool2d(value(node.input[0]), pool_size=attrs["kernel_shape"], strides=attrs["strides"], padding=attrs.get("pads", [0] * 4))


OPERATORS = {
    "QuantizeLinear": quantize_linear,
    "DequantizeLinear": dequantize_linear,
    "Conv": conv,
    "Gemm": gemm,
    "MaxPool": max_pool,
    "Add": lambda node, attrs, value, numbers: value(node.input[0]) + value(node.input[1]),
    "Relu": lambda node, attrs, value, numbers: nn.relu(value(node.input[0])),
    "GlobalAveragePool": lambda node, attrs, value, numbers: nn.global_avg_pool2d(value(node.input[0])),
    "Flatten": lambda node, attrs, value, numbers: nn.batch_flatten(value(node.input[0])),
    "Reshape": lambda node, attrs, value, numbers: relay.reshape(value(node.input[0]), [int(each) for each in numbers[node.input[1]]]),
}


class Lifted(relay.ExprMutator):
    """Constants that are no scalars become parameters, so that the text of the program has all but them."""

    def __init__(self):
        super().__init__()
        self.params = {}

    def visit_constant(self, const):
        array = const.data.numpy()
        if array.ndim == 0:
            return const
        var = relay.var(f"p{len(self.params)}", shape=array.shape, dtype=str(array.dtype))
        self.params[var] = array
        return var


def with_params(module):
    lifted = Lifted()
    main = module["main"]
    body = lifted.visit(main.body)
    module = IRModule.from_expr(relay.Function([*main.params, *lifted.params], body))
    return relay.transform.InferType()(module), {var.name_hint: array for var, array in lifted.params.items()}
