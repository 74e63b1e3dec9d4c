"""Helpers and passes about functions, with TVM's signatures."""
import pytest

import baton as tvm
from baton import relay


def parse(text):
    return tvm.parser.fromtext('#[version = "0.0.5"]\n' + text)


POW = """
def @pow(%n: int32, %x: float32) -> float32 {
  if (equal(%n, 0)) { 1f } else { multiply(%x, @pow(subtract(%n, 1), %x)) }
}
def @main(%x: float32) -> float32 { @pow(3, %x) }
"""


def test_cps():
    module = parse(POW)
    main = relay.transform.to_cps(module["main"], module)
    assert [p.name_hint for p in main.params] == ["x", "k"]
    assert "pow_cps" in [each.name_hint for each in module.get_global_vars()]
    back = relay.transform.un_cps(main)
    assert [p.name_hint for p in back.params] == ["x"]
    with pytest.raises(tvm.error.TVMError, match="continuation"):
        relay.transform.un_cps(module["main"])


def test_cps_without_a_module():
    x = relay.var("x", shape=(3,))
    assert len(relay.transform.ToCPS(relay.Function([x], relay.exp(x))).params) == 2


def test_defunctionalization():
    module = parse("def @main(%x: int32) -> int32 { let %f = fn (%y: int32) -> int32 { add(%y, %x) }; %f(%f(1)) }")
    module["main"] = relay.transform.Defunctionalization(module["main"], module)
    text = relay.transform.InferType()(module).astext()
    assert "@apply_T0(" in text and "type T0" in text and "fn (" not in text.split("#[metadata]")[0]


def test_a_normal_form_of_an_expression():
    x = relay.var("x", shape=(3,))
    expr = relay.transform.ToANormalFormExpr(relay.exp(relay.tanh(x)))
    assert isinstance(expr, relay.Let) and isinstance(expr.body, relay.Let)
    assert isinstance(relay.transform.ToANormalFormExpr(relay.Function([x], relay.exp(x))), relay.Function)


def test_change_batch():
    x, y = relay.var("x", shape=(1, 3)), relay.var("y", shape=(5, 3))
    module = tvm.IRModule.from_expr(relay.Function([x, y], relay.nn.dense(x, y)))
    given = module["main"].params[0]
    changed = relay.transform.ChangeBatch({given: 0}, batch_size=4)(module)
    assert [int(each) for each in changed["main"].ret_type.shape] == [4, 5]
    assert [int(each) for each in relay.transform.ChangeBatch({"x": 0})(module)["main"].ret_type.shape] == [16, 5]
    with pytest.raises(tvm.error.TVMError, match="no axis 2"):
        relay.transform.ChangeBatch({"x": 2})(module)


def test_eta_expand_and_lambda_lift():
    module = parse(POW)
    assert "eta_expand_param" in relay.transform.EtaExpand(expand_global_var=True)(module).astext()
    assert "eta_expand_param" not in relay.transform.EtaExpand(True, False)(module).astext()
    lifted = relay.transform.LambdaLift()(parse("def @main(%x: int32) { fn (%y: int32) { add(%y, %x) }(%x) }"))
    assert len(lifted.get_global_vars()) == 2


def test_local_inference_types_the_expression():
    x = relay.var("x", shape=(2, 3))
    inner = relay.nn.dense(x, relay.var("w", shape=(4, 3)))
    expr = relay.nn.relu(inner)
    with pytest.raises(ValueError, match="no type yet"):
        expr.checked_type
    known = relay.transform.InferTypeLocal(expr)
    assert known == expr.checked_type == inner.checked_type == relay.TensorType((2, 4))
    assert expr.args[0].args[1].checked_type == relay.TensorType((4, 3)) and x.checked_type == relay.TensorType((2, 3))
    function = relay.Function([x], relay.exp(x))
    assert relay.transform.InferTypeLocal(function) == function.checked_type
    assert function.body.checked_type == relay.TensorType((2, 3))


def test_a_converted_function_can_be_typed_alone():
    module = parse(POW)
    main = relay.transform.Defunctionalization(module["main"], module)
    alone = relay.transform.InferType()(tvm.IRModule.from_expr(main))
    assert [each.name_hint for each in alone.get_global_vars()] == ["main"] and "@pow(3" in str(alone)
    assert alone["main"].ret_type == relay.scalar_type("float32")
    with pytest.raises(tvm.error.DiagnosticError, match="no function @pow"):
        relay.transform.InferType()(tvm.IRModule.from_expr(tvm.relay.Function([], relay.Call(relay.GlobalVar("pow"), []))))
