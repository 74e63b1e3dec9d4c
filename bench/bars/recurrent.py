"""Bars of recurrent networks, beside ONNX Runtime. Prints "bar, measured, ok"; 1 when one is missed.

    python3 bench/bars/recurrent.py [--rounds 9] [--hidden 256,512]

One thread, processor time, lowest of several rounds, all in turn, per step. The same network is measured unrolled in a plan; with
a length that is known at run time, from ONNX's operator; as ONNX's Loop; and as a Relay function that calls itself and keeps
outputs in a list. What the sequence's inputs are multiplied by is part of all but the last one.
"""
import argparse
import os
import pathlib
import sys
import time

os.environ["BATON_NUM_THREADS"] = "1"
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS, GATES = 64, {"LSTM": 4, "GRU": 3, "RNN": 1}
missed = []


def report(what, most, measured, us):
    ok = measured <= most
    missed.extend([] if ok else [what])
    times = "  ".join(f"{name} {value:.2f}" for name, value in us.items())
    print(f"{what:<58} bar <= {most:<5g} measured {measured:6.3f}  {'ok' if ok else 'MISSED'}  us per step: {times}", flush=True)


def lowest(calls, rounds):
    """Processor time of each call in us, lowest of several bursts, all in turn."""
    us = {}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.process_time_ns()
            call()
            times = max(1, int(1e7 / max(time.process_time_ns() - began, 1)))
            began = time.process_time_ns()
            for _ in range(times):
                call()
            us[name] = min(us.get(name, 1e18), (time.process_time_ns() - began) / times / 1000)
    return us


class Weights:
    def __init__(self, kind, hidden):
        random, count = np.random.default_rng(hidden), GATES[kind] * hidden
        real = lambda *shape: (random.standard_normal(shape) / np.sqrt(hidden)).astype("float32")
        self.w, self.r, self.b = real(1, count, hidden), real(1, count, hidden), real(1, 2 * count)


def operator_model(kind, length, batch, hidden, weights, attributes):
    from onnx import TensorProto, helper, numpy_helper

    node = helper.make_node(kind, ["x", "w", "r", "b"], ["y"], hidden_size=hidden, **attributes)
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph([node], kind, [value("x", [length, batch, hidden])], [value("y", None)],
                              [numpy_helper.from_array(getattr(weights, name), name) for name in "wrb"])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def loop_model(batch, hidden, weights):
    """An LSTM as exporters write loops: operators of one step, a state that is carried, an output that is collected."""
    from onnx import TensorProto, helper, numpy_helper

    node, value = helper.make_node, lambda name, shape, kind=TensorProto.FLOAT: helper.make_tensor_value_info(name, kind, shape)
    state = [batch, hidden]
    body = helper.make_graph(
        [node("Gather", ["all", "i"], ["now"], axis=0), node("MatMul", ["h", "r"], ["hr"]), node("Add", ["now", "hr"], ["sums"]),
         node("Split", ["sums"], ["si", "so", "sf", "sc"], axis=1), node("Sigmoid", ["si"], ["gi"]), node("Sigmoid", ["so"], ["go"]),
         node("Sigmoid", ["sf"], ["gf"]), node("Tanh", ["sc"], ["gc"]), node("Mul", ["gf", "c"], ["kept"]), node("Mul", ["gi", "gc"], ["new"]),
         node("Add", ["kept", "new"], ["c1"]), node("Tanh", ["c1"], ["tc"]), node("Mul", ["go", "tc"], ["h1"]), node("Identity", ["h1"], ["row"]),
         node("Identity", ["go_on"], ["next"])], "body",
        [value("i", [], TensorProto.INT64), value("go_on", [], TensorProto.BOOL), value("h", state), value("c", state)],
        [value("next", [], TensorProto.BOOL), value("h1", state), value("c1", state), value("row", state)])
    constants = {"w": weights.w[0].T, "r": weights.r[0].T, "b": weights.b[0, : 4 * hidden] + weights.b[0, 4 * hidden:],
                 "h0": np.zeros(state, "float32"), "c0": np.zeros(state, "float32"), "true": np.array(True), "zero": np.array(0, "int64")}
    nodes = [node("MatMul", ["x", "w"], ["xw"]), node("Add", ["xw", "b"], ["all"]), node("Shape", ["x"], ["shape"]),
             node("Gather", ["shape", "zero"], ["length"]), node("Loop", ["length", "true", "h0", "c0"], ["hn", "cn", "y"], body=body)]
    graph = helper.make_graph(nodes, "loop", [value("x", ["length", batch, hidden])], [value("y", None)],
                              [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


RECURSION = """#[version = "0.0.5"]
type List[A] {{ Cons(A, List[A]), Nil, }}
def @main(%all: Tensor[(?, {batch}, {gates}), float32], %n: int32, %h0: Tensor[({batch}, {hidden}), float32], %w: Tensor[({gates}, {hidden}), float32]) {{
  let %steps = fn (%t: int32, %h: Tensor[({batch}, {hidden}), float32], %c: Tensor[({batch}, {hidden}), float32],
                   %made: List[Tensor[({batch}, {hidden}), float32]]) -> List[Tensor[({batch}, {hidden}), float32]] {{
    if (equal(%t, %n)) {{ %made }} else {{
      %0 = add(take(%all, %t, axis=0), nn.dense(%h, %w, units={gates}));
      %1 = split(%0, indices_or_sections=4, axis=1);
      %2 = add(multiply(sigmoid(%1.2), %c), multiply(sigmoid(%1.0), tanh(%1.3)));
      %3 = multiply(sigmoid(%1.1), tanh(%2));
      %steps(add(%t, 1), %3, %2, Cons(%3, %made))
    }}
  }};
  match? (%steps(0, %h0, %h0, Nil)) {{ Cons(%last, _) => %last }}
}}
"""


class Measured:
    """One network, in all forms."""

    def __init__(self, kind, batch, hidden, attributes):
        import baton
        from baton import relay
        from baton.contrib import graph_executor

        self.weights, self.calls = Weights(kind, hidden), {}
        x = np.random.default_rng(1).standard_normal((STEPS, batch, hidden)).astype("float32")
        data = baton.nd.array(x)
        with baton.transform.PassContext(opt_level=3):
            fixed = operator_model(kind, STEPS, batch, hidden, self.weights, attributes)
            mod, params = relay.frontend.from_onnx(fixed, freeze_params=True)
            module = graph_executor.GraphModule(relay.build(mod, "llvm", params=params)["default"](baton.cpu(0)))
            module.set_input("x", x)
            module.run()
            self.calls["unrolled"] = module.run
            open_ = operator_model(kind, "length", batch, hidden, self.weights, attributes)
            self.calls["operator"] = self.machine(relay.frontend.from_onnx(open_, freeze_params=True), data)
            if kind == "LSTM":
                self.calls["Loop"] = self.machine(relay.frontend.from_onnx(loop_model(batch, hidden, self.weights), freeze_params=True), data)
                text = RECURSION.format(batch=batch, hidden=hidden, gates=4 * hidden)
                products = (x @ self.weights.w[0].T + self.weights.b[0, : 4 * hidden] + self.weights.b[0, 4 * hidden:]).astype("float32")
                self.calls["recursion"] = self.machine((baton.parser.fromtext(text), {"w": self.weights.r[0]}), baton.nd.array(products),
                                                       np.int32(STEPS), baton.nd.array(np.zeros((batch, hidden), "float32")))
                # The same work as the recursion's, without the product of the inputs.
                self.calls["unrolled steps"] = self.unrolled_steps(products, batch, hidden)
        peer = session(fixed)
        self.calls["ONNX Runtime"] = lambda: peer.run(None, {"x": x})
        self.check(module.get_output(0).numpy(), peer.run(None, {"x": x})[0])

    @staticmethod
    def machine(program, *args):
        import baton
        from baton import relay

        machine = baton.runtime.vm.VirtualMachine(relay.vm.compile(program[0], target="llvm", params=program[1]), baton.cpu(0))
        return lambda: machine.invoke("main", *args)

    def unrolled_steps(self, products, batch, hidden):
        import baton
        from baton import relay
        from baton.contrib import graph_executor

        all_, weight = relay.var("all", shape=products.shape), relay.const(self.weights.r[0])
        h = c = relay.const(np.zeros((batch, hidden), "float32"))
        outputs = []
        for t in range(STEPS):
            i, o, f, n = relay.split(relay.take(all_, relay.const(t, "int32"), axis=0) + relay.nn.dense(h, weight), 4, axis=1)
            c = relay.sigmoid(f) * c + relay.sigmoid(i) * relay.tanh(n)
            h = relay.sigmoid(o) * relay.tanh(c)
            outputs.append(h)
        function = relay.Function([all_], relay.Tuple(outputs))
        module = graph_executor.GraphModule(relay.build(baton.IRModule.from_expr(function), "llvm")["default"](baton.cpu(0)))
        module.set_input("all", products)
        return module.run

    @staticmethod
    def check(ours, theirs):
        if not np.allclose(ours, theirs, rtol=1e-3, atol=1e-4):
            sys.exit("Baton and ONNX Runtime do not agree")

    def us(self, rounds):
        return {name: value / STEPS for name, value in lowest(self.calls, rounds).items()}


def session(model):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--hidden", default="256,512")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "bench" / "compare"), str(ROOT / "python")]
    import environment

    environment.become_ready()
    import warnings

    warnings.filterwarnings("ignore", message="Input x has unknown dimension shapes")
    for kind, attributes in (("LSTM", {}), ("GRU", {}), ("GRU", {"linear_before_reset": 1}), ("RNN", {})):
        for batch in (1, 8):
            for hidden in map(int, options.hidden.split(",")):
                us = Measured(kind, batch, hidden, attributes).us(options.rounds)
                name = f"{kind}{' linear' if attributes else ''} {hidden}, batch {batch}: "
                report(name + "unrolled to ONNX Runtime", 1, us["unrolled"] / us["ONNX Runtime"], us)
                report(name + "operator of any length to unrolled", 1.1, us["operator"] / us["unrolled"], {})
                if "Loop" in us:
                    report(name + "Loop to unrolled", 1.1, us["Loop"] / us["unrolled"], {})
                    report(name + "recursion to unrolled", 1.1, us["recursion"] / us["unrolled steps"], {})
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
