"""Loops as recursive functions."""
from .._wanted import listed, wanted, wrong
from .expr import Expr, Let, Tuple, Var, var as _var
from .function import Function
from .scope_builder import ScopeBuilder


def while_loop(cond, loop_vars, loop_bodies):
    """A function that takes the initial values and returns the tuple of the final ones.

    Parameters
    ----------
    cond : callable
        cond(*vars): the condition, a scalar of bool, under which it goes on.
    loop_vars : list of Expr
        Their number, and the names and types of those that are variables.
    loop_bodies : callable
        loop_bodies(*vars): the list of the next values.
    """
    for name, value in (("cond", cond), ("loop_bodies", loop_bodies)):
        if not callable(value):
            raise wrong(name, "a function", value)
    loop_vars = [wanted("a loop variable", each, Expr, "an expression") for each in listed("loop_vars", loop_vars)]
    builder = ScopeBuilder()
    loop = Var("while_loop")
    names = [each.name_hint if isinstance(each, Var) else f"arg{index}" for index, each in enumerate(loop_vars)]
    fresh = [_var(name, type_annotation=builder.type_of(each)) for name, each in zip(names, loop_vars)]
    with builder.if_scope(cond(*fresh)):
        builder.ret(loop(*listed("what loop_bodies returns", loop_bodies(*fresh))))
    with builder.else_scope():
        builder.ret(Tuple(fresh))
    return Let(loop, Function(fresh, builder.get()), loop)
