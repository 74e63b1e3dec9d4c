"""relay.analysis of networks: counts, call graphs, regions, parts as programs."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.relay import analysis
compiler_begin, compiler_end = relay.annotation.compiler_begin, relay.annotation.compiler_end


def typed(expr):
    return relay.transform.InferType()(tvm.IRModule.from_expr(expr))["main"]


def var(name, *shape):
    return relay.var(name, shape=shape)


@pytest.mark.parametrize("make, count", [
    (lambda: relay.nn.conv2d(var("x", 1, 16, 8, 8), var("w", 32, 16, 3, 3), kernel_size=(3, 3), channels=32), 32 * 6 * 6 * 16 * 9),
    (lambda: relay.nn.conv2d(var("x", 1, 8, 8, 16), var("w", 3, 3, 16, 1), kernel_size=(3, 3), channels=16, groups=16,
                             data_layout="NHWC", kernel_layout="HWOI"), 16 * 6 * 6 * 9),
    (lambda: relay.nn.conv2d_transpose(var("x", 1, 3, 8, 8), relay.var("w"), kernel_size=(3, 3), channels=4), 4 * 10 * 10 * 3 * 9),
    (lambda: relay.nn.dense(var("x", 5, 7), var("w", 11, 7)), 5 * 7 * 11),
    (lambda: relay.nn.batch_matmul(var("x", 4, 5, 7), var("w", 4, 11, 7), transpose_b=True), 4 * 5 * 7 * 11),
    (lambda: relay.nn.relu(var("x", 5, 7)), 0),
])
def test_multiplications(make, count):
    assert analysis.get_total_mac_number(typed(make())) == count


def test_multiplications_of_operators_that_say_how_many():
    relay.op.op.register("test.mac_count", "an operator with a count of its own")
    own = tvm.ir.Op.get("test.mac_count")
    own.set_num_inputs(1)
    own.add_argument("x", "Tensor", "data")
    own.add_type_rel("Identity")
    tvm.ir.register_op_attr("test.mac_count", "FMacCount", lambda call: 100 * int(call.checked_type.shape[0]))
    call = relay.Call(own, [relay.nn.dense(var("x", 5, 7), var("w", 11, 7))])
    assert analysis.get_total_mac_number(typed(call)) == 500 + 5 * 7 * 11
    with pytest.raises(TypeError, match="FMacCount"):
        tvm.ir.register_op_attr("test.mac_count", "FMacCount", 3, 11)


def test_multiplications_without_types():
    with pytest.raises(tvm.TVMError, match="InferType"):
        analysis.get_total_mac_number(relay.nn.dense(var("x", 5, 7), var("w", 11, 7)))


def test_layers():
    x = var("x", 1, 4, 8, 8)
    conv = lambda data, name: relay.nn.conv2d(data, var(name, 4, 4, 1, 1), kernel_size=(1, 1), channels=4)
    both = conv(x, "a") + conv(relay.nn.relu(conv(x, "b")), "c")
    assert analysis.count_layers(both, ["nn.conv2d"]) == 2 and analysis.count_layers(both, ["nn.relu", "nn.conv2d", "add"]) == 4
    assert analysis.count_layers(tvm.IRModule.from_expr(both), ["nn.dense"]) == 0


def test_transposed_weights_and_constants():
    dense = relay.nn.dense(var("x", 5, 7), relay.transpose(var("w", 7, 11)))
    assert analysis.search_fc_transpose(relay.nn.dense(dense, relay.transpose(var("v", 11, 3), [1, 0]))) == ["w", "v"]
    assert analysis.search_fc_transpose(relay.nn.dense(var("x", 5, 7), var("w", 11, 7))) == []
    one = relay.const(1.0)
    assert analysis.check_constant(relay.Tuple([one, relay.Tuple([one])])) and not analysis.check_constant(one + one)
    assert not analysis.check_constant(relay.Tuple([one, var("x", 1)]))


def test_fake_quantized_operators():
    def quantize(data):
        return relay.qnn.op.quantize(data, relay.const(0.1), relay.const(0), out_dtype="int8")

    def dequantize(data):
        return relay.qnn.op.dequantize(data, relay.const(0.1), relay.const(0))

    x = relay.var("x", shape=(2, 3), dtype="int8")
    inside = relay.nn.relu(relay.nn.dense(dequantize(x), dequantize(relay.var("w", shape=(4, 3), dtype="int8"))))
    twice = quantize(relay.nn.relu(dequantize(quantize(inside))))
    assert analysis.list_fake_quantized_op_freqs(tvm.IRModule.from_expr(twice)) == {"nn.dense": 1, "nn.relu": 2}
    open_end = quantize(relay.nn.relu(var("f", 2, 3)))
    assert analysis.list_fake_quantized_op_freqs(tvm.IRModule.from_expr(open_end)) == {}


def diamond():
    x = var("x", 1, 4, 5, 5)
    conv = lambda data, name: relay.nn.conv2d(data, var(name, 4, 4, 3, 3), kernel_size=(3, 3), padding=(1, 1), channels=4)
    first = conv(x, "w1")
    second = conv(first, "w2")
    parts = relay.split(first + second, 2, axis=1)
    return [first, second, first + second, parts.astuple(), parts[0], relay.exp(parts[0])]


def test_values_as_programs():
    values = diamond()
    module = tvm.IRModule.from_expr(values[-1])
    for index, value in enumerate(values):
        assert tvm.ir.structural_equal(analysis.extract_intermdeiate_expr(module, index), tvm.IRModule.from_expr(value))
    with pytest.raises(tvm.error.UsageError, match="6 values"):
        analysis.extract_intermdeiate_expr(module, 6)


def test_fused_functions():
    x = var("x", 1, 4, 8, 8)
    once = relay.nn.relu(relay.nn.conv2d(x, var("a", 4, 4, 1, 1), kernel_size=(1, 1), channels=4))
    again = relay.nn.relu(relay.nn.conv2d(once, var("b", 4, 4, 1, 1), kernel_size=(1, 1), channels=4))
    found = analysis.extract_fused_functions(tvm.IRModule.from_expr(relay.nn.softmax(again)))
    assert len(found) == 2 and all(each.attrs.Primitive == 1 for each in found.values())
    assert all(str(tvm.ir.structural_hash(each) % 2**64) == str(key) for key, each in found.items())


def test_calls_between_functions():
    n, main = relay.var("n", shape=(), dtype="int32"), tvm.ir.GlobalVar("main")
    down, leaf = tvm.ir.GlobalVar("down"), tvm.ir.GlobalVar("leaf")
    module = tvm.IRModule()
    module[leaf] = relay.Function([n], n)
    module[down] = relay.Function([n], down(leaf(n)))
    module[main] = relay.Function([n], down(n))
    graph = analysis.CallGraph(module)
    assert graph.module is module and [graph.ref_count(each) for each in ("main", "down", leaf)] == [0, 2, 1]
    assert [graph.global_call_count(each) for each in (main, down, leaf)] == [1, 2, 0]
    assert [graph.is_recursive(each) for each in (main, down, leaf)] == [False, True, False]
    assert "#refs = 2" in graph.print_var("down") and "down calls leaf" in str(graph)
    with pytest.raises(ValueError, match="nothing"):
        graph.ref_count("nothing")


def test_annotated_regions():
    x, y = var("x", 2, 2), var("y", 2, 2)
    begin = [compiler_begin(each, "mine") for each in (x, y)]
    inner = begin[0] + begin[1]
    end = compiler_end(inner, "mine")
    other = compiler_begin(end, "theirs")
    exp = relay.exp(other)
    last = compiler_end(exp, "theirs")
    regions = analysis.AnnotatedRegionSet(last, relay.op.get("annotation.compiler_begin"), relay.op.get("annotation.compiler_end"))
    assert len(regions) == 2 and [each.target for each in regions] == ["mine", "theirs"]
    found = regions.get_region(begin[0])
    assert set(found.args) == set(begin) and found.rets == [end] and set(found.nodes) == {*begin, inner, end}
    assert regions.get_region(exp).args == [other] and regions.get_region(x) is None
    with pytest.raises(NotImplementedError):
        analysis.AnnotatedRegionSet(last, relay.op.get("add"), relay.op.get("add"))


def test_calibration():
    module = tvm.IRModule()
    x, y, z = (relay.var(each, shape=(2, 2)) for each in "xyz")
    names = [tvm.ir.GlobalVar(each) for each in ("g0", "g1")]
    for name, body in zip(names, (x + y, relay.Tuple([x * y, x]))):
        params = [relay.var(each, shape=(2, 2)) for each in "ab"]
        function = relay.Function(params, relay.bind(body, dict(zip((x, y), params))))
        module[name] = function.with_attr({"Compiler": "mine", "global_symbol": name.name_hint, "Primitive": 1})
    first = names[0](x, y)
    module["main"] = relay.Function([x, y, z], relay.TupleGetItem(names[1](first, z), 0))
    module = relay.transform.InferType()(module)
    data = {name: np.random.rand(2, 2).astype("float32") for name in "xyz"}
    found = analysis.get_calibration_data(module, data)
    by_name = {each.name_hint: values for each, values in found.items()}
    total = data["x"] + data["y"]
    np.testing.assert_allclose(by_name["g0"]["inputs"][1].numpy(), data["y"])
    np.testing.assert_allclose(by_name["g0"]["outputs"][0].numpy(), total)
    np.testing.assert_allclose(by_name["g1"]["inputs"][0].numpy(), total)
    np.testing.assert_allclose(by_name["g1"]["outputs"][0].numpy(), total * data["z"], rtol=1e-6)
    assert len(by_name["g1"]["outputs"]) == 2
