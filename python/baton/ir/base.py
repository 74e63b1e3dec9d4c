"""Structural equality, spans, and serialization of nodes: JSON, pickling, copying."""
from .._load import core
from .._numbers import FloatImm, IntImm
from .json_values import load_json, save_json
from .type_hash import relation_hash, type_hash
from .type_relation import TypeRelation
from .mismatch import equal_values, get_first_structural_mismatch

Attrs = core.Attrs
Span = core.Span
_COMPARED = (core.RelayExpr, core.IRModule, core.Type, core.TypeData, core.Attrs, core.SymbolicExtent)
_HASHED = (core.RelayExpr, core.IRModule, core.SymbolicExtent)


def structural_equal(lhs, rhs, map_free_vars=False):
    """Whether both mean the same: names of bound variables, types that were only inferred and positions do not count.

    Of programs, types, attributes, arrays, numbers, texts, and containers of these. map_free_vars: whether free variables of one
    may stand for those of the other.
    """
    if isinstance(lhs, _COMPARED):
        return core.structural_equal(lhs, rhs, bool(map_free_vars))
    return equal_values(lhs, rhs, bool(map_free_vars))


def structural_hash(node, map_free_vars=False):
    """An int, equal for structurally equal values; without map_free_vars free variables count as the objects that they are."""
    if isinstance(node, core.Type):
        return type_hash(node, bool(map_free_vars))
    if isinstance(node, TypeRelation):
        return relation_hash(node, bool(map_free_vars))
    if isinstance(node, core.SymbolicExtent) and not map_free_vars:
        return hash(node)
    if isinstance(node, _HASHED):
        return core.structural_hash(node, bool(map_free_vars))
    if isinstance(node, (list, tuple)):
        return hash(("Array", *(structural_hash(each, map_free_vars) for each in node)))
    if isinstance(node, dict):
        return hash(("Map", frozenset((key if isinstance(key, str) else structural_hash(key, map_free_vars), structural_hash(each, map_free_vars))
                                      for key, each in node.items())))
    if isinstance(node, core.NDArray):
        return core.structural_hash(core.Constant(node))
    if isinstance(node, core.TypeData):
        return hash((node.header.name_hint, tuple(each.name_hint for each in node.constructors)))
    if isinstance(node, (core.Clause, core.Pattern)):
        return hash(str(node))
    return hash(node)


def assert_structural_equal(lhs, rhs, map_free_vars=False):
    """Raises ValueError, which shows both as text, unless they are structurally equal."""
    if not structural_equal(lhs, rhs, map_free_vars):
        raise ValueError(f"not structurally equal:\n{lhs}\nand\n{rhs}")


def _node_from(text):
    return load_json(text)


def _op_named(name):
    return core.get_op(name)


def _by_json(self):
    return _node_from, (save_json(self),)


def _type_from(text):
    return load_json(text).type_annotation


def _type_data_from(text):
    return next(iter(load_json(text).type_definitions.values()))


def _clause_from(text):
    return load_json(text).clauses[0]


def _pattern_from(text):
    return _clause_from(text).lhs


def _match_json(clause):
    return save_json(core.Match(core.Tuple([]), [clause]))


def _attrs_from(type_key, values):
    return core.make_attrs_of(type_key, values)


# Copies, deep copies and unpickled nodes are new nodes, structurally equal to the original; operators are
# one object each.
core.RelayExpr.__reduce__ = _by_json
core.IRModule.__reduce__ = _by_json
core.Op.__reduce__ = lambda self: (_op_named, (self.name,))
core.Type.__reduce__ = lambda self: (_type_from, (save_json(core.Var("t", self)),))
core.TypeData.__reduce__ = lambda self: (_type_data_from, (save_json(core.IRModule({}, {self.header: self})),))
core.Clause.__reduce__ = lambda self: (_clause_from, (_match_json(self),))
core.Pattern.__reduce__ = lambda self: (_pattern_from, (_match_json(core.Clause(self, core.Tuple([]))),))
core.Attrs.__reduce__ = lambda self: (_attrs_from, (self.type_key, {name: self[name] for name in self.keys()}))
core.VirtualDevice.__reduce__ = lambda self: (
    core.VirtualDevice, (self.device_type_int, self.virtual_device_id, self.memory_scope, self._target, self._host))

_NODES = {
    "relay.Var": "Var", "relay.Constant": "Constant", "relay.Call": "Call", "relay.Tuple": "Tuple", "relay.Let": "Let",
    "relay.TupleGetItem": "TupleGetItem", "relay.If": "If", "relay.Function": "Function", "relay.Match": "Match",
    "relay.RefCreate": "RefCreate", "relay.RefRead": "RefRead", "relay.RefWrite": "RefWrite", "relay.Clause": "Clause",
    "relay.TensorType": "TensorType", "relay.TupleType": "TupleType", "GlobalVar": "GlobalVar", "TypeVar": "TypeVar",
    "GlobalTypeVar": "GlobalTypeVar", "TypeCall": "TypeCall", "TypeData": "TypeData", "FuncType": "FuncType",
    "relay.RefType": "RelayRefType", "IncompleteType": "IncompleteType", "relay.Constructor": "Constructor",
}
_EXTENTS = {"tir.Var": "ExtentVar", "tir.SizeVar": "ExtentSizeVar", "tir.Add": "ExtentAdd", "tir.Sub": "ExtentSub",
            "tir.Mul": "ExtentMul", "tir.FloorDiv": "ExtentFloorDiv", "tir.Any": "Any"}


def _as_object(value):
    from ..runtime.container import convert_to_object

    return convert_to_object(value)


def make_node(type_key, **kwargs):
    """A node by TVM's name for its class: "relay.attrs.Conv2DAttrs" and other attributes of operators (those that are not given
    by default), "DictAttrs", "IntImm", "FloatImm", or a node, by the arguments of its class here.

    NotImplementedError for classes that Baton does not have.
    """
    if type_key == "DictAttrs":
        from .function import DictAttrs

        return DictAttrs({key: _as_object(value) for key, value in kwargs.items()})
    if type_key in ("IntImm", "FloatImm"):
        return (IntImm if type_key == "IntImm" else FloatImm)(kwargs["dtype"], kwargs["value"])
    if type_key in _EXTENTS:
        return getattr(core, _EXTENTS[type_key])(**{key: value for key, value in kwargs.items() if key in ("a", "b", "name", "dtype")})
    if type_key in _NODES:
        return getattr(core, _NODES[type_key])(**kwargs)
    return core.make_attrs_of(type_key, kwargs)
