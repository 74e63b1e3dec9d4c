"""An encoder as bert.py's, as an ONNX file whose batch and length are open: "batch" and "length"."""
import numpy as np

HIDDEN, HEADS, INNER = 768, 12, 3072


def encoder(layers, seed=0):
    """The bytes of a model of (batch, length, HIDDEN) -> the same, float32."""
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(seed)
    nodes, constants = [], {"heads": np.array([0, 0, HEADS, HIDDEN // HEADS], np.int64), "joined": np.array([0, 0, HIDDEN], np.int64),
                            "root": np.float32((HIDDEN // HEADS) ** 0.5), "root2": np.float32(2 ** 0.5), "one": np.float32(1), "half": np.float32(0.5)}

    def op(kind, *inputs, **attributes):
        output = f"v{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [output], f"{kind}_{len(nodes)}", **attributes))
        return output

    def weight(*shape, scale=1.0, at=0.0):
        name = f"w{len(constants)}"
        constants[name] = (at + scale * random.standard_normal(shape)).astype(np.float32)
        return name

    def dense(value, inputs, outputs):
        return op("Add", op("MatMul", value, weight(inputs, outputs, scale=inputs ** -0.5)), weight(outputs, scale=0.1))

    def norm(value):
        return op("LayerNormalization", value, weight(HIDDEN, scale=0.1, at=1.0), weight(HIDDEN, scale=0.1), axis=-1)

    value = "x"
    for _ in range(layers):
        query, key, right = (op("Reshape", dense(value, HIDDEN, HIDDEN), "heads") for _ in range(3))
        query, right = (op("Transpose", each, perm=[0, 2, 1, 3]) for each in (query, right))
        scores = op("Div", op("MatMul", query, op("Transpose", key, perm=[0, 2, 3, 1])), "root")
        mixed = op("Transpose", op("MatMul", op("Softmax", scores, axis=-1), right), perm=[0, 2, 1, 3])
        value = norm(op("Add", value, dense(op("Reshape", mixed, "joined"), HIDDEN, HIDDEN)))
        inner = dense(value, HIDDEN, INNER)
        inner = op("Mul", op("Mul", inner, op("Add", op("Erf", op("Div", inner, "root2")), "one")), "half")
        value = norm(op("Add", value, dense(inner, INNER, HIDDEN)))
    nodes[-1].output[0] = "y"
    shape = ["batch", "length", HIDDEN]
    graph = helper.make_graph(nodes, "bert", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
                              [numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
