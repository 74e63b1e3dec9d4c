"""Extents with variables: te.var and its kin in types, their arithmetic, and builds with values."""
import copy
import pickle

import numpy as np
import pytest

import baton as tvm
from baton import relay, te, tir


def typed(*params, body):
    return tvm.IRModule.from_expr(relay.Function(list(params), body))


def result_shape(mod):
    return relay.transform.InferType()(mod)["main"].ret_type.shape


def test_variables():
    n, m = te.var("n"), te.var("n")
    assert isinstance(n, tir.Var) and isinstance(n, tvm.ir.PrimExpr) and not isinstance(n, tir.SizeVar)
    assert (n.name, n.dtype, str(n)) == ("n", "int32", "n")
    assert n == n and n != m and n.same_as(n) and not n.same_as(m) and len({n, m, n}) == 2
    size = te.size_var("s", "int64")
    assert isinstance(size, tir.SizeVar) and isinstance(size, tir.Var) and size.dtype == "int64"
    assert te.var().name == "tindex" and te.size_var().name == "size" and tir.Var("k", "int64").dtype == "int64"
    assert tvm.ir.make_node("tir.Var", name="k", dtype="int32").name == "k"


def test_arithmetic():
    n, m = te.var("n"), te.var("m")
    assert n + 1 == 1 + n == n + tir.IntImm("int32", 1) and n - n == 0 and n * 0 == 0 and 2 * n == n + n
    assert -n == 0 - n and (4 * n + 2) // 2 == 2 * n + 1 and (n + 1) * (n - 1) == n * n - 1
    assert isinstance(n + 1, tir.Add) and isinstance(n - 1, tir.Sub) and isinstance(n * m, tir.Mul)
    assert isinstance(n // 2, tir.FloorDiv) and tir.Add(n, 1) == n + 1 and tir.floordiv(n, 2) == n // 2
    assert ((n + 1).a, (n + 1).b) == (n, 1) and {(n + m).a, (n + m).b} == {n, m}
    assert str(n * 2 + m - 1) == "m + 2*n - 1" and repr(n // 3) == "n//3"
    for use in (lambda: n / 2, lambda: n % 2, lambda: n < 3, lambda: n // 0, lambda: n // m, lambda: te.var("x", "float32")):
        with pytest.raises(NotImplementedError, match="."):
            use()
    with pytest.raises(TypeError):
        n + "a"
    assert n + relay.Any() == relay.Any()


def test_types():
    n = te.var("n")
    ty = relay.TensorType((n, n + 1, 3, relay.Any()), "float32")
    assert ty.shape[0] == n and ty.shape[1] == n + 1 and ty.shape[2] == 3 and isinstance(ty.shape[3], tir.Any)
    assert ty == relay.TensorType((n, 1 + n, 3, relay.Any())) and ty != relay.TensorType((te.var("n"), n + 1, 3, relay.Any()))
    assert hash(ty) == hash(relay.TensorType((n, 1 + n, 3, relay.Any())))
    with pytest.raises(TypeError, match=r"Tensor\[\(n, n \+ 1, 3, \?\), float32\]"):
        ty.concrete_shape
    with pytest.raises(TypeError, match="shape"):
        relay.TensorType((n, "m"))
    assert relay.var("x", shape=(n, 3)).type_annotation.shape[0] == n
    # Equal up to renaming where variables are bound, or when asked for.
    other = relay.TensorType((te.var("k"),))
    assert not tvm.ir.structural_equal(relay.TensorType((n,)), other) and tvm.ir.structural_equal(relay.TensorType((n,)), other, map_free_vars=True)
    assert tvm.ir.structural_equal(n, n) and not tvm.ir.structural_equal(n, te.var("n")) and tvm.ir.structural_equal(n, te.var("n"), True)
    assert tvm.ir.structural_hash(n + 1, True) == tvm.ir.structural_hash(te.var("q") + 1, True) != tvm.ir.structural_hash(n + 2)


def test_inference():
    n, m = te.var("n"), te.var("m")
    x, y = relay.var("x", shape=(n, 8)), relay.var("y", shape=(m, 8))
    assert result_shape(typed(x, y, body=relay.concatenate((x, y), 0))) == (n + m, 8)
    assert result_shape(typed(x, body=relay.add(x, x))) == (n, 8)
    assert result_shape(typed(x, body=relay.reshape(x, (-1,)))) == (n * 8,)
    image, weight = relay.var("i", shape=(n, 3, 32, 32)), relay.var("w", shape=(16, 3, 3, 3))
    assert result_shape(typed(image, weight, body=relay.nn.conv2d(image, weight, padding=(1, 1)))) == (n, 16, 32, 32)
    with pytest.raises(tvm.error.DiagnosticError, match=r"Tensor\[\(n, 8\), float32\] with Tensor\[\(m, 8\), float32\]"):
        result_shape(typed(x, y, body=relay.add(x, y)))
    with pytest.raises((TypeError, ValueError, NotImplementedError, tvm.TVMError)):
        relay.zeros((n,), "float32")


def test_text_and_json():
    def program():
        n = te.var("n")
        x, y = relay.var("x", shape=(n, 3)), relay.var("y", shape=(n + 1, 3))
        return relay.transform.InferType()(typed(x, y, body=relay.concatenate((x, y), 0)))

    mod = program()
    text = mod.astext()
    assert "%x: Tensor[(meta[tir.Var][0], 3), float32]" in text and "meta[tir.Add][0]" in text
    assert tvm.ir.structural_equal(tvm.parser.parse(text), mod) and tvm.ir.structural_equal(mod, program())
    assert tvm.ir.structural_hash(mod) == tvm.ir.structural_hash(program())
    assert tvm.ir.structural_equal(tvm.ir.load_json(tvm.ir.save_json(mod)), mod)
    assert tvm.ir.structural_equal(pickle.loads(pickle.dumps(mod)), mod) and tvm.ir.structural_equal(copy.deepcopy(mod), mod)
    given = te.var("batch")
    read = tvm.parser.parse('#[version = "0.0.5"]\ndef @main(%x: Tensor[(meta[tir.Var][0]), int8]) { %x }', init_meta_table={"tir.Var": [given]})
    assert read["main"].params[0].type_annotation.shape[0] == given


def test_a_build_asks_for_values():
    n = te.var("n")
    x, w = relay.var("x", shape=(n, 3)), relay.var("w", shape=(4, 3))
    mod = typed(x, w, body=relay.nn.relu(relay.nn.dense(x, w)))
    with pytest.raises(NotImplementedError, match=r'symbolic extents: n\. Give them values, such as relay\.transform\.FreezeShapes\(\{"n": 1\}\)'):
        relay.build(mod, "llvm")
    data, weight = np.random.rand(5, 3).astype("float32"), np.random.rand(4, 3).astype("float32") - 0.5
    for shapes in ({"n": 5}, {"x": (5, 3)}):
        frozen = relay.transform.FreezeShapes(shapes)(mod)
        assert frozen["main"].params[0].checked_type.concrete_shape == (5, 3) and frozen["main"].ret_type.concrete_shape == (5, 4)
        lib = relay.build(frozen, "llvm")
        module = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.cpu()))
        module.run(x=data, w=weight)
        np.testing.assert_allclose(module.get_output(0).numpy(), np.maximum(data @ weight.T, 0), rtol=1e-5)
    assert mod["main"].params[0].type_annotation.shape[0] == n  # as it was
    # The interpreter needs no values.
    run = relay.create_executor("debug", mod=mod).evaluate()
    np.testing.assert_allclose(run(data, weight).numpy(), np.maximum(data @ weight.T, 0), rtol=1e-5)


def test_freezing_refuses_what_does_not_fit():
    n = te.var("n")
    x, y = relay.var("x", shape=(n, 3)), relay.var("y", shape=(n + 1, 3))
    mod = relay.transform.InferType()(typed(x, y, body=relay.concatenate((x, y), 0)))
    frozen = relay.transform.FreezeShapes({"n": 4})(mod)
    assert frozen["main"].ret_type.concrete_shape == (9, 3)
    for shapes, what in (({"m": 1}, "no parameter of @main and no variable"), ({"x": (4, 2)}, "axis 1 of %x is 3, not 2"),
                         ({"n": -2}, "would be negative"), ({"n": 3, "x": (4, 3)}, "cannot be both"), ({"x": (4,)}, "2 axes, not 1"),
                         ({"n": 3, "y": (3, 3)}, r"n \+ 1, which is 4, not 3"), ({"y": (3, 3)}, "give its variables"), ({"n": "a"}, "a dict")):
        with pytest.raises(tvm.TVMError, match=what):
            relay.transform.FreezeShapes(shapes)(mod)
    a = relay.var("a", shape=(relay.Any(), 3))
    opened = relay.transform.InferType()(typed(a, body=relay.nn.softmax(a)))
    assert relay.transform.FreezeShapes({"a": (2, 3)})(opened)["main"].ret_type.concrete_shape == (2, 3)


def test_patterns_of_shapes():
    from baton.relay.dataflow_pattern import wildcard

    n = te.var("n")
    x = relay.transform.InferType()(typed(relay.var("x", shape=(n, 3)), body=relay.const(1)))["main"].params[0]
    assert wildcard().has_shape((n, 3)).match(x) and not wildcard().has_shape((te.var("n"), 3)).match(x)


def test_te_tir_and_topi_are_packages():
    import importlib

    for name in ("te", "tir", "topi", "tir.expr"):
        assert importlib.import_module("baton." + name).__doc__
    assert importlib.import_module("baton.tir.expr").Var is tir.Var
    for use in (lambda: te.compute((1,), None), lambda: tir.Max(1, 2), lambda: tvm.topi.nn.relu(1)):
        with pytest.raises(NotImplementedError):
            use()


def test_runs_without_values_check_that_extents_agree():
    n = te.var("n")
    x, y = relay.var("x", shape=(n + 1, 2)), relay.var("y", shape=(n, 2))
    run = relay.create_executor("debug", mod=typed(x, y, body=relay.concatenate((x, y), 0))).evaluate()
    assert run(np.zeros((4, 2), "float32"), np.zeros((3, 2), "float32")).numpy().shape == (7, 2)
    assert run(np.zeros((1, 2), "float32"), np.zeros((0, 2), "float32")).numpy().shape == (1, 2)
    with pytest.raises(tvm.TVMError, match=r"argument x .* where n \+ 1 is 5"):
        run(np.zeros((4, 2), "float32"), np.zeros((4, 2), "float32"))


@pytest.mark.parametrize("name", ["mlp", "squeezenet", "mobilenet"])
def test_networks_of_a_symbolic_batch(name):
    from baton.relay import testing

    workload = relay.transform.InferType()(getattr(testing, name).get_workload(batch_size=2)[0])
    batch, main = te.var("batch"), workload["main"]
    data = next(each for each in main.params if each.name_hint == "data")
    opened = relay.var("data", shape=(batch, *data.checked_type.shape[1:]))
    params = [opened if each.name_hint == "data" else each for each in main.params]
    mod = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function(params, relay.bind(main.body, {data: opened}))))
    assert mod["main"].ret_type.shape[0] == batch
    assert tvm.ir.structural_equal(tvm.parser.parse(mod.astext()), mod)
    for each in ("SimplifyInference", "FoldScaleAxis", "CanonicalizeOps", "EliminateCommonSubexpr", "FuseOps", "FoldConstant", "ToANormalForm"):
        passed = relay.transform.InferType()(getattr(relay.transform, each)()(mod))
        assert passed["main"].ret_type.shape[0] == batch, each
    assert tvm.ir.structural_equal(relay.transform.FreezeShapes({"batch": 2})(mod), workload)


def test_a_variable_of_several_functions():
    n, other = te.var("n"), te.var("n")
    identity = ('#[version = "0.0.5"]\ndef @id(%x: Tensor[(meta[tir.Var][0]), int8]) -> Tensor[(meta[tir.Var][0]), int8] { %x }\n')

    def result(*functions):
        text = identity + "".join(f"def @{name}(%y: Tensor[({extent}), int8]) {{ @id(%y) }}\n" for name, extent in functions)
        return relay.transform.InferType()(tvm.parser.parse(text, init_meta_table={"tir.Var": [n, other]}))

    assert result(("main", "4"), ("more", "5"))["main"].ret_type.shape == (n,)  # each function finds its own value
    assert result(("main", "meta[tir.Var][0]"))["main"].ret_type.shape == (n,)
    with pytest.raises(tvm.error.DiagnosticError, match="variables of one name"):
        result(("main", "meta[tir.Var][1]"))
    frozen = relay.transform.FreezeShapes({"n": 4})(result(("main", "meta[tir.Var][0]")))
    assert frozen["main"].ret_type.concrete_shape == frozen["id"].ret_type.concrete_shape == (4,)
    # Two variables of one name get the value together, or one of them by its parameter.
    both = typed(relay.var("a", shape=(n,)), relay.var("b", shape=(other,)), body=relay.const(1))
    shapes = [each.type_annotation.shape for each in relay.transform.FreezeShapes({"n": 3})(both)["main"].params]
    assert shapes == [(3,), (3,)]
    shapes = [each.type_annotation.shape for each in relay.transform.FreezeShapes({"a": (3,)})(both)["main"].params]
    assert shapes == [(3,), (other,)]
