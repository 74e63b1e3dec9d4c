"""relay.data_dep_optimization: programs with sparse or transposed weights compute what they did."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.relay import data_dep_optimization as ddo

random = np.random.default_rng(3)


def sparse(rows, columns, block, kept):
    """A matrix of which about `kept` of the blocks are not zero."""
    mask = np.kron(random.random((rows // block[0], columns // block[1])) < kept, np.ones(block, bool))
    return (random.normal(size=(rows, columns)) * mask).astype("float32")


def run(function, params, data):
    mod = tvm.IRModule.from_expr(function)
    return relay.create_executor("debug", mod=mod, target="llvm").evaluate()(data, **params).numpy()


def test_dense():
    x, w, v = relay.var("x", shape=(3, 16)), relay.var("w", shape=(32, 16)), relay.var("v", shape=(8, 32))
    function = relay.Function([x, w, v], relay.nn.dense(relay.nn.relu(relay.nn.dense(x, w)), v))
    params = {"w": tvm.nd.array(sparse(32, 16, (4, 2), 0.2)), "v": tvm.nd.array(random.normal(size=(8, 32)).astype("float32"))}
    data = random.normal(size=(3, 16)).astype("float32")
    expected = run(function, params, data)
    made, changed = ddo.bsr_dense.convert(function, dict(params), (4, 2), 0.5)
    assert sorted(changed) == ["v", "w.data", "w.indices", "w.indptr"] and "nn.sparse_dense" in str(made) and changed["w.data"].shape[1:] == (4, 2)
    np.testing.assert_allclose(run(made, changed, data), expected, rtol=1e-4, atol=1e-4)
    same, unchanged = ddo.bsr_dense.convert(function, dict(params), (4, 2), 0.99)
    assert same is function and sorted(unchanged) == ["v", "w"]
    with pytest.raises(ValueError, match="do not divide"):
        ddo.bsr_dense.convert(function, dict(params), (5, 1), 0.5)
    found = relay.analysis.process_params(function, dict(params), (4, 2), 0.5)
    assert found.weight_name == ["w"] and found.weight_shape[0][0][1:] == [4, 2] and found.weight_shape[0][2] == [9]


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_convolutions(layout):
    last = layout == "NHWC"
    x, w = relay.var("x", shape=(1, 5, 4, 16) if last else (1, 16, 5, 4)), relay.var("w", shape=(1, 1, 16, 8) if last else (8, 16, 1, 1))
    function = relay.Function([x, w], relay.nn.conv2d(x, w, kernel_size=(1, 1), channels=8, data_layout=layout, kernel_layout="HWIO" if last else "OIHW"))
    matrix = sparse(8, 16, (4, 1), 0.2)
    params = {"w": tvm.nd.array(np.ascontiguousarray(matrix.T).reshape(1, 1, 16, 8) if last else matrix.reshape(8, 16, 1, 1))}
    data = random.normal(size=x.type_annotation.concrete_shape).astype("float32")
    expected = run(function, params, data)
    made, changed = ddo.bsr_conv2d.convert(function, dict(params), (4, 1), 0.5, layout=layout)
    assert "nn.sparse_conv2d" in str(made) and sorted(changed) == ["w.data", "w.indices", "w.indptr"]
    np.testing.assert_allclose(run(made, changed, data), expected, rtol=1e-4, atol=1e-4)
    bound, _ = ddo.bsr_conv2d.convert2(function, dict(params), layout, 1, (4, 1), 0.5)
    assert "nn.sparse_conv2d" in str(bound) and len(bound.params) == 1
    np.testing.assert_allclose(run(bound, {}, data), expected, rtol=1e-4, atol=1e-4)
    with pytest.raises(NotImplementedError, match="kernel_size"):
        ddo.bsr_conv2d.convert(function, dict(params), (4, 1), 0.5, layout=layout, kernel_size=3)


def test_transposed_weights():
    x, w, v = relay.var("x", shape=(2, 4)), relay.var("w", shape=(4, 3)), relay.var("v", shape=(5, 3))
    function = relay.Function([x, w, v], relay.nn.dense(relay.nn.dense(x, relay.transpose(w, [1, 0])), v))
    params = {"w": tvm.nd.array(random.normal(size=(4, 3)).astype("float32")), "v": tvm.nd.array(random.normal(size=(5, 3)).astype("float32"))}
    data = random.normal(size=(2, 4)).astype("float32")
    expected = run(function, params, data)
    made, changed = ddo.simplify_fc_transpose.convert(function, params)
    assert sorted(changed) == ["v", "w.T"] and "transpose" not in str(made)
    np.testing.assert_allclose(run(made, changed, data), expected, rtol=1e-5)
