"""FlexibleShapeDispatch: copies of main for some extents, one for all others, and a main that chooses."""
import numpy as np
import pytest

import baton as tvm
from baton import relay


def network():
    x, w = relay.var("x", shape=(1, 6)), relay.var("w", shape=(4, 6))
    hidden = relay.nn.dense(x, w)
    return tvm.IRModule.from_expr(relay.Function([x, w], relay.Tuple([relay.nn.relu(hidden), relay.tanh(hidden)])))


@pytest.mark.parametrize("auto_pad", [False, True])
@pytest.mark.parametrize("kind", ["vm", "debug"])
def test_batches_of_every_size(kind, auto_pad):
    module = relay.transform.FlexibleShapeDispatch([2, 4], auto_pad=auto_pad, input_indices=[0])(network())
    assert {each.name_hint for each in module.get_global_vars()} == {"main", "main_2", "main_4", "main_dynamic"}
    assert isinstance(module["main"].params[0].checked_type.shape[0], relay.Any)
    run = relay.create_executor(kind, mod=module, target="llvm").evaluate()
    generator = np.random.default_rng(0)
    weight = generator.random((4, 6), dtype="float32") - 0.5
    for batch in (1, 2, 3, 4, 7):
        data = generator.random((batch, 6), dtype="float32") - 0.5
        positive, bounded = run(data, weight)
        np.testing.assert_allclose(positive.numpy(), np.maximum(data @ weight.T, 0), atol=1e-6)
        np.testing.assert_allclose(bounded.numpy(), np.tanh(data @ weight.T), atol=1e-6)


def test_another_axis_and_wrong_use():
    x = relay.var("x", shape=(3, 5))
    module = relay.transform.FlexibleShapeDispatch([4], axis=1, auto_pad=True)(tvm.IRModule.from_expr(relay.exp(x)))
    data = np.ones((3, 2), "float32")
    found = relay.create_executor("vm", mod=module, target="llvm").evaluate()(data).numpy()
    np.testing.assert_allclose(found, np.exp(data), rtol=1e-6)
    with pytest.raises(ValueError, match="positive"):
        relay.transform.FlexibleShapeDispatch([])
    with pytest.raises(ValueError, match="no axis 3"):
        relay.transform.FlexibleShapeDispatch([2], axis=3)(network())
