"""ONNX files from Python and the command line. Files are written field by field: the wheel `onnx` is not needed."""
import json
import os
import subprocess
import sys

import baton as tvm
import numpy as np
import pytest
from baton import relay
from onnx_fields import field, integer, node, tensor, value


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


def test_initializers_can_be_parameters():
    module, params = relay.frontend.from_onnx(MODEL, {"x": (2, 3)}, freeze_params=False)
    assert [each.name_hint for each in module["main"].params] == ["x", "w"]
    np.testing.assert_array_equal(params["w"].numpy(), WEIGHT)
    x = np.array([[1, -2, 3], [-4, 5, -6]], "float32")
    with tvm.transform.PassContext(opt_level=3):
        library = relay.build(module, "llvm", params={"w": tvm.nd.array(2 * WEIGHT)})
    runner = tvm.contrib.graph_executor.GraphModule(library["default"](tvm.cpu()))
    runner.run(x=x)
    np.testing.assert_allclose(runner.get_output(0).numpy(), np.maximum(x @ (2 * WEIGHT), 0), rtol=1e-6)


def test_what_cannot_be_had_is_said():
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


def test_run_takes_open_extents_from_the_inputs(tmp_path):
    (tmp_path / "model.onnx").write_bytes(MODEL)
    np.savez(tmp_path / "in.npz", x=np.ones((5, 3), "float32"))

    def run(*args):
        return subprocess.run([os.environ["BATON_PROGRAM"], "run", "model.onnx", *args], capture_output=True, text=True, check=False,
                              cwd=tmp_path)

    done = run("--inputs", "in.npz", "-o", "out.npz")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["output0"], np.ones((5, 3), "float32") @ WEIGHT)
    assert "is float32[5, 3], the input %x is float32[4, 3]" in run("--inputs", "in.npz", "--shape", "batch=4").stderr
    assert "`x` has 5 along axis 0, and --shape gives `batch` 4" in run("--shape", "batch=4", "--shape", "x=5,3").stderr
    assert "--shape batch=1" in run("--executor", "graph").stderr
    assert "--inputs FILE.npz gives one, or --shape x=" in run().stderr  # the virtual machine needs values


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


def test_load_tells_files_apart_by_content(tmp_path):
    """What a file holds decides, not what it is called."""
    text = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(?, 3), float32]) {\n  nn.relu(%x)\n}\n'
    (tmp_path / "relay.onnx2").write_text(text)
    (tmp_path / "json.txt").write_text(tvm.ir.save_json(tvm.parser.fromtext(text)))
    (tmp_path / "onnx.txt").write_bytes(MODEL)
    (tmp_path / "none").write_bytes(b"\x7fELF\0\0")
    for name in ("relay.onnx2", "json.txt", "onnx.txt"):
        function = tvm.load(tmp_path / name, shape={"x": (2, 3)})["main"]
        assert function.body.op.name == "nn.relu" and [int(extent) for extent in function.params[0].checked_type.shape] == [2, 3], name
    symbolic = tvm.load(tmp_path / "onnx.txt", shape={"batch": 5})["main"]
    assert [int(extent) for extent in symbolic.params[0].checked_type.shape] == [5, 3]
    with pytest.raises(tvm.TVMError, match="neither Relay text, nor TVM's JSON, nor an ONNX file"):
        tvm.load(tmp_path / "none")
    with pytest.raises(tvm.TVMError, match="there is no model"):
        tvm.load("nothing-of-this-name")


def test_from_torch_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ImportError, match="pip install torch onnxscript"):
        tvm.from_torch(None, ())


ODD = "serving:0/a b=c,d"


def test_names_of_inputs_may_contain_anything(tmp_path):
    model = integer(1, 8) + field(8, integer(2, 17)) + field(7, node("Add", [ODD, "z"], ["y"]) + value(11, ODD, ["n", 3]) + value(11, "z", ["n", 3])
                                                             + value(12, "y", ["n", 3]))
    (tmp_path / "m.onnx").write_bytes(model)

    def baton(*args):
        return subprocess.run([os.environ["BATON_PROGRAM"], *args], capture_output=True, text=True, check=False, cwd=tmp_path)

    x = np.arange(6, dtype="float32").reshape(2, 3)
    for shape in (ODD + "=2x3", ODD + "=2,3", "n=2"):
        np.savez(tmp_path / "in.npz", **{ODD: x, "z": x})
        done = baton("run", "m.onnx", "--shape", shape, "--input-name", ODD, "--input-name", "z", "--inputs", "in.npz", "--output", "out.npz")
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(next(iter(np.load(tmp_path / "out.npz").values())), 2 * x)
    for name, array, why in [(ODD, x.astype("float64"), "float64"), (ODD, x[:1], "float32[1, 3]"), ("w", x, "is no input of the model")]:
        np.savez(tmp_path / "in.npz", **{name: array})
        done = baton("run", "m.onnx", "--shape", "n=2", "--input-name", ODD, "--inputs", "in.npz")
        assert done.returncode == 1 and why in done.stderr and name in done.stderr, done.stderr
    done = baton("explain", "m.onnx", "--shape", "n=2", "--shape", "n=3")
    assert done.returncode == 2 and "two values" in done.stderr


def test_a_symbol_has_one_size_at_run_time():
    graph = node("Add", ["x", "w"], ["y"]) + value(11, "x", ["n"]) + value(11, "w", ["n"]) + value(12, "y", ["n"])
    module, _ = relay.frontend.from_onnx(integer(1, 8) + field(8, integer(2, 17)) + field(7, graph))
    function = relay.create_executor("vm", module, tvm.cpu(), "llvm").evaluate()
    np.testing.assert_array_equal(function(np.ones(3, "float32"), np.ones(3, "float32")).numpy(), np.full(3, 2, "float32"))
    with pytest.raises(tvm.TVMError, match=r"axis 0 of %w and axis 0 of %x \(n\) must be equal, and are 1 and 3"):
        function(np.ones(3, "float32"), np.ones(1, "float32"))
    with pytest.raises(ValueError, match="main takes 2 arguments"):
        function(np.ones(3, "float32"))


@pytest.mark.parametrize("a, b", [
    (["n", 2, "l", 4], ["n", 2, 4, "l"]), (["n", 2, "l", 4], [1, 2, 4, 3]), ([2, "n", 3, 4], [1, 1, 4, 5]), (["l", "n", 3, 4], ["l", "n", 4, 2]),
    (["n", 2, 3, 1, 4], ["n", 2, 3, 4, 2]),
])
def test_products_over_batches_of_unknown_extents(a, b):
    graph = node("MatMul", ["a", "b"], ["y"]) + value(11, "a", a) + value(11, "b", b) + value(12, "y", [])
    module, _ = relay.frontend.from_onnx(integer(1, 8) + field(8, integer(2, 17)) + field(7, graph))
    function = relay.create_executor("vm", module, tvm.cpu(), "llvm").evaluate()
    random = np.random.default_rng(0)
    for sizes in ({"n": 1, "l": 3}, {"n": 3, "l": 2}):
        x, y = (random.random([sizes.get(dim, dim) for dim in dims], "float32") for dims in (a, b))
        np.testing.assert_allclose(function(x, y).numpy(), x @ y, rtol=1e-5)


def test_batches_of_which_one_may_be_broadcast_are_refused():
    graph = node("MatMul", ["a", "b"], ["y"]) + value(11, "a", ["n", 2, 3, 4]) + value(11, "b", ["m", 2, 4, 3]) + value(12, "y", [])
    with pytest.raises(NotImplementedError, match="batches are n and m, of which one may be 1"):
        relay.frontend.from_onnx(integer(1, 8) + field(8, integer(2, 17)) + field(7, graph))


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


def test_a_plan_says_which_node_needs_values_and_what_to_do(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of(node("ReduceSum", ["a", "b"], ["y"], "red"), {"a": (1, [2, 3]), "b": (7, [1])}))
    done = subprocess.run([os.environ["BATON_PROGRAM"], "run", path, "--executor", "graph"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "of `red` needs the values of its inputs" in done.stderr and "relay.vm.compile" in done.stderr


def test_what_is_wrong_at_run_time_is_said():
    with pytest.raises(Exception, match=r"(?s)Unsqueeze.*axis 7 of a tensor of rank 2"):
        at_run_time(node("Unsqueeze", ["a", "b"], ["y"]), np.ones(2, "float32"), np.array([7]))


def test_padding_is_never_the_largest_element():
    pool = with_attributes("MaxPool", ["a"], ["", "y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    np.testing.assert_array_equal(at_run_time(pool, np.full((1, 1, 2, 2), -np.inf, "float32")), np.zeros((1, 1, 2, 2)))
    np.testing.assert_array_equal(at_run_time(pool, np.arange(4, dtype="float32").reshape(1, 1, 2, 2)), np.full((1, 1, 2, 2), 3))
