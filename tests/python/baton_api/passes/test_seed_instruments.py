"""Pass instruments over ResNet-18: what tests/reference/seed.jsonl says TVM 0.11.1 prints, our own script in its place."""
import json
import os

import pytest

import baton as tvm
from baton import relay

REFERENCE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "reference", "seed.jsonl")
HOOKS = ("enter_pass_ctx", "exit_pass_ctx", "should_run", "run_before_pass", "run_after_pass")


def seed(name):
    with open(REFERENCE, encoding="utf-8") as file:
        return next(case for case in map(json.loads, file) if case["id"] == "seed/instr/" + name)


@pytest.fixture(scope="module")
def resnet():
    from baton.relay.testing import resnet as network

    return network.get_workload(num_layers=18, batch_size=1, image_shape=(3, 224, 224))


def tree(rendered):
    """(depth, name) of each line of a timing report."""
    lines = rendered.splitlines()
    return [[len(line) - len(line.lstrip("\t")), line.strip().split(":")[0]] for line in lines]


def test_text(resnet):
    assert str(resnet[0]["main"]) == seed("resnet18_main")["str"]


def test_timing(resnet):
    timing = tvm.instrument.PassTimingInstrument()
    with tvm.transform.PassContext(instruments=[timing]):
        module = relay.transform.FoldScaleAxis()(relay.transform.InferType()(resnet[0]))
        assert tree(timing.render()) == seed("timing_1")["names"]
    current = tvm.transform.PassContext.current()
    current.override_instruments([timing])
    relay.transform.FoldScaleAxis()(relay.transform.InferType()(module))
    assert tree(timing.render()) == seed("timing_2")["names"]
    current.override_instruments([])
    assert timing.render() == ""


@tvm.instrument.pass_instrument
class CallCounter:
    """How many calls of each operator a pass adds or takes away."""

    def __init__(self):
        self.differences, self.open = [], []

    @staticmethod
    def counts(mod):
        found = {}

        def visit(node):
            if isinstance(node, relay.Call) and hasattr(node.op, "name"):
                found[node.op.name] = found.get(node.op.name, 0) + 1

        relay.analysis.post_order_visit(mod["main"], visit)
        return found

    def run_before_pass(self, mod, info):
        self.open.append(self.counts(mod))

    def run_after_pass(self, mod, info):
        before, after = self.open.pop(), self.counts(mod)
        changed = {name: after.get(name, 0) - before.get(name, 0) for name in {*before, *after}}
        changed = {name: change for name, change in sorted(changed.items()) if change}
        if changed:
            self.differences.append([len(self.open), info.name, changed])


def test_operator_differences(resnet):
    module = relay.transform.FoldScaleAxis()(relay.transform.InferType()(resnet[0]))
    module["main"] = relay.build_module.bind_params_by_name(module["main"], resnet[1])
    counter, timing = CallCounter(), tvm.instrument.PassTimingInstrument()
    passes = tvm.transform.Sequential([relay.transform.FoldConstant(),
                                       relay.transform.ConvertLayout({"nn.conv2d": ["NHWC", "HWIO"]}),
                                       relay.transform.FoldConstant()])
    with tvm.transform.PassContext(opt_level=3, instruments=[counter, timing]):
        passes(module)
        assert tree(timing.render()) == seed("call_node_diff")["timing_names"]
    assert counter.differences == seed("call_node_diff")["diff"]


def speaker(name, out, bad=None, refuses=False):
    """An instrument that says what it is asked, and raises in the hook `bad`."""

    def hook(which):
        def say(self, *args):
            if which == bad:
                out.append(f"{name} bad {which}!!!")
                raise ValueError(f"{name} bad {which}")
            out.append(f"{name} {which}" + (" False" if refuses and which == "should_run" else ""))
            return not refuses

        return say

    return tvm.instrument.pass_instrument(type("Speaker", (), {which: hook(which) for which in HOOKS}))()


def events(instruments, out, managed, run):
    """Runs `run` under the instruments, as a `with` block or in the current context; then takes them off."""
    context = tvm.transform.PassContext(instruments=instruments) if managed else tvm.transform.PassContext.current()
    try:
        if managed:
            with context:
                run()
        else:
            context.override_instruments(instruments)
            run()
    except ValueError as error:
        out.append("Catching " + str(error).split("\n")[-1])  # as the document does
    try:
        out.append("-- override []")
        context.override_instruments([])
    except ValueError as error:
        out.append("Catching " + str(error).split("\n")[-1])  # as the document does
    return out


@pytest.mark.parametrize("managed", [True, False])
@pytest.mark.parametrize("bad", HOOKS)
def test_exceptions(resnet, bad, managed):
    out = []
    instruments = [speaker("PassFine_0", out), speaker("PassBad", out, bad), speaker("PassFine_1", out)]
    events(instruments, out, managed, lambda: relay.transform.InferType()(resnet[0]))
    assert out == [line for line in seed(f"exc/{'with' if managed else 'nowith'}_{bad}")["stdout"] if line]


@pytest.mark.parametrize("case", ["fine", "should_run_false", "nested", "sequential"])
def test_order(resnet, case):
    out = []
    if case in ("fine", "should_run_false"):
        middle = [speaker("PassNoRun", out, refuses=True)] if case == "should_run_false" else []
        instruments = [speaker("PassFine_0", out), *middle, speaker("PassFine_1", out)]
        made = relay.transform.InferType()
    else:
        instruments = [speaker("P", out)]
        made = relay.transform.FoldScaleAxis() if case == "nested" else tvm.transform.Sequential([relay.transform.FuseOps()])
    events(instruments, out, True, lambda: made(resnet[0]))
    assert out == [line for line in seed("exc/" + case)["stdout"] if line]
