"""From a kernel in graph.json to the Relay it was made of, and to the lines of the program; then that kernel built alone.

    python -m baton.tvm examples/graph_and_back.py
"""
import json

import numpy as np
import tvm
from tvm import relay
from tvm.contrib import graph_executor

import baton

TEXT = """#[version = "0.0.5"]
def @main(%image: Tensor[(1, 3, 32, 32), float32], %weight: Tensor[(8, 3, 3, 3), float32], %bias: Tensor[(8), float32]) {
  %0 = nn.conv2d(%image, %weight, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %1 = nn.bias_add(%0, %bias);
  %2 = nn.relu(%1);
  nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])
}
"""


def run(lib, **inputs):
    model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    model.run(**inputs)
    return model.get_output(0).numpy()


module = tvm.parser.fromtext(TEXT)
with tvm.transform.PassContext(opt_level=2):
    lib = relay.build(module, target="llvm")

print("graph.json -> Relay")
graph = json.loads(lib.get_graph_json())
kernels = [node for node in graph["nodes"] if node["op"] == "tvm_op"]
operators = baton.origins(lib)
for node in kernels:
    lines = [f"{operators[each]['op']} (line {operators[each]['line']})" for each in json.loads(node["attrs"]["origins"])]
    print(f"  {node['attrs']['func_name']}: {', '.join(lines)}")

name = next(node["attrs"]["func_name"] for node in kernels if "conv2d" in node["attrs"]["func_name"])
function, = lib.function_metadata[name].relay_primfuncs.values()
print("the function of", name)
print(function)

alone = tvm.IRModule.from_expr(relay.Function(function.params, function.body))
with tvm.transform.PassContext(opt_level=2):
    part = relay.build(alone, target="llvm")
again = [node for node in json.loads(part.get_graph_json())["nodes"] if node["op"] == "tvm_op"]
print("built alone:", ", ".join(node["attrs"]["func_name"] for node in again))

random = np.random.default_rng(0)
arrays = {each.name_hint: random.uniform(-1, 1, [int(extent) for extent in each.checked_type.shape]).astype("float32")
          for each in function.params}
value = run(part, **arrays)
pooled = value.reshape(1, 8, 16, 2, 16, 2).max(axis=(3, 5))
whole = run(lib, **dict(zip(("image", "weight", "bias"), arrays.values())))
print("alone and in the network it computes the same:", np.allclose(pooled, whole, rtol=1e-5, atol=1e-6))
print("its operators are still those of the program:",
      sorted(row["op"] for row in baton.origins(part) if row["nodes"]))
