"""Expressions, types, modules: identity, attributes, text."""
import copy
import gc

import numpy as np
import pytest

import baton as tvm
from baton import relay
from programs import CONV, DENSE, PAIR


def test_the_same_node_is_the_same_object():
    module = tvm.parser.fromtext(DENSE)
    main = module["main"]
    assert main is module["main"] and main == module["main"] and hash(main) == hash(module["main"])
    assert main.params[0] is main.body.args[0].args[0].args[0]
    assert main.body.op is relay.op.get("nn.relu")
    assert main != tvm.parser.fromtext(DENSE)["main"]
    main.note = 1  # kept as long as somebody holds the node
    assert module["main"].note == 1


def test_nodes_outlive_their_module():
    body = tvm.parser.fromtext(DENSE)["main"].body
    gc.collect()
    assert body.op.name == "nn.relu" and body.args[0].op.name == "add"


def test_attributes_of_nodes():
    main = tvm.parser.fromtext(CONV)["main"]
    call = main.body.args[0]
    assert isinstance(call, relay.Call) and isinstance(main, relay.Function) and isinstance(main.params[0], relay.Var)
    assert list(call.attrs.padding) == [1, 1, 1, 1] and call.attrs["groups"] == 1 and call.attrs.data_layout == "NCHW"
    assert "channels" in call.attrs and "nothing" not in call.attrs
    with pytest.raises(AttributeError, match="nothing"):
        call.attrs.nothing
    assert main.params[0].name_hint == "data" and main.params[0].type_annotation.dtype == "float32"
    assert main.ret_type == relay.TensorType((1, 4, 8, 8)) and main.body.checked_type == main.ret_type
    assert call.span.line == 3 and main.attrs == {}

    let = tvm.parser.fromtext(PAIR)["main"].body
    assert isinstance(let, relay.Let) and let.var.name_hint == "y" and isinstance(let.body, relay.Tuple)
    assert len(let.body) == 2 and let.body[0] is let.var and let.body[-1].op.name == "add"
    assert list(let.body.checked_type.fields) == [relay.TensorType((2, 3))] * 2


def test_made_by_hand():
    x, y = relay.var("x", shape=(2, 3)), relay.var("y", "float32")
    pair = relay.Tuple([x, y])
    body = relay.If(relay.const(True), relay.TupleGetItem(pair, 0), relay.Let(y, relay.const(2.0), x * y))
    function = relay.Function([x, y], body, attrs={"Primitive": 1})
    assert function.attrs.Primitive == 1 and function.with_attr("Compiler", "c").attrs["Compiler"] == "c"
    assert body.cond.data.numpy() == np.array(True) and body.true_branch.tuple_value is pair
    assert body.false_branch.value.data.dtype == "float32"
    assert [each.name_hint for each in relay.analysis.free_vars(relay.Call(relay.op.get("add"), [x, y]))] == ["x", "y"]
    with pytest.raises(ValueError, match="InferType"):
        pair.checked_type
    typed = relay.transform.InferType()(tvm.IRModule.from_expr(x + relay.const(1.0)))
    assert typed["main"].ret_type.concrete_shape == (2, 3)


def test_types():
    tensor = relay.TensorType((1, relay.Any()), "int8")
    assert str(tensor) == "Tensor[(1, ?), int8]" and tensor.shape[0] == 1 and isinstance(tensor.shape[1], relay.Any)
    with pytest.raises(TypeError, match="run time"):
        tensor.concrete_shape
    assert relay.TupleType([tensor]) == relay.TupleType([relay.TensorType((1, relay.Any()), "int8")])
    assert hash(relay.scalar_type("bool")) == hash(relay.TensorType((), "bool"))
    assert relay.FuncType([tensor], tensor).ret_type == tensor and tensor != relay.scalar_type("int8")
    with pytest.raises(ValueError, match="flaot32"):
        relay.TensorType((1,), "flaot32")
    with pytest.raises(TypeError, match="shape"):
        relay.TensorType(("a",))
    with pytest.raises(TypeError):
        relay.Tuple([None])


def test_modules():
    module = tvm.parser.fromtext(DENSE)
    assert [each.name_hint for each in module.get_global_vars()] == ["main"] and not module.type_definitions
    other = tvm.IRModule(module.functions, module.type_definitions)
    assert other["main"] is module["main"] and tvm.ir.structural_equal(other, module)
    other[tvm.ir.GlobalVar("twice")] = relay.Function([], relay.const(1.0))
    other.update(tvm.parser.fromtext(PAIR))
    assert len(other) == 2 and "twice" in other and other.get_global_var("twice").name_hint == "twice"
    assert len(module) == 1 and len(copy.copy(module)) == 1
    with pytest.raises(ValueError, match="nothing"):
        module["nothing"]
    with pytest.raises(TypeError):
        module[3]


def test_text_comes_back():
    module = tvm.parser.fromtext(CONV)
    again = tvm.parser.fromtext(module.astext())
    assert tvm.ir.structural_equal(module, again)
    assert tvm.ir.structural_hash(module) == tvm.ir.structural_hash(again)
    tvm.ir.assert_structural_equal(module["main"], again["main"])
    with pytest.raises(ValueError, match="nn.dense"):
        tvm.ir.assert_structural_equal(module, tvm.parser.fromtext(DENSE))
    assert "[version" in module.astext(show_meta_data=False) and "[version" not in str(module)
    assert "/*CALL*/" in module.astext(annotate=lambda each: "/*CALL*/" if isinstance(each, relay.Call) else "")
    assert str(tvm.parser.parse_expr("nn.relu(1f)").op.name) == "nn.relu"


def test_visit():
    seen = []
    relay.analysis.post_order_visit(tvm.parser.fromtext(DENSE)["main"], seen.append)
    calls = [each.op.name for each in seen if isinstance(each, relay.Call)]
    assert calls == ["nn.dense", "add", "nn.relu"] and isinstance(seen[-1], relay.Function)

    def stop(_):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        relay.analysis.post_order_visit(tvm.parser.fromtext(DENSE)["main"], stop)


def test_operator_builders():
    data, weight = relay.var("data", shape=(1, 3, 8, 8)), relay.var("weight")
    conv = relay.nn.conv2d(data, weight, channels=4, kernel_size=(3, 3), padding=(1, 1))
    normed = relay.nn.batch_norm(conv, *[relay.var(each) for each in ("gamma", "beta", "mean", "var")])
    typed = relay.transform.InferType()(tvm.IRModule.from_expr(relay.nn.relu(normed[0]) + relay.const(1.0)))
    assert typed["main"].ret_type.concrete_shape == (1, 4, 8, 8)
    assert len(normed) == 3 and conv.attrs.strides == [1, 1]
    assert not hasattr(relay.nn, "no_such_operator")
    with pytest.raises(NotImplementedError, match="no_such_operator"):
        relay.nn.no_such_operator
    with pytest.raises(TypeError):
        relay.nn.conv2d(data)
    with pytest.raises(tvm.TVMError, match="channels"):
        relay.nn.conv2d(data, weight, channels="four")


def test_diagnostics():
    with pytest.raises(tvm.error.DiagnosticError) as caught:
        tvm.parser.fromtext("#[version = \"0.0.5\"]\ndef @main(%x: int32) {\n  %y\n}\n")
    assert isinstance(caught.value, tvm.TVMError) and "%y" in str(caught.value)
    found = caught.value.diagnostics[0]
    assert (found.level, found.span.line, found.span.column) == (20, 3, 3) and "%y" in found.message

    seen = []
    tvm.ir.diagnostics.override_renderer(lambda context: seen.extend(context.diagnostics))
    try:
        with pytest.raises(tvm.error.DiagnosticError):
            tvm.parser.parse_expr("add(")
    finally:
        tvm.ir.diagnostics.override_renderer(None)
    assert seen and seen[0].level == 20


def test_constants():
    assert relay.const(1).data.dtype == "int32" and relay.const(1.5).data.dtype == "float32"
    assert relay.const([1.0, 2.0]).data.shape == (2,) and relay.const(1, "int8").data.dtype == "int8"
    assert relay.const(np.zeros(3, "float64")).data.dtype == "float64" and relay.const(True).data.dtype == "bool"


def test_a_tuple_wrapper_is_an_expression():
    x, v = relay.var("x", shape=(4,)), relay.var("v")
    parts = relay.split(x, 2)
    assert isinstance(parts, relay.TupleWrapper)
    function = relay.Function([x], parts)
    assert function.body == parts.astuple()
    assert relay.transform.InferType()(tvm.IRModule.from_expr(function))["main"].ret_type == \
        relay.TupleType([relay.TensorType((2,))] * 2)
    condition = relay.var("c", shape=(), dtype="bool")
    for made in (relay.Let(v, parts, parts), relay.Tuple([parts, x]), relay.If(condition, parts, parts), relay.RefCreate(parts),
                 relay.Call(relay.Function([v], v), [parts]), relay.TupleGetItem(parts, 1)):
        assert "split(%x" in str(made)
    assert tvm.IRModule.from_expr(parts)["main"].params[0].name_hint == "x"
    with pytest.raises(TypeError):
        relay.Function([x], 3)


def test_incomplete_types_are_equal_after_a_round_trip():
    hole = relay.IncompleteType()
    assert tvm.ir.structural_equal(hole, relay.IncompleteType())
    assert tvm.ir.structural_hash(hole) == tvm.ir.structural_hash(relay.IncompleteType())
    a, b, c = relay.var("a", hole), relay.var("b", hole), relay.var("c", relay.TupleType([relay.IncompleteType(), hole]))
    shared = relay.exp(a)
    function = relay.Function([a, b, c], relay.Tuple([shared, relay.add(shared, b), c]), hole)
    again = tvm.parser.parse_expr(function.astext())
    assert tvm.ir.structural_equal(function, again) and tvm.ir.structural_hash(function) == tvm.ir.structural_hash(again)
    assert again.astext(annotate=lambda expr: "") == function.astext(annotate=lambda expr: "")
    assert not tvm.ir.structural_equal(hole, relay.TensorType((1,)))
