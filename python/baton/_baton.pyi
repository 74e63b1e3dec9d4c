# Made by tools/make_stubs from the compiled module: change that, then run it again.
"""
The compiler behind the package baton. Use that; names here may change.
"""

from collections.abc import Callable, Mapping, Sequence
import enum
from typing import Annotated, overload

from numpy.typing import NDArray as _NDArray


class Span:
    """A range of a text; lines and columns count from 1."""

    def __init__(self, source_name: object | None, line: int, end_line: int, column: int, end_column: int) -> None: ...

    @property
    def source_name(self): ...

    @property
    def line(self): ...

    @property
    def column(self): ...

    @property
    def end_line(self): ...

    @property
    def end_column(self): ...

    def __str__(self) -> str: ...

    def same_as(self, other): ...

class Diagnostic:
    """One mistake in a program."""

    @property
    def level(self): ...

    @property
    def code(self): ...

    @property
    def message(self): ...

    @property
    def hint(self): ...

    @property
    def span(self): ...

    def __str__(self) -> str: ...

def set_renderer(function: Callable | None) -> None:
    """
    Calls `function` with the list of diagnostics before a DiagnosticError is raised.
    """

class NDArray:
    """
    A dense, row-major tensor in host memory. Copies of the handle share the data.
    """

    def __init__(self, array: NDArray) -> None:
        """Another handle of the same memory."""

    @staticmethod
    def from_dense(array: Annotated[_NDArray, dict(order='C', device='cpu', writable=False)]) -> NDArray:
        """A copy of a contiguous array of the host (numpy, DLPack)."""

    @staticmethod
    def from_dlpack(tensor: Annotated[_NDArray, dict(device='cpu')]) -> NDArray:
        """
        The memory of a tensor of the host: a DLPack capsule, or what has __dlpack__. Raises ValueError for one that is not row-major.
        """

    @staticmethod
    def empty(shape: Sequence[int], dtype: str = 'float32') -> NDArray:
        """An array with undefined contents."""

    @property
    def shape(self): ...

    @property
    def dtype(self): ...

    @property
    def ndim(self): ...

    @property
    def size(self): ...

    @property
    def nbytes(self): ...

    def numpy(self) -> _NDArray:
        """A copy as a numpy array; bfloat16 as the bits in uint16."""

    def asnumpy(self) -> _NDArray:
        """The older name of numpy()."""

    def view(self) -> _NDArray:
        """The data itself as a numpy array, no copy."""

    def to_dlpack(self) -> _NDArray:
        """The data itself as a DLPack object, no copy."""

    def __dlpack__(self, **kwargs) -> _NDArray:
        """A DLPack capsule of the data itself; a copy when `copy` is True."""

    def __dlpack_device__(self) -> tuple: ...

    def same_as(self, other: NDArray) -> bool:
        """Whether both mean the same memory."""

    @property
    def device(self): ...

    @property
    def ctx(self): ...

    def __setitem__(self, key, value):
        """Only `array[:] = values`."""

    def __len__(self): ...

    def __reduce__(self): ...

    def copyfrom(self, source_array):
        """
        Overwrites the contents with an array of the same shape; numbers are cast.
        """

    def copyto(self, target, mem_scope=None):
        """Copies into another NDArray, or returns a copy on a device."""

    def __array__(self, dtype=None, copy=None): ...

    def __repr__(self): ...

    def __str__(self): ...

def save_params(params: dict) -> bytes:
    """TVM's parameter file format."""

def load_params(blob: bytes) -> dict:
    """The inverse of save_params. Raises TVMError for a damaged file."""

def set_number_classes(integer: object, real: object) -> None:
    """
    The subclasses of int and float that extents and attributes are given as.
    """

class Any:
    """An extent that is known at run time only: `?` in text."""

    def __init__(self) -> None: ...

    def __str__(self) -> str: ...

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

class SymbolicExtent:
    """
    An extent with variables, in normal form: n + 1 == 1 + n. Two are == when they are of the same variables and equal for all their values.
    """

    def __add__(self, arg: object, /) -> object: ...

    def __radd__(self, arg: object, /) -> object: ...

    def __sub__(self, arg: object, /) -> object: ...

    def __rsub__(self, arg: object, /) -> object: ...

    def __mul__(self, arg: object, /) -> object: ...

    def __rmul__(self, arg: object, /) -> object: ...

    def __floordiv__(self, arg: object, /) -> object: ...

    def __neg__(self) -> object: ...

    def __truediv__(self, arg: object, /) -> object: ...

    def __mod__(self, arg: object, /) -> object: ...

    def __lt__(self, arg: object, /) -> object: ...

    def __le__(self, arg: object, /) -> object: ...

    def __gt__(self, arg: object, /) -> object: ...

    def __ge__(self, arg: object, /) -> object: ...

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def same_as(self, other: object | None) -> bool:
        """Whether both are the same extent."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    @property
    def dtype(self): ...

    @property
    def handle(self): ...

class ExtentVar(SymbolicExtent):
    """A variable. Each is another, whatever its name."""

    def __init__(self, name: str, dtype: str = 'int32', span: object | None = None) -> None: ...

    @property
    def name(self): ...

class ExtentSizeVar(ExtentVar):
    """A variable that is not negative."""

    def __init__(self, name: str, dtype: str = 'int32', span: object | None = None) -> None: ...

class ExtentAdd(SymbolicExtent):
    """a + b."""

    def __init__(self, a: object, b: object, span: object | None = None) -> None: ...

    @property
    def a(self): ...

    @property
    def b(self): ...

class ExtentSub(SymbolicExtent):
    """a - b."""

    def __init__(self, a: object, b: object, span: object | None = None) -> None: ...

    @property
    def a(self): ...

    @property
    def b(self): ...

class ExtentMul(SymbolicExtent):
    """a * b."""

    def __init__(self, a: object, b: object, span: object | None = None) -> None: ...

    @property
    def a(self): ...

    @property
    def b(self): ...

class ExtentFloorDiv(SymbolicExtent):
    """a // b, where b is above 0."""

    def __init__(self, a: object, b: object, span: object | None = None) -> None: ...

    @property
    def a(self): ...

    @property
    def b(self): ...

class Type:
    """A type of Relay. Two are == when they are structurally equal."""

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def same_as(self, other: object | None) -> bool:
        """Identity."""

    def __str__(self) -> str: ...

    def astext(self, show_meta_data: bool = True) -> str: ...

    def __reduce__(self): ...

    @property
    def handle(self): ...

class TensorType(Type):
    """
    A tensor of a shape (ints, Any() or symbolic extents) and a dtype (a str).
    """

    def __init__(self, shape: Sequence, dtype: str = 'float32') -> None: ...

    @property
    def shape(self): ...

    @property
    def concrete_shape(self): ...

    @property
    def dtype(self): ...

class TupleType(Type):
    """A tuple of types."""

    def __init__(self, fields: Sequence[Type]) -> None: ...

    @property
    def fields(self): ...

class TypeKind(enum.IntEnum):
    """What a type variable stands for."""

    __str__ = __repr__

    def __repr__(self): ...

    Type = 0

    ShapeVar = 1

    BaseType = 2

    Constraint = 4

    AdtHandle = 5

    TypeData = 6

class TypeVar(Type):
    """A type parameter. Each is another, whatever its name."""

    def __init__(self, name_hint: str, kind: TypeKind = TypeKind.Type) -> None: ...

    @property
    def name_hint(self): ...

    @property
    def kind(self): ...

    def __call__(self, *args) -> TypeCall:
        """The TypeCall of this with those type arguments."""

class GlobalTypeVar(Type):
    """The name of a data type. Two of one name are equal."""

    def __init__(self, name_hint: str, kind: TypeKind = TypeKind.AdtHandle) -> None: ...

    @property
    def name_hint(self): ...

    @property
    def kind(self): ...

    def __call__(self, *args) -> TypeCall:
        """The TypeCall of this with those type arguments."""

class TypeCall(Type):
    """A data type with its type arguments: List[int32]."""

    def __init__(self, func: Type, args: Sequence[Type]) -> None: ...

    @property
    def func(self): ...

    @property
    def args(self): ...

class RelayRefType(Type):
    """A cell that can be written: ref(T)."""

    def __init__(self, value: Type) -> None: ...

    @property
    def value(self): ...

class FuncType(Type):
    """The type of a function, polymorphic when it has type_params."""

    def __init__(self, arg_types: Sequence[Type], ret_type: Type, type_params: Sequence[TypeVar] | None = None, type_constraints: Sequence | None = None) -> None:
        """
        type_constraints: TVM's relations between types; NotSupported unless there are none.
        """

    @property
    def arg_types(self): ...

    @property
    def ret_type(self): ...

    @property
    def type_params(self): ...

    @property
    def type_constraints(self): ...

class IncompleteType(Type):
    """A type that inference finds; each is another unknown."""

    def __init__(self, kind: TypeKind = TypeKind.Type) -> None: ...

    @property
    def kind(self): ...

def parse_type(source: str, source_name: str = 'string') -> Type:
    """Reads a type. Raises DiagnosticError."""

class VirtualDevice:
    """
    Where a value lives: a device by type (as in DLPack) and number, a memory scope and a target; -1 and "": open.
    """

    def __init__(self, device_type: int = -1, virtual_device_id: int = -1, memory_scope: str = '', target: str = '', host: str = '') -> None: ...

    @property
    def device_type_int(self): ...

    @property
    def device_type(self): ...

    @property
    def virtual_device_id(self): ...

    @property
    def memory_scope(self): ...

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self): ...

    @property
    def target(self): ...

class Attrs:
    """The attributes of a call: read as attrs.NAME or attrs["NAME"]."""

    def __getattr__(self, arg: str, /) -> object: ...

    def __getitem__(self, arg: str, /) -> object: ...

    def __contains__(self, arg: str, /) -> bool: ...

    def keys(self) -> list[str]:
        """The names, in the order of the text."""

    def list_field_info(self):
        """
        [AttrFieldInfo]: name, type_info (what it expects) and description of each attribute.
        """

    def get_int(self, key): ...

    def get_str(self, arg: str, /) -> str: ...

    def get_int_tuple(self, arg: str, /) -> tuple: ...

    @property
    def type_key(self): ...

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self): ...

    @property
    def handle(self): ...

    def __dir__(self): ...

def make_attrs(op: str, values: dict) -> Attrs:
    """The attributes of an operator: these values, the rest by default."""

def make_attrs_of(type_key: str, values: dict) -> Attrs:
    """
    Attributes of the class that TVM calls `type_key`: these values, the rest by default.
    """

def enter_module(name: str) -> str:
    """
    Operators that this thread makes now belong to the module `name` of the current one, whose path is returned, for leave_module.
    """

def leave_module(outer: str) -> None:
    """Back to the module of that path; "": none."""

class RelayExpr:
    """A node of a program. Immutable; == means the same node."""

    @property
    def checked_type(self): ...

    @property
    def span(self): ...

    def same_as(self, other: object | None) -> bool:
        """Identity."""

    def __str__(self) -> str: ...

    def astext(self, show_meta_data: bool = True, annotate: Callable | None = None) -> str:
        """
        Relay text; `annotate(expr)` replaces the comments behind each expression.
        """

    def __reduce__(self): ...

    @property
    def handle(self): ...

    def __add__(self, other): ...

    def __radd__(self, other): ...

    def __sub__(self, other): ...

    def __rsub__(self, other): ...

    def __mul__(self, other): ...

    def __rmul__(self, other): ...

    def __truediv__(self, other): ...

    def __rtruediv__(self, other): ...

    def __lt__(self, other): ...

    def __le__(self, other): ...

    def __gt__(self, other): ...

    def __ge__(self, other): ...

    def __neg__(self): ...

    def __call__(self, *args): ...

    def astype(self, dtype):
        """This with elements of another dtype, a str: a call of `cast`."""

class Var(RelayExpr):
    """A local variable: a name for printing, and a type if it is known."""

    def __init__(self, name_hint: str, type_annotation: Type | None = None, span: Span | None = None) -> None: ...

    @property
    def name_hint(self): ...

    @property
    def type_annotation(self): ...

    @property
    def vid(self): ...

class GlobalVar(RelayExpr):
    """The name of a function of a module."""

    def __init__(self, name_hint: str, type_annot: Type | None = None) -> None: ...

    @property
    def name_hint(self): ...

    __eq__ = same_as

    def same_as(self, other):
        """
        Whether both are the global variable of one name: modules make their own objects of them.
        """

    def __ne__(self, other): ...

    def __hash__(self): ...

class Constant(RelayExpr):
    """A tensor in the program."""

    def __init__(self, data: NDArray, span: Span | None = None) -> None: ...

    @property
    def data(self): ...

class Op(RelayExpr):
    """An operator; one object each."""

    @property
    def name(self): ...

    @property
    def description(self): ...

    @property
    def num_inputs(self): ...

    @property
    def arguments(self): ...

    @property
    def attrs_type_key(self): ...

    @property
    def declares_attrs(self): ...

    @property
    def can_run(self): ...

    @property
    def pattern(self): ...

    def __reduce__(self): ...

    get = get_op

    @staticmethod
    def list_op_names() -> list[str]:
        """Sorted."""

    def get_attr(self, attr_name):
        """The attribute, or None."""

    def has_attr(self, attr_name):
        """
        Whether it has an attribute that was registered from Python (or one that every operator has).
        """

    def set_attr(self, attr_name, value, plevel=10):
        """Gives it an attribute; see register_op_attr."""

    def reset_attr(self, attr_name):
        """
        Removes the attribute. Passes then have no such rule for the operator, not even Baton's own.
        """

    def add_type_rel(self, rel_name, type_rel_func=None):
        """
        How an operator that relay.op.op.register has made is typed: `type_rel_func(arg_types, attrs)` -> the result's type, or
            None while the types of arguments are not known enough; without it TVM's relation "Identity" or "Broadcast".
        """

    def add_argument(self, name, type, description):
        """
        Names the next argument of an operator that relay.op.op.register has made.
        """

    def set_num_inputs(self, n):
        """
        How many arguments an operator that relay.op.op.register has made takes; -1: any number.
        """

    @property
    def support_level(self): ...

    def set_support_level(self, level):
        """
        Notes a support level, a number that only says how basic an operator is.
        """

    def set_attrs_type_key(self, key):
        """
        The type of attributes; an operator that relay.op.op.register has made has none, which is what "DictAttrs" is here.
        """

class Tuple(RelayExpr):
    """Several values as one."""

    def __init__(self, fields: Sequence[RelayExpr], span: Span | None = None) -> None: ...

    @property
    def fields(self): ...

    def __len__(self) -> int: ...

    def __getitem__(self, arg: int, /) -> RelayExpr: ...

class TupleGetItem(RelayExpr):
    """One value of a tuple."""

    def __init__(self, tuple_value: RelayExpr, index: int, span: Span | None = None) -> None: ...

    @property
    def tuple_value(self): ...

    @property
    def index(self): ...

class Call(RelayExpr):
    """A call of an operator or a function."""

    def __init__(self, op: RelayExpr, args: Sequence[RelayExpr], attrs: Attrs | None = None, type_args: Sequence[Type] | None = None, span: Span | None = None) -> None:
        """
        type_args: Types, for a polymorphic function. Not kept: inference finds them.
        """

    @property
    def op(self): ...

    @property
    def args(self): ...

    @property
    def type_args(self): ...

    @property
    def attrs(self): ...

class Function(RelayExpr):
    """A function of variables; attributes by name."""

    def __init__(self, params: Sequence[Var], body: RelayExpr, ret_type: Type | None = None, type_params: Sequence[TypeVar] | None = None, attrs: dict | None = None, span: Span | None = None) -> None: ...

    @property
    def params(self): ...

    @property
    def body(self): ...

    @property
    def ret_type(self): ...

    @property
    def type_params(self): ...

    def without_attr(self, attr_key):
        """A copy of the function without that attribute."""

    @property
    def attrs(self): ...

    def with_attr(self, attr_key_or_dict, attr_value=None):
        """A copy of the function with one attribute, or all of a dict, set."""

class Let(RelayExpr):
    """A name for a value inside a body."""

    def __init__(self, variable: Var, value: RelayExpr, body: RelayExpr, span: Span | None = None) -> None: ...

    @property
    def var(self): ...

    @property
    def value(self): ...

    @property
    def body(self): ...

class If(RelayExpr):
    """One of two values, by a condition."""

    def __init__(self, cond: RelayExpr, true_branch: RelayExpr, false_branch: RelayExpr, span: Span | None = None) -> None: ...

    @property
    def cond(self): ...

    @property
    def true_branch(self): ...

    @property
    def false_branch(self): ...

class Constructor(RelayExpr):
    """One way to make a value of a data type; called like a function."""

    def __init__(self, name_hint: str, inputs: Sequence[Type], belong_to: GlobalTypeVar) -> None: ...

    @property
    def name_hint(self): ...

    @property
    def inputs(self): ...

    @property
    def belong_to(self): ...

    @property
    def tag(self): ...

class TypeData:
    """The definition of a data type."""

    def __init__(self, header: GlobalTypeVar, type_vars: Sequence[TypeVar], constructors: Sequence[Constructor]) -> None:
        """
        Raises TVMError when a constructor is given twice or belongs to another type.
        """

    @property
    def header(self): ...

    @property
    def type_vars(self): ...

    @property
    def constructors(self): ...

    def same_as(self, other: object | None) -> bool:
        """Identity."""

    def __reduce__(self): ...

    @property
    def handle(self): ...

class Pattern:
    """What the value of a match is compared with."""

    @property
    def var(self): ...

    @property
    def constructor(self): ...

    @property
    def patterns(self): ...

    def __str__(self) -> str: ...

    def __reduce__(self): ...

    @property
    def handle(self): ...

def wildcard_pattern() -> Pattern: ...

def var_pattern(var: Var) -> Pattern: ...

def constructor_pattern(constructor: Constructor, patterns: Sequence[Pattern] | None = None) -> Pattern: ...

def tuple_pattern(patterns: Sequence[Pattern] | None = None) -> Pattern: ...

class Clause:
    """One case of a match: a pattern, and the value when it fits."""

    def __init__(self, lhs: Pattern, rhs: RelayExpr) -> None: ...

    @property
    def lhs(self): ...

    @property
    def rhs(self): ...

    def __reduce__(self): ...

    @property
    def handle(self): ...

class Match(RelayExpr):
    """The value of the first clause whose pattern fits."""

    def __init__(self, data: RelayExpr, clauses: Sequence[Clause], complete: bool = True, span: Span | None = None) -> None: ...

    @property
    def data(self): ...

    @property
    def clauses(self): ...

    @property
    def complete(self): ...

class RefCreate(RelayExpr):
    """A new cell that holds a value."""

    def __init__(self, value: RelayExpr, span: Span | None = None) -> None: ...

    @property
    def value(self): ...

class RefRead(RelayExpr):
    """What a cell holds."""

    def __init__(self, ref: RelayExpr, span: Span | None = None) -> None: ...

    @property
    def ref(self): ...

class RefWrite(RelayExpr):
    """Puts a value into a cell; is itself the empty tuple."""

    def __init__(self, ref: RelayExpr, value: RelayExpr, span: Span | None = None) -> None: ...

    @property
    def ref(self): ...

    @property
    def value(self): ...

def set_op_hook(op: str, key: str, function: object | None) -> None:
    """
    From now on passes ask `function` what they would have asked the operator's rule; None: calls stay as they are.
    """

def reset_op_hook(op: str, key: str) -> None:
    """The operator's own rule is asked again."""

def set_layout_hook(op: str, function: object) -> None:
    """
    From now on layout passes ask `function` how layouts pass through the operator.
    """

def reset_layout_hook(op: str) -> None:
    """The operator's own rule is asked again."""

def target_has_sse41(target: str) -> bool:
    """Every processor that is known here with SSE 4.1 has 4.2 too."""

def define_op(name: str, doc: str) -> None:
    """Makes an operator that can be typed, not run."""

def set_type_relation(op: str, name: str, function: object | None) -> None: ...

def change_op(op: str, fact: str, value: int) -> None:
    """
    Sets TOpPattern, TOpIsStateful or num_inputs of an operator that define_op has made.
    """

def op_fact(op: str, fact: str) -> int:
    """TOpPattern or TOpIsStateful of an operator, as a number."""

def add_op_argument(op: str, argument: str, doc: str) -> None:
    """Names the next argument of an operator that define_op has made."""

def get_op(op_name: str) -> RelayExpr:
    """The operator of that name; AttributeError when there is none."""

def list_op_names() -> list[str]:
    """Sorted."""

def op_python(name: str) -> str:
    """
    Where relay.op has the operator's builder, and its parameters where they are not the inputs, then the attributes: "transform", "nn.dense(data, weight, units=None)". "": as the name says.
    """

def result_count(call: Call) -> int | None:
    """
    How many tensors the tuple has that this call gives; None when it gives no tuple.
    """

def op_signature(name: str) -> tuple:
    """
    ([(input of a call, doc)], [(attribute, has a default, default, doc, what it expects: "a list, ..")])
    """

class IRModule:
    """Functions by name. Passes return a new module."""

    def __init__(self, functions: object | None = None, type_definitions: object | None = None) -> None:
        """Functions by GlobalVar or str, TypeData by GlobalTypeVar or str."""

    @staticmethod
    def from_expr(expr: RelayExpr, functions: object | None = None, type_defs: object | None = None) -> IRModule:
        """
        A module whose main is `expr`, over its free variables when it is no function.
        """

    @property
    def functions(self): ...

    @property
    def type_definitions(self): ...

    @property
    def attrs(self): ...

    def __getitem__(self, name: object) -> object:
        """ValueError when there is none."""

    def __setitem__(self, arg0: object, arg1: object, /) -> None: ...

    def __contains__(self, arg: object, /) -> bool: ...

    def __len__(self) -> int: ...

    def update(self, functions: object) -> None:
        """Adds or replaces the functions and data types of a module or a dict."""

    def update_func(self, var: object, func: object) -> None: ...

    def get_global_var(self, name: str) -> GlobalVar:
        """ValueError when there is none."""

    def get_global_vars(self) -> list[GlobalVar]:
        """sorted by name"""

    def get_global_type_var(self, name: str) -> GlobalTypeVar:
        """ValueError when there is none."""

    def get_global_type_vars(self) -> list[GlobalTypeVar]:
        """sorted by name"""

    def get_constructor(self, tag: object, name: str | None = None) -> Constructor:
        """
        By its tag, or by its type (a GlobalTypeVar or a str) and its name. Raises TVMError.
        """

    def get_type(self, name: str) -> tuple:
        """
        A tuple: the GlobalTypeVar and its constructors. ValueError when there is no such type.
        """

    def same_as(self, other: object | None) -> bool:
        """Identity."""

    def copy(self) -> IRModule:
        """Another module with the same functions."""

    def __copy__(self) -> IRModule: ...

    def __str__(self) -> str: ...

    def astext(self, show_meta_data: bool = True, annotate: Callable | None = None) -> str:
        """
        Relay text; `annotate(expr)` replaces the comments behind each expression.
        """

    def __reduce__(self): ...

    def show(self):
        """Prints the module."""

    def import_from_std(self, file):
        """
        Adds a part of the standard library: "prelude.rly", "nat.rly", "gradient.rly" or "core.rly" (".rly" may be left out).
        """

    def get_attr(self, attr_key):
        """An attribute of the module, or None."""

    def with_attr(self, attr_key, attr_value):
        """
        A copy of the module with one attribute set. Passes keep attributes; text and JSON leave them out.
        """

    def script(self, tir_prefix='T', show_meta=False):
        """Not provided: there is no TVMScript; astext() gives Relay text."""

    @property
    def handle(self): ...

def post_order_visit(expr: RelayExpr, fvisit: Callable) -> None:
    """Calls fvisit(node) once for each node, children first."""

def free_vars(expr: RelayExpr) -> list[Var]:
    """Variables used but not bound inside, in the order of their first use."""

def bound_vars(expr: RelayExpr) -> list[Var]:
    """Variables bound inside, by functions, lets and patterns."""

def all_vars(expr: RelayExpr) -> list[Var]:
    """All variables, once each, in the order of the text."""

def free_type_vars(expr: object) -> list[TypeVar]: ...

def bound_type_vars(expr: object) -> list[TypeVar]: ...

def all_type_vars(expr: object) -> list[TypeVar]: ...

def enter_visit(node: RelayExpr) -> int:
    """
    What is built until leave_visit stands for the origins of `node`. How many visits are open on this thread. RecursionError when its stack is nearly used up.
    """

def leave_visit() -> None: ...

def origin_keys(expr: RelayExpr, inside: bool = False) -> list[int]:
    """
    Numbers of the origins of a node, or of all nodes inside: comparable as long as one of the nodes is alive.
    """

def expr_depth(expr: RelayExpr) -> int:
    """How many nodes the longest way from `expr` to a leaf has."""

@overload
def rebuild(function: Function, params: Sequence[Var] | None = None, body: RelayExpr | None = None, ret_type: Type | None = None, type_params: Sequence[TypeVar] | None = None, attrs: dict | None = None, span: Span | None = None) -> Function: ...

@overload
def rebuild(call: Call, op: RelayExpr | None = None, args: Sequence[RelayExpr] | None = None, attrs: Attrs | None = None, span: Span | None = None) -> Call: ...

@overload
def rebuild(tup: Tuple, fields: Sequence[RelayExpr] | None = None, span: Span | None = None) -> RelayExpr: ...

@overload
def rebuild(op: TupleGetItem, tuple_value: RelayExpr | None = None, index: int | None = None, span: Span | None = None) -> RelayExpr: ...

@overload
def rebuild(let: Let, var: Var | None = None, value: RelayExpr | None = None, body: RelayExpr | None = None, span: Span | None = None) -> RelayExpr: ...

@overload
def rebuild(if_expr: If, cond: RelayExpr | None = None, true_branch: RelayExpr | None = None, false_branch: RelayExpr | None = None, span: Span | None = None) -> RelayExpr: ...

@overload
def rebuild(match: Match, data: RelayExpr | None = None, clauses: Sequence[Clause] | None = None, complete: bool | None = None, span: Span | None = None) -> RelayExpr: ...

@overload
def rebuild(var: Var, name_hint: str | None = None, type_annotation: Type | None = None, span: Span | None = None) -> Var: ...

@overload
def rebuild(constant: Constant, data: NDArray | None = None, span: Span | None = None) -> Constant: ...

@overload
def rebuild(ref_create: RefCreate, value: RelayExpr | None = None, span: Span | None = None) -> RelayExpr: ...

@overload
def rebuild(ref_read: RefRead, ref: RelayExpr | None = None, span: Span | None = None) -> RelayExpr: ...

@overload
def rebuild(ref_write: RefWrite, ref: RelayExpr | None = None, value: RelayExpr | None = None, span: Span | None = None) -> RelayExpr: ...

def check_kind(t: object, mod: IRModule | None = None) -> TypeKind: ...

def form_faults(program: object, closed: bool = False, mod: IRModule | None = None) -> list[str]: ...

def unmatched_cases(match: RelayExpr, mod: IRModule | None = None) -> list[Pattern]: ...

def features(expr: RelayExpr) -> list[int]: ...

def features_of_module(mod: IRModule) -> list[int]: ...

def op_frequencies(mod: IRModule) -> dict[str, int]: ...

def all_dtypes(expr: RelayExpr) -> list[str]: ...

def calls_without_span(mod: IRModule) -> list[Call]:
    """Calls of a module whose position is not known."""

def bind(expr: RelayExpr, binds: dict) -> RelayExpr: ...

def multiply_accumulates(expr: RelayExpr, given: Mapping[str, Callable[[Call], int]]) -> int:
    """`given`: functions that count the calls of some operators."""

def fake_quantized_frequencies(mod: IRModule) -> dict[str, int]: ...

def count_layers(expr: RelayExpr, operators: Sequence[str]) -> int: ...

def transposed_dense_weights(expr: RelayExpr) -> list[str]: ...

def is_constant_value(expr: RelayExpr) -> bool: ...

def extract_value(mod: IRModule, index: int) -> IRModule: ...

def primitive_functions(mod: IRModule) -> dict[str, Function]: ...

def calibration(mod: IRModule) -> tuple: ...

def annotated_regions(expr: RelayExpr) -> list: ...

class FunctionCalls:
    """Which functions of a module name which."""

    def __init__(self, module: IRModule) -> None: ...

    @property
    def order(self): ...

    def callees(self, name: str) -> list[str]: ...

    def references(self, name: str) -> int: ...

def structural_equal(lhs: object | None, rhs: object | None, map_free_vars: bool = False) -> bool:
    """
    Whether both mean the same: names of bound variables, types that were only inferred and positions do not count.
    """

def structural_hash(node: object, map_free_vars: bool = False) -> int:
    """
    Equal for structurally equal nodes: on every machine and in every run for nodes without free variables, and for all with map_free_vars; else free variables count as the objects that they are.
    """

class TypeSolver:
    """
    Types with holes (IncompleteType), and relations of operators between types.
    """

    def __init__(self) -> None: ...

    def unify(self, lhs: Type, rhs: Type) -> Type:
        """
        The type that both are, their holes filled. DiagnosticError when there is none.
        """

    def resolve(self, type: Type) -> Type:
        """The type with what is known of its holes."""

    def add_relation(self, op: str, types: Sequence[Type]) -> None:
        """
        The relation of an operator without attributes between its inputs and its result, the last of `types`; "": all are one type.
        """

    def solve(self) -> bool:
        """Whether all relations hold. DiagnosticError where one cannot."""

def parse(source: str, source_name: str = 'from_string', init_module: IRModule | None = None, init_meta_table: dict | None = None) -> IRModule:
    """Reads a module and infers its types. Raises DiagnosticError."""

def parse_untyped(source: str, source_name: str = 'from_string', init_module: IRModule | None = None, init_meta_table: dict | None = None) -> IRModule:
    """Reads a module; infers nothing. Raises DiagnosticError."""

def parse_expr(source: str, source_name: str = 'string') -> RelayExpr:
    """Reads an expression; infers nothing. Raises DiagnosticError."""

def std_library_names() -> list[str]:
    """What import_std knows."""

def import_std(module: IRModule, name: str) -> None:
    """
    Adds a part of the standard library, prelude.rly for one, and infers the module's types. Raises BatonError when there is none of that name.
    """

def import_tensor_array(module: IRModule, dtype: str, number: int) -> None:
    """Adds lists of tensors of an element type; infers nothing."""

@overload
def save_json(node: IRModule, source_text: bool = True) -> str:
    """A module as Baton's JSON."""

@overload
def save_json(node: RelayExpr, source_text: bool = True) -> str:
    """An expression as Baton's JSON."""

def load_json(json_str: str) -> object:
    """A module or expression from Baton's JSON, or from TVM 0.11.1's."""

class PassInfo:
    """What a context needs to know of a pass."""

    def __init__(self, opt_level: int, name: str, required: object | None = None) -> None: ...

    @property
    def opt_level(self): ...

    @property
    def name(self): ...

    @property
    def required(self): ...

    def __str__(self) -> str: ...

class NativeInstrument:
    """An instrument written in C++."""

    @property
    def name(self): ...

class PassTimingInstrument(NativeInstrument):
    """Times the passes of its context."""

    def __init__(self) -> None: ...

    @staticmethod
    def render() -> str:
        """
        One line per pass, in microseconds, children one tab deeper. Call it before the context is left.
        """

class OriginVerifier(NativeInstrument):
    """
    Checks after each pass of its context that no operator of the program is lost: an InternalError names the pass.
    """

    def __init__(self) -> None: ...

class PassTrace(NativeInstrument):
    """
    Notes what each pass makes, merges, splits, adds and retires, operator by operator.
    """

    def __init__(self) -> None: ...

    def render(self, all: bool = False) -> str:
        """
        A line per pass that changed something (`all`: every pass), and one per change. Also after the context is left.
        """

class PassContext:
    """What passes run under; used with `with`."""

    def __init__(self, opt_level: int = 2, required_pass: object | None = None, disabled_pass: object | None = None, instruments: Sequence | None = None, config: dict | None = None) -> None: ...

    @property
    def opt_level(self): ...

    @property
    def required_pass(self): ...

    @property
    def disabled_pass(self): ...

    @property
    def instruments(self): ...

    @property
    def config(self): ...

    @staticmethod
    def current() -> PassContext:
        """The innermost context of this thread."""

    @staticmethod
    def list_configs() -> dict:
        """The keys of `config`, each with "type" and "doc"."""

    def override_instruments(self, instruments: Sequence | None) -> None:
        """Exits the old instruments, then enters the new."""

    def __enter__(self) -> object: ...

    def __exit__(self, *args) -> None: ...

    def __str__(self) -> str: ...

class Pass:
    """Called with a module, returns a new one; the given one stays as it is."""

    @property
    def info(self): ...

    def __call__(self, mod):
        """
        Runs it, whatever the context's opt_level; attributes of the module stay. Raises DiagnosticError, TVMError, or what Python code
            in it raises.
        """

    def __str__(self) -> str: ...

    def __getattr__(self, name): ...

    @property
    def passes(self): ...

def make_pass(name: str, args: dict) -> Pass:
    """
    The pass of that name. UsageError when it, or an argument, is not known.
    """

def pass_names() -> list[str]:
    """Sorted."""

def module_pass(info: PassInfo, body: Callable) -> Pass:
    """A pass that calls body(module, context)."""

def function_pass(info: PassInfo, body: Callable) -> Pass:
    """A pass that calls body(function, module, context) for each function."""

def sequential(passes: Sequence[Pass], name: str, opt_level: int, required: Sequence[str]) -> Pass: ...

def passes_of(sequential: Pass) -> list[Pass]: ...

def set_fake_quantization_hook(op: str, function: object) -> None:
    """
    From now on FakeQuantizationToInteger asks `function` how the operator is computed in integers.
    """

def reset_fake_quantization_hook(op: str) -> None:
    """The operator's own rule is asked again."""

def count_rounded_values(module: IRModule) -> int:
    """How many values of an annotated module need a scale, weights aside."""

def rounded_values(module: IRModule, first: int, count: int) -> IRModule:
    """
    A module that returns `count` of those values, from `first` on, before they are rounded.
    """

def scale_by_divergence(values: NDArray) -> float:
    """
    The scale that loses the least information between the distribution of float32 values and the same in 255 steps.
    """

def scale_by_percentile(values: NDArray) -> float:
    """The magnitude that 99.999 % of float32 values stay below."""

def partition_conversions(module: IRModule, quantized_dtypes: Sequence[str]) -> tuple[IRModule, str]:
    """
    A quantised module in three functions and a main that calls them, and what is not integral, or "".
    """

def enter_requantize_config(rounding: str, compute_dtype: str) -> None:
    """
    What qnn.requantize means by None from now on, on this thread. UsageError for a value that is not known.
    """

def exit_requantize_config() -> None:
    """Takes the last configuration away."""

def current_requantize_config() -> tuple[str, str]:
    """(rounding, compute_dtype); "None" leaves the latter to the target."""

class DFPattern:
    """Describes expressions of a dataflow graph."""

    @property
    def kind(self): ...

    @property
    def parts(self): ...

    @property
    def open(self): ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __getattr__(self, name): ...

    def __call__(self, *args):
        """A call of this; with any arguments when the only one is None."""

    def __or__(self, other): ...

    def __add__(self, other): ...

    def __sub__(self, other): ...

    def __mul__(self, other): ...

    def __truediv__(self, other): ...

    def has_attr(self, attrs):
        """This, with attributes: a dict of values by name."""

    def has_type(self, ttype):
        """This, of a type."""

    def has_dtype(self, dtype):
        """This, of an element type: a str."""

    def has_shape(self, shape):
        """This, of a shape: ints, or Any."""

    def match(self, expr):
        """Whether `expr` matches this."""

    def partition(self, expr, attrs=None, check=None):
        """partition() by this."""

    def dominates(self, parent, path=None):
        """dominates() with this as the child; `path` is anything when None."""

    def optional(self, option_constructor):
        """
        This, or what `option_constructor`, a function of patterns, makes around it.
        """

def df_wildcard() -> DFPattern: ...

def df_var(name: str) -> DFPattern: ...

def df_constant() -> DFPattern: ...

def df_expr(expr: RelayExpr) -> DFPattern: ...

def df_op(name: str) -> DFPattern: ...

def df_call(callee: DFPattern, args: Sequence[DFPattern] | None) -> DFPattern: ...

def df_function(params: Sequence[DFPattern] | None, body: DFPattern) -> DFPattern: ...

def df_let(var: DFPattern, value: DFPattern, body: DFPattern) -> DFPattern: ...

def df_if(cond: DFPattern, then: DFPattern, otherwise: DFPattern) -> DFPattern: ...

def df_tuple(fields: Sequence[DFPattern] | None) -> DFPattern: ...

def df_tuple_get_item(tuple: DFPattern, index: int) -> DFPattern: ...

def df_alt(left: DFPattern, right: DFPattern) -> DFPattern: ...

def df_type(pattern: DFPattern, type: Type) -> DFPattern: ...

def df_shape(pattern: DFPattern, shape: Sequence) -> DFPattern: ...

def df_dtype(pattern: DFPattern, dtype: str) -> DFPattern: ...

def df_attr(pattern: DFPattern, attrs: dict) -> DFPattern: ...

def df_dominates(parent: DFPattern, path: DFPattern, child: DFPattern) -> DFPattern: ...

def df_match(pattern: DFPattern, expr: RelayExpr) -> bool: ...

def df_partition(pattern: DFPattern, expr: RelayExpr, attrs: dict, check: object | None) -> RelayExpr: ...

def df_rewrite(callbacks: Sequence, expr: RelayExpr, mod: IRModule | None) -> RelayExpr: ...

def merge_composite(table: Sequence) -> Pass:
    """The pass MergeComposite with this pattern table."""

def register_pattern_table(compiler: str, table: Sequence) -> None:
    """For MergeComposite by name."""

def register_target_rule(op: str, compiler: str, takes: Callable, level: int) -> None:
    """`compiler` takes the calls of `op` for which takes(call) is true."""

def reset_target_rule(op: str, compiler: str) -> None: ...

def set_region_optimizer(compiler: str, optimize: object | None) -> None:
    """What PartitionGraph calls for each region of `compiler`."""

def to_cps(func: Function, mod: IRModule | None = None) -> Function:
    """
    The function in continuation-passing style. Functions of `mod` that it calls are entered there as NAME_cps.
    """

def un_cps(func: Function) -> Function:
    """
    A function in continuation-passing style as one that returns its result.
    """

def defunctionalize(func: Function, mod: IRModule) -> Function:
    """
    The function with data in the place of functions; `mod` gets what that needs.
    """

def eliminate_common_subexpr(fskip: object) -> Pass:
    """
    The pass EliminateCommonSubexpr; expressions for which fskip(expr) is true stay as they are.
    """

def to_a_normal_form_expr(expr: RelayExpr) -> RelayExpr:
    """The expression in A-normal form."""

class CompilationConfig:
    """
    The targets that a program is compiled for, and where values live when nothing else is said.
    """

    def __init__(self, context: PassContext, targets: Sequence[str], host: str = '') -> None: ...

    @property
    def default_primitive_virtual_device(self): ...

    @property
    def host_virtual_device(self): ...

    def canonical_virtual_device(self, virtual_device: VirtualDevice) -> VirtualDevice:
        """With its target filled in; UsageError when there is none."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    @property
    def primitive_targets(self): ...

    @property
    def optional_homogeneous_target(self): ...

def target_options(target: str) -> str:
    """With keys and defaults, options sorted."""

def function_devices(function: Function) -> tuple:
    """
    ([where each parameter lives], where the result does); None where nothing is said.
    """

def with_devices(function: Function, params: Sequence[VirtualDevice], result: VirtualDevice) -> Function: ...

def register_mixed_precision(op: str, rule: Callable, level: int) -> None: ...

def enter_target(text: str) -> None:
    """Makes a target the current one of passes, on this thread."""

def is_known_processor(text: str) -> bool:
    """
    Whether the processor that -mcpu of a target names is known; true when none is named.
    """

def region_constants(region: Function, symbol: str) -> dict:
    """
    The constants of a region by name: `<symbol>_const_<i>`, in post-order.
    """

def region_json(region: Function, symbol: str) -> tuple:
    """(graph JSON of a typed region, its constants by name)."""

def exit_target() -> None:
    """Takes the innermost target away."""

def enter_layout_config(skip_layers: Sequence[int]) -> None:
    """From now on ConvertLayout leaves the nn.conv2d of these numbers alone."""

def exit_layout_config() -> None:
    """Takes the innermost of them away."""

def layout_config_skips() -> bool:
    """Counts one convolution; whether it is to be skipped."""

def reset_layout_config() -> None:
    """Counts from 0 again."""

def target_backend(text: str) -> str:
    """
    The name of the backend of a target, such as "sim -sheet=npu", or of a library, "dnnl".
    """

def environment_complaints() -> list[str]:
    """What is wrong with environment variables that Baton reads."""

def load_backend(path: str) -> str:
    """Loads a backend of the user's, a shared library; returns its name."""

def target_device_type(text: str) -> int:
    """DLPack's number of a target's device, or that of a simulated one."""

def backend_kinds() -> list[str]:
    """
    The kinds of targets that a backend generates code for, in the order of backends.def.
    """

def set_device_aliases(pairs: str) -> None:
    """Which kinds of device stand for others: "cuda:opencl,vulkan:llvm"."""

def aliased_device_type(device_type: int) -> int:
    """
    DLPack's type of the device that stands for one of this type; itself when none does.
    """

def missing_device(device_type: int, number: int) -> str:
    """
    What is missing for a device other than the processor; empty when it is there.
    """

def device_name(device_type: int) -> str:
    """The name of the first device of that type; empty when there is none."""

def device_source(backend: str, blob: bytes) -> str | None:
    """The text in the code of a backend; None for one without text."""

def device_sheets() -> list[str]:
    """
    What is known of each device that this process can build for, the processor first: a fact a line.
    """

def gradient(expr: RelayExpr, mod: IRModule | None = None, mode: str = 'higher_order') -> Function:
    """The function that returns the result of `expr` and its gradient."""

def register_gradient(op_name: str, adjoints: Callable) -> None:
    """
    From now on adjoints(orig, grad) -> [Expr] is the gradient of the operator.
    """

class BuildResult:
    """Everything a build made."""

    @property
    def graph_json(self): ...

    @property
    def params(self): ...

    @property
    def source(self): ...

    @property
    def optimized(self): ...

    @property
    def mod_name(self): ...

    @property
    def origins_json(self): ...

    @property
    def kernels_so(self): ...

    @property
    def library(self): ...

    @property
    def function_metadata(self): ...

    @property
    def device_code(self): ...

    def executor_of_graph(self, graph_json: str) -> Executor:
        """
        An executor of a plan whose kernels are in this build; every input node of it is an input.
        """

    @property
    def times(self): ...

    def make_executor(self) -> Executor: ...

    def write_artifact(self, path: str) -> None: ...

def build(mod: IRModule, params: dict, targets: Sequence[str], host: str, mod_name: str = 'default', progress: Callable | None = None) -> BuildResult:
    """
    Under what `with` made current; without targets for those that are current. `progress`(phase, done, total) is called now and then, from any thread.
    """

def build_program(mod: IRModule, params: dict, targets: Sequence[str], host: str, mod_name: str = 'default', progress: Callable | None = None) -> BuildResult:
    """
    The same for a program of the virtual machine: control flow, functions, data types, open shapes.
    """

def bind_params(mod: IRModule, params: dict, dtypes_too: bool = True) -> IRModule: ...

def set_region_codegen(compiler: str, codegen: object | None) -> None:
    """
    What a build calls for each region of `compiler`; it returns a BuildResult, or a function that gets the region's inputs and outputs as one list of arrays.
    """

def partition_for(module: IRModule, backend: str, mod_name: str, lower_qnn: bool, merge: bool) -> IRModule:
    """The program with functions for the regions that a backend takes."""

def backend_patterns(backend: str) -> list:
    """The composites of a backend: [(name, pattern, check)]."""

def backend_refusal(backend: str, call: Call) -> str:
    """Why a backend does not take a typed call; empty when it does."""

def backend_operators(backend: str) -> list[str]:
    """The operators that AnnotateTarget gives to a backend."""

def substitute(expr: RelayExpr, values: Sequence[tuple[Var, RelayExpr]]) -> RelayExpr:
    """`expr` with variables replaced by values: [(variable, value)]."""

def optimize(mod: IRModule, targets: Sequence[str], host: str) -> IRModule: ...

def measure_options() -> list: ...

def measure(options: dict, models: Sequence[str], design: object, python: str, progress: object | None) -> object:
    """
    Measures what a design and options name into a store; see baton.measure.
    """

class Extracted:
    """What was cut out of a program."""

    @property
    def module(self): ...

    @property
    def params(self): ...

    @property
    def inputs(self): ...

    @property
    def outputs(self): ...

    @property
    def operators(self): ...

@overload
def extract(program: BuildResult, kernel: str, nodes: str, operators: str, params: dict, inputs: dict) -> Extracted: ...

@overload
def extract(program: IRModule, kernel: str, nodes: str, operators: str, params: dict, inputs: dict) -> Extracted: ...

def extract_kernel(built: BuildResult, kernel: str, inputs: dict) -> Extracted:
    """The fused function as it was compiled."""

@overload
def mark(program: BuildResult, kernel: str, nodes: str, operators: str, compiler: str, params: dict) -> IRModule: ...

@overload
def mark(program: IRModule, kernel: str, nodes: str, operators: str, compiler: str, params: dict) -> IRModule: ...

class Executor:
    """A model with memory of its own; threads that share it take turns."""

    @property
    def num_inputs(self): ...

    @property
    def num_outputs(self): ...

    @property
    def num_nodes(self): ...

    @property
    def free_inputs(self): ...

    def input_name(self, arg: int, /) -> str: ...

    def input_shape(self, arg: int, /) -> tuple: ...

    def input_dtype(self, arg: int, /) -> str: ...

    @overload
    def set_input(self, arg0: str, arg1: NDArray, /) -> None: ...

    @overload
    def set_input(self, arg0: int, arg1: NDArray, /) -> None: ...

    @overload
    def set_input(self, arg0: int, arg1: Annotated[_NDArray, dict(order='C', device='cpu', writable=False)], /) -> None:
        """Copies a contiguous array of the host (numpy, DLPack) to the input."""

    def bind_input(self, arg0: int, arg1: NDArray, /) -> None:
        """
        Uses the memory of an array instead of copying it, if it is aligned to 64 bytes.
        """

    def input(self, arg: int, /) -> NDArray:
        """a view"""

    def output(self, arg: int, /) -> NDArray:
        """a view: the next run changes it"""

    def node_output(self, arg0: int, arg1: int, /) -> NDArray:
        """
        a view of what a node made, for as long as no later one uses its memory
        """

    @property
    def threads(self): ...

    def set_threads(self, threads: int) -> None: ...

    def run(self) -> None: ...

    def run_range(self, first: int, last: int) -> None:
        """the nodes first <= node < last only"""

    def time_runs(self, number: int, repeat: int, min_repeat_ms: float, limit_zero_time_iterations: int, cooldown_interval_ms: int, repeats_to_cooldown: int) -> list[float]:
        """seconds per run, one number per burst"""

    def time_node(self, node: int, number: int, repeat: int, min_repeat_ms: float, limit_zero_time_iterations: int, cooldown_interval_ms: int, repeats_to_cooldown: int) -> list[float]:
        """seconds per call of one node's kernel, one number per burst"""

    def profile(self, warm_up: int = 1) -> tuple[float, list[tuple[int, float]]]:
        """(nanoseconds, [(node, nanoseconds)]) of one run"""

class KernelLibrary:
    """Compiled kernels."""

    def has(self, arg: str, /) -> bool: ...

class Model:
    """An artifact, opened."""

    def another_executor(self) -> Executor: ...

    def executor_of_graph(self, graph_json: str) -> Executor:
        """
        An executor of a plan whose kernels are in this file; every input node of it is an input.
        """

    @property
    def device_code(self): ...

    def section(self, name: str) -> bytes:
        """the bytes of a section of the file; empty when there is none"""

    @property
    def params(self): ...

@overload
def load_model(path: str, verify: bool = True) -> Model: ...

@overload
def load_model(path: str, shapes: Mapping[str, Sequence[int]]) -> IRModule:
    """The module of a model: as MODEL on the command line."""

def plan_devices(graph_json: str) -> list[int]:
    """DLPack's types of the devices that a plan uses, ascending."""

def num_threads() -> int:
    """threads that kernels use when nobody says otherwise"""

def time_bursts(once: Callable, number: int, repeat: int, min_repeat_ms: float, limit_zero_time_iterations: int, cooldown_interval_ms: int, repeats_to_cooldown: int) -> list[float]:
    """seconds per call of a Python function, one number per burst"""

class OperatorMap:
    """Which operators the nodes of graph.json compute, and back."""

    def rows(self) -> object:
        """All operators by id: docs/design/0009-explain-json.md."""

    def of_kernel(self, name: str) -> list[int]:
        """
        Ids of the operators that the kernel of that func_name, or the node of that name, computes.
        """

    def of_node(self, node: str) -> list[int]:
        """Ids of the operators that the node of that number or name computes."""

    def nodes_of(self, id: int) -> list[int]: ...

    def kernels_of(self, id: int) -> list[str]: ...

def operator_map(built: BuildResult) -> OperatorMap: ...

def operator_ids(built: BuildResult, expr: RelayExpr) -> list[int]:
    """Ids of the operators of the source that `expr` stands for."""

def fused_mod(built: BuildResult) -> IRModule:
    """
    The module as it was lowered, its functions named as the kernels of graph.json.
    """

class ProfileReport:
    """Times of a model's kernels and operators, in microseconds."""

    @staticmethod
    def from_json(text: str) -> ProfileReport:
        """
        The inverse of json(). Raises TVMError for another text, a damaged one, or one of another schema.
        """

    @staticmethod
    def load(path: str) -> ProfileReport:
        """
        A profile that save() or `baton profile -o NAME.json` wrote. Raises TVMError when it is none.
        """

    @property
    def end_to_end_us(self): ...

    @property
    def unfused_us(self): ...

    @property
    def overhead(self): ...

    @property
    def residual_us(self): ...

    @property
    def cv(self): ...

    @property
    def notes(self): ...

    @property
    def sum_us(self): ...

    def json(self) -> str:
        """All of it: docs/design/0005-profile-json.md."""

    def table(self, all: bool = False, top: int = 10, sort: str = '', width: int = 120, by: str = '') -> str:
        """
        What str() gives. `all`: every kernel with its operators, and every operator; `top`: kernels shown, 0: all; `sort`: "time", "node", "roof" or "cv"; `width`: columns; `by`: "operator", "module" (a tree of the user's modules), "source" (lines of the user's program) or "kernel".
        """

    @property
    def threads(self): ...

    @property
    def machine(self): ...

    def page(self) -> str:
        """One HTML file with everything: graph, tables, roofline, treemap."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

def report_files(path: str, comparison: bool = False) -> list[tuple[str, str, str]]:
    """
    (path, suffix, part) of the files a name stands for; kinds: .json, .html, .txt, .csv, .parquet, .trace.json, .explorer.json
    """

def write_file(path: str, bytes: bytes) -> None:
    """Writes a file whole or not at all."""

class ProfileDiff:
    """Two profiles of one model, compared operator by operator."""

    def json(self) -> str:
        """All of it: docs/design/0010-diff-json.md."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

def profile_diff(a: ProfileReport, b: ProfileReport, a_label: str, b_label: str) -> ProfileDiff: ...

def profile_options() -> list: ...

def compare_options() -> list: ...

def profile(options: dict, built: BuildResult, inputs: dict, name: str, progress: object | None, keep: object | None) -> ProfileReport: ...

def survey_targets(targets: Sequence[str], quick: bool, again: bool, threads: int) -> object:
    """What this machine can run."""

def compare_backends(options: dict, module: IRModule, params: dict, backends: Sequence[str], inputs: dict, name: str, progress: object | None, keep: object | None) -> ProfileReport: ...

def profile_page(report: str, after: str | None = None) -> str: ...

@overload
def html(node: IRModule) -> str: ...

@overload
def html(node: RelayExpr) -> str: ...

class Store:
    """An open store of measurements: baton.store.open()."""

    def insert_report(self, report: ProfileReport, family: str, machine: str) -> int:
        """Adds the rows of a ProfileReport; returns how many were new."""

    def insert_lines(self, lines: Sequence[str]) -> int:
        """
        Adds measurements, one JSON text each; all or none. Returns how many were new.
        """

    def merge(self, path: str) -> int:
        """Adds the rows of another store; returns how many were new."""

    def lines(self, query: dict) -> list[str]:
        """The selected measurements as JSON texts, with all samples."""

    def table(self, query: dict, columns: Sequence[str]) -> dict:
        """Columns of the view `rows`: docs/design/0036-store.md."""

    def sql(self, statement: str) -> dict:
        """The columns that a SELECT gives."""

    def places(self, query: dict) -> list[tuple[str, str, str, int]]:
        """(machine, device, id of its sheet, rows) of the selected rows."""

    def count(self, query: dict) -> int: ...

    def damage(self) -> list[str]:
        """What is damaged, one line each; reads everything."""

    @property
    def path(self): ...

def open_store(path: str, write: bool) -> Store: ...

def default_store_path() -> str: ...

class Predictor:
    """Predicts times of kernels and models: baton.train, or load()."""

    @staticmethod
    def load(path: str) -> Predictor:
        """
        A file of save() or `baton train -o`. Raises TVMError when it is none, damaged or newer.
        """

    @staticmethod
    def of_device(name: str = '') -> Predictor:
        """
        The predictor that comes with Baton for the device of that name, or for this machine. Raises TVMError, which lists those there are.
        """

    def save(self, path: str) -> None:
        """Replaces the file atomically."""

def train_options() -> list: ...

def predict_options() -> list: ...

def probe_options() -> list: ...

def train(options: dict, source: Predictor | None) -> Predictor: ...

def probe(options: dict, progress: object | None) -> object: ...

def predict(options: dict, predictor: Predictor | None, module: IRModule, params: dict, name: str, shapes: Sequence[str]) -> ProfileReport: ...

class MapResult:
    """A mapping of a model over several backends: baton.map."""

    @property
    def mod(self): ...

    def __str__(self) -> str: ...

    def why(self, operator: int) -> str:
        """
        Where operator number `operator` sits, what it would cost elsewhere, and what would have to change for it to move: text. IndexError for a number that there is not.
        """

def map_options() -> list: ...

def map(options: dict, module: IRModule, params: dict, rules: Sequence[tuple[Sequence[int], str, bool]], memory: Mapping[str, float], predictor: Predictor | None, name: str) -> MapResult: ...

def apply_mapping(module: IRModule, params: dict, mapping: object, name: str) -> IRModule: ...

class QueueExecutor:
    """A model with devices and links side by side."""

    @property
    def instances(self): ...

    @property
    def on_the_way(self): ...

    @property
    def threads(self): ...

    @property
    def queues(self): ...

    @property
    def inputs(self): ...

    def input_dtype(self, arg: int, /) -> str: ...

    @overload
    def set_input(self, arg0: int, arg1: NDArray, /) -> None: ...

    @overload
    def set_input(self, arg0: int, arg1: Annotated[_NDArray, dict(order='C', device='cpu', writable=False)], /) -> None: ...

    def start(self) -> None:
        """the next input begins"""

    def finish(self) -> list[NDArray]:
        """copies of the outputs of the oldest input"""

def queue_executor_of_build(build: BuildResult, instances: int, threads: int) -> QueueExecutor: ...

def queue_executor_of_model(model: Model, instances: int, threads: int) -> QueueExecutor: ...

class ConstructorValue:
    """A value of an algebraic type."""

    def __init__(self, tag: int, fields: object, constructor: Constructor | None) -> None:
        """
        `tag`: the constructor's; `fields`: a sequence of values; `constructor`: a Constructor, or None.
        """

    @property
    def tag(self): ...

    @property
    def fields(self): ...

    @property
    def constructor(self): ...

    def __repr__(self) -> object: ...

class RefValue:
    """A reference: what a cell holds, for everyone who has it."""

    def __init__(self, value: object | None) -> None: ...

    @property
    def value(self): ...

    def __repr__(self) -> str: ...

class Closure:
    """A function that a program returned; calling it runs it."""

    def __call__(self, *args) -> object: ...

    def __repr__(self) -> str: ...

class Program:
    """
    `main` of a module, run operator by operator: for control flow, recursion, algebraic types, references, shapes that are not static.
    """

    def __init__(self, mod: IRModule) -> None: ...

    def __call__(self, args: list) -> object:
        """
        `args`: a value for each parameter. Raises TVMError, which names the argument, for others.
        """

def evaluate_call(call: Call, args: list) -> object:
    """The value of one call of an operator on values of its arguments."""

def expr_of(value: object | None) -> RelayExpr:
    """
    The expression of a value: constants, tuples, calls of constructors, new references.
    """

class Artifact:
    """
    A file that write_artifact() wrote, opened: named sections, and constants.
    """

    def __init__(self, path: str, verify: bool = True) -> None:
        """
        Raises TVMError for another or a damaged file. `verify`: whether the constants are read, too.
        """

    @property
    def sections(self): ...

    def section(self, name: str) -> bytes:
        """its bytes; none when there is no such section"""

    @property
    def params(self): ...

    def write_changed(self, path: str, params: dict, sections: Mapping[str, str]) -> None:
        """
        Writes a copy with other constants, {name: array}, and these sections, {name: text}, in place of those that it has, or more.
        """

class ParameterType:
    """What a program says of a parameter."""

    @property
    def dtype(self): ...

    @property
    def shape(self): ...

    @property
    def fields(self): ...

class RunnableProgram:
    """A program that was built for the virtual machine, or read from a file."""

    def __init__(self, built: BuildResult) -> None: ...

    @staticmethod
    def load(artifact: Artifact) -> RunnableProgram:
        """
        The program in a file that write_artifact() wrote. Raises TVMError for one without.
        """

    def with_constants(self, values: dict) -> RunnableProgram:
        """The same program with other values of these constants, {name: array}."""

    @property
    def functions(self): ...

    @property
    def kernels(self): ...

    @property
    def operators(self): ...

    @property
    def device_types(self): ...

    @property
    def constants(self): ...

    def listing(self) -> str:
        """The instructions of all functions, as Executable.bytecode."""

    def specialize(self, built: BuildResult | None, after_ms: float) -> None:
        """
        From now on kernels are compiled for extents that are still met `after_ms` after the first time, on a thread of its own. `built`: what the program was built as; None: no longer.
        """

    @property
    def specialized(self): ...

    def wait_for_specialized(self, seconds: float) -> bool:
        """
        Waits until the kernels that were asked for are compiled. False after `seconds`.
        """

    def set_depth(self, depth: int) -> None:
        """
        The most calls within each other, without tail calls; TVMError beyond. 2097152 by default.
        """

class ProgramCall:
    """Values for the parameters of a function of a program, and its calls."""

    def __init__(self, program: RunnableProgram, name: str) -> None: ...

    def set(self, index: int, value: object | None) -> bool:
        """
        Sets a parameter to an NDArray or a copy of a numpy array. False, and nothing is set, for what is not of its dtype, row-major, or an array.
        """

    def set_all(self, values: tuple) -> bool:
        """
        set() of all parameters. False for another number of values, or where set() returned False.
        """

    def put(self, index: int, value: object | None) -> None:
        """Sets a parameter to any value."""

    def take_values(self, other: ProgramCall) -> None:
        """
        Sets all parameters to the values of a call of the same function of a program with other constants.
        """

    def run(self) -> object:
        """
        The value of the function. Raises TVMError, which names the argument, for values that do not fit. Threads may run the same program by calls of their own.
        """

    def run_measured(self) -> tuple:
        """
        (value, nanoseconds of the whole, [(node of the plan, name, shapes, calls, nanoseconds)] of kernels and operators, how often straight-line pieces ran, nanoseconds of their extents and memory, [(node that needs them or None, how many, nanoseconds)] of copies between devices).
        """

def resnet(arg0: int, arg1: int, arg2: int, arg3: Sequence[int], arg4: str, arg5: str, /) -> IRModule: ...

def vgg(arg0: int, arg1: bool, arg2: int, arg3: int, arg4: Sequence[int], arg5: str, arg6: str, /) -> IRModule: ...

def mobilenet(arg0: int, arg1: int, arg2: Sequence[int], arg3: str, arg4: str, arg5: float, arg6: bool, /) -> IRModule: ...

def lstm(arg0: int, arg1: int, arg2: int, arg3: str, /) -> IRModule: ...

def dqn(arg0: int, arg1: int, arg2: Sequence[int], arg3: str, arg4: str, /) -> IRModule: ...

def squeezenet(arg0: str, arg1: int, arg2: int, arg3: Sequence[int], arg4: str, /) -> IRModule: ...

def densenet(arg0: int, arg1: int, arg2: int, arg3: Sequence[int], arg4: str, /) -> IRModule: ...

def inception_v3(arg0: int, arg1: int, arg2: Sequence[int], arg3: str, /) -> IRModule: ...

def resnet_3d(arg0: int, arg1: int, arg2: int, arg3: Sequence[int], arg4: str, arg5: str, /) -> IRModule: ...

def dcgan(arg0: int, arg1: int, arg2: int, arg3: int, arg4: str, arg5: str, arg6: RelayExpr | None, /) -> IRModule: ...

def synthetic(arg0: Sequence[int], arg1: str, arg2: str, /) -> IRModule: ...

def mlp(arg0: int, arg1: int, arg2: Sequence[int], arg3: str, /) -> IRModule: ...

def import_onnx(path: str, shapes: Mapping[str, Sequence[int]], opset: int | None = None, freeze_params: bool = True) -> tuple[IRModule, dict[str, NDArray]]:
    """
    The module of an ONNX file; shapes of inputs, and values of symbols. And, unless `freeze_params`, the values of the parameters that initializers are, by name.
    """

def import_onnx_bytes(bytes: bytes, name: str, shapes: Mapping[str, Sequence[int]], opset: int | None = None, freeze_params: bool = True) -> tuple[IRModule, dict[str, NDArray]]:
    """The same of a file's bytes; `name`: what errors say."""
