"""Single operators beside numpy, worst first: `./baton python bench/compare/run_operators.py [--only sin,sort] [--rounds 9]`

One thread, both in one process in turn, the lowest CPU time of several bursts of at least 4 ms. Baton's inputs are set before; numpy has
its own. The bar is 1.5 times numpy's time; 1 when one is missed. Outputs are compared.
"""
import argparse
import os
import sys
import time

os.environ["BATON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402

import baton as tvm  # noqa: E402
from baton import relay  # noqa: E402
from baton.contrib import graph_executor  # noqa: E402

BAR, BURST_S = 1.5, 0.004
SHAPES = ((64, 1000), (4096,), (256, 100))
ORDERED = (*SHAPES, (1, 100000), (1000, 10))


def values(kind, shape):
    random = np.random.default_rng(3)
    if kind == "any":
        return random.normal(0, 1, shape).astype("float32")
    if kind == "small":
        return random.uniform(-0.99, 0.99, shape).astype("float32")
    if kind == "positive":
        return (1 + np.abs(random.normal(0, 1, shape))).astype("float32")
    return random.integers(-1000, 1000, shape).astype(kind)


def elementwise():
    """(name, values, numpy's function) of functions of one operand."""
    for name in ("exp", "log", "log2", "log10", "sqrt", "tanh", "sin", "cos", "tan", "sinh", "cosh", "arctan:atan", "arcsinh:asinh",
                 "arccosh:acosh", "arcsin:asin", "arccos:acos", "arctanh:atanh"):
        theirs, _, ours = name.partition(":")
        kind = ("small" if theirs in ("arcsin", "arccos", "arctanh") else
                "positive" if theirs in ("log", "log2", "log10", "sqrt", "arccosh") else "any")
        yield ours or theirs, kind, getattr(np, theirs)


def cases():
    """(name, relay's expression of variables, numpy's function, arrays)."""
    for name, kind, theirs in elementwise():
        for shape in SHAPES:
            yield f"{name} {shape}", getattr(relay, name), theirs, (values(kind, shape),)
    for shape in SHAPES:
        yield f"power {shape}", relay.power, np.power, (values("positive", shape), values("any", shape))
    for shape in ORDERED:
        for kind in ("any", "int32"):
            data = values(kind, shape)
            yield f"sort {shape} {data.dtype}", relay.sort, lambda x: np.sort(x, axis=-1), (data,)
            yield (f"argsort {shape} {data.dtype}", lambda x: relay.argsort(x, dtype="int32"),
                   lambda x: np.argsort(x, axis=-1, kind="stable"), (data,))
    yield ("sort along the first axis (1000, 64)", lambda x: relay.sort(x, axis=0), lambda x: np.sort(x, axis=0),
           (values("any", (1000, 64)),))
    for shape, k in (((64, 1000), 5), ((1, 50257), 50)):
        yield (f"topk {k} of {shape}", lambda x, k=k: relay.topk(x, k, ret_type="values"),
               lambda x, k=k: -np.sort(np.partition(-x, k, axis=-1)[..., :k], axis=-1), (values("any", shape),))


def lowest_us(calls, rounds):
    lowest = [1e9] * len(calls)
    for call in calls:
        call()
    for _ in range(rounds):
        for i, call in enumerate(calls):
            began, count = time.process_time(), 0
            while (taken := time.process_time() - began) < BURST_S:
                call()
                count += 1
            lowest[i] = min(lowest[i], 1e6 * taken / count)
    return lowest


def measure(make, theirs, arrays, rounds):
    """Microseconds of Baton and of numpy. Raises AssertionError where the results differ."""
    parameters = [relay.var(f"x{i}", shape=each.shape, dtype=str(each.dtype)) for i, each in enumerate(arrays)]
    module = tvm.IRModule.from_expr(relay.Function(parameters, make(*parameters)))
    with tvm.transform.PassContext(opt_level=3):
        built = relay.build(module, "llvm")
    executor = graph_executor.GraphModule(built["default"](tvm.cpu()))
    for i, each in enumerate(arrays):
        executor.set_input(f"x{i}", each)
    executor.run()
    np.testing.assert_allclose(executor.get_output(0).numpy(), theirs(*arrays), rtol=3e-6, atol=1e-6)
    return lowest_us([executor.run, lambda: theirs(*arrays)], rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    rows = []
    for name, make, theirs, arrays in cases():
        if given.only and not any(name.split(" ")[0] == each for each in given.only):
            continue
        ours_us, theirs_us = measure(make, theirs, arrays, given.rounds)
        rows.append((ours_us / theirs_us, name, ours_us, theirs_us))
    rows.sort(reverse=True)
    for ratio, name, ours_us, theirs_us in rows:
        print(f"{name:<40} {ours_us:10.1f} us  numpy {theirs_us:10.1f} us  {ratio:7.2f}  {'ok' if ratio <= BAR else 'MISSED'}")
    missed = sum(row[0] > BAR for row in rows)
    print(f"{len(rows)} operators and shapes, {missed} above {BAR} times numpy's time")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
