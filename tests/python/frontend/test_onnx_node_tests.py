"""A tenth of the node tests of the wheel `onnx`; `./baton test --onnx` runs all."""
import importlib.util
import os

import numpy as np
import onnx.helper
import pytest

GROUPS = 8  # each a test of its own, so that none takes long


@pytest.fixture(scope="module", name="node_tests")
def _node_tests():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx_node_tests.py")
    spec = importlib.util.spec_from_file_location("onnx_node_tests", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", name="cases")
def _cases(node_tests):
    return node_tests.tenth(node_tests.load())


@pytest.mark.parametrize("group", range(GROUPS))
def test_a_tenth_of_the_node_tests(node_tests, cases, group):
    chosen = cases[group::GROUPS]
    assert len(chosen) > 10
    assert node_tests.unexpected(chosen) == {}


def test_a_wrong_result_is_seen(node_tests):
    info = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Neg", ["x"], ["y"])], "g", info[:1], info[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    x = np.array([1, 2], "float32")
    case = type("Case", (), {"name": "negation", "model": model, "rtol": 1e-3, "atol": 1e-7})
    for wanted, kind in [(-x, "passed"), (x, "failed"), (-x.astype("float64"), "failed"), (-x[:1], "failed"), ([x], "other")]:
        case.data_sets = [([x], [wanted])]
        assert node_tests.outcome(case).kind == kind
    graph.node[0].op_type = "Nonsense"
    model.graph.CopyFrom(graph)
    case.data_sets = [([x], [x])]
    assert node_tests.outcome(case).kind == "refused"
    assert node_tests.unexpected([case]).keys() == {"negation"}
