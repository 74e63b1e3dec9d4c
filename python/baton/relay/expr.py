"""Expressions. Arithmetic on them makes calls."""
from .._load import core, not_provided
from .._wanted import mapped, wanted
from ..runtime import ndarray

RelayExpr = Expr = ExprWithOp = core.RelayExpr
Call = core.Call
Constant = core.Constant
GlobalVar = core.GlobalVar
If = core.If
Let = core.Let
RefCreate = core.RefCreate
RefRead = core.RefRead
RefWrite = core.RefWrite
Tuple = core.Tuple
TupleGetItem = core.TupleGetItem
Var = core.Var


class Id:
    """The identity of a variable, Var.vid: its name only helps the reader."""

    def __init__(self, var):
        self._var, self.name_hint = var, var.name_hint

    def same_as(self, other):
        """Whether they are those of one variable."""
        return self == other

    def __eq__(self, other):
        return isinstance(other, Id) and self._var.same_as(other._var)

    def __hash__(self):
        return hash(self._var)

    def __repr__(self):
        return f"Id({self.name_hint})"


core.Var.vid = property(Id, doc="Its identity, an Id with a name_hint.")


def var(name_hint, type_annotation=None, shape=None, dtype="float32"):
    """A variable called `name_hint`; its type is given as such (`type_annotation`), as a shape and a dtype, or not at all."""
    if type_annotation is not None and shape is not None:
        raise ValueError("Can only specify either type_annotation or shape.")
    if isinstance(type_annotation, str):
        type_annotation = core.TensorType((), type_annotation)
    if shape is not None:
        type_annotation = core.TensorType(shape, dtype)
    return Var(name_hint, type_annotation)


def const(value, dtype=None):
    """A constant from `value`: a number, a nested list, a numpy array or an NDArray.

    Without `dtype`, int becomes int32 and float float32; arrays keep theirs.
    """
    if not isinstance(value, ndarray.NDArray):
        import numpy as np

        if isinstance(value, (bool, int, float, list, tuple)):
            value = np.array(value, dtype=dtype)
            if dtype is None:
                value = value.astype({"int64": "int32", "float64": "float32"}.get(str(value.dtype), value.dtype))
        elif dtype is not None:
            value = np.asarray(value).astype(dtype)
        value = ndarray.array(np.asarray(value))
    return Constant(value)


class TupleWrapper:
    """A call that returns `size` values: can be indexed, unpacked, and used as an expression through astuple()."""

    def __init__(self, tuple_value, size):
        self.tuple_value, self.size = tuple_value, size

    def astuple(self):
        """The call itself."""
        return self.tuple_value

    def astext(self):
        """The text of the call."""
        return self.tuple_value.astext()

    def astype(self, _):
        """Tuples have no dtype: TypeError."""
        raise TypeError("astype cannot be used on tuple")

    def __getitem__(self, index):
        if not -self.size <= index < self.size:
            raise IndexError("Tuple index out of range")
        return TupleGetItem(self.tuple_value, index % self.size)

    def __len__(self):
        return self.size


def as_expr(value):
    """`value` as an expression: numbers and arrays become constants, lists tuples."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, TupleWrapper):
        return value.astuple()
    if isinstance(value, (list, tuple)):
        return Tuple([as_expr(each) for each in value])
    return const(value)


def _call(name, *operands):
    return Call(core.get_op(name), [as_expr(each) for each in operands], core.make_attrs(name, {}))


def _binary(name):
    def forward(self, other):
        return _call(name, self, other)

    def backward(self, other):
        return _call(name, other, self)

    return forward, backward


for _method, _name in (("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide")):
    _forward, _backward = _binary(_name)
    setattr(Expr, f"__{_method}__", _forward)
    setattr(Expr, f"__r{_method}__", _backward)
for _method, _name in (("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal")):
    setattr(Expr, f"__{_method}__", _binary(_name)[0])
Expr.__neg__ = lambda self: _call("negative", self)
Expr.__call__ = lambda self, *args: Call(self, [as_expr(each) for each in args])


def _astype(self, dtype):
    """This with elements of another dtype, a str: a call of `cast`."""
    return Call(core.get_op("cast"), [self], core.make_attrs("cast", {"dtype": str(dtype)}))


Expr.astype = _astype

_inferred = Expr.checked_type


def _checked_type(self):
    known = self._checked_type_
    if known is None:
        known = getattr(self, "_local_type", None)  # by InferTypeLocal
    return _inferred.__get__(self) if known is None else known


Expr.checked_type = property(_checked_type, doc="the inferred type; ValueError before InferType")


def _no_place(virtual_device):
    if virtual_device is not None:
        raise NotImplementedError("virtual_device: a place is given by relay.annotation.on_device")


def VarWithFields(variable, vid=None, type_annotation=None, virtual_device=None, span=None):
    """`variable` under another name or with another type (as later TVM has it); itself when all are None."""
    _no_place(virtual_device)
    return core.rebuild(variable, vid, type_annotation, span)


def ConstantWithFields(constant, data=None, virtual_device=None, span=None):
    """`constant` with another value (as later TVM has it)."""
    _no_place(virtual_device)
    return core.rebuild(constant, data, span)


def CallWithFields(call, op=None, args=None, attrs=None, type_args=None, virtual_device=None, span=None):
    """`call` with some of its parts replaced (as later TVM has it); it keeps its origins and has no type."""
    _no_place(virtual_device)
    return core.rebuild(call, op, args, attrs, span)


def TupleWithFields(tup, fields=None, virtual_device=None, span=None):
    """`tup` with other fields (as later TVM has it)."""
    _no_place(virtual_device)
    return core.rebuild(tup, fields, span)


def TupleGetItemWithFields(op, tuple_value=None, index=None, virtual_device=None, span=None):
    """`op`, a TupleGetItem, of another tuple or with another index (as later TVM has it)."""
    _no_place(virtual_device)
    return core.rebuild(op, tuple_value, index, span)


def LetWithFields(let, let_var=None, value=None, body=None, virtual_device=None, span=None):
    """`let` with some of its parts replaced (as later TVM has it)."""
    _no_place(virtual_device)
    return core.rebuild(let, let_var, value, body, span)


def IfWithFields(if_expr, cond=None, true_branch=None, false_branch=None, virtual_device=None, span=None):
    """`if_expr` with some of its parts replaced (as later TVM has it)."""
    _no_place(virtual_device)
    return core.rebuild(if_expr, cond, true_branch, false_branch, span)


def RefCreateWithFields(ref_create, value=None, virtual_device=None, span=None):
    """`ref_create` of another value (as later TVM has it)."""
    _no_place(virtual_device)
    return core.rebuild(ref_create, value, span)


def RefReadWithFields(ref_read, ref=None, virtual_device=None, span=None):
    """`ref_read` of another cell (as later TVM has it)."""
    _no_place(virtual_device)
    return core.rebuild(ref_read, ref, span)


def RefWriteWithFields(ref_write, ref=None, value=None, virtual_device=None, span=None):
    """`ref_write` to another cell or of another value (as later TVM has it)."""
    _no_place(virtual_device)
    return core.rebuild(ref_write, ref, value, span)


def bind(expr, binds):
    """`expr` with variables replaced: `binds` is a dict of Expr, number or array by Var.

    Of a function, those parameters go away, and variables that the new expressions use become parameters.
    """
    return core.bind(expr, {variable: as_expr(value) for variable, value in mapped("binds", binds, "a dict by Var")})


def __getattr__(name):
    not_provided(__name__, name)
