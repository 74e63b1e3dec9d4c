"""Converts programs to Python: control flow, functions, data types and references become Python's; operators are evaluated one by one.

A value used several times in a block (the body of a function or of a branch) is computed once, at its first use.
"""
import ast

from ..._load import core
from ...ir import IRModule
from ..analysis import free_vars
from ..expr import Call, Constant, GlobalVar, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var
from ..adt import Match, PatternConstructor, PatternTuple, PatternVar
from ..function import Function
from ..transform import InferType

OUTPUT_VAR_NAME = "_py_out"
_PREAMBLE = "from baton.relay.testing.py_converter import Runtime as _Runtime\n_run = _Runtime({table})\n"
_objects = {}  # by number: objects referenced by generated programs


class Runtime:
    """The runtime of generated programs."""

    def __init__(self, table):
        self._table = _objects[table]

    def constant(self, number):
        """The array of a Constant."""
        return self._table[number].data

    def constructor(self, number, *fields):
        """A value of a data type."""
        made = self._table[number]
        return core.ConstructorValue(made.tag, list(fields), made)

    def is_made_by(self, number, value):
        """Whether a value of a data type was made by that constructor."""
        return value.tag == self._table[number].tag

    @staticmethod
    def tuple(*fields):
        """A tuple."""
        from ...runtime.container import ADT

        return ADT(0, list(fields))

    @staticmethod
    def ref(value):
        """A cell."""
        return core.RefValue(value)

    @staticmethod
    def write(ref, value):
        """Writes a cell; gives the empty tuple."""
        ref.value = value
        return Runtime.tuple()

    @staticmethod
    def truth(value):
        """The condition of an If."""
        return bool(value.numpy())

    @staticmethod
    def no_clause():
        """No clause of a Match matches."""
        raise core.TVMError("match: no clause fits the value")

    def operator(self, number, *arguments):
        """A call of an operator, evaluated."""
        return core.evaluate_call(self._table[number], list(arguments))


class _Converter:
    def __init__(self):
        self.lines, self.table, self._names, self._used, self._done = [], [], {}, {}, {}

    def keep(self, value):
        """The number of an object in the table."""
        self.table.append(value)
        return len(self.table) - 1

    def name(self, var, prefix="v"):
        """A Python name for a variable."""
        key = var.name_hint if isinstance(var, GlobalVar) else var
        if key not in self._names:
            hint = var.name_hint
            base = "".join(each if each.isalnum() and each.isascii() else "_" for each in hint)
            self._used[base] = self._used.get(base, 0) + 1
            self._names[key] = f"{prefix}_{base}_{self._used[base]}"
        return self._names[key]

    def fresh(self):
        """A Python name that no variable has."""
        self._used[""] = self._used.get("", 0) + 1
        return f"t{self._used['']}"

    def put(self, depth, text):
        """Adds a line."""
        self.lines.append("    " * depth + text)

    def function(self, depth, name, function):
        """`def name(...)`."""
        self.put(depth, f"def {name}({', '.join(self.name(each) for each in function.params)}):")
        self.put(depth + 1, f"return {self.inner(depth + 1, function.body)}")

    def inner(self, depth, expr):
        """block() for conditional code: its values are not available after it."""
        outside, self._done = self._done, dict(self._done)
        result = self.block(depth, expr)
        self._done = outside
        return result

    def block(self, depth, expr):
        """Statements that compute `expr`, and the Python expression that is its value."""
        while isinstance(expr, Let):
            name = self.name(expr.var)
            if isinstance(expr.value, Function):
                self.function(depth, name, expr.value)
            else:
                self.put(depth, f"{name} = {self.value(depth, expr.value)}")
            expr = expr.body
        return self.value(depth, expr)

    def value(self, depth, expr):
        """The Python expression for one that is not a Let; statements before it compute it."""
        if expr in self._done:
            return self._done[expr]
        result = self.made(depth, expr)
        if isinstance(expr, (Var, GlobalVar)):
            return result
        if not result.isidentifier():
            name = self.fresh()
            self.put(depth, f"{name} = {result}")
            result = name
        self._done[expr] = result
        return result

    def made(self, depth, expr):
        """value(), without a name."""
        parts = {Var: lambda: self.name(expr), GlobalVar: lambda: self.name(expr, "g"),
                 Constant: lambda: f"_run.constant({self.keep(expr)})",
                 Tuple: lambda: f"_run.tuple({self.all(depth, expr.fields)})",
                 RefCreate: lambda: f"_run.ref({self.block(depth, expr.value)})",
                 RefRead: lambda: f"{self.block(depth, expr.ref)}.value",
                 RefWrite: lambda: f"_run.write({self.block(depth, expr.ref)}, {self.block(depth, expr.value)})",
                 TupleGetItem: lambda: f"{self.block(depth, expr.tuple_value)}[{expr.index}]",
                 Call: lambda: self.call(depth, expr), If: lambda: self.branch(depth, expr),
                 Match: lambda: self.match(depth, expr), Let: lambda: self.block(depth, expr)}
        if isinstance(expr, Function):
            name = self.fresh()
            self.function(depth, name, expr)
            return name
        if isinstance(expr, core.Constructor):
            return f"(lambda *fields: _run.constructor({self.keep(expr)}, *fields))"
        for kind, make in parts.items():
            if isinstance(expr, kind):
                return make()
        raise NotImplementedError(f"to_python: {type(expr).__name__} cannot be converted")

    def all(self, depth, several):
        """Several values, between commas."""
        return ", ".join([self.block(depth, each) for each in several])

    def call(self, depth, call):
        """A call of an operator, a constructor or a function."""
        arguments = self.all(depth, call.args)
        if isinstance(call.op, core.Op):
            return f"_run.operator({', '.join(filter(None, [str(self.keep(call)), arguments]))})"
        if isinstance(call.op, core.Constructor):
            return f"_run.constructor({', '.join(filter(None, [str(self.keep(call.op)), arguments]))})"
        return f"{self.block(depth, call.op)}({arguments})"

    def branch(self, depth, branch):
        """An If, as statements."""
        result = self.fresh()
        self.put(depth, f"if _run.truth({self.block(depth, branch.cond)}):")
        self.put(depth + 1, f"{result} = {self.inner(depth + 1, branch.true_branch)}")
        self.put(depth, "else:")
        self.put(depth + 1, f"{result} = {self.inner(depth + 1, branch.false_branch)}")
        return result

    def match(self, depth, match):
        """A Match, as an `if` after another."""
        result, data = self.fresh(), self.fresh()
        self.put(depth, f"{data} = {self.block(depth, match.data)}")
        for i, clause in enumerate(match.clauses):
            tests, names = [], []
            self.pattern(clause.lhs, data, tests, names)
            self.put(depth, f"{'elif' if i else 'if'} {' and '.join(tests) or 'True'}:")
            for line in names:
                self.put(depth + 1, line)
            self.put(depth + 1, f"{result} = {self.inner(depth + 1, clause.rhs)}")
        self.put(depth, "else:")
        self.put(depth + 1, "_run.no_clause()")
        return result

    def pattern(self, pattern, place, tests, names):
        """Adds the conditions on the value at `place`, and lines that bind its parts."""
        if isinstance(pattern, PatternVar):
            names.append(f"{self.name(pattern.var)} = {place}")
        elif isinstance(pattern, PatternConstructor):
            tests.append(f"_run.is_made_by({self.keep(pattern.constructor)}, {place})")
            for i, each in enumerate(pattern.patterns):
                self.pattern(each, f"{place}.fields[{i}]", tests, names)
        elif isinstance(pattern, PatternTuple):
            for i, each in enumerate(pattern.patterns):
                self.pattern(each, f"{place}[{i}]", tests, names)


def to_python(expr, mod=None, target="llvm"):
    """The Python program, an ast.Module, that computes `expr` and leaves its value in `_py_out`.

    `mod`: the functions and data types that it uses. NotImplementedError for constructs without a counterpart.
    """
    module = IRModule() if mod is None else mod.copy()
    free = free_vars(expr)
    if free:
        raise ValueError(f"to_python: {free[0].name_hint} is a free variable")
    module["_py_main"] = Function([], expr)
    module = InferType()(module)
    converter = _Converter()
    for var in module.get_global_vars():
        converter.function(0, converter.name(module.get_global_var(var.name_hint), "g"), module[var.name_hint])
    number = len(_objects)
    _objects[number] = converter.table
    lines = [*converter.lines, f"{OUTPUT_VAR_NAME} = {converter.name(module.get_global_var('_py_main'), 'g')}()"]
    return ast.parse(_PREAMBLE.format(table=number) + "\n".join(lines) + "\n")


def run_as_python(expr, mod=None, target="llvm"):
    """The value of `expr`, computed by the program that to_python() makes: NDArrays, and for tuples, data types and references
    runtime.container.ADT, ConstructorValue and RefValue. Functions come as Python functions."""
    names = {}
    exec(compile(to_python(expr, mod, target), "<relay>", "exec"), names)  # pylint: disable=exec-used
    return names[OUTPUT_VAR_NAME]
