"""Which of TVM's names there are: all that its tests use ten times or more, and 95 of 100 of all."""
import collections

from api_table import module, names

# Not counted: what needs te or TIR, and the tuners (docs/compatibility.md).
APART = ("tvm.te", "tvm.tir", "tvm.topi", "tvm.autotvm", "tvm.auto_scheduler", "tvm.meta_schedule", "tvm.script", "tvm.arith", "tvm.rpc")

def is_counted(owner):
    return not owner.startswith(APART)


def is_there(owner, name):
    found = module(owner)
    try:
        return found is not None and hasattr(found, name)
    except ImportError:
        return False


def test_names_are_there():
    rows = [each for each in names() if is_counted(each[0])]
    missing = [each for each in rows if not is_there(*each[:2])]
    by_module = collections.defaultdict(list)
    for owner, name, uses in missing:
        by_module[owner].append(f"{name}[{uses}]")
    report = "\n".join(f"{owner}: {' '.join(found)}" for owner, found in by_module.items())
    print(f"{len(rows) - len(missing)} of {len(rows)} names are there\n{report}")
    often = [f"{owner}.{name}" for owner, name, uses in missing if uses >= 10]
    assert not often, f"used ten times or more, but missing: {often}"
    assert len(missing) <= 0.05 * len(rows), report


def test_what_is_refused_says_why():
    import pytest

    import baton as tvm
    from baton import relay

    refused = [lambda: tvm.te.placeholder((1,)), lambda: tvm.tir.Max(1, 2), lambda: tvm.topi.add(1, 2), lambda: tvm.build(None),
               lambda: tvm.lower(None), lambda: relay.frontend.from_keras(None), lambda: relay.frontend.ChangeDatatype("a", "b"),
               lambda: relay.op.register_compute("add"), lambda: relay.op.OpStrategy(), lambda: relay.op.strategy.conv2d_strategy(1, 2, 3, 4),
               lambda: relay.op.contrib.partition_for_cutlass(None), lambda: relay.op.contrib.tensorrt.pattern_table(),
               lambda: relay.transform.CollagePartition(None),
               lambda: relay.prelude.StaticTensorArrayOps(None, "float32", (1,)), lambda: relay.op.vm.shape_func(1, 2, 3, 4),
               lambda: tvm.autotvm.task.create("a"),
               lambda: relay.op.tensor.script(len), lambda: tvm.ir.register_intrin_lowering("exp", "llvm")]
    for use in refused:
        with pytest.raises(NotImplementedError, match="."):
            use()
    assert not hasattr(relay.op.contrib, "no_such_name") and not hasattr(relay.op.strategy, "no_such_name")


def test_numbers_and_containers_of_ir():
    import baton as tvm

    three = tvm.tir.IntImm("int32", 3)
    assert three.value == 3 and three.dtype == "int32" and tvm.relay.TensorType((three, 2)).concrete_shape == (3, 2)
    assert isinstance([], tvm.ir.Array) and isinstance({}, tvm.ir.Map) and isinstance(tvm.relay.const(1), tvm.ir.Node)
    # One class under each name, wherever it is found.
    assert tvm.Object is tvm.runtime.Object and isinstance(tvm.relay.const(1), tvm.Object) and isinstance(three, tvm.ir.PrimExpr)
    assert isinstance(tvm.runtime.convert(3), tvm.tir.IntImm) and isinstance(tvm.runtime.const(1.5), tvm.tir.FloatImm)
    assert isinstance(tvm.ir.make_node("IntImm", dtype="int64", value=3), tvm.tir.IntImm) and not isinstance(3, tvm.ir.PrimExpr)
    assert tvm.ir.Range(1, 4) == tvm.ir.Range.from_min_extent(1, 3)
    attrs = tvm.relay.nn.conv2d(tvm.relay.var("x"), tvm.relay.var("w"), kernel_size=3, channels=8).attrs
    assert isinstance(attrs, tvm.relay.op.op_attrs.Conv2DAttrs) and not isinstance(attrs, tvm.relay.op.op_attrs.DenseAttrs)
    assert "kernel_size" in [each.name for each in attrs.list_field_info()]
    relation = tvm.relay.TypeRelation(None, [tvm.relay.scalar_type("int32")], 1, None)
    assert relation == tvm.ir.TypeRelation(None, [tvm.relay.scalar_type("int32")], 1, None) and isinstance(relation, tvm.ir.TypeConstraint)
    pool = tvm.WorkspacePoolInfo("sram", [tvm.target.Target("c")], tvm.PoolInfoProperties(size_hint_bytes=64))
    assert tvm.WorkspaceMemoryPools([pool]).pools[0].pool_name == "sram"


def test_functions_by_target():
    import baton as tvm

    @tvm.target.generic_func
    def answer(number):
        return number

    @answer.register("cpu")
    def _(number):
        return number + 1

    assert answer(1) == 1
    with tvm.target.Target("llvm"):
        assert answer(1) == 2
    assert str(tvm.target.arm_cpu("rasp3b")).startswith("llvm") and tvm.target.list_tags() == {}
