"""Passes one by one, as a sequence under a context, and a pass of one's own, on a block with something to fold, share and fuse.

    python -m baton.tvm examples/pass_infrastructure.py
"""
import numpy as np

import tvm
from tvm import relay
from tvm.ir.instrument import pass_instrument


def block():
    """relu(x * 2 + (1 + 3)) + relu(x * 2 + (1 + 3)), with the sum of constants written out."""
    x = relay.var("x", shape=(1, 16, 8, 8))
    four = relay.add(relay.const(np.ones((16, 1, 1), "float32")), relay.const(3.0))
    half = [relay.nn.relu(relay.add(relay.multiply(x, relay.const(2.0)), four)) for _ in range(2)]
    return tvm.IRModule.from_expr(relay.Function([x], relay.add(*half)))


def operators(mod):
    """The operators of main, in the order in which they are computed."""
    found = []
    relay.analysis.post_order_visit(mod["main"], lambda node: found.append(node) if isinstance(node, relay.Call) else None)
    return " ".join(call.op.name for call in found if isinstance(call.op, tvm.ir.Op))


def value(mod):
    """What main computes of ones, its first element."""
    return relay.create_executor("graph", mod=mod, target="llvm").evaluate()(np.ones((1, 16, 8, 8), "float32")).numpy().flat[0]


mod = block()
print("as written:", operators(mod))
# A pass is a function of modules; the module it is given stays as it is.
folded = relay.transform.FoldConstant()(mod)
shared = relay.transform.EliminateCommonSubexpr()(folded)
fused = relay.transform.FuseOps(fuse_opt_level=2)(shared)
print("folded:", operators(folded))
print("shared:", operators(shared))
print("fused: one function of", operators({"main": fused["main"].body.op}))

# A sequence runs the passes that the context's level admits, and what they require.
steps = tvm.transform.Sequential([relay.transform.FoldConstant(), relay.transform.EliminateCommonSubexpr()])
for options in ({"opt_level": 1}, {"opt_level": 3}, {"opt_level": 3, "disabled_pass": ["EliminateCommonSubexpr"]},
                {"opt_level": 0, "required_pass": ["FoldConstant"]}):
    with tvm.transform.PassContext(**options):
        print(f"{options}:", operators(steps(mod)))


@relay.transform.function_pass(opt_level=1)
class ScaleConstants:
    """Multiplies every constant of a function by a number."""
    def __init__(self, factor):
        self.factor = factor

    def transform_function(self, func, mod, ctx):
        factor = self.factor

        class Scale(relay.ExprMutator):
            def visit_constant(self, const):
                return relay.multiply(relay.const(factor), const)

        return Scale().visit(func)


scale = ScaleConstants(3.0)
scaled = tvm.transform.Sequential([scale, relay.transform.FoldConstant()])(folded)
print(f"{scale.info.name}, level {scale.info.opt_level}: {operators(scaled)}; {value(mod)} became {value(scaled)}")


@pass_instrument
class Names:
    """Prints each pass before it runs."""
    def run_before_pass(self, module, info):
        print("  runs", info.name)


with tvm.transform.PassContext(opt_level=3, instruments=[Names()]):
    steps(mod)
