"""ONNX operators against onnx's reference evaluator, in forms of their inputs that matter to the importer.

Each line is computed three ways: the inputs behind the first are constants of the model; they come at run time; and the extents of the first
input are only known at run time, too.
"""
import baton as tvm
import numpy as np
import pytest
from baton import relay

onnx = pytest.importorskip("onnx", reason="onnx is not installed: ./baton bench installs it")
reference = pytest.importorskip("onnx.reference")
helper = onnx.helper


def ints(*values):
    return np.array(values, "int64")


def reals(*values):
    return np.array(values, "float32")


RANDOM = np.random.RandomState(0)  # pylint: disable=no-member


def some(*shape, dtype="float32"):
    return (RANDOM.randn(*shape) * 3).astype(dtype)


IMAGE, CUBE = some(2, 3, 5, 7), some(3, 4, 5)
WINDOWS = {"kernel_shape": [3, 2], "strides": [2, 3], "dilations": [2, 1], "pads": [1, 0, 0, 1], "ceil_mode": 1}
PLACES = RANDOM.randint(-4, 4, (3, 2, 5))

# operator, version, inputs, attributes, number of outputs
CASES = [
    ("Resize", 19, [IMAGE, None, reals(1, 1, 2, 2)], {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, 1),
    ("Resize", 19, [IMAGE, None, reals(1, 1, 0.6, 1.7)], {"mode": "cubic", "exclude_outside": 1}, 1),
    ("Resize", 19, [IMAGE, None, reals(0.5, 1, 1, 1.5)], {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"}, 1),
    ("Resize", 19, [IMAGE, None, None, ints(2, 3)], {"mode": "linear", "axes": [2, 3], "antialias": 1}, 1),
    ("Resize", 19, [IMAGE, None, None, ints(8, 4)], {"mode": "nearest", "axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}, 1),
    ("Resize", 18, [IMAGE, reals(0, 0, .1, .2, 1, 1, .8, 1.2), None, ints(2, 3, 4, 6)],
     {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}, 1),
    ("MaxPool", 22, [some(2, 3, 9, 11)], WINDOWS, 2),
    ("MaxPool", 22, [some(1, 2, 9)], {"kernel_shape": [3], "strides": [2], "storage_order": 1, "auto_pad": "SAME_UPPER"}, 2),
    ("AveragePool", 22, [some(2, 3, 9, 11)], WINDOWS | {"count_include_pad": 1}, 1),
    ("MaxUnpool", 22, [some(1, 1, 2, 2), ints(0, 3, 13, 15).reshape(1, 1, 2, 2), ints(1, 1, 5, 6)], {"kernel_shape": [2, 2], "strides": [2, 2]}, 1),
    ("Col2Im", 18, [some(2, 12, 12), ints(5, 5), ints(2, 3)], {"strides": [1, 1]}, 1),
    ("ConvTranspose", 22, [some(2, 4, 5), some(4, 6, 3), some(6)], {"strides": [2], "output_padding": [1], "pads": [1, 0]}, 1),
    ("DeformConv", 22, [some(1, 4, 5, 6), some(2, 4, 2, 2), some(1, 16, 4, 5) / 4, some(2), abs(some(1, 8, 4, 5))], {"offset_group": 2}, 1),
    ("GridSample", 22, [some(1, 2, 4, 5, 6), RANDOM.rand(1, 3, 4, 2, 3).astype("float32") * 3 - 1.5], {"mode": "cubic"}, 1),
    ("RoiAlign", 22, [some(2, 3, 6, 7), reals(0, 0, 9, 9, 3.3, 4.1, 3.5, 4.3).reshape(2, 4), ints(1, 0)],
     {"output_height": 3, "output_width": 2, "spatial_scale": 0.5, "mode": "max"}, 1),
    ("AffineGrid", 20, [some(1, 3, 4), ints(1, 2, 3, 4, 5)], {}, 1),
    ("NonMaxSuppression", 11, [np.sort(RANDOM.rand(2, 9, 2, 2), axis=2).reshape(2, 9, 4).astype("float32"), RANDOM.rand(2, 3, 9).astype("float32"),
                               ints(2 ** 40), reals(0.3), reals(0.2)], {}, 1),
    ("CenterCropPad", 18, [CUBE, ints(7, 2)], {"axes": [-1, 0]}, 1),
    ("Pad", 21, [CUBE, ints(1, 2, 1, 1), None, ints(-1, 1)], {"mode": "wrap"}, 1),
    ("Pad", 21, [some(2, 0, 3), ints(0, 1, 0, 0, 1, 1), np.float32(2)], {}, 1),
    ("ReduceSum", 13, [CUBE, ints(-1, 0)], {"keepdims": 0}, 1),
    ("ReduceMax", 20, [some(2, 0, 3), ints(1)], {}, 1),
    ("ReduceL2", 18, [abs(CUBE).astype("int32"), ints(1)], {}, 1),
    ("Squeeze", 13, [some(1, 3, 1), ints(-1)], {}, 1),
    ("Unsqueeze", 13, [CUBE, ints(-1, 0)], {}, 1),
    ("Slice", 13, [CUBE, ints(9, 2), ints(-99, 0), ints(1, 2), ints(-1, -2)], {}, 1),
    ("Tile", 13, [CUBE, ints(2, 0, 3)], {}, 1),
    ("Expand", 13, [some(3, 1), ints(2, 1, 4)], {}, 1),
    ("Reshape", 14, [some(0, 3), ints(3, 0)], {"allowzero": 1}, 1),
    ("Split", 18, [CUBE, ints(1, 0, 3)], {"axis": 1}, 3),
    ("TopK", 11, [CUBE, ints(3)], {"axis": 1, "largest": 0}, 2),
    ("OneHot", 11, [ints(0, 5, -1, 2), np.array(5), reals(2, 7)], {"axis": 0}, 1),
    ("CumProd", 26, [CUBE, np.array(-2)], {"exclusive": 1, "reverse": 1}, 1),
    ("Trilu", 14, [CUBE, np.array(-1)], {"upper": 0}, 1),
    ("GatherND", 13, [CUBE, np.array([[-1, 2], [0, -3]])], {}, 1),
    ("ScatterElements", 18, [CUBE, PLACES, some(3, 2, 5)], {"axis": 1, "reduction": "max"}, 1),
    ("Compress", 11, [CUBE, np.array([False, True, True])], {"axis": 0}, 1),
    ("Unique", 11, [RANDOM.randint(0, 2, (6, 3)).astype("float32")], {"axis": 0}, 4),
    ("TensorScatter", 24, [some(2, 3, 6, 4), some(2, 3, 3, 4), ints(1, 5)], {"mode": "circular"}, 1),
    ("Einsum", 12, [some(2, 3, 4), some(4, 5)], {"equation": "...ij,jk"}, 1),
    ("Mod", 28, [reals(5.5, -5.5, 5.5, -0.0, 1), reals(2, 2, -2, 3, -np.inf)], {}, 1),
    ("Det", 22, [some(2, 3, 4, 4)], {}, 1),
    ("DFT", 20, [some(2, 9, 2), np.array(17)], {"onesided": 1, "inverse": 1}, 1),
    ("DFT", 20, [some(1, 600, 1)], {}, 1),  # by factors
    ("STFT", 17, [some(2, 32, 1), np.array(5), abs(some(8))], {}, 1),
]


def model_of(op, version, inputs, attributes, outputs, way):
    """The model's bytes, and the arrays that it is to be given."""
    constants, given, arrays = [], [], []
    for k, array in enumerate(inputs):
        if array is None:
            continue
        if way == "constant" and k > 0:
            constants.append(onnx.numpy_helper.from_array(array, f"i{k}"))
            continue
        dims = [f"d{axis}" for axis in range(array.ndim)] if way == "symbolic" and k == 0 else array.shape
        given.append(helper.make_tensor_value_info(f"i{k}", helper.np_dtype_to_tensor_dtype(array.dtype), dims))
        arrays.append(array)
    names = ["" if array is None else f"i{k}" for k, array in enumerate(inputs)]
    node = helper.make_node(op, names, [f"o{k}" for k in range(outputs)], **attributes)
    graph = helper.make_graph([node], "graph", given, [onnx.ValueInfoProto(name=f"o{k}") for k in range(outputs)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10), arrays


def computed(model, arrays):
    module, _ = relay.frontend.from_onnx(model)
    result = relay.create_executor("vm", module, tvm.cpu(), "llvm").evaluate()(*[tvm.nd.array(each) for each in arrays])
    return [each.numpy() for each in (result if isinstance(result, (list, tuple)) or hasattr(result, "fields") else [result])]


@pytest.mark.parametrize("op, version, inputs, attributes, outputs", CASES, ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)])
def test_inputs_may_be_constants_or_come_at_run_time(op, version, inputs, attributes, outputs):
    wanted = reference.ReferenceEvaluator(model_of(op, version, inputs, attributes, outputs, "run time")[0]).run(
        None, {f"i{k}": array for k, array in enumerate(inputs) if array is not None})
    for way in ("constant", "run time", "symbolic"):
        for ours, theirs in zip(computed(*model_of(op, version, inputs, attributes, outputs, way)), wanted):
            theirs = np.asarray(theirs)
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), way
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4, err_msg=way)


def test_operands_of_two_symbols_broadcast_by_their_values():
    def typed(name, dims):
        return helper.make_tensor_value_info(name, 1, dims)

    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["y"])], "graph", [typed("a", ["n", 3]), typed("b", ["m", "k"])],
                              [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=10)
    for shapes in [((2, 3), (1, 1)), ((1, 3), (4, 3)), ((2, 3), (2, 1))]:
        a, b = [some(*shape) for shape in shapes]
        np.testing.assert_allclose(computed(model, [a, b])[0], a + b)
    with pytest.raises(Exception, match="(?s)Add that makes `o0`.*cannot broadcast"):
        computed(model, [some(2, 3), some(4, 3)])


def test_floats_of_16_bits_are_rounded_once():
    # float64 to float32 and to float16 would round the first one to even twice: up, and not down.
    x = np.array([1 + 2 ** -11 + 2 ** -40, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 65519.99, 65520, -65520, 2 ** -25, 2 ** -25 * 1.0001, np.nan, np.inf, -0.0])
    graph = helper.make_graph([helper.make_node("Cast", ["x"], ["y"], to=10)], "graph", [helper.make_tensor_value_info("x", 11, x.shape)],
                              [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    with np.errstate(over="ignore"):
        wanted = x.astype("float16")
    np.testing.assert_array_equal(computed(model, [x])[0].view("uint16"), wanted.view("uint16"))


def test_bfloat16_tensors_go_in_and_come_out():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    x = some(3, 4).astype(ml_dtypes.bfloat16)
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "graph", [helper.make_tensor_value_info("x", 16, x.shape)],
                              [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    np.testing.assert_array_equal(computed(model, [x])[0], (x + x).view("uint16"))
