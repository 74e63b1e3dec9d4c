"""Gradients of programs with control flow, on the virtual machine: against the interpreter, and against finite differences."""
import baton as tvm
import numpy as np
import pytest
from baton import relay

POWER = """#[version = "0.0.5"]
def @main(%x: Tensor[(3), float32], %n: int32) {{
  let %loop = fn (%i: int32, %y: Tensor[(3), float32]) -> Tensor[(3), float32] {{
    if (equal(%i, 0)) {{ %y }} else {{ %loop(subtract(%i, 1), {body}) }}
  }};
  sum(%loop(%n, %x))
}}
"""
BRANCH = """#[version = "0.0.5"]
def @main(%x: Tensor[(3), float32], %n: int32) {
  sum(if (less(%n, 2)) { multiply(%x, %x) } else { let %y = tanh(%x); multiply(%y, exp(%x)) })
}
"""
PROGRAMS = {"multiply": POWER.format(body="multiply(%y, %x)"), "tanh": POWER.format(body="tanh(add(%y, %x))"), "branch": BRANCH}


def machine(module):
    return tvm.runtime.vm.VirtualMachine(relay.vm.compile(module, "llvm"), tvm.cpu())


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_gradients_of_programs(name, n):
    module = tvm.parser.fromtext(PROGRAMS[name])
    gradient = tvm.IRModule.from_expr(relay.transform.gradient(module["main"], module))
    gradient = relay.transform.InferType()(gradient)
    x = np.array([0.3, -0.7, 0.5], "float32")
    value, (of_x, of_n) = machine(gradient).run(x, np.int32(n))
    slow_value, (slow_x, _) = relay.create_executor("debug", gradient, tvm.cpu(), "llvm").evaluate()(x, np.int32(n))
    np.testing.assert_allclose(value.numpy(), slow_value.numpy(), rtol=1e-5)
    np.testing.assert_allclose(of_x.numpy(), slow_x.numpy(), rtol=1e-5, atol=1e-6)
    assert of_n.numpy() == 0
    forward, small = machine(module), 1e-2
    for i in range(3):
        step = np.zeros(3, "float32")
        step[i] = small
        slope = (forward.run(x + step, np.int32(n)).numpy() - forward.run(x - step, np.int32(n)).numpy()) / (2 * small)
        np.testing.assert_allclose(of_x.numpy()[i], slope, rtol=0.02, atol=2e-3)
