"""JSON of older versions of TVM, from 0.6 on, in the names of 0.11."""
import json

_MOVED = ("TypeVar", "GlobalTypeVar", "TupleType", "FuncType", "TypeCall", "TypeRelation", "IncompleteType", "TypeData", "GlobalVar",
          "SourceName", "Span", "Op")
_RENAMED = {**{f"relay.{each}": each for each in _MOVED}, "Variable": "tir.Var", "SizeVar": "tir.SizeVar", "relay.Module": "IRModule",
            "relay.Constructor": "relay.Constructor", "StrMap": "Map", "EnvFunc": "EnvFunc", "relay.TensorType": "relay.TensorType"}
_OF_TIR = ("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max", "EQ", "NE", "LT", "LE", "GT", "GE", "Cast", "Select", "StringImm",
           "Any")


def upgrade_json(json_str):
    """`json_str` as load_json reads it, which is how TVM 0.11 writes it. ValueError for text of TVM before 0.6."""
    found = json.loads(json_str)
    if not isinstance(found, dict) or "nodes" not in found:
        return json_str
    version = str(found.get("attrs", {}).get("tvm_version", ""))
    parts = version.split(".")
    if parts[0] == "0" and len(parts) > 1 and parts[1].isdigit() and int(parts[1]) < 6:
        raise ValueError(f"upgrade_json: text of TVM {version} cannot be read; 0.6 and later can")
    nodes = found["nodes"]
    for node in nodes:
        if isinstance(node, dict):
            _upgrade(node, nodes)
    return json.dumps(found)


def _upgrade(node, nodes):
    key = node.get("type_key", "")
    node["type_key"] = _RENAMED.get(key, f"tir.{key}" if key in _OF_TIR else key)
    if "global_key" in node:
        node["repr_str"] = node.pop("global_key")
    attrs = node.get("attrs")
    if not isinstance(attrs, dict):
        return
    if key in ("relay.TypeVar", "relay.GlobalTypeVar") and "var" in attrs:  # its name was that of a variable
        attrs["name_hint"] = nodes[int(attrs.pop("var"))]["attrs"]["name"]
    if node["type_key"] == "IRModule":
        attrs.setdefault("attrs", "0")
