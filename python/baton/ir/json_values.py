"""JSON of what is no expression and no module: types, attributes, arrays, containers of these and of nodes, plain values."""
from .._load import core
from .container import Array, Map

_MARK = "baton.value"


def save_json(node, source_text=True):
    """JSON text of an IRModule, an expression, an operator, a type, attributes, an NDArray, a list, a dict, a str, a number or None.

    source_text: whether that of a module or an expression has the texts that its spans mean.
    """
    if isinstance(node, (core.IRModule, core.RelayExpr)):
        return core.save_json(node, source_text)
    import json

    return json.dumps({"format": _MARK, "version": 1, "value": _packed(node)})


def load_json(json_str):
    """What save_json() gave, or TVM's. UsageError for other text."""
    if _MARK in json_str[:40]:
        import json

        return _unpacked(json.loads(json_str)["value"])
    return core.load_json(json_str)


def _packed(node):
    if node is None or isinstance(node, (bool, int, float, str)):
        return node
    if isinstance(node, (core.IRModule, core.RelayExpr)):
        return {"node": core.save_json(node)}
    if isinstance(node, core.Type):
        return {"type": core.save_json(core.Var("t", node))}
    if isinstance(node, core.TypeData):
        return {"type_data": core.save_json(core.IRModule({}, {node.header: node}))}
    if isinstance(node, core.NDArray):
        return {"array": core.save_json(core.Constant(node))}
    if isinstance(node, core.Attrs):
        return {"attrs": node.type_key, "values": {name: _packed(node[name]) for name in node.keys()}}
    if isinstance(node, (list, tuple)):
        return {"list": [_packed(each) for each in node]}
    if isinstance(node, dict):
        return {"map": [[_packed(key), _packed(value)] for key, value in node.items()]}
    raise TypeError(f"save_json: {type(node).__name__} cannot be saved")


def _unpacked(value):
    if not isinstance(value, dict):
        return value
    if "node" in value:
        return core.load_json(value["node"])
    if "type" in value:
        return core.load_json(value["type"]).type_annotation
    if "type_data" in value:
        return next(iter(core.load_json(value["type_data"]).type_definitions.values()))
    if "array" in value:
        return core.load_json(value["array"]).data
    if "attrs" in value:
        return core.make_attrs_of(value["attrs"], {name: _unpacked(each) for name, each in value["values"].items()})
    if "list" in value:
        return Array([_unpacked(each) for each in value["list"]])
    return Map({_unpacked(key): _unpacked(each) for key, each in value["map"]})
