"""Building nested lets and ifs with `with`."""
from .._load import core
from .expr import If, Let, Var, as_expr, var as _var


class WithScope:
    """For `with`: gives `enter_value`, and calls exit_cb() at the end unless an exception ended it."""

    def __init__(self, enter_value, exit_cb):
        self._enter_value, self._exit_cb = enter_value, exit_cb

    def __enter__(self):
        return self._enter_value

    def __exit__(self, kind, value, trace):
        if value is None:
            self._exit_cb()


class _Scope:
    """Bindings (var, value), then what it returns; of an `if`, (condition, true branch) until the else scope ends."""

    def __init__(self):
        self.bindings, self.result, self.half = [], None, None

    def expr(self):
        if self.half:
            raise RuntimeError("Creating an If expression without else.")
        if self.result is None:
            raise RuntimeError("ret is not called in this scope")
        made = self.result
        for var, value in reversed(self.bindings):
            made = Let(var, value, made)
        return made


class ScopeBuilder:
    """Builds an expression from bindings.

        sb = relay.ScopeBuilder()
        x = sb.let("x", value)
        with sb.if_scope(cond):
            sb.ret(x)
        with sb.else_scope():
            sb.ret(y)
        expr = sb.get()
    """

    def __init__(self):
        self._scopes = [_Scope()]

    def let(self, var, value):
        """Binds `value`; returns the Var. `var` is one, or its name, or (name, type)."""
        if isinstance(var, (tuple, list)):
            if len(var) > 2:
                raise ValueError("Expect var to be Tuple[str, relay.Type]")
            var = _var(*var)
        elif isinstance(var, str):
            var = _var(var)
        self._scopes[-1].bindings.append((var, as_expr(value)))
        return var

    def if_scope(self, cond):
        """For `with`: the branch where `cond` holds. An else_scope must follow."""
        scope = self._open()

        def close():
            outer = self._close()
            if outer.result is not None or outer.half:
                raise RuntimeError("result already returned before if scope")
            outer.half = cond, scope.expr()

        return WithScope(None, close)

    def else_scope(self):
        """For `with`: the other branch. The `if` is then what the scope around returns."""
        scope = self._open()

        def close():
            outer = self._close()
            if not outer.half:
                raise RuntimeError("else scope must follows")
            outer.result, outer.half = If(*outer.half, scope.expr()), None

        return WithScope(None, close)

    def type_of(self, expr):
        """The type that `expr` is known to have: a Var's annotation; else an IncompleteType that inference finds."""
        if isinstance(expr, Var):
            return expr.type_annotation
        unknown = core.IncompleteType()
        self.let(_var("unify", unknown), expr)
        return unknown

    def ret(self, value):
        """What this scope returns; once."""
        scope = self._scopes[-1]
        if scope.result is not None or scope.half:
            raise RuntimeError("ret value is already set in this scope.")
        scope.result = as_expr(value)

    def get(self):
        """The expression. Only outside of all if and else scopes."""
        if len(self._scopes) != 1:
            raise RuntimeError("can only call get at the outermost scope")
        return self._scopes[0].expr()

    def _open(self):
        self._scopes.append(_Scope())
        return self._scopes[-1]

    def _close(self):
        self._scopes.pop()
        return self._scopes[-1]
