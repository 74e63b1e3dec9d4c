"""What scripts register for operators: rules that passes ask, attributes, and operators of their own."""
import pytest

import baton as tvm
from baton import relay
from baton.relay.testing import run_infer_type, run_opt_pass
from baton.relay.testing.temp_op_attr import TempOpAttr


def conv(layout="NCHW", channels=32):
    x = relay.var("x", shape=(1, 64, 8, 8) if layout == "NCHW" else (1, 8, 8, 64))
    w = relay.var("w", shape=(channels, 64, 3, 3) if layout == "NCHW" else (3, 3, 64, channels))
    y = relay.nn.conv2d(x, w, channels=channels, kernel_size=(3, 3), padding=(1, 1), data_layout=layout,
                        kernel_layout="OIHW" if layout == "NCHW" else "HWIO")
    return relay.Function([x, w], relay.nn.relu(y))


def test_legalize_asks_python():
    asked = []

    def legalize(attrs, inputs, types):
        asked.append((attrs.kernel_size, [str(each) for each in types]))
        data, weight = inputs
        return relay.nn.conv2d(data, relay.multiply(weight, relay.const(2.0)), **dict(attrs))

    before = conv()
    with TempOpAttr("nn.conv2d", "FTVMLegalize", legalize):
        after = run_opt_pass(before, relay.transform.Legalize())
    assert asked == [([3, 3], ["Tensor[(1, 64, 8, 8), float32]", "Tensor[(32, 64, 3, 3), float32]", "Tensor[(1, 32, 8, 8), float32]"])]
    x, w = before.params
    expected = relay.Function([x, w], relay.nn.relu(relay.nn.conv2d(
        x, relay.multiply(w, relay.const(2.0)), channels=32, kernel_size=(3, 3), padding=(1, 1))))
    tvm.ir.assert_structural_equal(run_infer_type(after), run_infer_type(expected))
    tvm.ir.assert_structural_equal(run_opt_pass(before, relay.transform.Legalize()), run_infer_type(before))


def test_legalize_by_none_and_nested():
    calls = []
    with TempOpAttr("nn.relu", "FTVMLegalize", lambda attrs, inputs, types: calls.append(1)):
        with TempOpAttr("nn.relu", "FTVMLegalize", lambda attrs, inputs, types: relay.nn.leaky_relu(inputs[0], alpha=0.0)):
            inner = run_opt_pass(conv(), relay.transform.Legalize())
        outer = run_opt_pass(conv(), relay.transform.Legalize())
    assert inner.body.op.name == "nn.leaky_relu" and outer.body.op.name == "nn.relu" and calls == [1]
    assert not relay.op.get("nn.relu").has_attr("FTVMLegalize")


def test_alter_op_layout_asks_python():
    def alter(attrs, inputs, tinfos, out_type):
        data, weight = inputs
        assert tinfos[0].concrete_shape == (1, 64, 8, 8) and out_type.concrete_shape == (1, 32, 8, 8)
        new_attrs = dict(attrs)
        new_attrs["data_layout"], new_attrs["kernel_layout"] = "NCHW16c", "OIHW16i"
        return relay.nn.conv2d(data, relay.multiply(weight, relay.const(2.0)), **new_attrs)

    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", alter):
        after = run_opt_pass(conv(), relay.transform.AlterOpLayout())
    text = str(after)
    assert 'src_layout="NCHW", dst_layout="NCHW16c"' in text and 'src_layout="NCHW16c", dst_layout="NCHW"' in text
    assert 'src_layout="OIHW", dst_layout="OIHW16i"' in text and "multiply(%w, 2f" in text and text.index("multiply") < text.index("nn.conv2d")


def test_alter_op_layout_by_none_leaves_the_call():
    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", lambda attrs, inputs, tinfos, out_type: None):
        after = run_opt_pass(conv(), relay.transform.AlterOpLayout())
    tvm.ir.assert_structural_equal(after, run_infer_type(conv()))


def test_convert_layout_asks_python():
    asked = []

    def convert(attrs, inputs, tinfos, desired_layouts):
        asked.append(list(desired_layouts))
        new_attrs = dict(attrs)
        new_attrs["data_layout"], new_attrs["kernel_layout"] = desired_layouts[0], "OIHW"
        return relay.nn.conv2d(*inputs, **new_attrs)

    with TempOpAttr("nn.conv2d", "FTVMConvertOpLayout", convert):
        after = run_opt_pass(conv("NHWC"), relay.transform.ConvertLayout({"nn.conv2d": ["NCHW", "default"]}))
    assert asked == [["NCHW", "default"]] and 'src_layout="NHWC", dst_layout="NCHW"' in str(after)


def test_builds_ask_python_too():
    import numpy as np

    calls = []

    def alter(attrs, inputs, tinfos, out_type):
        calls.append(1)
        new_attrs = dict(attrs)
        new_attrs["data_layout"], new_attrs["kernel_layout"] = "NCHW4c", "OIHW4o"
        return relay.nn.conv2d(*inputs, **new_attrs)

    data, weight = np.random.rand(1, 64, 8, 8).astype("float32"), np.random.rand(32, 64, 3, 3).astype("float32")
    module = tvm.IRModule.from_expr(conv())
    plain = relay.create_executor("graph", mod=module).evaluate()(data, weight).numpy()
    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", lambda attrs, inputs, tinfos, out_type: calls.append(0)):
        with tvm.transform.PassContext(opt_level=3):
            left = relay.create_executor("graph", mod=module).evaluate()(data, weight).numpy()
    assert calls == [0]
    np.testing.assert_allclose(left, plain, rtol=1e-4)


def test_errors_of_rules_arrive():
    def fails(attrs, inputs, types):
        raise KeyError("mine")

    with TempOpAttr("nn.conv2d", "FTVMLegalize", fails), pytest.raises(KeyError, match="mine"):
        run_opt_pass(conv(), relay.transform.Legalize())
    with TempOpAttr("nn.conv2d", "FTVMLegalize", lambda attrs, inputs, types: 3), pytest.raises(TypeError, match="expression or None"):
        run_opt_pass(conv(), relay.transform.Legalize())
    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", lambda attrs, inputs, tinfos, out_type: inputs[0]):
        with pytest.raises(tvm.TVMError, match="returns a call"):
            run_opt_pass(conv(), relay.transform.AlterOpLayout())


def test_attributes_of_ones_own():
    op = relay.op.get("nn.relu")
    tvm.ir.register_op_attr("nn.relu", "my_attr", 3)
    assert op.has_attr("my_attr") and op.get_attr("my_attr") == 3
    with pytest.raises(tvm.TVMError, match="already registered"):
        tvm.ir.register_op_attr("nn.relu", "my_attr", 4)
    op.set_attr("my_attr", 5, 11)
    assert op.get_attr("my_attr") == 5
    op.reset_attr("my_attr")
    assert not op.has_attr("my_attr") and op.get_attr("my_attr") is None
    with TempOpAttr("nn.relu", "my_attr", 7):
        assert op.get_attr("my_attr") == 7
    assert op.get_attr("my_attr") is None and op.get_attr("TOpPattern") == relay.op.OpPattern.ELEMWISE
    assert "nn.relu" in tvm.ir.Op.list_op_names()


def test_operators_of_ones_own():
    relay.op.op.register("test.log1", "my operator")
    op = relay.op.op.get("test.log1")
    op.set_num_inputs(1)
    op.add_argument("data_0", "Tensor", "the tensor")
    op.set_attrs_type_key("DictAttrs")
    op.add_type_rel("my relation", lambda types, attrs: tvm.relay.TensorType(types[0].shape, "int32"))
    op.set_support_level(1)
    relay.op.op.register_pattern("test.log1", relay.op.OpPattern.OPAQUE)
    relay.op.op.register_stateful("test.log1", False)
    x = relay.var("x", shape=(2, 3))
    typed = run_infer_type(relay.Call(op, [x]))
    assert str(typed.checked_type) == "Tensor[(2, 3), int32]" and op.get_attr("TOpPattern") == 8
    assert "test.log1(%x)" in str(tvm.IRModule.from_expr(relay.Function([x], relay.Call(op, [x]))))
    relay.op.op.register("test.identity")
    relay.op.op.get("test.identity").add_type_rel("Identity")
    assert str(run_infer_type(relay.Call(relay.op.get("test.identity"), [x])).checked_type) == "Tensor[(2, 3), float32]"
    with pytest.raises(tvm.TVMError, match="registered already"):
        relay.op.op.register("nn.relu")
    with pytest.raises(tvm.TVMError, match="Baton's own"):
        relay.op.op.register_pattern("nn.relu", 8)
