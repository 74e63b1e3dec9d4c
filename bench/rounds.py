"""Memory over many rounds of building and running the MLP: `python bench/rounds.py [ROUNDS]`, 10,000 by default.

Each round builds (kernels come from the cache), makes an executor, runs, profiles now and then, and throws all away. Prints the
resident memory (MB) as it goes, and what a round adds after the first tenth, in bytes.
"""
import gc
import os
import resource
import sys
import time

import numpy as np

import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from baton.contrib.debugger import debug_executor


def resident():
    """Bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    module, params = relay.testing.mlp.get_workload(1)
    data = np.ones((1, 1, 28, 28), "float32")

    def one(index):
        with tvm.transform.PassContext(opt_level=3):
            lib = relay.build(module, "llvm", params=params)
        model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
        model.run(data=data)
        total = model.get_output(0).numpy().sum()
        assert abs(total - 1) < 1e-4, total
        if index % 100 == 0:
            debugger = debug_executor.create(lib.get_graph_json(), lib.get_lib(), tvm.cpu())
            debugger.profile(data=data)
            debugger.exit()

    begin, first = time.time(), None
    for index in range(rounds + 1):
        one(index)
        if index == rounds // 10:
            gc.collect()
            first = resident()
        if index % max(1, rounds // 10) == 0:
            gc.collect()
            print(f"{index:6d} rounds {resident() / 2**20:8.1f} MB {time.time() - begin:7.1f} s", flush=True)
    grown = (resident() - first) / (rounds - rounds // 10)
    print(f"{grown:.0f} bytes a round (kernels cached in {os.environ.get('BATON_CACHE_DIR', '~/.cache/baton')})")


if __name__ == "__main__":
    main()
