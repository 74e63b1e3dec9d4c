"""Two layers of LSTM (Hochreiter and Schmidhuber 1997) over 64 steps of 256 numbers, 512 cells, and a dense layer at the end.

Relay has it unrolled, the products of all inputs of a layer in one; ONNX has an operator for a layer.
"""
import numpy as np
from baton import relay

from .layers import dense, nn, var
from .weights import finish

STEPS, INPUTS, CELLS, CLASSES = 64, 256, 512, 1000


def lstm():
    data = var("data", STEPS, INPUTS)
    made = layer(data, "layer0", INPUTS)
    made = layer(relay.concatenate(made, axis=0), "layer1", CELLS)
    return finish(dense(made[-1], "classes", CELLS, CLASSES), data)


def layer(data, name, inputs):
    """The outputs of all steps, (1, CELLS) each, of `data`, (STEPS, inputs). Gates in ONNX's order: input, output, forget, cell."""
    from_inputs = dense(data, name + "_i2h", inputs, 4 * CELLS)
    weight = var(name + "_h2h_weight", 4 * CELLS, CELLS)
    hidden = cell = None
    outputs = []
    for step in relay.split(from_inputs, STEPS, axis=0):
        gates = step if hidden is None else step + nn.dense(hidden, weight, units=4 * CELLS)
        enter, leave, forget, new = relay.split(gates, 4, axis=1)
        new = relay.sigmoid(enter) * relay.tanh(new)
        cell = new if cell is None else relay.sigmoid(forget) * cell + new
        hidden = relay.sigmoid(leave) * relay.tanh(cell)
        outputs.append(hidden)
    return outputs


def lstm_onnx(params):
    """The same with ONNX's operator LSTM."""
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants = [], {"axis1": np.array([1], np.int64), "last": np.array([STEPS - 1], np.int64), "flat": np.array([1, CELLS], np.int64)}
    nodes.append(helper.make_node("Unsqueeze", ["data", "axis1"], ["sequence"]))
    value = "sequence"
    for name in ("layer0", "layer1"):
        constants[name + "_w"] = params[name + "_i2h_weight"][None]
        constants[name + "_r"] = params[name + "_h2h_weight"][None]
        constants[name + "_b"] = np.concatenate([params[name + "_i2h_bias"], np.zeros(4 * CELLS, np.float32)])[None]
        nodes.append(helper.make_node("LSTM", [value, name + "_w", name + "_r", name + "_b"], [name + "_all"], hidden_size=CELLS))
        nodes.append(helper.make_node("Squeeze", [name + "_all", "axis1"], [name]))
        value = name
    nodes.append(helper.make_node("Gather", ["layer1", "last"], ["step"], axis=0))
    nodes.append(helper.make_node("Reshape", ["step", "flat"], ["hidden"]))
    nodes.append(helper.make_node("Gemm", ["hidden", "classes_weight", "classes_bias"], ["output"], transB=1))
    constants.update({name: params[name] for name in ("classes_weight", "classes_bias")})
    graph = helper.make_graph(nodes, "lstm", [helper.make_tensor_value_info("data", TensorProto.FLOAT, [STEPS, INPUTS])],
                              [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, CLASSES])],
                              [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
