"""Watching passes on ResNet-18: a timing tree, what each pass does to the operators, and what happens when watching fails.

    python -m baton.tvm examples/pass_instruments.py
"""
import collections
import contextlib

import tvm
from tvm import relay
from tvm.ir.instrument import PassTimingInstrument, pass_instrument


def operators(module):
    """How often each operator is called in `main`."""
    counts = collections.Counter()
    relay.analysis.post_order_visit(module["main"], lambda node: counts.update(
        [node.op.name] if isinstance(node, relay.Call) and isinstance(node.op, tvm.ir.Op) else []))
    return counts


@pass_instrument
class OperatorDiffer:
    """Notes the passes that change how often an operator occurs. Passes nest, so what was before is kept on a stack."""

    def __init__(self):
        self.before, self.changes = [], []

    def run_before_pass(self, module, info):
        self.before.append(operators(module))

    def run_after_pass(self, module, info):
        now, old = operators(module), self.before.pop()
        changed = {name: now[name] - old[name] for name in sorted({*now, *old}) if now[name] != old[name]}
        if changed:
            self.changes.append((len(self.before), info.name, changed))


def talker(name, fails_in):
    """An instrument that says what it is called for, and raises ValueError where it is told to."""

    def speaker(point):
        def speak(*_):
            print(f"  {name}: {point}" + (" raises" if point == fails_in else ""))
            if point == fails_in:
                raise ValueError(f"{name} in {point}")
            return True

        return speak

    points = ("enter_pass_ctx", "exit_pass_ctx", "should_run", "run_before_pass", "run_after_pass")
    return pass_instrument(type("Talker", (), {point: speaker(point) for point in points}))()


def fails(context):
    try:
        with context:
            relay.transform.InferType()(tvm.IRModule.from_expr(relay.nn.relu(relay.var("x", shape=(2, 3)))))
    except ValueError as error:
        # The text of an exception that went through C++ is its traceback.
        print("  caught:", str(error).splitlines()[-1].removeprefix("ValueError: "))


module, params = relay.testing.resnet.get_workload(num_layers=18)
module["main"] = relay.build_module.bind_params_by_name(module["main"], params)
timing, differ = PassTimingInstrument(), OperatorDiffer()
with tvm.transform.PassContext(opt_level=3, instruments=[differ, timing]):
    tvm.transform.Sequential([relay.transform.SimplifyInference(), relay.transform.FoldConstant(), relay.transform.ConvertLayout(
        {"nn.conv2d": ["NHWC", "HWIO"]}), relay.transform.FoldConstant()])(module)
    print("time per pass, the nested ones indented:", timing.render(), sep="\n")
print("what changed the operators:", *("  " * depth + f"{name} {changed}" for depth, name, changed in differ.changes), sep="\n")

for where in ("enter_pass_ctx", "exit_pass_ctx", "run_before_pass"):
    print(f"the second of three fails in {where}:")
    fails(tvm.transform.PassContext(instruments=[talker("a", ""), talker("b", where), talker("c", "")]))
print("the same without `with`:")
tvm.transform.PassContext.current().override_instruments([talker("a", ""), talker("b", "run_before_pass"), talker("c", "")])
fails(contextlib.nullcontext())
print("nobody left the context; that happens when the instruments are replaced:")
tvm.transform.PassContext.current().override_instruments([])
