"""Places, mixed precision and recasting from Python."""
import pickle

import pytest

import baton
from baton import relay
from baton.relay.testing import run_infer_type
from baton.relay.transform import mixed_precision


def test_on_device_and_plan_devices():
    x = relay.var("x", shape=(2, 3))
    mod = baton.IRModule.from_expr(relay.Function([x], relay.tanh(relay.annotation.on_device(relay.exp(x), "cuda"))))
    context = baton.transform.PassContext(config={"relay.fallback_device_type": 1})
    config = baton.target.make_compilation_config(context, ["llvm", baton.target.Target("cuda")])
    assert [str(each).split()[0] for each in config.primitive_targets] == ["llvm", "cuda"]
    assert config.optional_homogeneous_target is None
    assert config.default_primitive_virtual_device.device_type == 1
    planned = relay.transform.PlanDevices(config)(mod)
    params, result = baton._load.core.function_devices(planned["main"])
    assert (params[0].device_type, result.device_type) == (2, 1)
    assert result.target.kind.name == "llvm"
    assert "device_copy" in str(planned)
    assert relay.transform.AnnotateMemoryScope(config)(planned)["main"] is not None
    with pytest.raises(baton.TVMError, match="No target is specified for device type 2"):
        relay.transform.PlanDevices(baton.target.make_compilation_config(context, "llvm"))(mod)


def test_virtual_devices():
    place = baton.target.VirtualDevice(baton.cuda(1), "cuda", "global")
    assert str(place).startswith("VirtualDevice(device_type=2, virtual_device_id=1, target=Target(id=?, kind='cuda'")
    assert str(baton.target.VirtualDevice(memory_scope="global")) == "VirtualDevice(memory_scope='global')"
    x = relay.var("x", shape=(3,))
    copied = relay.device_copy(x, "cpu", baton.cuda(0))
    assert copied.attrs.dst_virtual_device.device_type == 2
    function = relay.annotation.function_on_device(relay.Function([x], relay.exp(x)), ["cpu"], "cpu")
    assert "%x {virtual_device=VirtualDevice(device_type=1" in str(function)


def test_a_virtual_device_keeps_the_host_of_its_target():
    cuda = baton.target.Target("cuda", host="llvm")
    place = baton.target.VirtualDevice(baton.cuda(0), cuda)
    assert str(place).endswith("host=Target(id=?, kind='llvm', keys={'cpu'})))")
    assert place.target.host.kind.name == "llvm" and pickle.loads(pickle.dumps(place)) == place
    assert baton.target.VirtualDevice(baton.cuda(0), "cuda") != place and place.target.kind.name == "cuda"

    # Only one GPU: nothing is copied from it to itself.
    x = relay.var("x", shape=(2, 3))
    log = relay.annotation.on_device(relay.log(relay.annotation.on_device(relay.exp(x), place)), baton.cuda(0))
    mod = baton.IRModule.from_expr(relay.Function([x], relay.annotation.on_device(log, place, constrain_result=True)))
    context = baton.transform.PassContext(config={"relay.fallback_device_type": 2})
    config = baton.target.make_compilation_config(context, ["llvm", cuda])
    assert "device_copy" not in str(relay.transform.PlanDevices(config)(mod))


def test_mixed_precision():
    x, w = relay.var("x", shape=(2, 8)), relay.var("w", shape=(4, 8))
    mod = baton.IRModule.from_expr(relay.nn.dense(x, w, units=4))
    mixed = relay.transform.ToMixedPrecision("float16")(mod)
    assert mixed["main"].ret_type.dtype == "float16"
    with baton.transform.PassContext(config={"relay.ToMixedPrecision.keep_orig_output_dtype": True}):
        assert relay.transform.ToMixedPrecision()(mod)["main"].ret_type.dtype == "float32"
    with pytest.raises(baton.TVMError, match="Missing op mode is either 0, 1, or 2"):
        relay.transform.ToMixedPrecision("float16", 3)

    asked = []

    @relay.op.register_mixed_precision_conversion("nn.batch_matmul", level=11)
    def never(call, dtype):
        asked.append((call.op.name, dtype))
        return [mixed_precision.MIXED_PRECISION_NEVER, "float32", "float32"]

    a, b = relay.var("a", shape=(1, 2, 8)), relay.var("b", shape=(1, 4, 8))
    module = baton.IRModule.from_expr(relay.nn.batch_matmul(a, b, transpose_b=True))
    assert relay.transform.ToMixedPrecision("bfloat16")(module)["main"].ret_type.dtype == "float32"
    assert asked == [("nn.batch_matmul", "bfloat16")]
    with pytest.raises(baton.TVMError, match="already registered"):
        relay.op.register_mixed_precision_conversion("nn.dense", never)


def test_recast():
    x, w = relay.var("x", shape=(8, 8, 8, 8)), relay.var("w", shape=(8, 8, 3, 3))
    function = relay.Function([x, w], relay.nn.conv2d(x, w, padding=(1, 1, 1, 1), channels=8, kernel_size=(3, 3)))
    assert 'out_dtype="int32"' in str(relay.transform.recast(function, "int8", "int32"))
    mod = baton.IRModule.from_expr(function)
    assert "int8" not in str(relay.transform.recast(mod, "int8", "int32", skip_layers=[0]))
    recast = relay.transform.recast(mod, "int8", "int32", ["nn.conv2d"], [-2])["main"]
    assert recast.ret_type is None and run_infer_type(recast).ret_type.dtype == "float32"  # none is declared, as before
    as_int8 = [relay.cast(each, "int8") for each in (x, w)]
    expected = relay.nn.conv2d(*as_int8, padding=(1, 1, 1, 1), channels=8, kernel_size=(3, 3), out_dtype="int32")
    expected = relay.Function([x, w], relay.cast(expected, "float32"))
    assert baton.ir.structural_equal(relay.transform.recast(function, "int8", "int32"), expected)


def test_dense_to_sparse():
    x, w = relay.var("x", shape=(2, 8)), relay.var("w", shape=(4, 8))
    mod = baton.IRModule.from_expr(relay.Function([x, w], relay.nn.dense(x, w, units=4)))
    sparse = relay.transform.DenseToSparse(["w"], [[(3,), (3,), (5,)]])(mod)
    assert [each.name_hint for each in sparse["main"].params] == ["x", "w.data", "w.indices", "w.indptr"]
