"""structural_hash is one for two values where structural_equal says yes, and only there."""
import pytest

import baton as tvm
from baton import relay

T1, T3 = relay.TensorType((3, 4)), relay.TensorType((3, 4, 5))
A, B, SHAPE = relay.TypeVar("a"), relay.TypeVar("b"), relay.TypeVar("s", relay.TypeKind.ShapeVar)
X, Y = relay.Var("x"), relay.Var("y")
N, M = tvm.te.var("n"), tvm.te.var("m")
BROADCAST, IDENTITY = (tvm.ir.EnvFunc.get("tvm.relay.type_relation." + name) for name in ("Broadcast", "Identity"))
MODULE = tvm.IRModule()
relay.prelude.Prelude(MODULE)
_, CONS, NIL = MODULE.get_type("List")


def are_equal(left, right, map_free_vars=False):
    equal = tvm.ir.structural_equal(left, right, map_free_vars)
    assert equal == tvm.ir.structural_equal(right, left, map_free_vars)
    assert equal == (tvm.ir.structural_hash(left, map_free_vars) == tvm.ir.structural_hash(right, map_free_vars))
    return equal


def match(pattern, body, complete=True):
    return relay.Match(X, [relay.Clause(pattern, body)], complete)


def attrs(name):
    return tvm.ir.make_node("DictAttrs", name=name, padding=(3, 4))


def function(size, *kinds):
    p = relay.var("p", shape=(size,))
    return relay.Function([p], p + p, None, list(kinds))


EQUAL = [
    lambda: (T1, relay.TensorType((3, 4))), lambda: (relay.TensorType((N,)), relay.TensorType((N,))), lambda: (A, A), lambda: (N + 1, 1 + N),
    lambda: (relay.FuncType([A], A, [A]), relay.FuncType([B], B, [B])), lambda: (relay.FuncType([A, B], A, [A, B]), relay.FuncType([B, A], B, [B, A])),
    lambda: (relay.TupleType([A, B]), relay.TupleType([A, B])), lambda: (relay.RefType(T1), relay.RefType(T1)),
    lambda: (relay.TypeRelation(BROADCAST, [T1, T3], 1, attrs("a")), relay.TypeRelation(BROADCAST, [T1, T3], 1, attrs("a"))),
    lambda: (relay.Let(X, relay.const(1), X), relay.Let(Y, relay.const(1), Y)), lambda: (function(1), function(1)), lambda: (relay.Tuple([X, Y]), relay.Tuple([X, Y])),
    lambda: (match(relay.PatternConstructor(NIL, []), Y), match(relay.PatternConstructor(NIL, []), Y)), lambda: (attrs("a"), attrs("a")),
    lambda: (tvm.runtime.convert({"a": 1, "b": X}), tvm.runtime.convert({"b": X, "a": 1})), lambda: (tvm.nd.array([1, 2]), tvm.nd.array([1, 2])),
    lambda: (tvm.IRModule.from_expr(function(1)), tvm.IRModule.from_expr(function(1))),
]
DIFFERENT = [
    lambda: (T1, T3), lambda: (relay.TensorType((N,)), relay.TensorType((M,))), lambda: (N, M), lambda: (A, B), lambda: (A, SHAPE),
    lambda: (relay.FuncType([A, B], A, [A, B]), relay.FuncType([A, B], B, [A, B])), lambda: (relay.FuncType([A, B], A, [A, B]), relay.FuncType([A, B], A, [B, A])),
    lambda: (relay.FuncType([], T1, [A]), relay.FuncType([], T1, [SHAPE])), lambda: (relay.FuncType([], T1, [A]), relay.FuncType([], T1)),
    lambda: (relay.TupleType([A, B]), relay.TupleType([B, A])), lambda: (relay.TupleType([A]), relay.TupleType([A, A])),
    lambda: (relay.TypeRelation(BROADCAST, [T1], 1, None), relay.TypeRelation(IDENTITY, [T1], 1, None)),
    lambda: (relay.TypeRelation(BROADCAST, [T1, T3], 1, None), relay.TypeRelation(BROADCAST, [T3, T1], 1, None)),
    lambda: (relay.TypeRelation(BROADCAST, [T1, T3], 1, None), relay.TypeRelation(BROADCAST, [T1, T3], 2, None)),
    lambda: (relay.TypeRelation(BROADCAST, [T1], 1, attrs("a")), relay.TypeRelation(BROADCAST, [T1], 1, attrs("b"))),
    lambda: (relay.TypeCall(relay.GlobalTypeVar("G"), [T1]), relay.TypeCall(relay.GlobalTypeVar("H"), [T1])), lambda: (X, Y), lambda: (X, T1),
    lambda: (relay.Tuple([X, Y]), relay.Tuple([Y, X])), lambda: (relay.Tuple([X]), relay.Tuple([X, X])), lambda: (relay.const(1), relay.const(1.0)),
    lambda: (relay.const(1), relay.const(1, "int64")), lambda: (relay.op.get("add"), relay.op.get("subtract")), lambda: (function(1), function(2)),
    lambda: (function(1), function(1).with_attr("A", "x")), lambda: (function(1, A), function(1, A, B)), lambda: (relay.If(X, X, Y), relay.If(X, Y, X)),
    lambda: (match(relay.PatternConstructor(CONS, [relay.PatternVar(Y), relay.PatternWildcard()]), Y),
             match(relay.PatternConstructor(CONS, [relay.PatternWildcard(), relay.PatternVar(Y)]), Y)),
    lambda: (match(relay.PatternWildcard(), X), match(relay.PatternWildcard(), X, False)), lambda: (CONS, NIL), lambda: (attrs("a"), attrs("b")),
    lambda: (tvm.nd.array([1, 2]), tvm.nd.array([1, 3])), lambda: ([1, 2], [2, 1]), lambda: ({"a": 1}, {"a": 2}),
]


@pytest.mark.parametrize("number", range(len(EQUAL)))
def test_equal(number):
    left, right = EQUAL[number]()
    assert are_equal(left, right) and are_equal(left, right, True)


@pytest.mark.parametrize("number", range(len(DIFFERENT)))
def test_different(number):
    assert not are_equal(*DIFFERENT[number]())


def test_free_variables_that_are_mapped():
    for left, right in ((A, B), (X, Y), (N, M), (relay.TensorType((N,)), relay.TensorType((M,))), (relay.Tuple([X, X]), relay.Tuple([Y, Y])),
                        (relay.TupleType([A, B]), relay.TupleType([B, A]))):
        assert are_equal(left, right, True)
    for left, right in ((A, SHAPE), (relay.Tuple([X, X]), relay.Tuple([X, Y])), (relay.TupleType([A, A]), relay.TupleType([A, B]))):
        assert not are_equal(left, right, True)
