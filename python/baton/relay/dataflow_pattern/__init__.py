"""Dataflow patterns: find matches, outline them as functions, or rewrite them."""
import inspect

from ..._ffi_names import Node, Object, register_object
from ..._load import core, not_provided
from ..._wanted import listed, mapped, wanted, wrong

DFPattern = core.DFPattern
Expr = core.RelayExpr
get = core.get_op
register_df_node = register_object


def wildcard():
    """Matches anything."""
    return core.df_wildcard()


def is_var(name=""):
    """Matches a variable; of that name, unless it is empty."""
    return core.df_var(name)


def is_constant():
    """Matches a constant."""
    return core.df_constant()


def is_expr(expr):
    """Matches expressions structurally equal to `expr`."""
    return core.df_expr(expr)


def is_op(op_name):
    """Matches the operator itself; called with patterns it matches its calls."""
    return core.df_op(op_name)


def is_tuple(fields):
    """Matches a tuple; any when `fields` is None."""
    return core.df_tuple(None if fields is None else listed("fields", fields, "a list of patterns"))


def is_tuple_get_item(tuple_value, index=None):
    """Matches an item of a tuple; any of them when `index` is None."""
    return core.df_tuple_get_item(tuple_value, -1 if index is None else index)


def is_if(cond, true_branch, false_branch):
    """Matches an `if`."""
    return core.df_if(cond, true_branch, false_branch)


def is_let(var, value, body):
    """Matches a `let`."""
    return core.df_let(var, value, body)


def has_type(ttype, pattern=None):
    """Matches expressions that match `pattern` (any when None) and have this type."""
    return core.df_type(pattern or wildcard(), ttype)


def has_dtype(dtype, pattern=None):
    """Matches tensors of this element type."""
    return core.df_dtype(pattern or wildcard(), str(dtype))


def has_shape(shape, pattern=None):
    """Matches tensors of this shape."""
    return core.df_shape(pattern or wildcard(), [_extent(each) for each in listed("shape", shape)])


def has_attr(attrs, pattern=None):
    """Matches calls, operators and functions with these attributes."""
    return core.df_attr(pattern or wildcard(), dict(mapped("attrs", attrs)))


def dominates(parent, path, child):
    """Matches `child` when all paths back from it lead through `path` to one `parent`, and no node in between is used elsewhere."""
    return core.df_dominates(parent, path, child)


def match(pattern, expr):
    """Whether `expr` matches `pattern`."""
    return core.df_match(pattern, expr)


def partition(pattern, expr, attrs=None, check=None):
    """`expr` with each match of `pattern` outlined as a function.

    Parameters
    ----------
    attrs : dict, optional
        Attributes of these functions.
    check : callable, optional
        Called with the root of each match; a match is unchanged when it returns false.
    """
    return core.df_partition(pattern, expr, dict(mapped("attrs", attrs or {})), check)


def rewrite(callbacks, expr, mod=None):
    """`expr` with matches replaced by `callbacks` (DFPatternCallback, one or a list).

    `mod` is where types of global functions are looked up, for callbacks that require types. UsageError when the program
    still changes after 100 rounds.
    """
    callbacks = [callbacks] if isinstance(callbacks, DFPatternCallback) else listed("callbacks", callbacks)
    for each in callbacks:
        if wanted("a callback", each, DFPatternCallback, "a DFPatternCallback").pattern is None:
            raise ValueError(f"{type(each).__name__} has no pattern")
    return core.df_rewrite(callbacks, expr, mod)


class DFPatternCallback:
    """A rule: what matches `self.pattern` becomes what `callback` returns.

    Parameters
    ----------
    require_type : bool
        Types are inferred before each round.
    rewrite_once : bool
        One round, instead of rounds until nothing changes.
    """

    def __init__(self, require_type=False, rewrite_once=False):
        self.pattern = None
        self.require_type = require_type
        self.rewrite_once = rewrite_once

    def rewrite(self, expr):
        """`expr` rewritten by this rule alone."""
        return rewrite(self, expr)

    def callback(self, pre, post, node_map):
        """Returns the replacement of a match.

        Parameters
        ----------
        pre, post : Expr
            Its root as it was, and over inputs that are rewritten already.
        node_map : dict
            For each pattern the list of matched expressions, rewritten.
        """
        raise NotImplementedError(f"{type(self).__name__}.callback")


def _extent(value):
    if isinstance(value, core.Any):
        return None
    if isinstance(value, core.SymbolicExtent):
        return value
    if not hasattr(value, "__int__"):
        raise wrong("an extent of shape", "an int or Any", value)
    return int(value)


def _as_patterns(patterns):
    return None if patterns is None else listed("args", patterns, "a list of patterns")


class _Kind(type):
    """The names of TVM's pattern classes: they construct patterns, and isinstance() checks the kind."""

    def __call__(cls, *args, **kwargs):
        return cls.make(*args, **kwargs)

    def __instancecheck__(cls, instance):
        return type(instance) is DFPattern and instance.kind == cls.__name__


def _kind(name, make, doc):
    """The class `name`: `make` makes its patterns, and gives it its signature."""
    signature = inspect.signature(make)

    def checked(*args, **kwargs):
        return make(*signature.bind(*args, **kwargs).args)

    checked.__doc__ = f"Makes the pattern, as the class does: {doc}"
    return _Kind(name, (), {"make": staticmethod(checked), "__doc__": doc, "__module__": __name__, "__signature__": signature})


WildcardPattern = _kind("WildcardPattern", wildcard, "Anything.")
VarPattern = _kind("VarPattern", lambda name_hint="": is_var(name_hint), "A variable.")
ConstantPattern = _kind("ConstantPattern", is_constant, "A constant.")
ExprPattern = _kind("ExprPattern", is_expr, "What equals an expression.")
CallPattern = _kind("CallPattern", lambda op, args: core.df_call(op, _as_patterns(args)), "A call.")
FunctionPattern = _kind("FunctionPattern", lambda params, body: core.df_function(_as_patterns(params), body), "A function.")
LetPattern = _kind("LetPattern", is_let, "A let.")
IfPattern = _kind("IfPattern", is_if, "An if.")
TuplePattern = _kind("TuplePattern", is_tuple, "A tuple.")
TupleGetItemPattern = _kind("TupleGetItemPattern", is_tuple_get_item, "An item of a tuple.")
AltPattern = _kind("AltPattern", lambda left, right: core.df_alt(left, right), "The left pattern, else the right.")
TypePattern = _kind("TypePattern", lambda pattern, ttype: has_type(ttype, pattern), "A pattern and a type.")
ShapePattern = _kind("ShapePattern", lambda pattern, shape: has_shape(shape, pattern), "A pattern and a shape.")
DataTypePattern = _kind("DataTypePattern", lambda pattern, dtype: has_dtype(dtype, pattern), "A pattern and an element type.")
AttrPattern = _kind("AttrPattern", lambda pattern, attrs: has_attr(attrs, pattern), "A pattern and attributes.")
DominatorPattern = _kind("DominatorPattern", dominates, "All between a parent and a child.")

# The parts of patterns, by TVM's names.
_PARTS = {
    "CallPattern": {"op": lambda p: p.parts[0], "args": lambda p: None if p.open else p.parts[1:]},
    "FunctionPattern": {"params": lambda p: None if p.open else p.parts[:-1], "body": lambda p: p.parts[-1]},
    "LetPattern": {"var": lambda p: p.parts[0], "value": lambda p: p.parts[1], "body": lambda p: p.parts[2]},
    "IfPattern": {"cond": lambda p: p.parts[0], "true_branch": lambda p: p.parts[1], "false_branch": lambda p: p.parts[2]},
    "TuplePattern": {"fields": lambda p: None if p.open else p.parts},
    "TupleGetItemPattern": {"tuple": lambda p: p.parts[0], "index": lambda p: p._index},
    "AltPattern": {"left": lambda p: p.parts[0], "right": lambda p: p.parts[1]},
    "TypePattern": {"pattern": lambda p: p.parts[0], "type": lambda p: p._type},
    "ShapePattern": {"pattern": lambda p: p.parts[0], "shape": lambda p: p._shape},
    "DataTypePattern": {"pattern": lambda p: p.parts[0], "dtype": lambda p: p._dtype},
    "AttrPattern": {"pattern": lambda p: p.parts[0], "attrs": lambda p: p._attrs},
    "DominatorPattern": {"parent": lambda p: p.parts[0], "path": lambda p: p.parts[1], "child": lambda p: p.parts[2]},
    "VarPattern": {"name": lambda p: p._name},
    "ExprPattern": {"expr": lambda p: p._expr},
}


def _part(self, name):
    getter = _PARTS.get(self.kind, {}).get(name)
    if getter is None:
        raise AttributeError(f"{self.kind} has no attribute {name!r}")
    return getter(self)


def _called(self, *args):
    """A call of this; with any arguments when the only one is None."""
    return core.df_call(self, None if args == (None,) else list(args))


def _binary(op_name):
    return lambda self, other: is_op(op_name)(self, other)


DFPattern.__getattr__ = _part
DFPattern.__call__ = _called
DFPattern.__or__ = lambda self, other: core.df_alt(self, other)
DFPattern.__add__, DFPattern.__sub__ = _binary("add"), _binary("subtract")
DFPattern.__mul__, DFPattern.__truediv__ = _binary("multiply"), _binary("divide")


def _method(function, doc):
    """Makes a function a method of patterns."""
    function.__doc__ = doc
    setattr(DFPattern, function.__name__.strip("_"), function)


def _has_attr(self, attrs):
    return has_attr(attrs, self)


def _has_type(self, ttype):
    return has_type(ttype, self)


def _has_dtype(self, dtype):
    return has_dtype(dtype, self)


def _has_shape(self, shape):
    return has_shape(shape, self)


def _match(self, expr):
    return match(self, expr)


def _partition(self, expr, attrs=None, check=None):
    return partition(self, expr, attrs, check)


def _dominates(self, parent, path=None):
    return dominates(parent, path or wildcard(), self)


def _optional(self, option_constructor):
    return self | option_constructor(self)


_method(_has_attr, "This, with attributes: a dict of values by name.")
_method(_has_type, "This, of a type.")
_method(_has_dtype, "This, of an element type: a str.")
_method(_has_shape, "This, of a shape: ints, or Any.")
_method(_match, "Whether `expr` matches this.")
_method(_partition, "partition() by this.")
_method(_dominates, "dominates() with this as the child; `path` is anything when None.")
_method(_optional, "This, or what `option_constructor`, a function of patterns, makes around it.")


def __getattr__(name):
    if name == "make_node":
        from ...ir import make_node

        return make_node
    not_provided(__name__, name)
