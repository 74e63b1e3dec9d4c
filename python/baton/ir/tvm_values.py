"""TVM's JSON of what is no expression and no module: types, numbers, texts, extents, and containers of these."""
from .._load import core
from .._numbers import FloatImm, IntImm
from .container import Array, Map
from .function import DictAttrs

_OPERATIONS = {"tir.Add": "ExtentAdd", "tir.Sub": "ExtentSub", "tir.Mul": "ExtentMul", "tir.FloorDiv": "ExtentFloorDiv"}


class ValuesReader:
    """The nodes of a text. `load(other)` is asked for what is of another kind: a text whose root is that node."""

    def __init__(self, found, load):
        self._nodes, self._load, self._made = found["nodes"], load, {}

    def read(self, index):
        """The value of a node; one object for one node."""
        index = int(index)
        if index not in self._made:
            self._made[index] = self._read(self._nodes[index], index)
        return self._made[index]

    def _read(self, node, index):
        key, attrs = node.get("type_key", ""), node.get("attrs") or {}
        reader = _READERS.get(key)
        if key == "":
            return None
        if key in _OPERATIONS:
            return getattr(core, _OPERATIONS[key])(self.read(attrs["a"]), self.read(attrs["b"]))
        return reader(self, node, attrs) if reader else self._load(index)

    def text(self, value):
        """A text that is in the field, or a node of its own."""
        if str(value).isdigit() and int(value) < len(self._nodes) and self._nodes[int(value)].get("type_key") == "runtime.String":
            return self._nodes[int(value)]["repr_str"]
        return str(value)

    def listed(self, field):
        """The elements of an Array; none for null."""
        return [self.read(each) for each in self._nodes[int(field)].get("data", [])]

    def mapped(self, node):
        """The pairs of a Map: keys in `keys`, or nodes before their values."""
        data = node.get("data", [])
        if "keys" in node:
            return dict(zip(node["keys"], (self.read(each) for each in data)))
        return {self.read(key): self.read(value) for key, value in zip(data[::2], data[1::2])}


def _kind(attrs):
    return int(attrs.get("kind", 0))


_READERS = {
    "Array": lambda r, node, attrs: Array(r.read(each) for each in node.get("data", [])),
    "Map": lambda r, node, attrs: Map(r.mapped(node)),
    "DictAttrs": lambda r, node, attrs: DictAttrs({key: r.read(value) for key, value in attrs.items()} if "__dict__" not in attrs else r.read(attrs["__dict__"])),
    "runtime.String": lambda r, node, attrs: node["repr_str"],
    "IntImm": lambda r, node, attrs: IntImm(attrs["dtype"], int(attrs["value"])),
    "FloatImm": lambda r, node, attrs: FloatImm(attrs["dtype"], float(attrs["value"])),
    "tir.StringImm": lambda r, node, attrs: r.text(attrs["value"]),
    "tir.Any": lambda r, node, attrs: core.Any(),
    "tir.Var": lambda r, node, attrs: core.ExtentVar(r.text(attrs["name"]), attrs["dtype"]),
    "tir.SizeVar": lambda r, node, attrs: core.ExtentSizeVar(r.text(attrs["name"]), attrs["dtype"]),
    "TypeVar": lambda r, node, attrs: core.TypeVar(r.text(attrs["name_hint"]), _kind(attrs)),
    "GlobalTypeVar": lambda r, node, attrs: core.GlobalTypeVar(r.text(attrs["name_hint"]), _kind(attrs)),
    "IncompleteType": lambda r, node, attrs: core.IncompleteType(_kind(attrs)),
    "relay.TensorType": lambda r, node, attrs: core.TensorType(r.listed(attrs["shape"]), attrs["dtype"]),
    "TupleType": lambda r, node, attrs: core.TupleType(r.listed(attrs["fields"])),
    "FuncType": lambda r, node, attrs: core.FuncType(r.listed(attrs["arg_types"]), r.read(attrs["ret_type"]), r.listed(attrs["type_params"])),
    "relay.RefType": lambda r, node, attrs: core.RelayRefType(r.read(attrs["value"])),
    "TypeCall": lambda r, node, attrs: core.TypeCall(r.read(attrs["func"]), r.listed(attrs["args"])),
    "GlobalVar": lambda r, node, attrs: core.GlobalVar(r.text(attrs["name_hint"])),
    "Op": lambda r, node, attrs: core.get_op(node["repr_str"]),
}
KINDS = frozenset(_READERS) | frozenset(_OPERATIONS)
