"""A pass over one function."""
from ...ir import IRModule


def _run_opt_pass(expr, opt_pass):
    """`expr`, a Function, after InferType and a pass."""
    from ..transform import InferType

    return opt_pass(InferType()(IRModule.from_expr(expr)))["main"]
