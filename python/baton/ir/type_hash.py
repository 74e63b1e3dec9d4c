"""Hashes of types and of type relations that differ where the types do: bound variables count by their place, free ones as objects."""
import hashlib

from .._load import core


class _Texts:
    """Types as texts in which variables are numbers."""

    def __init__(self, map_free_vars):
        self._map_free_vars, self._free, self._bound = map_free_vars, [], []

    def of(self, ty):
        """The text of a type."""
        if isinstance(ty, core.TypeVar):
            return self._variable(ty)
        if isinstance(ty, core.TensorType):
            return f"T({', '.join(map(self._extent, ty.shape))}; {ty.dtype})"
        if isinstance(ty, core.TupleType):
            return self._listed("tuple", ty.fields)
        if isinstance(ty, core.FuncType):
            self._bound += ty.type_params
            text = self._listed(f"fn{[int(each.kind) for each in ty.type_params]}", [*ty.arg_types, ty.ret_type])
            del self._bound[len(self._bound) - len(ty.type_params):]
            return text
        if isinstance(ty, core.TypeCall):
            return self._listed("call " + self.of(ty.func), ty.args)
        if isinstance(ty, core.RelayRefType):
            return self._listed("ref", [ty.value])
        if isinstance(ty, core.GlobalTypeVar):
            return f"@{ty.name_hint}"
        return "?" if isinstance(ty, core.IncompleteType) else str(ty)

    def _listed(self, what, types):
        return f"{what}({', '.join(map(self.of, types))})"

    def _variable(self, var):
        for place in range(len(self._bound) - 1, -1, -1):
            if self._bound[place] is var or self._bound[place].same_as(var):
                return f"bound {place}"
        if not self._map_free_vars:
            return f"free {id(var)}"
        for number, each in enumerate(self._free):
            if each.same_as(var):
                return f"free {number} of kind {int(var.kind)}"
        self._free.append(var)
        return f"free {len(self._free) - 1} of kind {int(var.kind)}"

    def _extent(self, extent):
        if not isinstance(extent, core.SymbolicExtent):
            return str(extent)
        return f"extent {core.structural_hash(extent) if self._map_free_vars else hash(extent)}"


def _number(text):
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def type_hash(ty, map_free_vars):
    """The structural_hash of a type."""
    return _number(_Texts(map_free_vars).of(ty))


def relation_hash(relation, map_free_vars):
    """The structural_hash of a TypeRelation."""
    texts = _Texts(map_free_vars)
    return _number(f"{getattr(relation.func, 'name', relation.func)} {[texts.of(each) for each in relation.args]} {relation.num_inputs} {relation.attrs}")
