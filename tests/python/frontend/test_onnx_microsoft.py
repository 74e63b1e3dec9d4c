"""Operators of com.microsoft, and recurrent networks, beside ONNX Runtime: one small model of random numbers each."""
import os

import baton as tvm
import numpy as np
import pytest
from baton import relay

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
onnx = pytest.importorskip("onnx")
helper = onnx.helper

RANDOM = np.random.default_rng(7)
MS = "com.microsoft"


def real(*shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype("float32")


def whole(low, high, *shape, dtype="uint8"):
    return RANDOM.integers(low, high, shape).astype(dtype)


def scalar(value, dtype="float32"):
    return np.array(value, dtype)


class Case:
    """`inputs`: arrays in order, None for one that is not given; those at `weights` are initializers. `step`: how far integers may be apart."""

    def __init__(self, op, inputs, outputs=1, weights=(), domain=MS, step=0, tolerance=1e-4, label="", wanted=None, **attributes):
        self.op, self.inputs, self.outputs, self.weights = op, inputs, outputs, set(weights)
        self.domain, self.step, self.tolerance, self.attributes = domain, step, tolerance, attributes
        self.name = op + (f"-{label}" if label else "")
        self.wanted = wanted

    def model(self):
        names = [f"x{i}" if each is not None else "" for i, each in enumerate(self.inputs)]
        outs = [f"y{i}" if not self.wanted or i in self.wanted else "" for i in range(self.outputs)]
        node = helper.make_node(self.op, names, outs, name="it", domain=self.domain, **self.attributes)
        given = [(name, each) for i, (name, each) in enumerate(zip(names, self.inputs)) if each is not None and i not in self.weights]
        inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape) for name, each in given]
        constants = [onnx.numpy_helper.from_array(each, name)
                     for i, (name, each) in enumerate(zip(names, self.inputs)) if each is not None and i in self.weights]
        graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name=name) for name in outs if name], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)], ir_version=8)
        return model.SerializeToString(), dict(given)

    def ours(self):
        model, inputs = self.model()
        module, _ = relay.frontend.from_onnx(model)
        with tvm.transform.PassContext(opt_level=1):
            got = relay.create_executor("vm", module, tvm.cpu(), "llvm").evaluate()(*inputs.values())
        return [each.numpy() for each in (got if isinstance(module["main"].ret_type, tvm.ir.TupleType) else [got])]

    def check(self, ort):
        model, inputs = self.model()
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        expected = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, inputs)
        for ours, theirs in zip(self.ours(), expected, strict=True):
            assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
            if theirs.dtype.kind in "iu":
                assert np.abs(ours.astype("int64") - theirs.astype("int64")).max(initial=0) <= self.step
            else:
                np.testing.assert_allclose(ours, theirs, rtol=self.tolerance, atol=self.tolerance)


B, S, H, N = 2, 3, 8, 2
D = H // N
SCALE, ZERO = scalar(0.05), scalar(120, "uint8")


def quantized(*shape):
    return [whole(0, 256, *shape), SCALE, ZERO]


def lstm(directions, inputs=5, hidden=4, gates=4, bias=8):
    return [real(directions, gates * hidden, inputs, scale=0.5), real(directions, gates * hidden, hidden, scale=0.5), real(directions, bias * hidden)]


CASES = [
    # Activations and layers.
    Case("BiasGelu", [real(2, 3, 4), real(4)]),
    Case("FastGelu", [real(2, 3, 4), real(4)]),
    Case("FastGelu", [real(2, 3)], label="plain"),
    Case("Gelu", [real(2, 3)]),
    Case("QuickGelu", [real(2, 3)], alpha=1.5),
    Case("FusedConv", [real(1, 3, 6, 6), real(4, 3, 3, 3), real(4), real(1, 4, 4, 4)], activation="Relu"),
    Case("FusedConv", [real(1, 3, 6, 6), real(4, 3, 3, 3)], label="leaky", activation="LeakyRelu", activation_params=[0.2]),
    Case("FusedGemm", [real(3, 4), real(5, 4), real(5)], activation="LeakyRelu", activation_alpha=0.3, transB=1, alpha=0.5),
    Case("FusedMatMul", [real(2, 4, 3), real(2, 5, 4)], transA=1, transB=1, alpha=2.0),
    Case("FusedMatMul", [real(3, 2, 4), real(2, 4, 5)], label="batch", transBatchA=1),
    Case("CDist", [real(3, 4), real(5, 4)], metric="euclidean"),
    Case("GridSample", [real(1, 2, 4, 5), real(1, 3, 2, 2)], mode="bilinear", padding_mode="border", align_corners=1),
    Case("GridSample", [real(1, 2, 4, 5), real(1, 3, 2, 2)], mode="bicubic", label="bicubic"),
    Case("Trilu", [real(2, 3, 4), scalar(1, "int64")], weights=[1], upper=0),
    Case("Trilu", [real(3, 4)], label="upper"),
    Case("Unique", [np.array([2, 1, 2, -0.5, 1, 7], "float32")], outputs=3),
    Case("ExpandDims", [real(2, 3), scalar(-1, "int32")], weights=[1]),
    Case("Pad", [real(2, 3), np.array([0, 1, 2, 0], "int64"), scalar(1.5)], weights=[1, 2]),
    Case("CropAndResize", [real(2, 3, 5, 6), np.array([[0, 0, 1, 1], [0.1, 0.2, 0.8, 0.7]], "float32"), np.array([0, 1], "int32"),
                           np.array([3, 4], "int32")], weights=[3]),
    Case("ConvTransposeWithDynamicPads", [real(1, 2, 4, 4), real(2, 3, 3, 3), np.array([1, 0, 1, 1], "int64"), real(3)], weights=[2], strides=[2, 2]),
    # Normalizations.
    Case("SkipLayerNormalization", [real(B, S, H), real(B, S, H), real(H), real(H), real(H)], outputs=4, wanted=[0, 3]),
    Case("SkipSimplifiedLayerNormalization", [real(B, S, H), real(B, S, H), real(H), real(H)], outputs=4, wanted=[0, 3]),
    Case("SimplifiedLayerNormalization", [real(B, S, H), real(H)], domain="", axis=-1, epsilon=1e-5, stash_type=1),
    Case("EmbedLayerNormalization", [whole(0, 9, B, S, dtype="int32"), whole(0, 2, B, S, dtype="int32"), real(9, H), real(6, H), real(2, H),
                                     real(H), real(H), np.array([[1, 1, 1], [1, 1, 0]], "int32")], outputs=2, epsilon=1e-12),
    # Attention.
    Case("Attention", [real(B, S, 6), real(6, 3 * H), real(3 * H)], num_heads=N),
    Case("Attention", [real(B, S, 6), real(6, 3 * H), real(3 * H), np.array([3, 2], "int32")], label="lengths", num_heads=N),
    Case("Attention", [real(B, S, 6), real(6, 3 * H), real(3 * H), np.array([3, 2, 0, 1], "int32")], label="ends-and-starts", num_heads=N),
    Case("Attention", [real(B, S, 6), real(6, 3 * H), real(3 * H), np.array([[1, 1, 1], [1, 1, 0]], "int32")], label="mask", num_heads=N,
         unidirectional=1),
    Case("Attention", [real(B, S, 6), real(6, 3 * H), real(3 * H), None, real(2, B, N, 4, D)], outputs=2, label="past", num_heads=N, unidirectional=1),
    Case("Attention", [real(B, S, 6), real(6, 2 * H + 4), real(2 * H + 4)], label="short-values", num_heads=N, qkv_hidden_sizes=[H, H, 4]),
    Case("MultiHeadAttention", [real(B, S, H), real(B, 5, H), real(B, 5, H), real(3 * H)], num_heads=N),
    Case("MultiHeadAttention", [real(B, S, H), real(B, 5, H), real(B, 5, H), None, np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], "int32"),
                                real(1, N, S, 5)], label="masks", num_heads=N),
    Case("MultiHeadAttention", [real(B, S, H), real(B, S, H), real(B, S, H), None, None, None, real(B, N, 4, D), real(B, N, 4, D)], outputs=3, label="past",
         num_heads=N, unidirectional=1),
    Case("RotaryEmbedding", [real(B, S, H), np.array([2], "int64"), real(10, D // 2), real(10, D // 2)]),
    Case("RotaryEmbedding", [real(B, N, S, D), whole(0, 10, B, S, dtype="int64"), real(10, D // 2), real(10, D // 2)], label="interleaved", interleaved=1),
    Case("GroupQueryAttention", [real(B, S, 4 * 8), real(B, S, 2 * 8), real(B, S, 2 * 8), None, None, np.array([S - 1, S - 1], "int32"),
                                 scalar(S, "int32")], outputs=3, num_heads=4, kv_num_heads=2),
    Case("GroupQueryAttention", [real(B, 1, 4 * 16), real(B, 1, 2 * 16), real(B, 1, 2 * 16), real(B, 2, 4, 16), real(B, 2, 4, 16),
                                 np.array([4, 4], "int32"), scalar(5, "int32"), real(10, 8), real(10, 8)], outputs=3, label="past", num_heads=4,
         kv_num_heads=2, do_rotary=1),
    Case("GroupQueryAttention", [real(B, 1, 4 * 16), real(B, 1, 2 * 16), real(B, 1, 2 * 16), real(B, 2, 8, 16), real(B, 2, 8, 16),
                                 np.array([4, 5], "int32"), scalar(6, "int32")], outputs=3, label="room", weights=[6], num_heads=4, kv_num_heads=2),
    Case("GroupQueryAttention", [real(B, S, 8 * 8), None, None, None, None, np.array([S - 1, S - 1], "int32"), scalar(S, "int32")], outputs=3,
         label="packed", num_heads=4, kv_num_heads=2, local_window_size=2),
    # Quantised.
    Case("QLinearAdd", quantized(2, 3) + quantized(3) + [scalar(0.1), ZERO], weights=[1, 2, 4, 5, 6, 7], step=1),
    Case("QLinearMul", quantized(2, 3) + quantized(2, 3) + [scalar(0.3), ZERO], weights=[1, 2, 4, 5, 6, 7], step=1),
    Case("QLinearConcat", [scalar(0.1), ZERO, *quantized(2, 3), whole(0, 256, 2, 2), scalar(0.1), ZERO], weights=[0, 1, 3, 4, 6, 7], axis=1),
    Case("QLinearSigmoid", [*quantized(2, 30), scalar(1 / 256), scalar(0, "uint8")], weights=[1, 2, 3, 4]),
    Case("QLinearLeakyRelu", [*quantized(2, 30), scalar(0.04), ZERO], weights=[1, 2, 3, 4], step=1, alpha=0.1),
    Case("QLinearSoftmax", [*quantized(2, 10), scalar(1 / 256), scalar(0, "uint8")], weights=[1, 2, 3, 4], step=1, axis=-1, opset=13),
    Case("QLinearAveragePool", [*quantized(1, 2, 6, 6), scalar(0.05), ZERO], weights=[1, 2, 3, 4], step=1, kernel_shape=[2, 2], strides=[2, 2]),
    Case("QLinearGlobalAveragePool", [*quantized(1, 2, 6, 6), scalar(0.02), ZERO], weights=[1, 2, 3, 4], step=1),
    Case("QLinearGlobalAveragePool", [*quantized(1, 6, 6, 2), scalar(0.02), ZERO], label="last", weights=[1, 2, 3, 4], step=1, channels_last=1),
    Case("QLinearWhere", [whole(0, 2, 2, 3, dtype="bool"), *quantized(2, 3), *quantized(2, 3), scalar(0.05), ZERO], weights=[2, 3, 5, 6, 7, 8], step=1),
    Case("QGemm", [whole(0, 256, 3, 4), SCALE, ZERO, whole(-128, 128, 5, 4, dtype="int8"), real(5) ** 2 / 50 + np.float32(0.01), whole(-3, 4, 5, dtype="int8"),
                   whole(-99, 99, 5, dtype="int32"), scalar(0.7), ZERO], weights=range(1, 9), step=1, transB=1),
    Case("QGemm", [whole(0, 256, 3, 4), SCALE, ZERO, whole(-128, 128, 4, 5, dtype="int8"), scalar(0.02), scalar(0, "int8")], label="float",
         weights=range(1, 6)),
    Case("QAttention", [whole(0, 256, B, S, 6), whole(-128, 128, 6, 3 * H, dtype="int8"), real(3 * H), scalar(0.01), scalar(0.02),
                        np.array([3, 2], "int32"), ZERO, scalar(0, "int8")], weights=range(1, 5), num_heads=N),
    Case("QEmbedLayerNormalization", [
        whole(0, 9, B, S, dtype="int32"), whole(0, 2, B, S, dtype="int32"), whole(0, 256, 9, H), whole(0, 256, 6, H), whole(0, 256, 2, H),
        whole(0, 256, H), whole(0, 256, H), np.array([[1, 1, 1], [1, 1, 0]], "int32"), SCALE, SCALE, SCALE, SCALE, SCALE, ZERO, ZERO, ZERO, ZERO,
        ZERO], outputs=2, weights=range(8, 18), epsilon=1e-12),
    Case("DynamicQuantizeMatMul", [real(3, 4), whole(-128, 128, 4, 5, dtype="int8"), scalar(0.02), scalar(3, "int8"), real(5)], weights=[1, 2, 3, 4]),
    Case("MatMulIntegerToFloat", [whole(0, 256, 2, 3, 4), whole(-128, 128, 4, 5, dtype="int8"), scalar(0.02), real(5) ** 2, ZERO,
                                  whole(-3, 4, 5, dtype="int8"), real(5)], weights=range(1, 7), tolerance=1e-3),
    Case("MatMulNBits", [real(2, 20), whole(0, 256, 5, 2, 8), real(5 * 2), whole(0, 256, 5)], weights=[1, 2, 3], K=20, N=5, bits=4, block_size=16),
    Case("MatMulNBits", [real(2, 32), whole(0, 256, 5, 2, 8), real(5 * 2)], label="no-zeros", weights=[1, 2], K=32, N=5, bits=4, block_size=16),
    Case("MatMulBnb4", [real(2, 16), whole(0, 256, 40), real(5)], weights=[1, 2], K=16, N=5, block_size=16, quant_type=1),
    Case("MatMulBnb4", [real(2, 16), whole(0, 256, 40), real(5)], label="fp4", weights=[1, 2], K=16, N=5, block_size=16, quant_type=0),
    Case("GatherBlockQuantized", [whole(0, 256, 6, 16), np.array([[1, -1], [5, 0]], "int64"), real(6, 2), whole(0, 256, 6, 1)], weights=[0, 2, 3],
         bits=4, block_size=16, gather_axis=0, quantize_axis=1),
    Case("DynamicQuantizeLSTM", [real(4, 2, 5), whole(-128, 128, 1, 5, 16, dtype="int8"), whole(-128, 128, 1, 4, 16, dtype="int8"), real(1, 32), None, None,
                                 None, None, np.array([0.01], "float32"), np.array([0], "int8"), np.array([0.01], "float32"), np.array([0], "int8")],
         outputs=3, weights=[1, 2, 3, 8, 9, 10, 11], hidden_size=4, tolerance=1e-3),
    # Others of ai.onnx.
    Case("Dropout", [real(2, 3), scalar(0), np.array(True)], outputs=2, domain=""),
    # Recurrent networks.
    Case("LSTM", [real(4, 2, 5), *lstm(2), np.array([4, 2], "int32"), real(2, 2, 4), real(2, 2, 4), real(2, 12)], outputs=3, domain="",
         hidden_size=4, direction="bidirectional"),
    Case("LSTM", [real(4, 2, 5), *lstm(1)], outputs=3, domain="", label="clipped", hidden_size=4, direction="reverse", clip=0.3, input_forget=1,
         activations=["HardSigmoid", "Elu", "Softsign"], activation_alpha=[0.3, 0.7], activation_beta=[0.4]),
    Case("LSTM", [real(70, 1, 5), *lstm(1)], outputs=3, domain="", label="long", hidden_size=4),
    Case("GRU", [real(4, 2, 5), *lstm(2, gates=3, bias=6), np.array([4, 2], "int32")], outputs=2, domain="", hidden_size=4, direction="bidirectional",
         linear_before_reset=1),
    Case("GRU", [real(4, 2, 5), *lstm(1, gates=3, bias=6), None, real(1, 2, 4)], outputs=2, domain="", label="reverse", hidden_size=4, direction="reverse"),
    Case("RNN", [real(4, 2, 5), *lstm(2, gates=1, bias=2), np.array([1, 4], "int32")], outputs=2, domain="", hidden_size=4, direction="bidirectional",
         activations=["ScaledTanh", "ThresholdedRelu"], activation_alpha=[0.9, 0.2], activation_beta=[1.1]),
]


@pytest.mark.peers
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_computes_what_onnx_runtime_does(case, onnxruntime):
    case.check(onnxruntime)


def test_packed_queries_keys_and_values_are_taken_apart():
    packed = real(B, S, N, 3, D)
    apart = [np.ascontiguousarray(packed[:, :, :, i]).reshape(B, S, H) for i in range(3)]
    together = Case("MultiHeadAttention", [packed], num_heads=N).ours()
    np.testing.assert_allclose(together[0], Case("MultiHeadAttention", apart, num_heads=N).ours()[0], rtol=1e-5)


@pytest.mark.parametrize("op, domain, why", [
    ("Inverse", MS, "inverses of matrices are not supported"), ("ReorderInput", "com.microsoft.nchwc", "ONNX Runtime optimised it for one machine; export it again"),
    ("RandomNormalLike", "", "random numbers are not supported")])
def test_what_cannot_be_had_is_refused_by_name(op, domain, why):
    with pytest.raises(Exception, match=f"{op} `it`: .*{why}"):
        relay.frontend.from_onnx(Case(op, [real(1, 1, 2, 2)], domain=domain).model()[0])


def test_random_zeros_are_refused():
    with pytest.raises(Exception, match="random zeros"):
        relay.frontend.from_onnx(Case("Dropout", [real(2, 3), scalar(0.5), np.array(True)], weights=[1, 2], domain="").model()[0])


@pytest.mark.peers
def test_sequences_of_any_length_are_loops(onnxruntime):
    weights = dict(zip("wrb", lstm(2)))
    node = helper.make_node("LSTM", ["x", *"wrb"], ["y", "h"], hidden_size=4, direction="bidirectional")
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["time", "batch", 5])],
                              [onnx.ValueInfoProto(name=name) for name in ("y", "h")], [onnx.numpy_helper.from_array(each, name) for name, each in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    module, _ = relay.frontend.from_onnx(model)
    function = relay.create_executor("vm", module, tvm.cpu(), "llvm").evaluate()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    for x in (real(1, 2, 5), real(7, 1, 5)):
        for ours, theirs in zip(function(x), session.run(None, {"x": x}), strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-4, atol=1e-5)
