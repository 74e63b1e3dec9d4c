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
