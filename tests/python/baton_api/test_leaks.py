"""Memory stays where it is over many rounds."""
import gc
import resource

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from programs import DENSE

X = np.ones((2, 3), "float32")


def round_trip():
    with tvm.transform.PassContext(opt_level=1):
        lib = relay.build(tvm.parser.fromtext(DENSE), "llvm", params={"w": np.ones((4, 3), "float32")})
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.run(x=X)
    return module.get_output(0).numpy()


def resident():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def grown(rounds):
    for _ in range(20):
        round_trip()
    before = resident()
    for _ in range(rounds):
        round_trip()
    return resident() - before


def test_a_hundred_rounds():
    assert grown(100) < 2 << 20  # 20 kB a round would be a leak


@pytest.mark.slow
def test_thousands_of_rounds():
    assert grown(3000) < 4 << 20


def test_walking_a_program():
    text = "#[version = \"0.0.5\"]\ndef @main(%x: float32) {\n" + "".join(
        f"  %{i} = add(%{i - 1}, 1f);\n" if i else "  %0 = add(%x, 1f);\n" for i in range(20000)) + "  %19999\n}\n"
    main = tvm.parser.fromtext(text)["main"]

    def walk():
        count = 0

        def visit(_):
            nonlocal count
            count += 1

        relay.analysis.post_order_visit(main, visit)
        return count

    assert walk() > 40000
    before = resident()
    for _ in range(5):
        walk()
    assert resident() - before < 4 << 20
