"""Modules and names that scripts for TVM import beside relay's operators: supplies of names, tables of quantised operators, cc, ..."""
import importlib

import numpy as np
import pytest

import baton as tvm
from baton import ir, relay
from baton._load import core


@pytest.mark.parametrize("name", [
    "relay.transform.fake_quantization_to_integer", "relay.transform.infer_layout_utils", "ir.supply", "relay.backend.utils",
    "runtime.name_transforms", "target.target", "contrib.cc", "relay.frontend.common", "relay.qnn.op.canonicalizations",
    "relay.transform.transform", "relay.analysis.call_graph", "relay.qnn.op.qnn", "runtime.object_path", "runtime.params",
    "relay.testing.byoc", "relay.op.nn._make", "relay.collage.collage", "ir.json_compact", "contrib.relay_viz.interface"])
def test_modules_can_be_imported(name):
    found = importlib.import_module("baton." + name)
    assert found is not None and importlib.import_module("baton." + name) is found


def test_name_supply():
    supply = ir.supply.NameSupply("prefix")
    assert [supply.fresh_name("test") for _ in range(3)] == ["prefix_test", "prefix_test_1", "prefix_test_2"]
    assert supply.fresh_name("a.b", add_prefix=False) == "a_b" and supply.contains_name("a_b", False)
    assert supply.reserve_name("kept") == "prefix_kept" and supply.fresh_name("kept") == "prefix_kept_1"
    assert not supply.contains_name("never") and ir.supply.NameSupply().fresh_name("x") == "x"


def test_global_var_supply():
    module = tvm.IRModule.from_expr(relay.var("x", shape=(1,)))
    supply = ir.supply.GlobalVarSupply(module)
    assert supply.fresh_global("main").name_hint == "main_1"
    assert supply.unique_global_for("f") is supply.unique_global_for("f")
    with pytest.raises(ValueError, match="main already exists"):
        supply.reserve_global(relay.GlobalVar("main"))
    supply.reserve_global(relay.GlobalVar("main"), allow_conflict=True)
    assert ir.supply.GlobalVarSupply(ir.supply.NameSupply("p")).fresh_global("f").name_hint == "p_f"
    assert ir.supply.GlobalVarSupply([module, module]).fresh_global("main").name_hint == "main_1"


def test_where_two_programs_begin_to_differ():
    find = ir.base.get_first_structural_mismatch
    x, y = relay.var("x", shape=(1,)), relay.var("y", shape=(1,))
    left = relay.Function([x], relay.add(relay.exp(x), x))
    right = relay.Function([y], relay.add(relay.exp(y), relay.const(1.0)))
    assert find(left, relay.Function([y], relay.add(relay.exp(y), y))) is None
    assert [str(each) for each in find(left, right)] == ["<root>.body.args[1]"] * 2
    modules = [tvm.IRModule.from_expr(each) for each in (left, right)]
    assert str(find(*modules)[0]) == "<root>.functions['main'].body.args[1]"
    convs = [relay.nn.conv2d(x, y, kernel_size=each) for each in ((3, 3), (3, 5))]
    assert str(find(*convs)[0]) == "<root>.attrs['kernel_size'][1]"
    assert [str(each) for each in find(relay.Tuple([x, y]), relay.Tuple([x]))] == ["<root>.fields[1]", "<root>.fields[<missing element #1>]"]
    assert [str(each) for each in find(relay.TensorType((1, 2)), relay.TensorType((1, 3)))] == ["<root>.shape[1]"] * 2
    path = tvm.runtime.ObjectPath.root().attr("body").array_index(2)
    assert len(path) == 3 and path.parent.is_prefix_of(path) and path.get_prefix(1) == tvm.runtime.ObjectPath.root()


def test_json_of_types_and_containers():
    v = relay.var("x")
    for value in (relay.TensorType((1, relay.Any())), relay.FuncType([relay.scalar_type("int32")], relay.TupleType([])),
                  relay.nn.conv2d(v, v, kernel_size=(3, 3)).attrs, relay.op.op.get("add")):
        assert ir.structural_equal(ir.load_json(ir.save_json(value)), value)
    found = ir.load_json(ir.save_json({"a": [relay.const(1), "text", 2, None], "b": relay.scalar_type("bool")}))
    assert isinstance(found, ir.Map) and found["a"][1:] == ["text", 2, None] and found["b"] == relay.scalar_type("bool")
    assert isinstance(found["a"], ir.Array) and found["a"][0].data.numpy() == 1
    np.testing.assert_array_equal(ir.load_json(ir.save_json(tvm.nd.array(np.arange(3)))).numpy(), np.arange(3))
    with pytest.raises(TypeError, match="object"):
        ir.save_json(object())


def test_attributes_of_modules_pass_through_passes():
    module = tvm.IRModule.from_expr(relay.exp(relay.var("x", shape=(1,))))
    assert module.attrs is None and module.get_attr("executor") is None
    other = module.with_attr("executor", "graph").with_attr("n", 3)
    assert module.attrs is None and other.attrs["n"] == 3 and other.get_attr("executor") == "graph"
    typed = tvm.transform.Sequential([relay.transform.InferType(), relay.transform.FoldConstant()])(other)
    assert typed.attrs == other.attrs and typed["main"].checked_type


def test_facts_of_nodes_and_operators():
    assert relay.op.op.get("nn.conv2d").support_level == 2 and relay.op.op.get("add").support_level == 1
    x = relay.var("x")
    assert x.vid == x.vid and x.vid.name_hint == "x" and x.vid != relay.var("x").vid and {x.vid: 1}[x.vid] == 1
    span = ir.Span(ir.SourceName("net.py"), 3, 4, 5, 6)
    assert (span.source_name, span.line, span.end_line, span.column, span.end_column) == ("net.py", 3, 4, 5, 6)
    assert relay.Var("y", span=span).span.line == 3
    assert relay.TensorType((1, 2)).shape == (1, 2)
    assert repr(relay.backend.Executor("graph")) == 'graph{"link-params": (bool)0}' and repr(relay.backend.Runtime("cpp")) == "cpp"
    made = tvm.runtime.container.tuple_object([1, "a"])
    assert len(made) == 2 and made.tag == 0


def test_type_relations_by_name():
    broadcast = ir.EnvFunc.get("tvm.relay.type_relation.Broadcast")
    types = [relay.TensorType((3, 1)), relay.TensorType((4,))]
    relation = ir.TypeRelation(broadcast, [*types, relay.IncompleteType()], 2, None)
    assert relation.func.name.endswith("Broadcast") and relation.func(types, 2, None) == relay.TensorType((3, 4))
    assert ir.EnvFunc.get("tvm.relay.type_relation.Identity")(types, 1) == types[0]
    assert ir.EnvFunc.get("tvm.relay.type_relation.BroadcastComp")(types, 2).dtype == "bool"
    with pytest.raises(ValueError):
        ir.EnvFunc.get("tvm.relay.type_relation.NoSuchRelation")


def test_parameters_are_a_bytearray():
    blob = tvm.runtime.save_param_dict({"w": np.arange(3, dtype="float32")})
    assert isinstance(blob, bytearray) and list(relay.load_param_dict(blob)["w"].numpy()) == [0, 1, 2]


def test_shapes_of_inputs_are_shape_tuples():
    x = relay.var("x", shape=(2, 3))
    lib = relay.build(tvm.IRModule.from_expr(relay.exp(x)), "llvm")
    shapes, dtypes = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.cpu())).get_input_info()
    assert isinstance(shapes["x"], tvm.runtime.ShapeTuple) and shapes["x"] == (2, 3) and dtypes["x"] == "float32"


def test_prelude_has_its_functions_as_attributes():
    prelude = relay.prelude.Prelude()
    assert prelude.map.name_hint == "map" and prelude.hd == prelude.mod.get_global_var("hd")
    module = tvm.IRModule()
    module.import_from_std("prelude.rly")
    expected = {each.name_hint for each in module.get_global_vars()}
    assert all(getattr(prelude, each).name_hint == each for each in expected)


def test_the_standard_library_has_core():
    module = tvm.IRModule()
    module.import_from_std("core.rly")
    assert module.get_global_type_var("Storage").name_hint == "Storage" and len(module.get_type("Storage")) == 1


def test_raw_builders():
    x, w = relay.var("x", shape=(1, 4, 8, 8)), relay.var("w", shape=(4, 4, 3, 3))
    parts = relay.op._make.split(x, 2, 1)
    assert isinstance(parts, relay.Call) and parts.attrs.axis == 1
    assert relay.op.nn._make.conv2d(x, w, (1, 1), (1, 1, 1, 1), (1, 1), 1, 4, (3, 3), "NCHW", "OIHW", "", "").op.name == "nn.conv2d"
    assert relay.qnn.op._make.quantize(x, relay.const(1.0), relay.const(0), -1, "int8").op.name == "qnn.quantize"
    assert relay.op._make.add(x, x).op.name == "add"
    with pytest.raises(AttributeError):
        relay.op._make.no_such_operator


def test_table_of_a_quantised_function():
    from baton.relay.qnn.op.canonicalizations import create_integer_lookup_op, create_integer_lookup_table

    scale, zero, out = relay.const(0.05), relay.const(-3), relay.const(1 / 128)
    table = create_integer_lookup_table(np.tanh, scale, zero, out, relay.const(2), in_dtype="int8", out_dtype="int8")
    numbers = np.arange(-128, 128, dtype="int8")
    expected = np.clip(np.round(np.tanh((numbers.astype("float32") + 3) * np.float32(0.05)) * 128 + 2), -128, 127).astype("int8")
    np.testing.assert_array_equal(table[numbers.view("uint8")], expected)
    x = relay.var("x", shape=(256,), dtype="int8")
    op = create_integer_lookup_op(x, np.tanh, scale, zero, out, relay.const(2), in_dtype="int8", out_dtype="int8")
    run = relay.create_executor("graph", mod=tvm.IRModule.from_expr(op), target="llvm").evaluate()
    np.testing.assert_array_equal(run(numbers).numpy(), expected)
    with pytest.raises(TypeError, match="8 bits"):
        create_integer_lookup_table(np.tanh, scale, zero, out, zero, in_dtype="int16")


def test_a_shared_library(tmp_path):
    import ctypes

    from baton.contrib import cc

    (tmp_path / "f.c").write_text("int answer() { return 42; }")
    cc.create_shared(str(tmp_path / "f.so"), str(tmp_path / "f.c"), cc="gcc")
    assert ctypes.CDLL(str(tmp_path / "f.so")).answer() == 42 and cc.get_cc() and cc.create_shared.output_format == "so"
    cc.cross_compiler("gcc", options=["-O1"])(str(tmp_path / "g.so"), [str(tmp_path / "f.c")])
    assert (tmp_path / "g.so").exists()
    (tmp_path / "bad.c").write_text("int answer( {")
    with pytest.raises(RuntimeError, match="Compilation error"):
        cc.create_shared(str(tmp_path / "h.so"), str(tmp_path / "bad.c"))


def test_helpers_of_importers():
    from baton.relay.frontend import common

    x = relay.var("x", shape=(2, 3))
    assert common.infer_shape(relay.exp(x)) == (2, 3) and common.infer_type(x).checked_type.dtype == "float32"
    assert common.infer_value(relay.add(x, relay.const(1.0)), {"x": tvm.nd.array(np.ones((2, 3), "float32"))}).numpy().sum() == 12
    assert common.try_infer_value(x) == (x, False) and common.try_infer_value(relay.const(3))[1]
    assert common.AttrCvt("clip", transforms={"low": "a_min", "high": ("a_max", 6.0)})([x], {"low": 0.0}).attrs.a_max == 6.0
    with pytest.raises(NotImplementedError, match="axis"):
        common.AttrCvt("exp", excludes=["axis"])([x], {"axis": 1})
    assert common.Renamer("nn.relu")([x], {}).op.name == "nn.relu" and common.get_relay_op("dense") is relay.op.nn.dense
    attrs = common.StrAttrsDict({"k": "(2, 3)", "b": "True"})
    assert attrs.get_int_tuple("k") == (2, 3) and attrs.get_bool("b") and attrs.get_int("n", 4) == 4
    with pytest.raises(AttributeError, match="missing"):
        attrs.get_float("missing")
    table = common.ExprTable()
    assert table.new_const(np.ones((2,), "float32")).name_hint == "_param_1" and "_param_1" in table.params
    step, hidden = relay.var("s", shape=(1, 4)), relay.var("h", shape=(1, 2))
    weights = [relay.var(f"w{i}", shape=(8, width)) for i, width in enumerate((4, 2))]
    outputs, last, cell = common.lstm_cell([step, step], hidden, hidden, *weights)
    assert len(outputs) == 2 and common.infer_shape(last) == (1, 2) == common.infer_shape(cell)
    outputs, last = common.gru_cell([step], hidden, relay.var("a", shape=(6, 4)), relay.var("b", shape=(6, 2)))
    assert common.infer_shape(last) == (1, 2)
    image = relay.var("i", shape=(1, 3, 7, 7))
    assert common.infer_shape(common.autopad(image, (2, 2), (3, 3))) == (1, 3, 9, 9)


def test_annotators_of_byoc():
    from baton.relay.testing.byoc import CcompilerAnnotator, WholeGraphAnnotator

    a, b, c, d = (relay.var(name, shape=(2, 2)) for name in "abcd")
    function = relay.Function([a, b, c, d], relay.multiply(relay.subtract(relay.add(a, b), c), d))
    for annotator, name in ((WholeGraphAnnotator("x"), "x"), (CcompilerAnnotator(), "ccompiler")):
        module = tvm.IRModule.from_expr(annotator.visit(function))
        parts = relay.transform.PartitionGraph()(relay.transform.InferType()(module))
        symbols = [each.name_hint for each in parts.get_global_vars() if each.name_hint != "main"]
        assert symbols == [f"tvmgen_default_{name}_main_0"]
    array = relay.testing._np_randn_from_type(relay.TensorType((3, 4), "float16"), mean=5)
    assert array.shape == (3, 4) and array.dtype == "float16" and 2 < array.mean() < 8


def test_a_layout_rule_from_python():
    from baton.relay.transform.infer_layout_utils import InferCorrectLayoutOutput

    asked = []

    def follow(attrs, new_in_layouts, old_in_layouts, old_in_types):
        asked.append((new_in_layouts, [str(each) for each in old_in_types]))
        layout = (new_in_layouts or old_in_layouts)[0]
        return InferCorrectLayoutOutput([layout], [layout], attrs)

    relay.op.op.register("test.layout_follows", "for a test")
    op = relay.op.op.get("test.layout_follows")
    op.set_num_inputs(1)
    op.add_type_rel("Identity")
    x, w = relay.var("x", shape=(1, 8, 16, 16)), relay.var("w", shape=(8, 8, 3, 3))
    conv = relay.nn.conv2d(x, w, padding=(1, 1), channels=8, kernel_size=(3, 3))
    body = relay.nn.max_pool2d(relay.Call(op, [conv]), (2, 2))
    module = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([x, w], body)))
    convert = relay.transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"]})
    before = convert(module).astext(show_meta_data=False)
    relay.op.op.register_infer_correct_layout("test.layout_follows", follow)
    after = convert(module).astext(show_meta_data=False)
    # Without a rule the layout goes back in front of the operator; with it, behind.
    assert before.index('dst_layout="NCHW"') < before.index("test.layout_follows")
    assert after.index("test.layout_follows") < after.index('dst_layout="NCHW"')
    assert asked[0][0] is None and any(new and new[0].name == "NHWC" for new, _ in asked)
    relay.op.op.get("test.layout_follows").reset_attr("FInferCorrectLayout")
    assert convert(module).astext(show_meta_data=False) == before


def test_a_rule_of_fake_quantization_from_python():
    from baton.relay.transform.fake_quantization_to_integer import register_unary_identity

    relay.op.op.register("test.stays_quantised", "for a test")
    op = relay.op.op.get("test.stays_quantised")
    op.set_num_inputs(1)
    op.add_type_rel("Identity")
    x = relay.var("x", shape=(1, 4), dtype="int8")
    scale, zero = relay.const(2.0), relay.const(3)
    body = relay.qnn.op.quantize(relay.Call(op, [relay.qnn.op.dequantize(x, scale, zero)]), scale, zero)
    module = relay.transform.InferType()(tvm.IRModule.from_expr(body))
    convert = relay.transform.FakeQuantizationToInteger()
    assert "qnn.dequantize" in convert(module).astext()
    register_unary_identity("test.stays_quantised")
    shown = convert(module).astext()
    assert "test.stays_quantised(%x)" in shown and "quantize(" not in shown

    seen = []

    def through(expr, type_map):
        seen.append((type_map[expr.args[0]].dtype, type_map[expr].dtype))
        return [expr, type_map[expr.args[0]]]

    relay.op.op.get("test.stays_quantised").reset_attr("FTVMFakeQuantizationToInteger")
    relay.op.op.register_fake_quantization_to_integer("test.stays_quantised", through)
    convert(module)
    assert seen == [("int8", "int8")]
    relay.op.op.get("test.stays_quantised").reset_attr("FTVMFakeQuantizationToInteger")
    assert "qnn.dequantize" in convert(module).astext()


def test_constants_of_untyped_modules_are_folded():
    x = relay.var("x", shape=(2,))
    module = tvm.IRModule.from_expr(relay.Function([x], relay.add(x, relay.add(relay.const(1.0), relay.const(2.0)))))
    folded = relay.transform.FoldConstant()(module)["main"].body
    assert isinstance(folded.args[1], relay.Constant) and folded.args[1].data.numpy() == 3
    assert core.op_frequencies(relay.transform.FoldConstant()(module)) == {"add": 1}
