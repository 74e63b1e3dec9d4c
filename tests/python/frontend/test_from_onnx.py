"""relay.frontend.from_onnx, as TVM has it: parameters, versions of operators, warnings."""
import baton as tvm
import numpy as np
import onnx
import onnx.parser
import pytest
from baton import relay


def test_what_is_computed_of_parameters_stays_and_what_shapes_need_does_not():
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 18]>
g (float[2, 3] x) => (float[6] y)
<float[3] scale = {1.0, 2.0, 3.0}, float[3] unused = {1.0, 2.0, 3.0}, int64[1] size = {6}, float low = {0.0}, float high = {4.0}> {
  twice = Add(scale, scale)
  a = Mul(x, twice)
  b = Clip(a, low, high)
  y = Reshape(b, size)
}""")
    module, params = relay.frontend.from_onnx(model, freeze_params=False)
    assert [each.name_hint for each in module["main"].params] == ["x", "scale"] and list(params) == ["scale"]
    function = relay.create_executor("graph", module, tvm.cpu(), "llvm").evaluate()
    x = np.array([[1, -1, 0.5], [0.25, 3, 0]], "float32")
    np.testing.assert_allclose(function(x, np.array([1, 1, 2], "float32")).numpy(), np.clip(x * [2, 2, 4], 0, 4).reshape(6))
    frozen, none = relay.frontend.from_onnx(model)
    assert none == {} and [each.name_hint for each in frozen["main"].params] == ["x"]


def test_another_opset_and_open_shapes_are_warned_of():
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 13]>
g (float[n, 3, 2] x) => (float[n, 3, 2] y) { y = Softmax(x) }""")
    with pytest.warns(UserWarning, match=r"Input x has unknown dimension shapes: \['n', 3, 2\]"):
        last, _ = relay.frontend.from_onnx(model)
    with pytest.warns(UserWarning, match="overwritting original opset ver = 13"):
        from_first, _ = relay.frontend.from_onnx(model, {"x": (1, 3, 2)}, opset=12)  # one axis of 6
    x = np.arange(6, dtype="float32").reshape(1, 3, 2)

    def run(module):
        return relay.create_executor("vm", module, tvm.cpu(), "llvm").evaluate()(x).numpy()

    np.testing.assert_allclose(run(last).sum(axis=2), np.ones((1, 3)), rtol=1e-6)
    np.testing.assert_allclose(run(from_first).sum(), 1, rtol=1e-6)
