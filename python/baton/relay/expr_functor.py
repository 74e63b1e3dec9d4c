"""Walking and rewriting expressions by classes of one's own.

What a visit builds stands for the operators that the visited node stands for, so that programs keep the tie to their
origins, in passes and outside of them.
"""
import sys

from .._load import core
from .adt import Clause, Constructor, Match
from .expr import (Call, Constant, GlobalVar, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var)
from .function import Function, FunctionWithFields
from .op import Op

_METHODS = {
    Function: "visit_function",
    Call: "visit_call",
    Let: "visit_let",
    Var: "visit_var",
    GlobalVar: "visit_global_var",
    If: "visit_if",
    Tuple: "visit_tuple",
    TupleGetItem: "visit_tuple_getitem",
    Constant: "visit_constant",
    Op: "visit_op",
    RefCreate: "visit_ref_create",
    RefRead: "visit_ref_read",
    RefWrite: "visit_ref_write",
    Constructor: "visit_constructor",
    Match: "visit_match",
}
_enter, _leave, _rebuild = core.enter_visit, core.leave_visit, core.rebuild
_DEEP = 64  # visits inside one another, before the interpreter's limit is looked at
_FRAMES = 12  # of Python, that a visit of one node may take: visit, visit_x, super().visit_x, a comprehension, ...


def _method_of(expr):
    name = _METHODS.get(type(expr))
    if name is None:
        name = next((each for kind, each in _METHODS.items() if isinstance(expr, kind)), None)
    if name is None:
        raise TypeError(f"an expression is expected, not a {type(expr).__name__}")
    return name


def _visit_deep(method, expr):
    """Calls `method(expr)` where Python allows as many calls inside one another as the program is deep."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 1000 + _FRAMES * (_DEEP + core.expr_depth(expr))))
    try:
        return method(expr)
    finally:
        sys.setrecursionlimit(limit)


class ExprFunctor:
    """A function over expressions, by kind of node. Results are kept in `memo_map`: each node is visited once.

    Override visit_x(self, node) for what it is to do. RecursionError when a program is nested too deeply for the stack of
    the thread, which does not happen from Python 3.11 on unless C code (such as map) calls visit.
    """

    def __init__(self):
        self.memo_map = {}

    def visit(self, expr):
        """The result for `expr`, by the method for its kind."""
        memo = self.memo_map
        if expr in memo:
            return memo[expr]
        method = getattr(self, _METHODS.get(type(expr)) or _method_of(expr))
        depth = _enter(expr)
        try:
            result = method(expr) if depth != _DEEP else _visit_deep(method, expr)
        finally:
            _leave()
        memo[expr] = result
        return result

    def visit_function(self, _):
        raise NotImplementedError("visit_function")

    def visit_let(self, _):
        raise NotImplementedError("visit_let")

    def visit_call(self, _):
        raise NotImplementedError("visit_call")

    def visit_var(self, _):
        raise NotImplementedError("visit_var")

    def visit_type(self, typ):
        """Types stay as they are."""
        return typ

    def visit_if(self, _):
        raise NotImplementedError("visit_if")

    def visit_tuple(self, _):
        raise NotImplementedError("visit_tuple")

    def visit_tuple_getitem(self, _):
        raise NotImplementedError("visit_tuple_getitem")

    def visit_global_var(self, _):
        raise NotImplementedError("visit_global_var")

    def visit_op(self, _):
        raise NotImplementedError("visit_op")

    def visit_constant(self, _):
        raise NotImplementedError("visit_constant")

    def visit_ref_create(self, _):
        raise NotImplementedError("visit_ref_create")

    def visit_ref_write(self, _):
        raise NotImplementedError("visit_ref_write")

    def visit_ref_read(self, _):
        raise NotImplementedError("visit_ref_read")

    def visit_constructor(self, _):
        raise NotImplementedError("visit_constructor")

    def visit_match(self, _):
        raise NotImplementedError("visit_match")


class ExprVisitor(ExprFunctor):
    """Visits every node once, by default: callees before arguments, parameters before bodies. Results are None."""

    def visit_tuple(self, tup):
        for each in tup.fields:
            self.visit(each)

    def visit_call(self, call):
        self.visit(call.op)
        for each in call.args:
            self.visit(each)

    def visit_var(self, var):
        pass

    def visit_let(self, let):
        self.visit(let.var)
        self.visit(let.value)
        self.visit(let.body)

    def visit_function(self, fn):
        for each in fn.params:
            self.visit(each)
        self.visit(fn.body)

    def visit_if(self, i):
        self.visit(i.cond)
        self.visit(i.true_branch)
        self.visit(i.false_branch)

    def visit_global_var(self, gv):
        pass

    def visit_constructor(self, c):
        pass

    def visit_op(self, op):
        pass

    def visit_constant(self, const):
        pass

    def visit_ref_create(self, r):
        self.visit(r.value)

    def visit_ref_read(self, r):
        self.visit(r.ref)

    def visit_ref_write(self, r):
        self.visit(r.ref)
        self.visit(r.value)

    def visit_tuple_getitem(self, t):
        self.visit(t.tuple_value)

    def visit_match(self, m):
        self.visit(m.data)
        for each in m.clauses:
            self.visit(each.rhs)


class ExprMutator(ExprFunctor):
    """Rebuilds a program over rewritten children: override visit_x to return another node in the place of one.

    Nodes that are rebuilt have no type until InferType; functions keep their annotations.
    """

    def visit_function(self, fn):
        params = [self.visit(each) for each in fn.params]
        return _rebuild(fn, params, self.visit(fn.body))

    def visit_let(self, let):
        var = self.visit(let.var)
        value = self.visit(let.value)
        return _rebuild(let, var, value, self.visit(let.body))

    def visit_call(self, call):
        op = self.visit(call.op)
        return _rebuild(call, op, [self.visit(each) for each in call.args])

    def visit_var(self, var):
        return var

    def visit_global_id(self, global_var):
        return global_var

    def visit_if(self, ite):
        cond = self.visit(ite.cond)
        then = self.visit(ite.true_branch)
        return _rebuild(ite, cond, then, self.visit(ite.false_branch))

    def visit_tuple(self, tup):
        return _rebuild(tup, [self.visit(each) for each in tup.fields])

    def visit_tuple_getitem(self, op):
        return _rebuild(op, self.visit(op.tuple_value))

    def visit_global_var(self, gvar):
        return gvar

    def visit_op(self, op):
        return op

    def visit_constant(self, const):
        return const

    def visit_constructor(self, con):
        return con

    def visit_match(self, m):
        data = self.visit(m.data)
        return _rebuild(m, data, [Clause(each.lhs, self.visit(each.rhs)) for each in m.clauses])

    def visit_ref_create(self, r):
        return _rebuild(r, self.visit(r.value))

    def visit_ref_write(self, r):
        ref = self.visit(r.ref)
        return _rebuild(r, ref, self.visit(r.value))

    def visit_ref_read(self, r):
        return _rebuild(r, self.visit(r.ref))
