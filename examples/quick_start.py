"""From a network to its result: build ResNet-18 for the processor, run it, save it, and run the saved library.

    python -m baton.tvm examples/quick_start.py [IMAGE_SIZE]
"""
import sys

import numpy as np

import tvm
from tvm import relay
from tvm.contrib import graph_executor, utils
from tvm.relay import testing

size = int(sys.argv[1]) if len(sys.argv) > 1 else 224
batch_size, num_class, image_shape = 1, 1000, (3, size, size)

# The network and random weights. Its text has the type of every value.
mod, params = testing.resnet.get_workload(num_layers=18, batch_size=batch_size, image_shape=image_shape)
text = mod.astext(show_meta_data=False)
print(f"{len(text.splitlines())} lines, {len(params)} weights, result {mod['main'].ret_type}")

# Level 3 folds batch norms into convolutions and chooses layouts; the result is a library of kernels and a plan.
with tvm.transform.PassContext(opt_level=3):
    lib = relay.build(mod, tvm.target.Target("llvm"), params=params)

dev = tvm.cpu()
data = np.random.default_rng(0).uniform(-1, 1, size=(batch_size, *image_shape)).astype("float32")
module = graph_executor.GraphModule(lib["default"](dev))
module.set_input("data", data)
module.run()
out = module.get_output(0, tvm.nd.empty((batch_size, num_class))).numpy()
print("the probabilities sum up to", round(float(out.sum()), 4), "- the first ten:", out.flatten()[:10].round(5).tolist())

# A library of one file holds all of it; it needs no compiler where it runs.
folder = utils.tempdir()
path = folder.relpath("deploy_lib.tar")
lib.export_library(path)
print("saved:", folder.listdir())
loaded = graph_executor.GraphModule(tvm.runtime.load_module(path)["default"](dev))
loaded.run(data=data)
tvm.testing.assert_allclose(loaded.get_output(0).numpy(), out, atol=1e-5)
print("the saved library computes the same")
