"""Bars of devices side by side: on two processors, `mirror` (a thread and memory of its own) beside the processor. Prints
"bar, measured, ok"; 1 when one is missed. On a quiet machine: `./baton python bench/bars/side_by_side.py`"""
import os
import sys
import time

import numpy as np

os.environ["BATON_NUM_THREADS"] = "1"  # of mirror's kernels, too: it computes on the other processor
import baton as tvm  # noqa: E402
from baton import relay  # noqa: E402
from baton.contrib import graph_executor  # noqa: E402

LAYERS, ROWS, UNITS = 6, 256, 512


def layers(first, last_name):
    """Text of dense layers on `first`, the last of them called `last_name`."""
    lines, last = [], first
    for i in range(LAYERS):
        result = last_name if i == LAYERS - 1 else f"{last_name}{i}"
        lines += [f"  {result}d = nn.dense({last}, %w, units={UNITS});", f"  {result} = tanh({result}d);"]
        last = result
    return "\n".join(lines)


def program(kind):
    """"branches": two, one of them on mirror; "chain": one, its second half on mirror; "alone": the branches on the processor."""
    tensor, weight = f"Tensor[({ROWS}, {UNITS}), float32]", f"Tensor[({UNITS}, {UNITS}), float32]"
    region = (f"def @mirror_0(%x: {tensor}, %w: {weight}, Inline=1, Compiler=\"mirror\", global_symbol=\"mirror_0\", Primitive=1) -> {tensor} {{\n"
              f"{layers('%x', '%b')}\n  %b\n}}\n")
    other = {"branches": "  %y = @mirror_0(%x, %w);", "chain": "  %y = @mirror_0(%a, %w);", "alone": layers("%x", "%y")}[kind]
    result = "%y" if kind == "chain" else "add(%a, %y)"
    return (f"#[version = \"0.0.5\"]\ndef @main(%x: {tensor}, %w: {weight}) {{\n{layers('%x', '%a')}\n{other}\n  nn.relu({result})\n}}\n"
            + (region if kind != "alone" else ""))


def named(text):
    """Relay's text has numbered values only."""
    import re

    names = {}
    for name in re.findall(r"%[aby]\d?d?\b", text):
        names.setdefault(name, f"%{len(names)}")
    return re.sub(r"%[aby]\d?d?\b", lambda found: names[found.group()], text)


def us(work, count):
    begin = time.perf_counter()
    work(count)
    return (time.perf_counter() - begin) / count * 1e6


def measured(kind, rounds=15, inputs=20):
    """Microseconds per input, the least of some rounds in turn: one after the other, one input side by side, a stream."""
    weight = np.linspace(-0.05, 0.05, UNITS * UNITS, dtype="float32").reshape(UNITS, UNITS)
    lib = relay.build(tvm.parser.parse(named(program(kind))), target="llvm", params={"w": weight})
    plain = graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
    plain.threads = 1
    model = tvm.side_by_side(lib, threads=1)

    def one_after_the_other(count):
        for _ in range(count):
            plain.run()

    def one_input(count):
        for _ in range(count):
            model.run()

    def stream(count):
        for _ in model.stream({} for _ in range(count)):
            pass

    ways = (one_after_the_other, one_input, stream)
    for each in ways:
        each(3)
    return [min(times) for times in zip(*([us(each, inputs) for each in ways] for _ in range(rounds)), strict=True)]


def main():
    missed = 0
    if len(os.sched_getaffinity(0)) < 2:
        print("two processors are needed")
        return 1
    for kind, bars in (("branches", (0.75, 0.65)), ("chain", (1.1, 0.65)), ("alone", (1.05, 1.05))):
        serial, latency, per_input = measured(kind)
        print(f"{kind}: {serial:.0f} us one after the other, {latency:.0f} us side by side, {per_input:.0f} us per input of a stream")
        for what, value, most in zip(("one input", "a stream"), (latency, per_input), bars, strict=True):
            missed += value > most * serial
            print(f"{kind + ', ' + what + ': part of the time one after the other':<74} bar <= {most:<8} measured {value / serial:9.3f}  "
                  f"{'ok' if value <= most * serial else 'MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
