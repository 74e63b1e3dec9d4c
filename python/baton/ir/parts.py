"""Lists in nodes, exposed to Python as Arrays."""
from .._load import core
from .container import Array


def _arrays(kind, *names):
    """Makes these properties of a node class return Arrays, since changing a list would not change the node."""
    for name in names:
        given = getattr(kind, name)
        setattr(kind, name, property(lambda node, get=given.__get__: Array(get(node)), doc=given.__doc__))


_arrays(core.Call, "args", "type_args")
_arrays(core.Tuple, "fields")
_arrays(core.Function, "params", "type_params")
_arrays(core.Match, "clauses")
_arrays(core.Pattern, "patterns")
_arrays(core.Constructor, "inputs")
_arrays(core.TypeData, "type_vars", "constructors")
_arrays(core.TupleType, "fields")
_arrays(core.FuncType, "arg_types", "type_params", "type_constraints")
_arrays(core.TypeCall, "args")
