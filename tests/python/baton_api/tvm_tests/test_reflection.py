"""What scripts look up in objects: numbers of shapes and attributes, handles, equality and JSON of every kind of value."""
import json

import numpy as np
import pytest

import baton as tvm
from baton import relay


def again(value):
    back = tvm.ir.load_json(tvm.ir.save_json(value))
    assert tvm.ir.structural_equal(back, value, map_free_vars=True)
    return back


def test_numbers_of_shapes_and_attributes_have_values():
    shape = relay.TensorType((1, 2)).shape
    assert [each.value for each in shape] == [1, 2] and isinstance(shape[0], tvm.tir.IntImm) and shape[0].dtype == "int32" and shape == (1, 2)
    call = relay.nn.conv2d(relay.var("x", shape=(1, 3, 8, 8)), relay.var("w"), strides=(2, 2), kernel_size=(3, 3), channels=4)
    assert call.attrs.strides[0].value == 2 and call.attrs["kernel_size"][1].value == 3 and call.attrs.channels.value == 4
    assert call.attrs.get_int("groups") == 1 and call.attrs.get_int_tuple("padding") == (0, 0, 0, 0) and call.attrs.get_str("data_layout") == "NCHW"
    assert "kernel_size" in dir(call.attrs) and list(call.attrs.keys())[0] == "strides"
    with pytest.raises(AttributeError):
        call.attrs.no_such
    function = relay.Function([], relay.const(1)).with_attr("a", 3).with_attr("b", 1.5)
    assert function.attrs["a"].value == 3 and function.attrs.b.value == 1.5 and isinstance(function.attrs.b, tvm.tir.FloatImm)
    n = tvm.te.var("n")
    assert (n + 1).a.same_as(n) and (n + 1).b.value == 1 and np.zeros(shape).shape == (1, 2) and json.dumps(shape[0]) == "1"
    assert tvm.relay.clip(relay.var("x"), 0.5, 6).attrs.a_min == 0.5


def test_handles():
    x = relay.var("x")
    assert x.handle.value == x.handle.value != relay.var("x").handle.value
    for each in (relay.TensorType((1,)), tvm.IRModule(), relay.nn.relu(x), tvm.te.var("n"), relay.op.get("add")):
        assert each.handle.value
    assert x.virtual_device_.device_type_int == -1 and x.checked_type_ is None
    assert [each.name for each in relay.op.get("nn.conv2d").arguments] == ["data", "weight"]


def test_two_free_variables_have_two_hashes():
    x, y = relay.var("x", shape=(3,)), relay.var("y", shape=(3,))
    assert not tvm.ir.structural_equal(x, y) and tvm.ir.structural_hash(x) != tvm.ir.structural_hash(y) and tvm.ir.structural_hash(x) == tvm.ir.structural_hash(x)
    assert tvm.ir.structural_equal(x, y, map_free_vars=True) and tvm.ir.structural_hash(x, map_free_vars=True) == tvm.ir.structural_hash(y, map_free_vars=True)
    assert tvm.ir.structural_hash(x + x) != tvm.ir.structural_hash(y + y) and tvm.ir.structural_hash(x + y) != tvm.ir.structural_hash(y + x)
    assert tvm.ir.structural_hash(relay.Function([x], x + x)) == tvm.ir.structural_hash(relay.Function([y], y + y))


def test_equality_of_all_kinds():
    equal, value_hash = tvm.ir.structural_equal, tvm.ir.structural_hash
    a, b = relay.TypeVar("a"), relay.TypeVar("b")
    assert not equal(a, b) and equal(a, b, map_free_vars=True) and equal(relay.TupleType([a, b]), relay.TupleType([b, a]), map_free_vars=True)
    assert not equal(relay.TupleType([a, a]), relay.TupleType([a, b]), map_free_vars=True)
    broadcast, identity = (tvm.ir.EnvFunc.get("tvm.relay.type_relation." + name) for name in ("Broadcast", "Identity"))
    relations = [relay.TypeRelation(each, [relay.TensorType((1, 2))], 1, None) for each in (broadcast, broadcast, identity)]
    assert equal(relations[0], relations[1]) and not equal(relations[0], relations[2])
    x = relay.var("x")
    assert equal(relay.PatternWildcard(), relay.PatternWildcard()) and not equal(relay.PatternVar(x), relay.PatternWildcard())
    assert equal([1, "a", {"k": x}], [1, "a", {"k": x}]) and not equal([1], [2]) and not equal([1], [1, 2]) and not equal({"a": 1}, {"b": 1})
    assert not equal(tvm.tir.IntImm("int32", 1), tvm.tir.IntImm("int64", 1)) and equal(tvm.runtime.convert("a"), "a") and not equal("a", "b")
    assert equal(tvm.nd.array(np.ones(3)), tvm.nd.array(np.ones(3))) and not equal(tvm.nd.array(np.ones(3)), tvm.nd.array(np.zeros(3)))
    for each in (relations, [1, x], {"a": x}, tvm.nd.array(np.ones(2)), relay.Clause(relay.PatternVar(x), x), relay.PatternWildcard(), "a", 2.5):
        assert value_hash(each) == value_hash(each)


def test_json_of_all_kinds():
    tensor, hole, name = relay.TensorType((1, relay.Any(), 3), "int8"), relay.IncompleteType(), relay.GlobalTypeVar("G")
    var = relay.TypeVar("a")
    for each in (tensor, relay.TupleType([tensor]), relay.FuncType([tensor], tensor), relay.FuncType([var], var, [var]), relay.RefType(tensor), hole,
                 var, name, relay.TypeCall(name, [tensor]), tvm.te.var("n"), tvm.te.var("n") + 1, relay.op.get("add"), relay.const(1.5), "text",
                 tvm.runtime.convert([1, "a", 2.5]), tvm.runtime.convert({"a": 1, "b": [2]}), tvm.nd.array(np.arange(3)),
                 relay.TypeRelation(tvm.ir.EnvFunc.get("tvm.relay.type_relation.Broadcast"), [var, var], 1, None)):
        assert type(again(each)) is type(each)
    x = relay.var("x")
    for each in (relay.PatternVar(x), relay.PatternWildcard(), relay.PatternTuple([relay.PatternVar(x), relay.PatternWildcard()])):
        assert str(again(each)) == str(each)
    assert again(tvm.target.VirtualDevice(tvm.device("cuda", 1), memory_scope="global")).virtual_device_id == 1
    assert str(tvm.ir.load_json(tvm.ir.save_json(tvm.target.Target("llvm -mcpu=core-avx2")))) == str(tvm.target.Target("llvm -mcpu=core-avx2"))
    with pytest.raises(TypeError, match="cannot be saved"):
        tvm.ir.save_json(object())
    attrs = again(tvm.ir.make_node("DictAttrs", x=1, name="xyz", padding=(0, 0)))
    assert attrs.x.value == 1 and attrs["padding"][0].value == 0 and attrs.name == "xyz" and "x" in attrs.keys() and len(attrs) == 3
    span = tvm.ir.load_json(tvm.ir.save_json(relay.Span(relay.SourceName("a"), 1, 2, 3, 4)))
    assert (span.line, span.end_line, span.column, span.end_column) == (1, 2, 3, 4) and relay.Span(None, 1, 1, 1, 1).line == 1
    assert tvm.ir.load_json(tvm.ir.save_json(tvm.tir.IntImm("int64", 5))).dtype == "int64"


def test_untyped_expressions_stay_untyped():
    condition, x = relay.var("c"), relay.var("x", shape=(3,))
    back = again(relay.If(condition, x, x))
    assert not hasattr(back.cond.type_annotation, "shape") and back.checked_type_ is None
    typed = again(relay.testing.run_infer_type(relay.nn.relu(x)))
    assert typed.checked_type == relay.TensorType((3,))


def test_attributes_that_tvm_registers_for_tests():
    attrs = tvm.ir.make_node("attrs.TestAttrs", name="attr", padding=(3, 4))
    assert attrs.name == "attr" and [each.value for each in attrs.padding] == [3, 4] and attrs.axis == 10
    f, x = relay.var("f"), relay.var("x")
    other = tvm.ir.make_node("attrs.TestAttrs", name="attr", padding=(3, 5))
    calls = [relay.Call(f, [x], each, [relay.TensorType((1,))]) for each in (attrs, attrs, other)]
    assert tvm.ir.structural_equal(calls[0], calls[1]) and not tvm.ir.structural_equal(calls[0], calls[2])
    assert "a" not in relay.Function([x], x).with_attr("a", 1).with_attr("b", 2).without_attr("a").attrs


def test_containers():
    numbers = tvm.runtime.convert([1, 2, 3])
    assert isinstance(numbers, tvm.ir.Array) and numbers[-1].value == 3 and [each.value for each in numbers[-3:-1]] == [1, 2] and numbers.type_key == "Array"
    n = tvm.te.var("n")
    by_name = tvm.runtime.convert({"a": n, "b": 2, n: 3})
    assert isinstance(by_name, tvm.ir.Map) and n in by_name and by_name.get("z") is None and by_name.type_key == "Map" and len(by_name) == 3
    with pytest.raises(TypeError):
        numbers.append(4)
    with pytest.raises(TypeError):
        by_name["c"] = 1


def old(*nodes):
    return tvm.ir.load_json(json.dumps({"root": 1, "nodes": [{"type_key": ""}, *nodes], "attrs": {"tvm_version": "0.6.0"}, "b64ndarrays": []}))


def test_json_of_older_versions():
    assert old({"type_key": "relay.TypeVar", "attrs": {"kind": "0", "span": "0", "var": "2"}},
               {"type_key": "Variable", "attrs": {"dtype": "int32", "name": "in0"}}).name_hint == "in0"
    assert isinstance(old({"type_key": "relay.IncompleteType", "attrs": {"kind": "0", "span": "0"}}), relay.IncompleteType)
    assert old({"type_key": "relay.GlobalVar", "attrs": {"_checked_type_": "0", "name_hint": "x", "span": "0"}}).name_hint == "x"
    assert old({"type_key": "relay.Op", "global_key": "nn.conv2d"}) == relay.op.get("nn.conv2d")
    assert isinstance(old({"type_key": "SizeVar", "attrs": {"dtype": "int32", "name": "y"}}), tvm.tir.SizeVar)
    var = old({"type_key": "relay.Var", "attrs": {"_checked_type_": "0", "span": "0", "type_annotation": "3", "vid": "2"}},
              {"type_key": "relay.Id", "attrs": {"name_hint": "a3"}},
              {"type_key": "relay.TensorType", "attrs": {"dtype": "float32", "shape": "4", "span": "0"}}, {"type_key": "Array", "data": [5, 6]},
              {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "16"}}, {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "8"}})
    assert var.name_hint == "a3" and var.type_annotation == relay.TensorType((16, 8))
    found = old({"type_key": "StrMap", "keys": ["z", "x"], "data": [2, 3]}, {"type_key": "Variable", "attrs": {"dtype": "int32", "name": "x"}},
                {"type_key": "Add", "attrs": {"a": "2", "b": "4", "dtype": "int32"}}, {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "1"}})
    assert isinstance(found, tvm.ir.Map) and found["x"].a.same_as(found["z"]) and "z" in found
    for bad in ("{}", "[]", "", '{"root":1,"nodes":[{"type_key":""}]}', '{"root":1,"nodes":[{"type_key":""},{"type_key":"Array","data":[1]}]}'):
        with pytest.raises(tvm.TVMError):
            tvm.ir.load_json(bad)


def test_sizes_scaled_by_floats():
    h, scale = tvm.te.size_var("h"), tvm.tir.const(2.0, "float64")
    image = relay.var("x", relay.TensorType((1, 3, h, 8)))
    found = relay.testing.run_infer_type(relay.nn.upsampling(image, scale_h=2, scale_w=2, method="bilinear")).checked_type
    assert found == relay.TensorType((1, 3, tvm.tir.Cast("int32", tvm.te.round(h * scale)), 16))
    assert tvm.te.round(tvm.tir.const(2.5)) == 3 and tvm.tir.Cast("int64", 3).dtype == "int64"
    with pytest.raises((TypeError, NotImplementedError)):
        h * 1.5


def test_global_variables_are_found_by_name():
    mod, var, x = tvm.IRModule(), relay.GlobalVar("f"), relay.var("x", shape=(2,))
    mod[var] = relay.Function([x], x)
    assert mod.get_global_var("f") == var and mod.get_global_var("f").same_as(var) and var in mod.functions and mod.functions[var].params
    assert var != relay.GlobalVar("g") and var != x and len({var, relay.GlobalVar("f")}) == 1
