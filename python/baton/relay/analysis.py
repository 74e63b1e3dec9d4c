"""Asking programs."""
import enum

from .._load import core, not_provided
from ..ir.module import IRModule

post_order_visit = core.post_order_visit


class Feature(enum.IntEnum):
    """The forms of the language that detect_feature tells apart."""

    fVar = 0
    fGlobalVar = 1
    fConstant = 2
    fTuple = 3
    fTupleGetItem = 4
    fFunction = 5
    fOp = 6
    fCall = 7
    fLet = 8
    fIf = 9
    fRefCreate = 10
    fRefRead = 11
    fRefWrite = 12
    fConstructor = 13
    fMatch = 14
    fGraph = 15
    fLetRec = 16


def well_formed(expr):
    """Whether no variable of `expr` is bound twice, or used before or outside what binds it, and every constructor's
    pattern has as many parts as the constructor has fields.

    For an IRModule also: no free variables or type variables in its functions, the functions and constructors that are
    named are there, and the definitions of its data types are well-kinded.
    """
    return not form_faults(expr)


def form_faults(expr, closed=False, mod=None):
    """Why `expr` (an expression or an IRModule) is not well_formed: a list of str, empty when it is.

    Parameters
    ----------
    closed : bool
        Free variables and free type variables are faults, too (always so in a module).
    mod : IRModule, optional
        Functions and constructors that are named must be in it.
    """
    return core.form_faults(expr, closed, mod)


def check_kind(t, mod=None):
    """The TypeKind of a type, or of a TypeData.

    Raises TVMError when a part of `t` has not the kind that its place asks for, when something that is no data type gets
    arguments, or a data type gets another number of them than its definition in `mod` has, or is not defined there.
    """
    return core.check_kind(t, mod)


def free_vars(expr):
    """Variables used but not bound in `expr`, in the order of their first use."""
    return core.free_vars(expr)


def bound_vars(expr):
    """Variables bound in `expr` by functions, lets and patterns, in the order of the text."""
    return core.bound_vars(expr)


def all_vars(expr):
    """All variables of `expr`, once each, in the order of the text."""
    return core.all_vars(expr)


def free_type_vars(expr, mod=None):
    """Type variables in `expr` (an expression or a type) that no function or function type in it declares."""
    return core.free_type_vars(expr)


def bound_type_vars(expr, mod=None):
    """Type variables that a function or a function type in `expr` declares."""
    return core.bound_type_vars(expr)


def all_type_vars(expr, mod=None):
    """All type variables in `expr`, an expression or a type, once each."""
    return core.all_type_vars(expr)


def unmatched_cases(match, mod=None):
    """The cases that no clause of the Match handles, as Patterns; empty when it handles all.

    Raises TVMError when a constructor in it is not defined in `mod`, or its pattern has another number of parts.
    """
    return core.unmatched_cases(match, mod)


def detect_feature(a, b=None):
    """The set of Features that an expression, or all functions of an IRModule, use.

    With two arguments, in either order: an expression, and the module that it belongs to (which is not looked into).
    """
    if isinstance(a, IRModule):
        a, b = b, a
    found = core.features_of_module(b) if a is None else core.features(a)
    return {Feature(each) for each in found}


def check_basic_block_normal_form(expr):
    """Whether every value that several scopes (bodies of functions, branches) share has a name in a scope around them:
    whether ToBasicBlockNormalForm would leave `expr` as it is."""
    from .transform import ToBasicBlockNormalForm

    module = IRModule.from_expr(expr)
    return core.structural_equal(ToBasicBlockNormalForm()(module), module)


def list_op_freqs(mod):
    """How many calls of each operator the functions of an IRModule hold: a dict of int by name."""
    return core.op_frequencies(mod)


def all_dtypes(expr):
    """The dtypes of all tensors in the types of `expr`, a set of str. Raises TVMError before InferType."""
    return set(core.all_dtypes(expr))


def __getattr__(name):
    not_provided(__name__, name)
