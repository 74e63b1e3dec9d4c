"""A model partitioned for the backend of own.c: `python3 use.py libown.so` compiles, saves, runs and profiles it."""
import sys

import numpy as np
import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from baton.relay.op.contrib.partition import partition_for, refusals

name = tvm.load_backend(sys.argv[1])
x = relay.var("x", shape=(4, 8))
weight = relay.const(np.random.default_rng(0).normal(size=(3, 8)).astype("float32"))
mod = tvm.IRModule.from_expr(relay.nn.softmax(relay.nn.relu(relay.nn.dense(relay.exp(x), weight))))
for call, why in refusals(mod, name):
    print(f"{call.op.name}: left to the host, {why}")
lib = relay.build(partition_for(mod, name, merge=False), target="llvm")
module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
data = np.linspace(-1, 1, 32, dtype="float32").reshape(4, 8)
module.run(x=data)
hidden = np.maximum(np.exp(data) @ weight.data.numpy().T, 0)
np.testing.assert_allclose(module.get_output(0).numpy(), np.exp(hidden) / np.exp(hidden).sum(1, keepdims=True), rtol=1e-4)
for kernel in tvm.profile(lib, {"x": data}, inside=False, seconds=0.1).kernels:
    print(f"{kernel['median_us']:8.2f} us  {kernel['target']:5}  {kernel['title']}")
