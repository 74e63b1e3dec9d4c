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


@pass_instrument
class Talker:
    """Says what it is called for, and raises ValueError where it is told to."""

    def __init__(self, name, fails_in=None):
        for point in ("enter_pass_ctx", "exit_pass_ctx", "should_run", "run_before_pass", "run_after_pass"):
            setattr(self, point, self._speaker(name, point, fails_in == point))

    @staticmethod
    def _speaker(name, point, fails):
        def speak(*_):
            print(f"  {name}: {point}" + (" raises" if fails else ""))
            if fails:
                raise ValueError(f"{name} in {point}")
            return True

        return speak


module, params = relay.testing.resnet.get_workload(num_layers=18)
module["main"] = relay.build_module.bind_params_by_name(module["main"], params)
timing, differ = PassTimingInstrument(), OperatorDiffer()
to_nhwc = tvm.transform.Sequential([
    relay.transform.SimplifyInference(), relay.transform.FoldConstant(),
    relay.transform.ConvertLayout({"nn.conv2d": ["NHWC", "HWIO"]}), relay.transform.FoldConstant()])
with tvm.transform.PassContext(opt_level=3, instruments=[differ, timing]):
    to_nhwc(module)
    print("time per pass, the nested ones indented:")
    print(timing.render())
print("what changed the operators:")
for depth, name, changed in differ.changes:
    print("  " * depth + name, changed)

small = tvm.IRModule.from_expr(relay.nn.relu(relay.var("x", shape=(2, 3))))


def infer_in(context):
    try:
        with context:
            relay.transform.InferType()(small)
    except ValueError as error:
        print("  caught:", error)


def talkers(fails_in):
    print(f"the second of three fails in {fails_in}:")
    return [Talker("a"), Talker("b", fails_in), Talker("c")]


for point in ("enter_pass_ctx", "exit_pass_ctx", "run_before_pass"):
    infer_in(tvm.transform.PassContext(instruments=talkers(point)))
current = tvm.transform.PassContext.current()
current.override_instruments(talkers("run_before_pass"))
infer_in(contextlib.nullcontext())
print("without `with` nobody left the context; that happens when the instruments are replaced:")
current.override_instruments([])
