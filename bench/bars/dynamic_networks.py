"""Bars of networks with open extents: one build for all of them beside a build for each, and ONNX Runtime's dynamic session. Prints
"bar, measured, ok"; 1 when one is missed.

    python3 bench/bars/dynamic_networks.py [--only bert,batch,plan,memory] [--networks mlp,resnet-18] [--lengths 1,8,64] [--rounds 5]

One thread; CPU time of bursts in turn, the lowest of all rounds counts; what is above a bar is measured three times as long before
it is called missed.
bert: BERT of four layers whose length is open. batch: networks of the comparison whose batch is open, at 1 and 8 (those of reshapes to
constant batches are left out, and counted). plan: a static network by the virtual machine's API beside the graph executor. memory: a
loop of 10^6 turns, and BERT at its largest length.
"""
import argparse
import gc
import os
import pathlib
import re
import resource
import sys
import time

os.environ["BATON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "build" / "release" / "python"), str(ROOT / "bench")]

import baton as tvm  # noqa: E402
from baton import relay  # noqa: E402
from baton.contrib import graph_executor  # noqa: E402

missed = []


def report(what, most, measured, unit="x", other=""):
    ok = measured <= most
    missed.extend([] if ok else [what])
    print(f"{what:<58} bar <= {most:<6g} {unit:<3} measured {measured:9.3f}  {'ok' if ok else 'MISSED'}{other}", flush=True)


def seconds(call, least=0.05):
    """CPU seconds of a call, in a burst."""
    began, calls = time.process_time(), 0
    while True:
        call()
        calls += 1
        took = time.process_time() - began
        if took >= least:
            return took / calls


def in_turn(calls, rounds):
    """The lowest CPU seconds of each of `calls`, by name."""
    lowest = {}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            lowest[name] = min(seconds(call), lowest.get(name, 1e9))
    return lowest


def compare(what, most, calls, rounds, other=()):
    """Reports the time of "dynamic" over that of "static"; `other`: names whose time is told."""
    lowest = in_turn(calls, rounds)
    if lowest["dynamic"] > most * lowest["static"]:
        again = in_turn(calls, 2 * rounds)
        lowest = {name: min(lowest[name], again[name]) for name in lowest}
    told = "".join(f"  {name} {lowest[name] * 1e6:.1f} us" for name in ("static", *other) if name in lowest)
    report(what, most, lowest["dynamic"] / lowest["static"], "x", f"  dynamic {lowest['dynamic'] * 1e6:.1f} us{told}")


def machine(module, params=None):
    with tvm.transform.PassContext(opt_level=3):
        exe = relay.vm.compile(module, "llvm", params=params)
    return tvm.runtime.vm.VirtualMachine(exe, tvm.cpu())


def executor(module, params=None):
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(module, "llvm", params=params)
    return graph_executor.GraphModule(lib["default"](tvm.cpu()))


def calls_of(dynamic, static, name, value):
    """Runs on one input that is there already, each with its result as an array of its own."""
    dynamic.set_input("main", **{name: tvm.nd.array(value)})
    static.set_input(name, value)

    def run_static():
        static.run()
        return static.get_output(0)

    return {"dynamic": dynamic.run, "static": run_static}


def compare_specialized(what, most, dynamic, calls, rounds):
    """The same with kernels of these extents, compiled while the program ran (Executable.specialize_in_background)."""
    exe = dynamic.executable.specialize_in_background(after_ms=0)
    calls["dynamic"]()
    calls["dynamic"]()
    refused = [why for _, _, why in exe.specialized(wait=600) if why]
    same(calls, what)
    compare(f"{what}, specialized in the background", most, calls, rounds)
    if refused:
        print(f"   {len(refused)} kernels were not compiled, the first: {refused[0]}")
    exe.specialize_in_background(None)


def same(calls, what):
    made, wanted = calls["dynamic"]().numpy(), calls["static"]().numpy()
    error = np.abs(made - wanted).max() / max(1e-9, np.abs(wanted).max())
    assert error < 1e-4, f"{what}: results differ by {error}"


def ort_session(model):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def of_bert(options):
    from networks import bert_onnx

    model = bert_onnx.encoder(4)
    module, params = relay.frontend.from_onnx(model)
    began = time.process_time()
    dynamic = machine(module, params)
    print(f"bert-4: the dynamic build took {time.process_time() - began:.1f} s of CPU time", flush=True)
    session = None
    try:
        session = ort_session(model)
    except ImportError:
        print("onnxruntime is not installed: nothing is compared with it")
    random = np.random.default_rng(0)
    for length in options.lengths:
        value = random.standard_normal((1, length, bert_onnx.HIDDEN)).astype("float32")
        frozen, weights = relay.frontend.from_onnx(model, {"x": value.shape})
        static = executor(frozen, weights)
        calls = calls_of(dynamic, static, "x", value)
        if session:
            calls["ort"] = lambda value=value: session.run(None, {"x": value})
        compare(f"bert-4, length {length}: dynamic over static", 1.05 if length >= 16 else 1.1, calls, options.rounds, ("ort",))
        same(calls, f"bert-4 at {length}")
        compare_specialized(f"bert-4, length {length}", 1.05, dynamic, calls, options.rounds)
        del static, frozen, weights
        gc.collect()


def with_batch(module, batch):
    """The module with another batch of its data: a number, or "?"."""
    text = re.sub(r"(%data: Tensor\[\()\d+", rf"\g<1>{batch}", module.astext(show_meta_data=False))
    return tvm.parser.fromtext(re.sub(r"(def @main.*\)) -> [^{]*\{", r"\1 {", text))


def of_batch(options):
    import networks

    skipped = []
    for name in options.networks:
        module, params = networks.NETWORKS[name].build()
        shape = [int(each) for each in module["main"].params[0].checked_type.shape]
        text = module.astext(show_meta_data=False)
        if re.search(r"newshape=\[1, ", text) or name == "lstm":
            skipped.append(name)
            continue
        dynamic = machine(with_batch(module, "?"), params)
        for batch in (1, 8):
            value = np.random.default_rng(1).standard_normal((batch, *shape[1:])).astype("float32")
            static = executor(with_batch(module, batch), params)
            calls = calls_of(dynamic, static, "data", value)
            same(calls, f"{name} at batch {batch}")
            compare(f"{name}, batch {batch}: dynamic over static", 1.05, calls, options.rounds)
            compare_specialized(f"{name}, batch {batch}", 1.05, dynamic, calls, options.rounds)
        del dynamic, static
        gc.collect()
    if skipped:
        print("left out, their reshapes have a constant batch: " + ", ".join(skipped))


def of_plan(options):
    import networks

    module, params = networks.NETWORKS["mlp"].build()
    shape = [int(each) for each in module["main"].params[0].checked_type.shape]
    value = np.random.default_rng(1).standard_normal(shape).astype("float32")
    compare("mlp, constant shapes: vm over graph executor", 1.02, calls_of(machine(module, params), executor(module, params), "data", value), 3 * options.rounds)


LOOP = """#[version = "0.0.5"]
def @loop(%i: int32, %x: Tensor[(?, 64), float32]) -> Tensor[(?, 64), float32] {
  if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), tanh(add(%x, 1f))) }
}
def @main(%n: int32, %x: Tensor[(?, 64), float32]) { @loop(%n, %x) }
"""


def resident():
    """Bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def of_memory(_):
    from networks import bert_onnx

    loop = machine(tvm.parser.fromtext(LOOP))
    value = np.zeros((4, 64), "float32")
    loop.run(np.int32(1000), value)
    before = resident()
    loop.run(np.int32(1_000_000), value)
    report("10^6 turns of a loop: memory added", 1, (resident() - before) / 1e6, "MB")
    model = bert_onnx.encoder(4)
    value = np.zeros((1, 512, bert_onnx.HIDDEN), "float32")

    def added(make):
        """Bytes, in a process of its own: what another one has freed would be used again."""
        readable, writable = os.pipe()
        if os.fork() == 0:
            before = resident()
            kept = make()
            gc.collect()
            os.write(writable, str(resident() - before).encode())
            os._exit(0 if kept else 1)
        os.close(writable)
        with os.fdopen(readable) as told:
            number = int(told.read())
        os.wait()
        return number

    def of_static():
        static = executor(*relay.frontend.from_onnx(model, {"x": value.shape}))
        static.set_input("x", value)
        static.run()
        return static

    def of_dynamic():
        dynamic = machine(*relay.frontend.from_onnx(model))
        for length in (1, 17, 100, 512):
            dynamic.run(value[:, :length])
        return dynamic

    static_bytes, dynamic_bytes = added(of_static), added(of_dynamic)
    report("bert-4 at lengths up to 512: memory over a static build's", 1.1, dynamic_bytes / static_bytes, "x",
           f"  dynamic {dynamic_bytes / 1e6:.0f} MB, static {static_bytes / 1e6:.0f} MB")


PARTS = {"bert": of_bert, "batch": of_batch, "plan": of_plan, "memory": of_memory}


def main():
    def listed(text):
        return text.split(",")

    import networks

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=listed, default=list(PARTS))
    parser.add_argument("--networks", type=listed, default=list(networks.NETWORKS))
    parser.add_argument("--lengths", type=lambda text: [int(each) for each in text.split(",")], default=[1, 4, 8, 15, 16, 17, 31, 64, 100, 128, 200, 384, 512])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for part in options.only:
        PARTS[part](options)
    print(f"{len(missed)} missed" if missed else "all met")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
