"""What TVM takes, and Baton refused: each by the operator or function that was stricter."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.relay.dataflow_pattern import DFPatternCallback, FunctionPattern, is_op, rewrite, wildcard
from baton.relay.testing import lstm, run_infer_type


def type_of(expr):
    return run_infer_type(expr).checked_type


def run(build, *arrays, kind="debug"):
    given = [relay.var(f"x{i}", shape=each.shape, dtype=str(each.dtype)) for i, each in enumerate(arrays)]
    mod = tvm.IRModule.from_expr(relay.Function(given, build(*given)))
    return relay.create_executor(kind, mod=mod, device=tvm.cpu(), target="llvm").evaluate()(*arrays)


def test_parameters_of_another_type_are_bound():
    x = relay.var("x", shape=(3,), dtype="float32")
    function = relay.Function([x], relay.nn.relu(x))
    for value in (np.ones(3), np.ones(3, "int8")):
        bound = relay.build_module.bind_params_by_name(function, {"x": tvm.nd.array(value)})
        assert not bound.params and bound.body.args[0].data.dtype == str(value.dtype)
    with pytest.raises(tvm.TVMError, match="declares"):
        relay.build_module.bind_params_by_name(function, {"x": tvm.nd.array(np.ones(4, "int8"))})
    with pytest.raises(tvm.TVMError):  # a build says so
        relay.build(tvm.IRModule.from_expr(function), "llvm", params={"x": tvm.nd.array(np.ones(3))})


@pytest.mark.parametrize("k", [5.0, np.float32(5), 5, relay.const(5.0), relay.const(5)])
def test_k_of_topk_is_a_float(k):
    assert type_of(relay.topk(relay.var("x", shape=(3, 20)), k=k, ret_type="values")) == relay.TensorType((3, 5))
    with pytest.raises(tvm.TVMError):
        relay.topk(relay.var("x", shape=(3, 20)), k=2.5)


@pytest.mark.parametrize("size", [1, 2, 5, 10])
def test_lrn_of_an_even_size(size):
    data = np.random.default_rng(1).normal(size=(1, 7, 4, 5)).astype("float32")
    assert type_of(relay.nn.lrn(relay.var("x", shape=data.shape), size=size, axis=2)) == relay.TensorType(data.shape)
    expected = tvm.topi.testing.lrn_python(data, size, 1, 0.5, 0.1, 0.75)
    np.testing.assert_allclose(run(lambda x: relay.nn.lrn(x, size, 1, 0.5, 0.1, 0.75), data).numpy(), expected, rtol=1e-5)


def test_blocks_that_do_not_divide():
    data = np.arange(1 * 9 * 5 * 7).reshape(1, 9, 5, 7).astype("float32")
    whole = data[:, :, :4, :6]
    np.testing.assert_array_equal(run(lambda x: relay.nn.space_to_depth(x, 2), data).numpy(), tvm.topi.testing.space_to_depth_python(whole, 2))
    for mode in ("DCR", "CDR"):
        np.testing.assert_array_equal(run(lambda x, m=mode: relay.nn.depth_to_space(x, 2, mode=m), data).numpy(),
                                      tvm.topi.testing.depth_to_space_python(data[:, :8], 2, mode))
    with pytest.raises(tvm.error.DiagnosticError, match="do not divide"):  # convolutions between them are flattened, which counts on it
        type_of(relay.nn.space_to_batch_nd(relay.var("x", shape=(1, 5, 5, 2)), [2, 2], [[0, 0], [0, 0]]))
    with pytest.raises(tvm.error.DiagnosticError, match="holds no block"):
        type_of(relay.nn.space_to_depth(relay.var("x", shape=(1, 4, 1, 4)), 2))


def test_a_sparse_matrix_may_be_a_tuple():
    parts = relay.Tuple([relay.var("d", shape=(4,)), relay.var("i", shape=(4,), dtype="int32"), relay.var("p", shape=(6,), dtype="int32")])
    assert type_of(relay.nn.sparse_dense(relay.var("x", shape=(3, 4)), parts)) == relay.TensorType((3, 5))


def test_filled_rows_are_a_tuple_of_three_casts():
    names = [relay.var(name, shape=shape, dtype=dtype) for name, shape, dtype in (
        ("i", (3, 2), "int64"), ("v", (3,), "float32"), ("s", (2,), "int64"), ("d", (), "float32"))]
    filled = relay.sparse_fill_empty_rows(*names)
    assert isinstance(filled, relay.Tuple) and [each.op.name for each in filled.fields] == ["cast_like", "cast_like", "cast"]
    mod = tvm.IRModule.from_expr(relay.Function(names, filled))
    indices, values, empty = relay.create_executor("vm", mod=mod, device=tvm.cpu(), target="llvm").evaluate()(
        np.array([[0, 1], [2, 0], [2, 3]], "int64"), np.ones(3, "float32"), np.array([4, 5], "int64"), np.float32(9))
    assert indices.numpy().tolist() == [[0, 1], [1, 0], [2, 0], [2, 3], [3, 0]] and empty.numpy().tolist() == [False, True, False, True]
    assert values.numpy().tolist() == [1, 9, 1, 1, 9]


@pytest.mark.parametrize("kind", ["vm", "debug"])
def test_arange_of_bounds_of_a_run(kind):
    for dtype, bounds in (("int32", (1, 10, 2)), ("int64", (10, 1, -3)), ("float32", (0, 1.5, 0.3))):
        names = [relay.var(name, relay.scalar_type(dtype)) for name in "abc"]
        mod = tvm.IRModule.from_expr(relay.Function(names, relay.arange(*names, dtype=dtype)))
        made = relay.create_executor(kind, mod=mod, device=tvm.cpu(), target="llvm").evaluate()(*np.array(bounds, dtype))
        np.testing.assert_allclose(made.numpy(), np.arange(*bounds, dtype=dtype), rtol=1e-6)


@pytest.mark.parametrize("kind", ["graph", "debug"])
def test_parameters_that_share_a_name_share_a_value(kind):
    mod, params = lstm.get_workload(2, 4)
    params["data"] = tvm.nd.array(np.random.default_rng(2).random((1, 4), "float32"))
    assert [each.name_hint for each in mod["main"].params].count("data") == 2
    run_it = relay.create_executor(kind, mod=mod, device=tvm.cpu(0), target="llvm").evaluate()
    positional = [params[each.name_hint] for each in mod["main"].params]
    np.testing.assert_array_equal(run_it(**params).numpy(), run_it(*positional).numpy())
    with pytest.raises((ValueError, TypeError)):
        run_it(**{name: value for name, value in params.items() if name != "data"})


class Count(DFPatternCallback):
    def __init__(self, pattern):
        super().__init__()
        self.pattern, self.calls = pattern, 0

    def callback(self, pre, post, node_map):
        self.calls += 1
        return post


def test_a_function_may_be_the_child_of_dominates():
    x, w = relay.var("x", shape=(1, 4, 8, 8)), relay.var("w", shape=(4, 4, 1, 1))
    conv, function = is_op("nn.conv2d")(wildcard(), wildcard()), FunctionPattern([wildcard(), wildcard()], is_op("nn.relu")(wildcard()))
    program = relay.Function([x, w], relay.nn.relu(relay.exp(relay.nn.conv2d(x, w))))
    for pattern in (function.dominates(conv), function.dominates(conv, wildcard()(wildcard())), FunctionPattern(None, wildcard()).dominates(conv)):
        assert pattern.match(program)
        counted = Count(pattern)
        rewrite(counted, program)
        assert counted.calls == 1
    assert not function.dominates(is_op("nn.dense")(wildcard(), wildcard())).match(program)


def test_names_in_the_styles_of_c():
    names = relay.backend.name_transforms
    assert [names.to_c_function_style(each) for each in ("TVM_Woof", "TVM_woof", "TVM_woof_woof", "TVMGen_woof_woof")] == [
        "TVMWoof", "TVMWoof", "TVMWoofWoof", "TVMGenWoofWoof"]
    assert [names.to_c_variable_style(each) for each in ("TVM_Woof", "TVM_woof_Woof", "TVMGen_Woof")] == ["tvm_woof", "tvm_woof_woof", "tvmgen_woof"]
    assert [names.to_c_constant_style(each) for each in ("TVM_Woof", "TVM_woof_Woof", "TVMGen_woof_woof")] == ["TVM_WOOF", "TVM_WOOF_WOOF", "TVMGEN_WOOF_WOOF"]
    assert names.prefix_name("Woof") == names.prefix_name(["Woof"]) == "TVM_Woof" and names.prefix_name(["woof", "moo"]) == "TVM_woof_moo"
    assert names.prefix_generated_name("Woof") == "TVMGen_Woof" and names.prefix_generated_name(["woof", "moo"]) == "TVMGen_woof_moo"
    assert names.sanitize_name("+_+ ") == "____" and names.sanitize_name("input::") == "input__"
    for transform in (names.to_c_function_style, names.to_c_variable_style, names.to_c_constant_style):
        for bad in ("", "Cake_Bakery"):
            with pytest.raises(ValueError):
                transform(bad)
    for bad in ("", [], [""]):
        with pytest.raises(ValueError):
            names.prefix_name(bad)


def test_hardswish_of_arrays():
    from baton.relay.qnn.op.legalizations import hardswish_func

    np.testing.assert_allclose(hardswish_func(np.array([-4.0, -1.5, 0, 1.5, 4])), [0, -0.375, 0, 1.125, 4])


def test_plotters_keep_graphs_by_name(capsys):
    from baton.contrib import relay_viz

    class Mine(relay_viz.TermPlotter):
        def create_graph(self, name):
            self._name_to_graph[name] = relay_viz.TermGraph(name + "!")
            return self._name_to_graph[name]

    relay_viz.RelayVisualizer(tvm.IRModule.from_expr(relay.nn.relu(relay.var("x", shape=(3,)))), plotter=Mine()).render()
    assert "@main!" in capsys.readouterr().out
