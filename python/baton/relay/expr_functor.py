"""Base classes to visit and rewrite expressions.

Nodes built in a visit get the origins of the visited node, so that origins are propagated
inside and outside of passes.
"""
import sys

from .._load import core
from ._overridden import to_be_overridden
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
    """Calls `method(expr)` with a recursion limit that suffices for the program's depth."""
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

    def visit_type(self, typ):
        """Types are unchanged."""
        return typ


to_be_overridden(ExprFunctor, _METHODS)


class ExprVisitor(ExprFunctor):
    """Visits every node once, by default: callees before arguments, parameters before bodies. Results are None."""

    def visit_tuple(self, tup):
        """Visits the fields."""
        for each in tup.fields:
            self.visit(each)

    def visit_call(self, call):
        """Visits what is called, then the arguments."""
        self.visit(call.op)
        for each in call.args:
            self.visit(each)

    def visit_var(self, var):
        """A variable has no parts."""

    def visit_let(self, let):
        """Visits the variable, the value, the body."""
        self.visit(let.var)
        self.visit(let.value)
        self.visit(let.body)

    def visit_function(self, fn):
        """Visits the parameters, then the body."""
        for each in fn.params:
            self.visit(each)
        self.visit(fn.body)

    def visit_if(self, i):
        """Visits the condition and both branches."""
        self.visit(i.cond)
        self.visit(i.true_branch)
        self.visit(i.false_branch)

    def visit_global_var(self, gv):
        """A global variable has no parts."""

    def visit_constructor(self, c):
        """A constructor has no parts."""

    def visit_op(self, op):
        """An operator has no parts."""

    def visit_constant(self, const):
        """A constant has no parts."""

    def visit_ref_create(self, r):
        """Visits the value."""
        self.visit(r.value)

    def visit_ref_read(self, r):
        """Visits the reference."""
        self.visit(r.ref)

    def visit_ref_write(self, r):
        """Visits the reference, then the value."""
        self.visit(r.ref)
        self.visit(r.value)

    def visit_tuple_getitem(self, t):
        """Visits the tuple."""
        self.visit(t.tuple_value)

    def visit_match(self, m):
        """Visits the data, then the right side of each clause."""
        self.visit(m.data)
        for each in m.clauses:
            self.visit(each.rhs)


class ExprMutator(ExprFunctor):
    """Rebuilds a program over rewritten children: override visit_x to return a replacement.

    Nodes that are rebuilt have no type until InferType; functions keep their annotations.
    """

    def visit_function(self, fn):
        """A function over rewritten parameters and body."""
        params = [self.visit(each) for each in fn.params]
        return _rebuild(fn, params, self.visit(fn.body))

    def visit_let(self, let):
        """A let over rewritten parts; the variable first."""
        var = self.visit(let.var)
        value = self.visit(let.value)
        return _rebuild(let, var, value, self.visit(let.body))

    def visit_call(self, call):
        """A call over rewritten parts."""
        op = self.visit(call.op)
        return _rebuild(call, op, [self.visit(each) for each in call.args])

    def visit_var(self, var):
        """The same variable."""
        return var

    def visit_global_id(self, global_var):
        """The same global variable."""
        return global_var

    def visit_if(self, ite):
        """An if over rewritten parts."""
        cond = self.visit(ite.cond)
        then = self.visit(ite.true_branch)
        return _rebuild(ite, cond, then, self.visit(ite.false_branch))

    def visit_tuple(self, tup):
        """A tuple over rewritten fields."""
        return _rebuild(tup, [self.visit(each) for each in tup.fields])

    def visit_tuple_getitem(self, op):
        """The same item of the rewritten tuple."""
        return _rebuild(op, self.visit(op.tuple_value))

    def visit_global_var(self, gvar):
        """The same global variable."""
        return gvar

    def visit_op(self, op):
        """The same operator."""
        return op

    def visit_constant(self, const):
        """The same constant."""
        return const

    def visit_constructor(self, con):
        """The same constructor."""
        return con

    def visit_match(self, m):
        """A match over rewritten data and right sides; patterns stay."""
        data = self.visit(m.data)
        return _rebuild(m, data, [Clause(each.lhs, self.visit(each.rhs)) for each in m.clauses])

    def visit_ref_create(self, r):
        """A new reference to the rewritten value."""
        return _rebuild(r, self.visit(r.value))

    def visit_ref_write(self, r):
        """A write over rewritten parts."""
        ref = self.visit(r.ref)
        return _rebuild(r, ref, self.visit(r.value))

    def visit_ref_read(self, r):
        """A read of the rewritten reference."""
        return _rebuild(r, self.visit(r.ref))
