"""relay.transform.gradient, its passes, and gradients of operators written in Python."""
import pytest

import baton as tvm
from baton import relay

SQUARE = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) { multiply(%x, %x) }
"""


def test_gradient_of_a_function():
    module = tvm.parser.fromtext(SQUARE)
    for mode in ("higher_order", "first_order"):
        gradient = relay.transform.gradient(module["main"], module, mode=mode)
        other = tvm.IRModule.from_expr(gradient)
        typed = relay.transform.InferType()(other)["main"]
        shape = relay.TensorType((2, 3), "float32")
        assert typed.ret_type == relay.TupleType([shape, relay.TupleType([shape])])
    with pytest.raises(tvm.error.UsageError, match="mode"):
        relay.transform.gradient(module["main"], module, mode="second_order")


def test_gradient_without_a_module():
    x = relay.var("x", shape=(3,), dtype="float32")
    gradient = relay.transform.gradient(relay.Function([x], relay.exp(x)), mode="first_order")
    assert "zeros_like" in str(gradient)


def test_first_order_gradient_and_lazy_gradient_init():
    module = tvm.parser.fromtext(SQUARE)
    assert str(relay.transform.FirstOrderGradient()) == "Run Module pass: FirstOrderGradient at the optimization level 0"
    assert str(relay.transform.LazyGradientInit()) == "Run Function pass: LazyGradientInit at the optimization level 2"
    assert "collapse_sum_like" in relay.transform.FirstOrderGradient()(module).astext()
    assert "MultiplyGradCell" in relay.transform.LazyGradientInit()(module).astext()


def test_register_gradient():
    @relay.op.register_gradient("trunc")
    def straight_through(orig, grad):
        assert orig.args[0].checked_type == relay.TensorType((3,), "float32")
        return [grad * relay.ones_like(orig.args[0])]

    relay.op.register_gradient("sign", lambda orig, grad: [grad, grad])
    x = relay.var("x", shape=(3,), dtype="float32")
    gradient = relay.transform.gradient(relay.Function([x], relay.trunc(x)), mode="first_order")
    assert "multiply" in str(gradient)
    with pytest.raises(tvm.TVMError, match="sign must have one part for each of its 1 arguments"):
        relay.transform.gradient(relay.Function([x], relay.sign(x)), mode="first_order")
