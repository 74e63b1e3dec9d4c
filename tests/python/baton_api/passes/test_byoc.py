"""Bring your own compiler: rules, pattern tables, partitioning, as TVM's users write it."""
import pytest

import baton as tvm
from baton import relay
from baton.relay.dataflow_pattern import is_op, wildcard
from baton.relay.op.contrib.register import get_pattern_table, register_pattern_table

TEXT = """#[version = "0.0.5"]
def @main(%data: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32], %b: Tensor[(4), float32],
          %wd: Tensor[(5, 256), float32]) {
  %0 = nn.conv2d(%data, %w, padding=[1, 1, 1, 1]);
  %1 = nn.bias_add(%0, %b);
  %2 = nn.relu(%1);
  %3 = nn.batch_flatten(%2);
  nn.dense(%3, %wd, units=None)
}
"""


@pytest.fixture(name="module")
def _module():
    return relay.transform.InferType()(tvm.parser.fromtext(TEXT))


@pytest.fixture(name="dense_goes_to")
def _dense_goes_to():
    dense = relay.op.get("nn.dense")
    keys = []

    def register(compiler, takes):
        keys.append("target." + compiler)
        tvm.ir.register_op_attr("nn.dense", keys[-1], takes)

    yield register
    for key in keys:
        dense.reset_attr(key)


def conv_bias_relu():
    conv = is_op("nn.conv2d")(wildcard(), wildcard())
    return is_op("nn.relu")(is_op("nn.bias_add")(conv, wildcard()))


def partitioned(module, table, compiler, **kwargs):
    return tvm.transform.Sequential([
        relay.transform.MergeComposite(table),
        relay.transform.AnnotateTarget(compiler),
        relay.transform.MergeCompilerRegions(),
        relay.transform.PartitionGraph(**kwargs),
    ])(module)


def test_from_rules_to_functions(module, dense_goes_to):
    asked = []
    dense_goes_to("mine", lambda expr: asked.append(expr) or True)
    result = partitioned(module, [("mine.conv_bias_relu", conv_bias_relu())], "mine", mod_name="my mod")
    names = sorted(each.name_hint for each in result.get_global_vars())
    assert names == ["main", "tvmgen_my_mod_mine_main_0", "tvmgen_my_mod_mine_main_3"]
    assert isinstance(asked[0], relay.Call) and asked[0].op.name == "nn.dense" and tuple(asked[0].checked_type.shape) == (1, 5)
    first = result["tvmgen_my_mod_mine_main_0"]
    assert first.attrs["Compiler"] == "mine" and first.attrs["Primitive"] == 1
    assert first.attrs["global_symbol"] == "tvmgen_my_mod_mine_main_0"
    assert first.body.op.attrs["Composite"] == "mine.conv_bias_relu"
    assert first.body.op.attrs["PartitionedFromPattern"] == "nn.conv2d_nn.bias_add_nn.relu_"
    back = relay.transform.InlineCompilerFunctionsBoundTo(result.get_global_vars()[1:])(result)
    assert tvm.ir.structural_equal(back["main"], module["main"])


def test_checks_of_a_table(module):
    seen = []
    table = [("mine.never", conv_bias_relu(), lambda expr: seen.append(expr)), ("mine.relu", is_op("nn.relu")(wildcard()))]
    text = relay.transform.MergeComposite(table)(module).astext(show_meta_data=False)
    assert len(seen) == 1 and seen[0].op.name == "nn.relu"
    assert "mine.never" not in text and 'Composite="mine.relu"' in text


def test_errors_of_predicates_arrive(module, dense_goes_to):
    def fails(expr):
        raise KeyError("mine")

    dense_goes_to("mine", fails)
    with pytest.raises(KeyError, match="mine"):
        relay.transform.AnnotateTarget("mine")(module)
    with pytest.raises(tvm.error.UsageError, match="already registered"):
        tvm.ir.register_op_attr("nn.dense", "target.mine", fails)
    with pytest.raises(NotImplementedError, match="FTVMStrategy"):
        tvm.ir.register_op_attr("nn.dense", "FTVMStrategy", fails)


def test_attributes_of_operators():
    relu = relay.op.get("nn.relu")

    @tvm.ir.register_op_attr("nn.relu", "mine.note")
    def _note():
        return 1

    assert relu.has_attr("mine.note") and relu.get_attr("mine.note")() == 1
    tvm.ir.register_op_attr("nn.relu", "mine.note", "better", level=11)
    assert relu.get_attr("mine.note") == "better"
    relu.reset_attr("mine.note")
    assert not relu.has_attr("mine.note") and relu.get_attr("mine.note") is None


def test_pattern_tables_by_name(module):
    @register_pattern_table("mine")
    def _table():
        return [("mine.conv_bias_relu", conv_bias_relu())]

    assert [each[0] for each in get_pattern_table("mine")] == ["mine.conv_bias_relu"]
    assert get_pattern_table("nobody") is None
    by_name, by_table = relay.transform.MergeComposite("mine"), relay.transform.MergeComposite(get_pattern_table("mine"))
    assert by_name(module).astext() == by_table(module).astext()
    with pytest.raises(tvm.error.UsageError, match="did you mean `mine`"):
        relay.transform.MergeComposite("mina")


def test_a_compiler_optimizes_its_regions(module, dense_goes_to):
    dense_goes_to("mine", lambda expr: True)

    @tvm.register_func("relay.ext.mine.optimize")
    def _optimize(region):
        main = region["main"]
        region = tvm.IRModule.from_expr(relay.Function(main.params, relay.nn.relu(main.body)))
        return relay.transform.InferType()(region)

    try:
        result = partitioned(module, [], "mine")
        assert result["tvmgen_default_mine_main_0"].body.op.name == "nn.relu"
    finally:
        tvm.registry.remove_global_func("relay.ext.mine.optimize")
    assert partitioned(module, [], "mine")["tvmgen_default_mine_main_0"].body.op.name == "nn.dense"


def test_vgg_as_in_the_documents(dense_goes_to):
    dense_goes_to("cuda", lambda expr: True)
    module, _ = relay.testing.vgg.get_workload(batch_size=1, num_layers=11)
    bare = is_op("nn.relu")(is_op("nn.conv2d")(wildcard(), wildcard()))
    table = [("cuda.conv2d_relu_with_bias", conv_bias_relu()), ("cuda.conv2d_relu_wo_bias", bare)]
    result = partitioned(module, table, "cuda")
    numbers = sorted(int(each.name_hint.rsplit("_", 1)[1]) for each in result.get_global_vars() if each.name_hint != "main")
    assert numbers == [0, 3, 6, 11, 16, 21, 23, 25]


def test_marks_by_hand():
    x = relay.var("x", shape=(2, 3))
    inside = relay.nn.relu(relay.annotation.compiler_begin(x, "mine"))
    function = relay.Function([x], relay.tanh(relay.annotation.compiler_end(inside, "mine")))
    result = relay.transform.PartitionGraph()(relay.transform.InferType()(tvm.IRModule.from_expr(function)))
    assert result["main"].body.args[0].op.name_hint == "tvmgen_default_mine_main_0"
    with pytest.raises(NotImplementedError):
        relay.annotation.no_such_mark
