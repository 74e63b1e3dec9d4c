"""Relay text (as `baton print` writes it) to an ONNX model, for side-by-side timing only.

Straight-line functions over the operators of the image networks; anything else raises ValueError with the line.
"""
import ast
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CALL = re.compile(r"^(?:(%\d+) = )?([a-z_][\w.]*)\((.*?)\)(?: /\*.*\*/)?;?$")
ITEM = re.compile(r"^(%\d+) = (%\d+)\.(\d+)(?: /\*.*\*/)?;?$")


def convert(text, params, opset=17):
    """Return the serialized ONNX model of `@main` in `text`; parameters in `params` become initializers."""
    lines = [re.sub(r" /\*.*?\*/", "", line).strip() for line in text.splitlines()]
    header = next(line for line in lines if line.startswith("def @main("))
    types = dict(re.findall(r"%(\w+): Tensor\[\(([\d, ]+)\), float32\]", header))
    body = lines[lines.index(header) + 1:lines.index("}")]
    nodes, tuples, maps = [], {}, {}

    def name(ref):
        return tuples.get(ref, ref).lstrip("%").replace(".", "_") if ref.startswith("%") else ref

    for line in body:
        item = ITEM.match(line)
        if item:  # batch_norm and dropout in inference: field 0 is the value itself
            if item[3] != "0":
                raise ValueError("only field 0 of a tuple is converted: " + line)
            tuples[item[1]] = tuples.get(item[2], item[2])
            continue
        call = CALL.match(line)
        if not call:
            raise ValueError("not a call: " + line)
        args, attrs = split(call[3])
        out = name(call[1]) if call[1] else "output"
        nodes += lower(call[2], [name(a) for a in args], attrs, out, line, maps)
    initializers = [numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in params.items() if k in types]
    inputs = [helper.make_tensor_value_info(k, TensorProto.FLOAT, [int(d) for d in v.split(",")])
              for k, v in types.items() if k not in params]
    graph = helper.make_graph(nodes, "main", inputs, [helper.make_tensor_value_info("output", TensorProto.FLOAT, None)], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return model.SerializeToString()


def split(text):
    """'%0, %w, axis=1, k=[3, 3]' -> (['%0', '%w'], {'axis': 1, 'k': [3, 3]})"""
    args, attrs = [], {}
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        part = part.strip()
        if "=" in part:
            key, value = part.split("=", 1)
            attrs[key] = ast.literal_eval(re.sub(r"(?<=\d)f$", "", value))
        elif part:
            args.append(part)
    return args, attrs


def lower(op, args, attrs, out, line, maps):
    """The ONNX nodes of one call; `maps`: convolutions so far by output name."""
    def node(kind, inputs=None, outputs=None, **kw):
        return helper.make_node(kind, inputs or args, outputs or [out], **kw)

    if op == "nn.conv2d":
        maps[out] = node("Conv", kernel_shape=attrs["kernel_size"], strides=attrs.get("strides", [1, 1]),
                     pads=attrs.get("padding", [0] * 4), group=attrs.get("groups", 1))
        return [maps[out]]
    if op == "nn.batch_norm":
        if attrs.get("scale", True) is False:  # gamma counts as 1
            one = out + "_gamma"
            return [node("Sub", [args[1], args[1]], [one + "0"]), node("Exp", [one + "0"], [one]),
                    node("BatchNormalization", [args[0], one] + args[2:], epsilon=attrs.get("epsilon", 1e-5))]
        return [node("BatchNormalization", epsilon=attrs.get("epsilon", 1e-5))]
    if op == "nn.bias_add" and args[0] in maps:  # over the channels of an image: fold into the convolution as its bias
        maps[args[0]].input.append(args[1])
        maps[args[0]].output[0] = out
        return []
    if op == "nn.max_pool2d":
        return [node("MaxPool", kernel_shape=attrs["pool_size"], strides=attrs.get("strides", [1, 1]), pads=attrs.get("padding", [0] * 4))]
    simple = {"nn.relu": "Relu", "add": "Add", "nn.bias_add": "Add", "nn.global_avg_pool2d": "GlobalAveragePool",
              "nn.batch_flatten": "Flatten", "nn.dropout": "Identity"}
    if op in simple:
        return [node(simple[op])]
    if op == "nn.dense":
        return [node("Gemm", transB=1)]
    if op == "nn.softmax":
        return [node("Softmax", axis=attrs.get("axis", -1))]
    raise ValueError("no ONNX form for: " + line)
