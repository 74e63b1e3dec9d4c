"""Python functions from programs."""
import collections
import itertools

from ..._load import core
from ..._wanted import mapped
from ...ir import GlobalVar, IRModule
from ...runtime import container, ndarray
from ...runtime.executable import value_for
from .. import _building
from ..adt import Constructor
from ..expr import Call, Constant, Expr, RefCreate, Tuple, const, var  # noqa: F401 -- some are names of this module in TVM
from ..function import Function
from ..scope_builder import ScopeBuilder

ConstructorValue, RefValue, Closure = core.ConstructorValue, core.RefValue, core.Closure


def _made_again(kind, *parts):
    return {"ConstructorValue": ConstructorValue, "RefValue": RefValue}[kind](*parts)


ConstructorValue.__reduce__ = lambda self: (_made_again, ("ConstructorValue", self.tag, self.fields, self.constructor))
RefValue.__reduce__ = lambda self: (_made_again, ("RefValue", self.value))


def to_expr(arg):
    """An argument as an expression: Expr, arrays and numbers, tuples of them, values of constructors, references."""
    if isinstance(arg, Expr):
        return arg
    if isinstance(arg, (tuple, list)):
        return Tuple([to_expr(each) for each in arg])
    return core.expr_of(arg)


class Executor:
    """Base of the executors returned by create_executor()."""

    def __init__(self, mod, device, target, params=None):
        self.mod, self.device, self.target, self.params = mod, device, target, params or {}

    def evaluate(self, expr=None, binds=None):
        """A function of arrays that runs `main` (or the function or global variable `expr`).

        It takes the parameters that are not bound, by position or name, and returns an NDArray, or a sequence for a tuple.
        Any other expression is run at once. `binds`: values for free variables, {Var: value}.

        Programs with control flow, algebraic types, references, or shapes that are not static: kind "vm" compiles them,
        "debug" interprets them operator by operator with the values of each call (slow; recursion up to 262,144 deep, any depth
        where the call comes last), the others raise NotImplementedError (NotSupported). Values of algebraic types are
        ConstructorValues, references RefValues, functions Closures; Python functions may be given where a program takes one.
        """
        if binds:
            if expr is None:
                raise ValueError("evaluate: binds are for the free variables of an expression, and none is given")
            if not isinstance(expr, Expr):
                raise TypeError(f"evaluate: an expression is expected, not {type(expr).__name__}")
            values = {name: to_expr(value) for name, value in mapped("binds", binds, "a dict by Var")}
            expr = Function(expr.params, core.substitute(expr.body, list(values.items())), expr.ret_type, expr.type_params) \
                if isinstance(expr, Function) else core.substitute(expr, list(values.items()))
        module, is_function = self._module_for(expr)
        runner = self._make(module)
        return runner if is_function else runner()

    def _module_for(self, expr):
        """(a module whose main is `expr`, whether it is to be called)."""
        if expr is None:
            if "main" not in self.mod:
                raise ValueError("evaluate: the module has no function main, and no expression is given")
            return self.mod, True
        if isinstance(expr, Constructor):
            raise NotImplementedError("evaluate: give the constructor its arguments")
        if not isinstance(expr, Expr):
            raise TypeError(f"evaluate: an expression is expected, not {type(expr).__name__}")
        module = self.mod.copy()
        if isinstance(expr, GlobalVar):
            if expr.name_hint not in module:
                raise ValueError(f"evaluate: the module has no function {expr.name_hint}")
            expr = module[expr.name_hint]
        module["main"] = expr if isinstance(expr, Function) else Function([], expr)
        return module, isinstance(expr, Function)

    def _make(self, module):
        """A Python function that runs main."""
        from .. import transform

        call = self._caller(*with_own_names(transform.InferType()(module), self.params))
        return lambda *args, **kwargs: call(args, kwargs)

    def _caller(self, module, shared):
        """A function of arguments, by position and by name, that runs main."""
        main = module["main"]
        names = [each.name_hint for each in main.params]
        bound = {name: value for name, value in self.params.items() if name in names}
        free = [(each, name) for each, name in zip(main.params, names) if name not in bound]
        inputs = [(name, _leaves(each.checked_type)) for each, name in free]
        try:
            run = self._runner(_flattened(module, free), bound)
        except NotImplementedError:
            if not self.EVALUATES:
                raise
            return self._by_evaluation(module, names, bound, shared)

        def call(args, kwargs):
            given = _arguments([name for name, _ in inputs], args, _one_each(kwargs, shared))
            values = {}
            for (name, leaves), value in zip(inputs, given):
                _spread(name, leaves, value, values)
            return _nested(main.ret_type, iter(run(values)), self._group)

        return call

    EVALUATES = False  # whether programs with control flow are interpreted

    def _by_evaluation(self, module, names, bound, shared):
        """A Python function that runs main with the interpreter."""
        program, params = core.Program(module), list(zip(names, module["main"].params))
        free = [name for name in names if name not in bound]

        def call(args, kwargs):
            given = {**bound, **dict(zip(free, self._given(free, args, kwargs, shared)))}
            return program([value_for(name, param.checked_type, given[name]) for name, param in params])

        return call

    def _given(self, names, args, kwargs, shared):
        """A value for each of `names`; expressions are evaluated."""
        return [self._value_of(each) for each in _arguments(names, args, _one_each(kwargs, shared))]

    def _value_of(self, value):
        if isinstance(value, Tuple):
            return [self._value_of(each) for each in value.fields]
        return self.evaluate(value) if isinstance(value, Expr) and not isinstance(value, Constant) else value

    def _runner(self, module, params):
        """A function from {name: array} to the list of outputs."""
        from ...contrib.graph_executor import GraphModule

        lib = self._build(module, params)
        result = GraphModule(lib["default"](ndarray.cpu(0) if self.device is None else self.device))

        def run(values):
            for name, value in values.items():
                if result.get_input_index(name) >= 0:
                    result.set_input(name, value)
            result.run()
            return [ndarray.array(result.get_output(i)) for i in range(result.get_num_outputs())]

        return run

    def _build(self, module, params):
        return _building.build(module, self.target, params=params)

    @staticmethod
    def _group(fields):
        return container.ADT(0, fields)


def with_own_names(module, bound):
    """(`module` with parameters of main whose names differ, {shared name: the names that its parameters have instead}).

    Values are bound by name, so that a name in `bound` must be that of one parameter.
    """
    from .. import transform

    names = [each.name_hint for each in module["main"].params]
    counts = collections.Counter(names)
    if len(counts) == len(names):
        return module, {}
    for name in bound:
        if counts[name] > 1:
            raise ValueError(f"main has several parameters of the name {name}, which `params` has a value for")
    taken, params, values, shared = set(names), [], {}, {}
    for each in module["main"].params:
        if counts[each.name_hint] > 1:
            name = next(name for i in itertools.count() if (name := f"{each.name_hint}#{i}") not in taken)
            taken.add(name)
            shared.setdefault(each.name_hint, []).append(name)
            values[each] = var(name, each.checked_type)
        params.append(values.get(each, each))
    main, renamed = module["main"], module.copy()
    renamed["main"] = Function(params, core.substitute(main.body, list(values.items())), main.ret_type, main.type_params,
                               main.attrs)
    return transform.InferType()(renamed), shared


def _leaves(ty):
    """None for a tensor, else the list of a tuple's fields."""
    fields = getattr(ty, "fields", None)
    return None if fields is None else [_leaves(each) for each in fields]


def _flattened(module, free):
    """`module` with a parameter per tensor: fields of tuples become parameters "name.0", "name.1", ..."""
    if all(_leaves(each.checked_type) is None for each, _ in free):
        return module
    main, params, values = module["main"], [], {}

    def leaf(name, ty):
        if _leaves(ty) is not None:
            return Tuple([leaf(f"{name}.{i}", each) for i, each in enumerate(ty.fields)])
        params.append(var(name, ty))
        return params[-1]

    for each in main.params:
        if _leaves(each.checked_type) is None:
            params.append(each)
        else:
            values[each] = leaf(each.name_hint, each.checked_type)
    module = module.copy()
    module["main"] = Function(params, core.substitute(main.body, list(values.items())), main.ret_type, main.type_params)
    return module


def _one_each(kwargs, shared):
    """Values by the names that parameters have instead of one that they share: each gets the value that was given for it."""
    return {own: value for name, value in kwargs.items() for own in shared.get(name, [name])}


def _arguments(names, args, kwargs):
    """Arguments in the order of `names`. ValueError, TypeError as calls of Python functions raise them."""
    if len(args) + len(kwargs) != len(names):
        raise ValueError(f"main takes {len(names)} arguments ({', '.join(names)}), {len(args) + len(kwargs)} were given")
    by_name = dict(kwargs)
    for name in by_name:
        if name not in names:
            raise TypeError(f"main has no parameter {name!r}")
    by_name.update(zip([name for name in names if name not in kwargs], args))
    return [by_name[name] for name in names]


def _spread(name, leaves, value, values):
    if isinstance(value, Constant):
        value = value.data
    if leaves is None:
        if isinstance(value, (ConstructorValue, RefValue)):
            raise NotImplementedError(f"argument {name}: values of algebraic types and references are not run yet")
        if isinstance(value, Expr):
            raise TypeError(f"argument {name}: a value is expected, not the expression {type(value).__name__}")
        values[name] = value
        return
    fields = list(value.fields) if isinstance(value, Tuple) else value
    if not isinstance(fields, (list, tuple)) or len(fields) != len(leaves):
        raise ValueError(f"argument {name}: a tuple of {len(leaves)} values is expected")
    for i, (each, leaf) in enumerate(zip(fields, leaves)):
        _spread(f"{name}.{i}", leaf, each, values)


def _nested(ret_type, outputs, group):
    fields = getattr(ret_type, "fields", None)
    return next(outputs) if fields is None else group([_nested(each, outputs, group) for each in fields])


class Interpreter(Executor):
    """Kind "debug"."""

    EVALUATES = True


class GraphExecutor(Executor):
    """Kind "graph": tuples come back as lists."""

    @staticmethod
    def _group(fields):
        return list(fields)


class AotExecutor(GraphExecutor):
    """Kind "aot"."""

    def _build(self, module, params):
        return _building.build(module, self.target, executor=_building.Executor("aot"), params=params)
