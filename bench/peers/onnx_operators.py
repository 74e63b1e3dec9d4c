"""The ONNX nodes of Relay's operators, by name: one function each, `function(call)` (a relay_to_onnx.Call)."""
import math

import numpy as np

LOWER = {}


def lower(call):
    """Adds the nodes of one call to its graph."""
    if call.op not in LOWER:
        call.fail("no ONNX form for")
    LOWER[call.op](call)


def operator(*names):
    def register(function):
        for name in names:
            LOWER[name] = function
        return function

    return register


def put(call, kind, inputs=None, out=None, **attrs):
    return call.graph.node(kind, call.args if inputs is None else inputs, [out or call.out], **attrs)


def integers(call, name, values):
    return call.graph.constant(f"{call.out}_{name}", np.array(values, np.int64))


def need(call, what, fine):
    if not fine:
        call.fail(what + " is not converted")


# Windows.

def spatial(call):
    return len(call.shapes[0]) - 2


def pads(call):
    """Relay's padding, 1, n or 2n numbers, as ONNX's: all begins, all ends."""
    given, axes = call.get("padding", [0]), spatial(call)
    given = [given] if isinstance(given, int) else list(given)
    return given * (2 * axes) if len(given) == 1 else given * 2 if len(given) == axes else given


def each_axis(call, name, default=1):
    given = call.get(name, [default])
    given = [given] if isinstance(given, int) else list(given)
    return given * spatial(call) if len(given) == 1 else given


def plain_layout(call, names):
    for name, usual in names.items():
        need(call, name, call.get(name, usual[0]) in (*usual, ""))


def usual_layouts(call, weights):
    axes = "DHW"[3 - spatial(call):]
    plain_layout(call, {"data_layout": ["NC" + axes], "out_layout": ["NC" + axes], "kernel_layout": [each + axes for each in weights]})


@operator("nn.conv1d", "nn.conv2d", "nn.conv3d")
def convolution(call):
    usual_layouts(call, ["OI"])
    put(call, "Conv", kernel_shape=call.shapes[1][2:], strides=each_axis(call, "strides"), pads=pads(call),
        dilations=each_axis(call, "dilation"), group=call.get("groups", 1))


@operator("nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose")
def transposed_convolution(call):
    # Relay calls ONNX's order of these weights, input channels first, IOHW, and in old programs OIHW.
    usual_layouts(call, ["IO", "OI"])
    put(call, "ConvTranspose", kernel_shape=call.shapes[1][2:], strides=each_axis(call, "strides"), pads=pads(call),
        dilations=each_axis(call, "dilation"), group=call.get("groups", 1), output_padding=each_axis(call, "output_padding", 0))


@operator("nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d", "nn.avg_pool1d", "nn.avg_pool2d", "nn.avg_pool3d")
def pool(call):
    axes = "DHW"[3 - spatial(call):]
    plain_layout(call, {"layout": ["NC" + axes], "out_layout": ["NC" + axes]})
    need(call, "dilation", set(each_axis(call, "dilation")) == {1})
    attrs = {"kernel_shape": each_axis(call, "pool_size"), "strides": each_axis(call, "strides"), "pads": pads(call),
             "ceil_mode": int(call.get("ceil_mode", False))}
    if "max" in call.op:
        put(call, "MaxPool", **attrs)
    else:
        put(call, "AveragePool", count_include_pad=int(call.get("count_include_pad", False)), **attrs)


@operator("nn.global_avg_pool2d", "nn.global_max_pool2d", "nn.adaptive_avg_pool2d", "nn.adaptive_max_pool2d")
def global_pool(call):
    plain_layout(call, {"layout": ["NCHW"], "out_layout": ["NCHW"]})
    need(call, "an adaptive pool to more than one element", call.shape[2:] == [1, 1])
    put(call, "GlobalMaxPool" if "max" in call.op else "GlobalAveragePool")


# Normalisation and bias.

@operator("nn.batch_norm")
def batch_norm(call):
    need(call, "axis", call.get("axis", 1) in (1, 1 - len(call.shapes[0])))
    channels, args = call.shapes[0][1], list(call.args)
    if call.get("scale", True) is False:  # gamma counts as 1
        args[1] = call.graph.constant(call.out + "_gamma", np.ones(channels, np.float32))
    if call.get("center", True) is False:
        args[2] = call.graph.constant(call.out + "_beta", np.zeros(channels, np.float32))
    put(call, "BatchNormalization", args, epsilon=call.get("epsilon", 1e-5))


@operator("nn.layer_norm")
def layer_norm(call):
    need(call, "axis", call.get("axis", -1) in (-1, len(call.shapes[0]) - 1) and call.get("center", True) and call.get("scale", True))
    put(call, "LayerNormalization", epsilon=call.get("epsilon", 1e-5), axis=-1)


def takes_bias(call, value, bias):
    """Makes a vector the bias of the convolution or dense layer before, as an exporter writes it."""
    made = call.graph.made_by.get(value)
    free = made is not None and {"Conv": 2, "ConvTranspose": 2, "Gemm": 2}.get(made.op_type) == len(made.input)
    if not free or not call.graph.used_once(value) or bias not in call.graph.initializers:
        return False
    made.input.append(bias)
    made.output[0] = call.out
    call.graph.made_by[call.out] = made
    return True


@operator("nn.bias_add")
def bias_add(call):
    rank = len(call.shapes[0])
    axis = call.get("axis", 1) % rank
    if axis == 1 and takes_bias(call, *call.args):
        return
    if axis == rank - 1:
        put(call, "Add")
    else:
        axes = integers(call, "axes", range(1, rank - axis))
        put(call, "Add", [call.args[0], put(call, "Unsqueeze", [call.args[1], axes], call.out + "_bias")])


@operator("add")
def add(call):
    left, right = call.args
    if len(call.shapes[0] or []) == 2 and call.shapes[1] == call.shapes[0][1:] and takes_bias(call, left, right):
        return
    put(call, "Add")


# Products.

@operator("nn.dense")
def dense(call):
    rank = len(call.shapes[0])
    if rank == 2:
        put(call, "Gemm", transB=1)
    else:
        put(call, "MatMul", [call.args[0], transposed(call, call.args[1], [1, 0])])


@operator("nn.batch_matmul")
def batch_matmul(call):
    sides = list(call.args)
    for side, name in enumerate(("transpose_a", "transpose_b")):
        if call.get(name, False):
            sides[side] = transposed(call, sides[side], [0, 2, 1])
    put(call, "MatMul", sides)


@operator("nn.matmul")
def matmul(call):
    sides = list(call.args)
    for side, name in enumerate(("transpose_a", "transpose_b")):
        if call.get(name, False):
            sides[side] = transposed(call, sides[side], [1, 0])
    put(call, "MatMul", sides)


def transposed(call, name, axes):
    known = call.graph.initializers.get(name)
    if known is not None:
        return call.graph.constant(name + "_transposed", known.transpose(axes))
    return put(call, "Transpose", [name], f"{call.out}_{name}_transposed", perm=axes)


# Elementwise.

SAME = {"nn.relu": "Relu", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "maximum": "Max", "minimum": "Min", "power": "Pow",
        "sigmoid": "Sigmoid", "tanh": "Tanh", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "erf": "Erf", "abs": "Abs", "negative": "Neg",
        "floor": "Floor", "ceil": "Ceil", "nn.dropout": "Identity", "copy": "Identity"}


@operator(*SAME)
def same(call):
    put(call, SAME[call.op])


@operator("rsqrt")
def rsqrt(call):
    put(call, "Reciprocal", [put(call, "Sqrt", out=call.out + "_sqrt")])


@operator("nn.leaky_relu")
def leaky_relu(call):
    put(call, "LeakyRelu", alpha=call.get("alpha", 0.05))


@operator("nn.prelu")
def prelu(call):
    need(call, "axis", call.get("axis", 1) == 1)
    slope = integers(call, "axes", range(1, len(call.shapes[0]) - 1))
    put(call, "PRelu", [call.args[0], put(call, "Unsqueeze", [call.args[1], slope], call.out + "_slope")])


@operator("clip")
def clip(call):
    bounds = [call.graph.constant(f"{call.out}_{name}", np.float32(call.attrs[name])) for name in ("a_min", "a_max")]
    put(call, "Clip", [*call.args, *bounds])


@operator("nn.softmax", "nn.log_softmax")
def softmax(call):
    put(call, "LogSoftmax" if "log" in call.op else "Softmax", axis=call.get("axis", -1))


@operator("nn.lrn")
def lrn(call):
    need(call, "axis", call.get("axis", 1) == 1)
    put(call, "LRN", size=call.get("size", 5), alpha=call.get("alpha", 1e-4), beta=call.get("beta", 0.75), bias=float(call.get("bias", 2)))


# Reductions.

REDUCTIONS = {"mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin", "prod": "ReduceProd", "sum": "ReduceSum"}


def reduced_axes(call):
    axes, rank = call.attrs.get("axis"), len(call.shapes[0])
    axes = list(range(rank)) if axes is None else [axes] if isinstance(axes, int) else list(axes)
    axes = sorted(axis % rank for axis in axes)
    return [axis for axis in range(rank) if axis not in axes] if call.get("exclude", False) else axes


@operator(*REDUCTIONS)
def reduction(call):
    axes, keep = reduced_axes(call), int(call.get("keepdims", False))
    if call.op == "sum":  # takes its axes as an input since opset 13, the others since 18
        put(call, "ReduceSum", [*call.args, integers(call, "axes", axes)], keepdims=keep)
    else:
        put(call, REDUCTIONS[call.op], axes=axes, keepdims=keep)


@operator("variance")
def variance(call):
    axes = reduced_axes(call)
    less = put(call, "Sub", call.args, call.out + "_less")
    square = put(call, "Mul", [less, less], call.out + "_square")
    mean = put(call, "ReduceMean", [square], call.out + "_mean" if call.get("unbiased", False) else None, axes=axes,
               keepdims=int(call.get("keepdims", False)))
    if call.get("unbiased", False):
        count = math.prod(call.shapes[0][axis] for axis in axes)
        put(call, "Mul", [mean, call.graph.constant(call.out + "_unbiased", np.float32(count / (count - 1)))])


# Shapes.

@operator("reshape", "nn.batch_flatten", "squeeze", "expand_dims")
def reshape(call):
    if call.op == "reshape" and whole_matrix_product(call):
        return
    put(call, "Reshape", [call.args[0], integers(call, "shape", call.shape)])


def whole_matrix_product(call):
    """reshape(dense(reshape(x)), ...) that only merges and splits the leading axes: MatMul of x, as exporters write it."""
    graph, gemm = call.graph, call.graph.made_by.get(call.args[0])
    if gemm is None or gemm.op_type != "Gemm" or len(gemm.input) != 2 or not graph.used_once(call.args[0]):
        return False
    before = graph.made_by.get(gemm.input[0])
    if before is None or before.op_type != "Reshape" or gemm.input[1] not in graph.initializers:
        return False
    shape = graph.shapes[before.input[0]]
    if shape[:-1] != call.shape[:-1] or shape[-1] != graph.shapes[gemm.input[1]][1]:
        return False
    value, weight = before.input[0], transposed(call, gemm.input[1], [1, 0])
    graph.nodes.remove(gemm)
    if graph.used_once(before.output[0]):
        graph.nodes.remove(before)
    put(call, "MatMul", [value, weight])
    return True


@operator("transpose")
def transpose(call):
    axes = call.attrs.get("axes") or list(range(len(call.shapes[0])))[::-1]
    put(call, "Transpose", perm=[axis % len(axes) for axis in axes])


@operator("concatenate")
def concatenate(call):
    put(call, "Concat", call.args[0], axis=call.get("axis", 0))


@operator("stack")
def stack(call):
    axis, parts = call.get("axis", 0) % len(call.shape), []
    for index, part in enumerate(call.args[0]):
        where = integers(call, f"axis{index}", [axis])
        parts.append(put(call, "Unsqueeze", [part, where], f"{call.out}_part{index}"))
    put(call, "Concat", parts, axis=axis)


@operator("split")
def split(call):
    axis = call.get("axis", 0)
    sizes = integers(call, "sizes", [shape[axis] for shape in call.result_shapes])
    call.graph.node("Split", [call.args[0], sizes], [f"{call.out}_{index}" for index in range(len(call.result_shapes))], axis=axis)


@operator("strided_slice")
def strided_slice(call):
    need(call, "slice_mode", call.get("slice_mode", "end") == "end")
    begin, end = list(call.attrs["begin"]), list(call.attrs["end"])
    steps = list(call.get("strides", [1]))
    axes = list(call.attrs.get("axes") or range(len(begin)))
    steps = steps * len(begin) if len(steps) == 1 else steps
    need(call, "a negative stride", min(steps) > 0)
    values = {"begin": begin, "end": end, "axes": axes, "steps": steps}
    put(call, "Slice", [call.args[0], *(integers(call, name, each) for name, each in values.items())])


@operator("nn.pad")
def pad(call):
    need(call, "pad_mode", call.get("pad_mode", "constant") == "constant")
    width = call.attrs["pad_width"]
    amount = integers(call, "width", [begin for begin, _ in width] + [end for _, end in width])
    put(call, "Pad", [call.args[0], amount, *call.args[1:]])


@operator("nn.upsampling")
def upsampling(call):
    need(call, "method", call.get("method", "nearest_neighbor") == "nearest_neighbor")
    scale = [1, 1, call.get("scale_h", 1), call.get("scale_w", 1)]
    put(call, "Resize", [call.args[0], "", call.graph.constant(call.out + "_scale", np.array(scale, np.float32))], mode="nearest",
        coordinate_transformation_mode="asymmetric", nearest_mode="floor")
