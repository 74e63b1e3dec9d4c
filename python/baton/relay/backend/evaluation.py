"""Programs with control flow, algebraic types, references and shapes that are not static, run with values at hand: partial
evaluation follows the program, folding computes its operators. Slow, and exact."""
from ...ir import IRModule
from ...runtime import ndarray
from ..._load import core
from .. import transform
from ..adt import Constructor
from ..expr import Call, Constant, Expr, GlobalVar, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var
from ..function import Function


class ConstructorValue:
    """A value of an algebraic type: the constructor's `tag`, the `fields` (values), the `constructor` (or None)."""

    def __init__(self, tag, fields, constructor):
        self.tag, self.fields, self.constructor = int(tag), list(fields), constructor

    def __repr__(self):
        name = self.constructor.name_hint if self.constructor is not None else f"tag {self.tag}"
        return f"ConstructorValue({name}, {self.fields})"


class RefValue:
    """A reference: its `value` now."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"RefValue({self.value})"


def to_expr(arg):
    """An argument as an expression: Expr, arrays and numbers, tuples of them, values of constructors, references."""
    if isinstance(arg, Expr):
        return arg
    if isinstance(arg, (tuple, list)):
        return Tuple([to_expr(each) for each in arg])
    if isinstance(arg, ConstructorValue):
        if arg.constructor is None:
            raise ValueError("a ConstructorValue without its constructor cannot be given to a program")
        return Call(arg.constructor, [to_expr(each) for each in arg.fields])
    if isinstance(arg, RefValue):
        return RefCreate(to_expr(arg.value))
    return Constant(ndarray.array(arg))


def _argument(param, value):
    """The value of a parameter as an expression; numbers are cast to its dtype. TVMError for another shape."""
    ty = param.checked_type
    if isinstance(value, Constant):
        value = value.data
    if not isinstance(ty, core.TensorType) or isinstance(value, (Expr, ConstructorValue, RefValue)):
        return to_expr(value)
    name = f"argument {param.name_hint}"
    if not isinstance(value, ndarray.NDArray) or value.dtype != ty.dtype:
        value = ndarray.array(ndarray.as_numpy(value.numpy() if isinstance(value, ndarray.NDArray) else value, ty.dtype, name))
    shape = list(ty.shape)
    if len(shape) != len(value.shape) or any(isinstance(want, int) and want != have for want, have in zip(shape, value.shape)):
        raise core.TVMError(f"{name} has shape {value.shape}, expected {tuple(shape)}")
    return Constant(value)


_PASSES = (transform.RemoveUnusedFunctions, transform.InferType, transform.PartialEvaluate, transform.FoldConstant,
           lambda: transform.DeadCodeElimination(inline_once=True), transform.FoldConstant, transform.InferType)


def evaluate(module, params, values, run, group):
    """What `main` of `module` returns for these values of its parameters.

    `run`(module) computes a main without parameters that has none of these constructs; `group` makes the value of a tuple.
    Raises NotImplementedError for what is not known even then.
    """
    main = module["main"]
    named = {param: _argument(param, value) for param, value in zip(params, values)}
    module = module.copy()
    module["main"] = Function([], core.substitute(main.body, list(named.items())))
    for each in _PASSES:
        module = each()(module)
    return _Reader(module, run, group).value(module["main"].body)


class _Closure:
    """A function and the values that its free variables had where it was made."""

    def __init__(self, function, known):
        self.function, self.known = function, known


class _Reader:
    """Turns an expression that is all values into values."""

    def __init__(self, module, run, group, known=None):
        self.module, self.run, self.group, self.known = module, run, group, known or {}

    def value(self, expr):
        """NDArray, group of values, ConstructorValue, RefValue."""
        while isinstance(expr, Let):
            self.known[expr.var] = bound = self.value(expr.value)
            if isinstance(bound, _Closure) and isinstance(expr.value, Function):
                bound.known[expr.var] = bound  # it may call itself
            expr = expr.body
        if isinstance(expr, Constant):
            return ndarray.array(expr.data)
        if isinstance(expr, Var) and expr in self.known:
            return self.known[expr]
        if isinstance(expr, Tuple):
            return self.group([self.value(each) for each in expr.fields])
        if isinstance(expr, TupleGetItem):
            return self.value(expr.tuple_value)[expr.index]
        if isinstance(expr, Constructor):
            return ConstructorValue(expr.tag, [], expr)
        if isinstance(expr, RefCreate):
            return RefValue(self.value(expr.value))
        if isinstance(expr, RefRead):
            return self.value(expr.ref).value
        if isinstance(expr, RefWrite):  # what has an effect stays in its place
            cell, cell_value = self.value(expr.ref), self.value(expr.value)
            cell.value = cell_value
            return self.group([])
        if isinstance(expr, If):
            return self.value(expr.true_branch if self.value(expr.cond).numpy() else expr.false_branch)
        if isinstance(expr, Call) and isinstance(expr.op, Constructor):
            return ConstructorValue(expr.op.tag, [self.value(each) for each in expr.args], expr.op)
        if isinstance(expr, Call) and isinstance(expr.op, core.Op):
            return self.run(IRModule({"main": Function([], self._closed(expr))}))
        if isinstance(expr, Function):
            return _Closure(expr, dict(self.known))
        if isinstance(expr, GlobalVar):
            return _Closure(self.module[expr], {})
        if isinstance(expr, Call):
            return self._called(self.value(expr.op), [self.value(each) for each in expr.args])
        raise core.NotSupported(f"with values at hand, this is still no value: {str(expr)[:200]}")

    def _closed(self, expr):
        return core.substitute(expr, [(var, to_expr(value)) for var, value in self.known.items() if not isinstance(value, _Closure)])

    def _called(self, closure, args):
        known = {**closure.known, **dict(zip(closure.function.params, args))}
        return _Reader(self.module, self.run, self.group, known).value(closure.function.body)
