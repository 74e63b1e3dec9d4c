"""Bars of the Python face: what walking and rewriting programs from Python costs. Prints "bar, measured, ok"; 1 when one is
missed. `PYTHONPATH=python:build/release/python python bench/bars/python_face.py`"""
import gc
import os
import sys
import time

import baton as tvm
from baton import relay

missed = []


def report(what, most, measured, unit):
    """A measured value that must not be larger than `most`."""
    ok = measured <= most
    missed.extend([] if ok else [what])
    print(f"{what:<62} bar <= {most:<11g} {unit:<5} measured {measured:9.3f}  {'ok' if ok else 'MISSED'}", flush=True)


def best_ms(work, rounds=9):
    """CPU time of the fastest of some rounds, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times) * 1e3


def resident():
    """Memory of this process, in MiB."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class Visitor(relay.ExprVisitor):
    """Counts calls by operator, as users do."""

    def __init__(self):
        super().__init__()
        self.counts = {}

    def visit_call(self, call):
        self.counts[call.op] = self.counts.get(call.op, 0) + 1
        super().visit_call(call)


class OnDevice(relay.ExprMutator):
    """Puts every convolution on a device."""

    def visit_call(self, call):
        visited = super().visit_call(call)
        return relay.annotation.on_device(visited, "cuda") if call.op.name == "nn.conv2d" else visited


def million():
    """A program of 1,000,000 nodes, a million calls deep."""
    expr, exp = relay.var("x", shape=(1,)), relay.op.get("exp")
    for _ in range(999_998):
        expr = relay.Call(exp, [expr])
    return expr


def growth(walk):
    """By how many percent this process is larger after a walk than before it."""
    gc.collect()
    before = resident()
    walk()
    gc.collect()
    return 100 * (resident() - before) / before


main = relay.testing.resnet.get_workload(num_layers=50, batch_size=1)[0]["main"]
report("ExprVisitor over ResNet-50", 10, best_ms(lambda: Visitor().visit(main)), "ms")
report("ExprMutator (on_device on every conv) over ResNet-50", 20, best_ms(lambda: OnDevice().visit(main)), "ms")

deep = million()
nodes = [0]


def count(_):
    nodes[0] += 1


def down():
    node, length = deep, 1
    while isinstance(node, relay.Call):
        node, length = node.args[0], length + 1
    assert length == 999_999


walk = growth(lambda: relay.analysis.post_order_visit(deep, count))
report("memory after post_order_visit of 1,000,000 nodes, above before", 10, walk, "%")
assert nodes[0] == 1_000_000
report("memory after a loop over call.args of as many, above before", 10, growth(down), "%")
if sys.version_info >= (3, 11):
    def visit():
        visitor = Visitor()
        visitor.visit(deep)
        assert len(visitor.memo_map) == 1_000_000

    # Its memo_map holds a million nodes at once, and the tables for so many stay: that is no leak, as a second one shows.
    print(f"(the first ExprVisitor of them leaves {growth(visit):.0f} % more memory)")
    report("memory after another ExprVisitor of them, above before", 10, growth(visit), "%")
sys.exit(bool(missed))
