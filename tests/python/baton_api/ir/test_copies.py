"""Pickling, copying, make_node, containers, attributes: nodes as values of Python's."""
import copy
import pickle

import pytest

import baton as tvm
from baton import relay
from programs import CONV, DENSE
from test_adt import make_list

X = relay.var("x", shape=(2, 3))


def ways(value):
    return [copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))]


@pytest.mark.parametrize("make", [
    lambda: tvm.parser.fromtext(CONV), lambda: tvm.parser.fromtext(DENSE)["main"], lambda: tvm.parser.fromtext(CONV)["main"].body,
    lambda: relay.const([1.0, 2.0]), lambda: relay.Tuple([X, X]), lambda: relay.Let(X, relay.const(1.0), X), lambda: make_list()[0],
])
def test_programs(make):
    for again in ways(make()):
        assert tvm.ir.structural_equal(again, make(), map_free_vars=True) and type(again) is type(make())


def test_small_things():
    for again in ways(relay.op.get("add")):
        assert again is relay.op.get("add")
    for again in ways(X):
        assert again is not X and again.name_hint == "x" and again.type_annotation == X.type_annotation
    for again in ways(tvm.ir.GlobalVar("f")):
        assert again.name_hint == "f"
    for kind in (relay.TensorType((1, relay.Any()), "int8"), relay.TupleType([relay.scalar_type("bool")]),
                 relay.RefType(relay.TensorType((2,))), relay.FuncType([relay.TensorType((2,))], relay.TensorType((3,)))):
        assert all(again == kind for again in ways(kind))
    module, header, cons, _ = make_list()
    for again in ways(module[header]):
        assert tvm.ir.structural_equal(again, module[header]) and again.header == header
    clause = relay.Clause(relay.PatternVar(X), X)
    for again in ways(clause):
        assert again.lhs.var is again.rhs
    for again in ways(relay.PatternTuple([relay.PatternWildcard()])):
        assert isinstance(again, relay.PatternTuple)


def test_attributes():
    call = tvm.parser.fromtext(CONV)["main"].body.args[0]
    for again in ways(call.attrs):
        assert again == call.attrs and list(again.padding) == [1, 1, 1, 1]
    info = {each.name: each for each in call.attrs.list_field_info()}
    assert list(info) == list(call.attrs.keys()) and info["strides"].description
    placed = relay.annotation.on_device(X, "cuda")
    for again in ways(placed.attrs):
        assert again.virtual_device == placed.attrs.virtual_device
    assert call.type_args == [call.args[0].checked_type, call.args[1].checked_type, call.checked_type]
    assert relay.Call(call.op, call.args, call.attrs, call.type_args, call.span).attrs == call.attrs


def test_identity_is_not_equality():
    one, other = relay.exp(X), relay.exp(X)
    assert one != other and not one.same_as(other) and one.same_as(one) and tvm.ir.structural_equal(one, other)
    assert hash(one) == hash(one) and tvm.ir.structural_hash(one) == tvm.ir.structural_hash(other)
    assert one.args[0] is X and {one: 1}[one] == 1


def test_make_node():
    attrs = tvm.ir.make_node("relay.attrs.SoftmaxAttrs", axis=1)
    assert attrs.axis == 1 and attrs.type_key == "relay.attrs.SoftmaxAttrs"
    assert tvm.ir.make_node("DictAttrs", a=1, b="x").b == "x" and tvm.ir.make_node("IntImm", dtype="int32", value=3) == 3
    assert tvm.ir.make_node("relay.Tuple", fields=[X]).fields[0] is X
    with pytest.raises(NotImplementedError, match="tir.Ramp"):
        tvm.ir.make_node("tir.Ramp")


def test_containers():
    call = X + X
    for parts in (call.args, relay.Tuple([X]).fields, relay.Function([X], X).params, relay.TupleType([]).fields):
        assert type(parts) is tvm.ir.Array
        with pytest.raises(TypeError, match="cannot be changed"):
            parts.append(X)
    assert [*call.args, X] == call.args + [X] and relay.Call(call.op, call.args).args == call.args
    array, mapping = tvm.ir.Array([1, 2, 3]), tvm.ir.Map({"a": 1})
    assert isinstance((X + X).args, tvm.ir.Array) and isinstance({}, tvm.ir.Map) and not isinstance("ab", tvm.ir.Array)
    assert array[-1] == 3 and array[:2] == [1, 2] and len(array) == 3 and list(mapping.items()) == [("a", 1)]
    for change in (lambda: array.append(1), lambda: array.__setitem__(0, 1), lambda: mapping.update(b=1), lambda: mapping.pop("a")):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    assert pickle.loads(pickle.dumps(array)) == array and copy.deepcopy(mapping) == mapping
