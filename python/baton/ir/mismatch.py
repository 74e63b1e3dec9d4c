"""Where two objects begin to differ."""
from .._load import core
from .._numbers import FloatImm, IntImm
from ..runtime.object_path import ObjectPath
from .type_relation import TypeRelation

_FIELDS = {
    core.Function: ("params", "ret_type", "body", "type_params", "attrs"), core.Call: ("op", "args", "attrs"), core.Tuple: ("fields",),
    core.TupleGetItem: ("tuple_value", "index"), core.Let: ("var", "value", "body"), core.If: ("cond", "true_branch", "false_branch"),
    core.Match: ("data", "clauses"), core.Clause: ("lhs", "rhs"), core.RefCreate: ("value",), core.RefRead: ("ref",),
    core.RefWrite: ("ref", "value"), core.Var: ("type_annotation",), core.Constant: ("data",), core.TensorType: ("shape", "dtype"),
    core.TupleType: ("fields",), core.FuncType: ("arg_types", "ret_type", "type_params"), core.TypeCall: ("func", "args"),
}
_GONE = object()  # what only one of the two has


def equal_values(lhs, rhs, map_free_vars):
    """structural_equal() of any two values."""
    return _equal(lhs, rhs, map_free_vars)


def _equal(lhs, rhs, map_free_vars):
    if isinstance(lhs, core.IncompleteType):
        return isinstance(rhs, core.IncompleteType)  # types that nobody has inferred
    if isinstance(lhs, dict):
        return isinstance(rhs, dict) and lhs.keys() == rhs.keys() and all(_equal(lhs[key], rhs[key], map_free_vars) for key in lhs)
    if isinstance(lhs, TypeRelation):
        return isinstance(rhs, TypeRelation) and getattr(lhs.func, "name", lhs.func) == getattr(rhs.func, "name", rhs.func) and \
            lhs.num_inputs == rhs.num_inputs and _equal(list(lhs.args), list(rhs.args), map_free_vars) and _equal(lhs.attrs, rhs.attrs, map_free_vars)
    if isinstance(lhs, (IntImm, FloatImm)) and isinstance(rhs, (IntImm, FloatImm)):
        return lhs == rhs and lhs.dtype == rhs.dtype
    if isinstance(lhs, (int, float)) and isinstance(rhs, (int, float)):
        return lhs == rhs and isinstance(lhs, float) == isinstance(rhs, float)
    if isinstance(lhs, str):
        return isinstance(rhs, str) and lhs == rhs
    if isinstance(lhs, (core.RelayExpr, core.Type, core.IRModule, core.TypeData)):
        return core.structural_equal(lhs, rhs, map_free_vars)
    if isinstance(lhs, core.Attrs):
        return isinstance(rhs, core.Attrs) and core.structural_equal(lhs, rhs)
    if isinstance(lhs, core.NDArray):
        return isinstance(rhs, core.NDArray) and core.structural_equal(core.Constant(lhs), core.Constant(rhs))
    if isinstance(lhs, (list, tuple)):
        return isinstance(rhs, (list, tuple)) and len(lhs) == len(rhs) and all(_equal(*each, map_free_vars) for each in zip(lhs, rhs))
    if isinstance(lhs, core.Clause):
        return isinstance(rhs, core.Clause) and _equal(lhs.lhs, rhs.lhs, map_free_vars) and _equal(lhs.rhs, rhs.rhs, map_free_vars)
    if isinstance(lhs, core.Pattern):
        return isinstance(rhs, core.Pattern) and str(lhs) == str(rhs)
    return type(lhs) is type(rhs) and lhs == rhs


def _parts(lhs, rhs):
    """(step of the left path, step of the right path, left part, right part) of each part of two objects of one kind."""
    def same(step):
        return step, step

    if isinstance(lhs, (list, tuple)) and isinstance(rhs, (list, tuple)):
        for i, pair in enumerate(zip(lhs, rhs)):
            yield *same(lambda path, i=i: path.array_index(i)), *pair
        shorter = min(len(lhs), len(rhs))
        if len(lhs) != len(rhs):
            there, missing = (lambda path: path.array_index(shorter)), (lambda path: path.missing_array_element(shorter))
            yield (there, missing, _GONE, _GONE) if len(lhs) > shorter else (missing, there, _GONE, _GONE)
    elif isinstance(lhs, dict) or isinstance(lhs, core.Attrs):
        for key in lhs.keys():
            if key not in rhs.keys():
                yield (lambda path, key=key: path.map_value(key)), (lambda path: path.missing_map_entry()), _GONE, _GONE
                return
            yield *same(lambda path, key=key: path.map_value(key)), lhs[key], rhs[key]
        for key in rhs.keys():
            if key not in lhs.keys():
                yield (lambda path: path.missing_map_entry()), (lambda path, key=key: path.map_value(key)), _GONE, _GONE
                return
    elif isinstance(lhs, core.IRModule):
        both = [{each.name_hint: mod[each] for each in mod.get_global_vars()} for mod in (lhs, rhs)]
        yield *same(lambda path: path.attr("functions")), *both
    else:
        for kind, names in _FIELDS.items():
            if isinstance(lhs, kind):
                for name in names:
                    yield *same(lambda path, name=name: path.attr(name)), getattr(lhs, name), getattr(rhs, name)


def get_first_structural_mismatch(lhs, rhs, map_free_vars=False):
    """(ObjectPath, ObjectPath): the first parts in which two objects differ, or None where they are structurally equal.

    Variables that a function binds correspond by the order of their use.
    """
    if _equal(lhs, rhs, map_free_vars):
        return None
    left = right = ObjectPath.root()
    while True:
        if type(lhs) is not type(rhs) and not (isinstance(lhs, (list, tuple, dict)) and isinstance(rhs, (list, tuple, dict))):
            return left, right
        for to_left, to_right, one, other in _parts(lhs, rhs):
            gone = one is _GONE
            if gone or not (_equal(one, other, True) if not isinstance(one, dict) else one.keys() == other.keys()
                            and all(_equal(one[key], other[key], True) for key in one)):
                left, right = to_left(left), to_right(right)
                if gone:
                    return left, right
                lhs, rhs = one, other
                break
        else:
            return left, right
