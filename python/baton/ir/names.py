"""Names of texts and of functions."""
from .._ffi_names import Object
from .._load import core


_RELATIONS = "tvm.relay.type_relation."
_BY_OPERATOR = {"Identity": "nn.relu", "Broadcast": "add", "BroadcastComp": "less", "IdentityCompRel": "isnan",
                "BatchFlatten": "nn.batch_flatten", "Where": "where", "BroadCastToLike": "broadcast_to_like",
                "CollapseSumLike": "collapse_sum_like"}


def _relation(op):
    """Types as the relation of an operator without attributes."""
    def relate(types, num_inputs, attrs=None):
        given = [core.Var(f"x{i}", each) for i, each in enumerate(list(types)[:num_inputs])]
        module = core.IRModule.from_expr(core.Call(core.get_op(op), given))
        return core.make_pass("InferType", {})(module)["main"].body.checked_type

    return relate


def operator_of_relation(function):
    """The operator whose relation an EnvFunc is ("" for Identity, which makes all types one). NotImplementedError for others."""
    short = str(getattr(function, "name", function)).removeprefix(_RELATIONS)
    if short not in _BY_OPERATOR:
        raise NotImplementedError(f"the relation {short} is not known by name; those that are: {', '.join(sorted(_BY_OPERATOR))}")
    return "" if short == "Identity" else _BY_OPERATOR[short]


class SourceName(str):
    """The name of a text. It is a str, as in Span.source_name."""

    @property
    def name(self):
        """The name."""
        return str(self)


class EnvFunc(Object):
    """A function of register_func by its name."""

    _everything = False

    def __init__(self, name, func):
        self.name, self.func = name, func

    def __call__(self, *args):
        return self.func(*args)

    @staticmethod
    def get(name):
        """The function of that name; ValueError when there is none.

        "tvm.relay.type_relation.Broadcast" and other relations without attributes are f(types, num_inputs, attrs) -> the result's type.
        """
        from ..registry import get_global_func

        if name.startswith(_RELATIONS) and name[len(_RELATIONS):] in _BY_OPERATOR:
            return EnvFunc(name, _relation(_BY_OPERATOR[name[len(_RELATIONS):]]))

        return EnvFunc(name, get_global_func(name))
