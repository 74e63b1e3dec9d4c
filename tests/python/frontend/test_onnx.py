"""ONNX files from Python and the command line. Files are written field by field: the wheel `onnx` is not needed."""
import json
import os
import subprocess

import baton as tvm
import numpy as np
import pytest
from baton import relay


def varint(value):
    parts = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def integer(number, value):
    return varint(number << 3) + varint(value)


def field(number, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def node(op, inputs, outputs, name=""):
    return field(1, b"".join(field(1, each) for each in inputs) + b"".join(field(2, each) for each in outputs) + field(4, op) + field(3, name))


def tensor(name, array):
    return field(5, b"".join(integer(1, extent) for extent in array.shape) + integer(2, 1) + field(8, name) + field(9, array.tobytes()))


def value(number, name, dims):
    shape = b"".join(field(1, field(2, dim) if isinstance(dim, str) else integer(1, dim)) for dim in dims)
    return field(number, field(1, name) + field(2, field(1, integer(1, 1) + field(2, shape))))


WEIGHT = np.arange(12, dtype="float32").reshape(3, 4)
MODEL = integer(1, 8) + field(8, integer(2, 17)) + field(
    7, node("MatMul", ["x", "w"], ["a"], "/fc/MatMul") + node("Relu", ["a"], ["y"]) + tensor("w", WEIGHT) + value(11, "x", ["batch", 3])
    + value(12, "y", ["batch", 4]))


def test_a_model_computes_what_its_nodes_do():
    module, params = relay.frontend.from_onnx(MODEL, {"x": (2, 3)})
    assert params == {}
    x = np.array([[1, -2, 3], [-4, 5, -6]], "float32")
    function = relay.create_executor("graph", module, tvm.cpu(), "llvm").evaluate()
    np.testing.assert_allclose(function(x).numpy(), np.maximum(x @ WEIGHT, 0), rtol=1e-6)


def test_what_cannot_be_had_is_said():
    with pytest.raises(NotImplementedError, match="freeze_params"):
        relay.frontend.from_onnx(MODEL, freeze_params=False)
    with pytest.raises(TypeError, match="ModelProto, a path or bytes, not NoneType"):
        relay.frontend.from_onnx(None)
    with pytest.raises(tvm.TVMError, match="is no ONNX file, or damaged"):
        relay.frontend.from_onnx(MODEL[:-3])
    with pytest.raises(Exception, match="there is no rule for 1 operator:\n  ai.onnx.Wond"):
        relay.frontend.from_onnx(MODEL.replace(b"Relu", b"Wond"))


def test_the_command_line_reads_it_by_its_content(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(MODEL)
    done = subprocess.run([os.environ["BATON_PROGRAM"], "explain", path, "--shape", "batch=2", "--json"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert {each["source"] for each in json.loads(done.stdout)["operators"]} == {"/fc/MatMul", "Relu_1"}


def test_its_report_names_nodes_and_no_lines(tmp_path):
    (tmp_path / "model.onnx").write_bytes(MODEL)

    def baton(*args):
        done = subprocess.run([os.environ["BATON_PROGRAM"], *args], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    text = baton("profile", "model.onnx", "--shape", "batch=2", "--max-seconds", "0.5", "--no-unfused", "--no-peaks", "-o", "p.json")
    assert "Relu" in text and "lines are those of" not in text
    assert "model.onnx on llvm" in baton("report", "p.json")
    assert {each["source"] for each in json.loads((tmp_path / "p.json").read_text())["operators"]} == {"/fc/MatMul", "Relu_1"}


def model_of(nodes, inputs, opset=22):
    """`inputs`: {name: (element, dims)}; the output is `y`."""
    def typed(number, name, element, dims):
        shape = b"".join(field(1, field(2, dim) if isinstance(dim, str) else integer(1, dim)) for dim in dims)
        return field(number, field(1, name) + field(2, field(1, integer(1, element) + field(2, shape))))

    return integer(1, 8) + field(8, integer(2, opset)) + field(
        7, nodes + b"".join(typed(11, name, *of) for name, of in inputs.items()) + value(12, "y", []))


def with_attributes(op, inputs, outputs, **attributes):
    more = b""
    for name, given in attributes.items():
        kind, content = (7, b"".join(integer(8, each) for each in given)) if isinstance(given, list) else (
            3, field(4, given)) if isinstance(given, str) else (2, integer(3, given))
        more += field(5, field(1, name) + content + integer(20, kind))
    return field(1, b"".join(field(1, each) for each in inputs) + b"".join(field(2, each) for each in outputs) + field(4, op) + more)


def computed(nodes, x):
    module, _ = relay.frontend.from_onnx(model_of(nodes, {"x": (1, x.shape)}))
    return relay.create_executor("graph", module, tvm.cpu(), "llvm").evaluate()(x).numpy()


def test_halves_are_rounded_to_even_numbers():
    x = np.array([-3.5, -2.5, -1.5, -0.5, -0.2, 0, 0.5, 1.4999, 1.5, 2.5, 8388609.0, np.inf, -np.inf, np.nan], "float32")
    np.testing.assert_array_equal(computed(node("Round", ["x"], ["y"]), x), np.round(x))


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
def test_windows_that_begin_behind_the_data_are_left_out(op):
    pool = with_attributes(op, ["x"], ["y"], kernel_shape=[1, 1], strides=[2, 2], ceil_mode=1)
    x = np.arange(4, dtype="float32").reshape(1, 1, 2, 2)
    np.testing.assert_array_equal(computed(pool, x), x[:, :, ::2, ::2])
    padded = with_attributes(op, ["x"], ["y"], kernel_shape=[3, 3], strides=[3, 3], pads=[0, 0, 2, 2], ceil_mode=1)
    assert computed(padded, np.ones((1, 1, 3, 3), "float32")).shape == (1, 1, 1, 1)


@pytest.mark.parametrize("nodes, inputs, why", [
    (with_attributes("Cast", ["x"], ["y"], to=22), {"x": (1, [2])}, "casts to int4 are not supported"),
    (with_attributes("SpaceToDepth", ["x"], ["y"], blocksize=2, mode="RCD"), {"x": (1, [1, 1, 2, 2])}, "RCD"),
    (node("ImageDecoder", ["x"], ["y"]), {"x": (2, [9])}, "ai.onnx.ImageDecoder"),
    (node("Relu", ["x"], ["y"]), {"x": (21, [2])}, "`x` is of type uint4"),
    (node("Unsqueeze", ["x", "a"], ["y"]), {"x": (1, [2]), "a": (7, ["?"])}, "rank is only known at run time"),
])
def test_what_would_be_computed_otherwise_is_refused(nodes, inputs, why):
    with pytest.raises(Exception, match=why):
        relay.frontend.from_onnx(model_of(nodes, inputs))


def at_run_time(nodes, *arrays):
    """With the inputs `a`, `b`, ... of these arrays, whose values nothing of the model says."""
    names = "abc"[:len(arrays)]
    elements = {"float32": 1, "int64": 7, "bool": 9}
    module, _ = relay.frontend.from_onnx(model_of(nodes, {name: (elements[each.dtype.name], each.shape) for name, each in zip(names, arrays)}))
    return relay.create_executor("vm", module, tvm.cpu(), "llvm").evaluate()(*arrays).numpy()


def test_axes_and_sizes_may_come_at_run_time():
    x = np.arange(24, dtype="float32").reshape(2, 3, 4)
    reduced = with_attributes("ReduceSum", ["a", "b"], ["y"], keepdims=0)
    np.testing.assert_allclose(at_run_time(reduced, x, np.array([0, -1])), x.sum((0, 2)))
    np.testing.assert_array_equal(at_run_time(node("Unsqueeze", ["a", "b"], ["y"]), x, np.array([-1, 0])), x[None, ..., None])
    np.testing.assert_array_equal(at_run_time(node("Expand", ["a", "b"], ["y"]), x, np.array([2, 1, 1, 1])), np.stack([x, x]))
    resized = with_attributes("Resize", ["a", "", "", "b"], ["y"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    np.testing.assert_array_equal(at_run_time(resized, x, np.array([2, 6, 4])), x.repeat(2, 1))


def test_what_is_wrong_at_run_time_is_said():
    with pytest.raises(Exception, match=r"(?s)Unsqueeze.*axis 7 of a tensor of rank 2"):
        at_run_time(node("Unsqueeze", ["a", "b"], ["y"]), np.ones(2, "float32"), np.array([7]))
    with pytest.raises(Exception, match="training_mode"):
        at_run_time(node("Dropout", ["a", "", "b"], ["y"]), np.ones(2, "float32"), np.array(True))


def test_padding_is_never_the_largest_element():
    pool = with_attributes("MaxPool", ["a"], ["", "y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    np.testing.assert_array_equal(at_run_time(pool, np.full((1, 1, 2, 2), -np.inf, "float32")), np.zeros((1, 1, 2, 2)))
    np.testing.assert_array_equal(at_run_time(pool, np.arange(4, dtype="float32").reshape(1, 1, 2, 2)), np.full((1, 1, 2, 2), 3))
