"""Bars of the virtual machine, beside ONNX Runtime where it can do the same. Prints "bar, measured, ok"; 1 when one is missed.

    python3 bench/bars/virtual_machine.py [--rounds 7]

One thread, lowest of several rounds, all in turn. A control instruction, a call and a tail call are differences of loops that
differ in them; a kernel's call is that of a loop with one more kernel, less the kernel itself, as the graph executor runs it.
"""
import argparse
import os
import pathlib
import sys
import time

os.environ["BATON_NUM_THREADS"] = "1"
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
missed = []


def report(what, most, measured, unit, other=""):
    ok = measured <= most
    missed.extend([] if ok else [what])
    print(f"{what:<58} bar <= {most:<6g} {unit:<3} measured {measured:9.3f}  {'ok' if ok else 'MISSED'}{other}", flush=True)


class Timed:
    """Lowest time of calls over rounds, in ns: of each of `times` calls, or iterations of one call."""

    def __init__(self):
        self.calls, self.ns = {}, {}

    def add(self, name, call, times=1, iterations=1):
        self.calls[name] = (call, times, iterations)
        call()

    def run(self, rounds):
        for _ in range(rounds):
            for name, (call, times, iterations) in self.calls.items():
                began = time.perf_counter_ns()
                for _ in range(times):
                    call()
                took = (time.perf_counter_ns() - began) / times / iterations
                self.ns[name] = min(self.ns.get(name, took), took)


def loop_text(body, carried="%x: Tensor[(4), float32]", result="%x", last="%x"):
    return f"""#[version = "0.0.5"]
def @loop(%i: int32, {carried}) -> Tensor[(4), float32] {{
  if (equal(%i, 0)) {{ {last} }} else {{ {body} @loop(subtract(%i, 1), {result}) }}
}}
def @main(%n: int32, {carried}) -> Tensor[(4), float32] {{ @loop(%n, {result}) }}
"""


INTEGERS = """#[version = "0.0.5"]
def @loop(%i: int32, %a: int32) -> int32 {{
  if (equal(%i, 0)) {{ %a }} else {{ {body} @loop(subtract(%i, 1), {result}) }}
}}
def @main(%n: int32, %a: int32) -> int32 {{ @loop(%n, %a) }}
"""
RECURSION = """#[version = "0.0.5"]
def @deep(%i: int32) -> int32 { if (equal(%i, 0)) { 0 } else { add(1, @deep(subtract(%i, 1))) } }
def @main(%n: int32) -> int32 { @deep(%n) }
"""
DENSE = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 64), float32], %w: Tensor[(32, 64), float32]) { nn.relu(nn.dense(%x, %w, units=32)) }
"""
LOOPS = 100000


def program(text):
    import baton
    from baton import relay

    return baton.runtime.vm.VirtualMachine(relay.vm.compile(baton.parser.fromtext(text), target="llvm"), baton.cpu(0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "bench" / "compare"), str(ROOT / "python")]
    import environment

    environment.become_ready()
    import baton
    from baton import relay
    from baton.contrib import graph_executor

    timed, four = Timed(), np.arange(4, dtype="float32")
    count = np.int32(LOOPS)

    def add_loop(name, text, *args):
        machine = program(text)
        timed.add(name, lambda: machine.invoke("main", *args), iterations=LOOPS)

    adds = "".join(f"let %a{i} = add(%{'a' if i == 0 else f'a{i - 1}'}, %i); " for i in range(20))
    add_loop("integers 0", INTEGERS.format(body="", result="%a"), count, np.int32(1))
    add_loop("integers 20", INTEGERS.format(body=adds, result="%a19"), count, np.int32(1))
    add_loop("recursion", RECURSION, count)
    add_loop("kernels 0", loop_text(""), count, four)
    add_loop("kernels 1", loop_text("let %y = add(%x, 1f);", result="%y").replace("@loop(%n, %y)", "@loop(%n, %x)"), count, four)
    add_loop("kernels 2", loop_text("let %y = cumsum(%x); let %z = add(%y, 1f);", result="%z").replace("@loop(%n, %z)", "@loop(%n, %x)"),
             count, four)
    add_loop("if", loop_text("let %z = if (less(%i, 0)) { %x } else { add(%x, 2f) };", result="%z").replace("@loop(%n, %z)", "@loop(%n, %x)"),
             count, four)
    chain = baton.parser.fromtext('#[version = "0.0.5"]\ndef @main(%x: Tensor[(4), float32]) { add(%x, 1f) }')
    kernel = graph_executor.GraphModule(relay.build(chain, target="llvm")["default"](baton.cpu(0)))
    evaluator = kernel.module.time_evaluator("run", baton.cpu(0), number=100000, repeat=1)
    dense, rows = program(DENSE), np.ones((3, 64), "float32")
    weight = np.ones((32, 64), "float32")
    timed.add("dense", lambda: dense.invoke("main", rows, weight), 2000)
    peers = ort_peers(four, rows, weight)
    for name, (call, times, iterations) in peers.items():
        timed.add(name, call, times, iterations)
    kernel_ns = min(evaluator().mean * 1e9 for _ in range(3))
    timed.run(options.rounds)
    ns = timed.ns
    control = (ns["integers 20"] - ns["integers 0"]) / 20
    report("control instruction", 10, control, "ns")
    report("tail call (a loop's iteration, less 3 instructions)", 30, ns["integers 0"] - 3 * control, "ns")
    report("function call and return (a level, less 4 instructions)", 60, ns["recursion"] - 4 * control, "ns")
    report("call of a kernel, without the kernel", 80, ns["kernels 1"] - ns["kernels 0"] - kernel_ns, "ns", f"  (kernel alone {kernel_ns:.0f} ns)")
    theirs = {name: best for name, best in ns.items() if name.startswith("ort")}
    beside = (lambda name: f"  ONNX Runtime {theirs[name] / 1000:.3f}") if theirs else (lambda name: "")
    report("iteration of a loop with two small kernels", 0.35, ns["kernels 2"] / 1000, "us", beside("ort loop"))
    report("if with one kernel", 0.2, (ns["if"] - ns["kernels 0"]) / 1000, "us", beside("ort if"))
    report("dynamic dense of 3 rows from Python", 4, ns["dense"] / 1000, "us", beside("ort dense"))
    return 1 if missed else 0


def ort_peers(four, rows, weight):
    """{name: (call, times, iterations)} of ONNX Runtime."""
    try:
        import onnx
        import onnxruntime
        from onnx import TensorProto, helper
    except ImportError:
        return {}

    def session(graph, functions=()):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    value = lambda name, kind, shape: helper.make_tensor_value_info(name, kind, shape)
    body = helper.make_graph(
        [helper.make_node("CumSum", ["x_in", "axis"], ["y"]), helper.make_node("Add", ["y", "one"], ["x_out"]),
         helper.make_node("Identity", ["cond_in"], ["cond_out"])], "body",
        [value("i", TensorProto.INT64, []), value("cond_in", TensorProto.BOOL, []), value("x_in", TensorProto.FLOAT, [4])],
        [value("cond_out", TensorProto.BOOL, []), value("x_out", TensorProto.FLOAT, [4])])
    constants = [helper.make_tensor("axis", TensorProto.INT32, [], [0]), helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
                 helper.make_tensor("true", TensorProto.BOOL, [], [True])]
    loop = session(helper.make_graph([helper.make_node("Loop", ["n", "true", "x"], ["out"], body=body)], "loop",
                                     [value("n", TensorProto.INT64, []), value("x", TensorProto.FLOAT, [4])],
                                     [value("out", TensorProto.FLOAT, [4])], constants))
    then = helper.make_graph([helper.make_node("Identity", ["x_in"], ["t"])], "then", [], [value("t", TensorProto.FLOAT, [4])])
    other = helper.make_graph([helper.make_node("Add", ["x_in", "one"], ["e"])], "other", [], [value("e", TensorProto.FLOAT, [4])])
    branch = helper.make_graph(
        [helper.make_node("If", ["never"], ["x_out"], then_branch=then, else_branch=other),
         helper.make_node("Identity", ["cond_in"], ["cond_out"])], "body",
        [value("i", TensorProto.INT64, []), value("cond_in", TensorProto.BOOL, []), value("x_in", TensorProto.FLOAT, [4])],
        [value("cond_out", TensorProto.BOOL, []), value("x_out", TensorProto.FLOAT, [4])])
    ifs = session(helper.make_graph([helper.make_node("Loop", ["n", "true", "x"], ["out"], body=branch)], "ifs",
                                    [value("n", TensorProto.INT64, []), value("x", TensorProto.FLOAT, [4]), value("never", TensorProto.BOOL, [])],
                                    [value("out", TensorProto.FLOAT, [4])], constants))
    dense = session(helper.make_graph(
        [helper.make_node("Gemm", ["x", "w"], ["d"], transB=1), helper.make_node("Relu", ["d"], ["out"])], "dense",
        [value("x", TensorProto.FLOAT, ["n", 64])], [value("out", TensorProto.FLOAT, ["n", 32])],
        [helper.make_tensor("w", TensorProto.FLOAT, [32, 64], weight.ravel())]))

    few = np.array(5000)
    return {"ort loop": (lambda: loop.run(None, {"n": few, "x": four}), 1, int(few)),
            "ort if": (lambda: ifs.run(None, {"n": few, "x": four, "never": np.array(False)}), 1, int(few)),
            "ort dense": (lambda: dense.run(None, {"x": rows}), 2000, 1)}


if __name__ == "__main__":
    sys.exit(main())
