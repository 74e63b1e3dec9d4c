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
# Weights become constants before the cut, so that the regions have them inside and can prepare them when they are built.
module["main"] = relay.build_module.bind_params_by_name(module["main"], params)
cut = partition(module)
regions = [var.name_hint for var in cut.get_global_vars() if var.name_hint != "main"]
regions.sort(key=lambda name: int(name.rsplit("_", 1)[1]))
print(len(regions), "regions:", *regions)


def run(what, image):
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(what, target="llvm")
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
print("what runs in each region, and how long:")
op = {row["id"]: row["op"] for row in report.operators}
for name in regions:
    kernels = [kernel for kernel in report.kernels if kernel.get("region") == name]
    operators = sorted({each for kernel in kernels for each in kernel["origins"]})
    print(f"  {name:28} {sum(kernel['median_us'] for kernel in kernels):9.0f} us  {'+'.join(op[each] for each in operators)}")
