"""A compiler of one's own for parts of VGG-11: patterns and rules cut eight regions out, and a code generator written in
Python builds each. This one hands them back to Baton, so the result can be compared with the unpartitioned network.

    python -m baton.tvm examples/byoc_vgg11.py
"""
import numpy as np
import tvm
from tvm import relay
from tvm.contrib import graph_executor
from tvm.relay.dataflow_pattern import is_op, wildcard

import baton

asked = []


@tvm.register_func("relay.ext.cuda")
def build_region(function):
    """Called by relay.build with each region: a Function that has its name as `global_symbol`."""
    asked.append(function.attrs["global_symbol"])
    alone = tvm.IRModule.from_expr(relay.Function(function.params, function.body))
    return relay.build(alone, target="llvm").get_lib()


def conv_relu(bias):
    conv = is_op("nn.conv2d")(wildcard(), wildcard())
    return is_op("nn.relu")(is_op("nn.bias_add")(conv, wildcard()) if bias else conv)


tvm.ir.register_op_attr("nn.dense", "target.cuda", lambda call: True)
partition = tvm.transform.Sequential([
    relay.transform.MergeComposite([("cuda.conv_bias_relu", conv_relu(True)), ("cuda.conv_relu", conv_relu(False))]),
    relay.transform.AnnotateTarget("cuda"),
    relay.transform.MergeCompilerRegions(),
    relay.transform.PartitionGraph()])

module, params = relay.testing.vgg.get_workload(batch_size=1, num_layers=11)
cut = partition(module)
regions = sorted(var.name_hint for var in cut.get_global_vars() if var.name_hint != "main")
print(len(regions), "regions:")
for name in sorted(regions, key=lambda each: int(each.rsplit("_", 1)[1])):
    print(" ", name)


def run(what, image):
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(what, target="llvm", params=params)
    model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    model.set_input("data", image)
    model.run()
    return lib, model.get_output(0).numpy()


image = np.random.default_rng(0).uniform(-1, 1, (1, 3, 224, 224)).astype("float32")
whole, expected = run(module, image)
parts, got = run(cut, image)
print("built by relay.ext.cuda:", len(asked))
print("same result:", np.allclose(expected, got, rtol=1e-4, atol=1e-6))

report = baton.profile(parts, repeat=3, seconds=0, inside=False)
print("kernels of regions, and the lines of the network they come from:")
line = {row["id"]: row["op"] for row in report.operators}
for kernel in report.kernels:
    if "region" in kernel:
        print(f"  {kernel['region']:28} {'+'.join(line[each] for each in kernel['origins'])}")
