"""ScopeBuilder, while_loop, bind."""
import pytest

import baton as tvm
from baton import relay
from baton.relay.loops import while_loop
from baton.relay.scope_builder import ScopeBuilder, WithScope

X, Y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
CONDITION = relay.var("c", shape=(), dtype="bool")


def test_lets():
    builder = ScopeBuilder()
    twice = builder.let("twice", X + X)
    other = builder.let(("other", relay.TensorType((2,))), twice)
    third = builder.let(relay.var("third"), 1.0)
    builder.ret(relay.Tuple([other, third]))
    made = builder.get()
    assert made.var is twice and made.body.var is other and made.body.body.value.data.numpy() == 1.0
    assert other.type_annotation == relay.TensorType((2,)) and list(made.body.body.body.fields) == [other, third]


def test_branches():
    builder = relay.ScopeBuilder()
    with builder.if_scope(CONDITION):
        one = builder.let("one", X)
        builder.ret(one)
    with builder.else_scope():
        builder.ret(Y)
    made = builder.get()
    assert made.cond is CONDITION and isinstance(made.true_branch, relay.Let) and made.false_branch is Y


def test_types():
    builder = ScopeBuilder()
    assert builder.type_of(X) == relay.TensorType((2,))
    assert isinstance(builder.type_of(X + Y), relay.IncompleteType)
    builder.ret(X)
    assert builder.get().var.name_hint == "unify"


def test_mistakes():
    builder = ScopeBuilder()
    with pytest.raises(RuntimeError, match="ret is not called"):
        builder.get()
    with pytest.raises(RuntimeError, match="else scope must follow"):
        with builder.else_scope():
            builder.ret(X)
    builder.ret(X)
    with pytest.raises(RuntimeError, match="already set"):
        builder.ret(Y)
    with pytest.raises(RuntimeError, match="already returned before if"):
        with builder.if_scope(CONDITION):
            builder.ret(X)
    with pytest.raises(ValueError, match="Tuple"):
        builder.let(("a", None, None), X)
    half = ScopeBuilder()
    with half.if_scope(CONDITION):
        half.ret(X)
        with pytest.raises(RuntimeError, match="outermost"):
            half.get()
    with pytest.raises(RuntimeError, match="without else"):
        half.get()
    with pytest.raises(KeyError):
        with ScopeBuilder().if_scope(CONDITION):
            raise KeyError("mine")
    with WithScope(3, lambda: None) as value:
        assert value == 3


def test_while_loop():
    def bodies(i, total):
        return [i + relay.const(1), total + i]

    i, total = relay.var("i", shape=(), dtype="int32"), relay.var("total", shape=(), dtype="int32")
    loop = while_loop(lambda i, total: relay.less(i, relay.const(10)), [i, total], bodies)
    assert isinstance(loop, relay.Let) and loop.body is loop.var and loop.var.name_hint == "while_loop"
    assert [each.name_hint for each in loop.value.params] == ["i", "total"]
    function = relay.Function([], relay.TupleGetItem(loop(relay.const(0), relay.const(0)), 1))
    module = relay.transform.InferType()(tvm.IRModule.from_expr(function))
    assert module["main"].ret_type == relay.scalar_type("int32")


def test_bind():
    function = relay.Function([X, Y], X + Y)
    bound = relay.bind(function, {Y: relay.exp(relay.var("z"))})
    assert [each.name_hint for each in bound.params] == ["x", "z"] and bound.body.args[1].op.name == "exp"
    assert relay.bind(X * Y, {X: 2.0}).args[0].data.numpy() == 2.0
    assert relay.bind(function, {}) is function and relay.bind(function, {X: Y}).params == [Y]
    with pytest.raises(TypeError, match="Vars"):
        relay.bind(function, {"x": 1.0})
