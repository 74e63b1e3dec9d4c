"""JSON of what is no expression and no module: types, attributes, arrays, containers of these and of nodes, plain values."""
from .._load import core
from .._numbers import FloatImm, IntImm
from .container import Array, Map
from .function import DictAttrs
from .type_relation import TypeRelation

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
    try:
        return core.load_json(json_str)
    except core.TVMError:  # not a program, or of an older version
        found = _of_tvm(json_str)
        if found is None:
            raise
        return found


def _of_tvm(json_str):
    """The value of TVM's text; None where it is none that `tvm_values` reads."""
    import json

    from .json_compact import upgrade_json
    from .tvm_values import KINDS, ValuesReader

    try:
        found = json.loads(upgrade_json(json_str))
    except ValueError:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("nodes"), list) or not str(found.get("root", "")).isdigit():
        return None
    try:
        root = found["nodes"][int(found["root"])]
        if root.get("type_key") not in KINDS:
            return core.load_json(json.dumps(found))
        return ValuesReader(found, lambda index: core.load_json(json.dumps({**found, "root": index}))).read(found["root"])
    except (LookupError, TypeError, AttributeError, RecursionError):
        return None


def _packed(node):
    if isinstance(node, (IntImm, FloatImm)):
        return {"number": node.dtype, "is": node.value}
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
    if isinstance(node, core.SymbolicExtent) or isinstance(node, core.Any):
        return {"extent": core.save_json(core.Var("t", core.TensorType([node], "float32")))}
    if isinstance(node, core.Span):
        return {"span": [node.source_name, node.line, node.end_line, node.column, node.end_column]}
    if isinstance(node, core.Clause):
        return {"clause": core.save_json(core.Match(core.Tuple([]), [node]))}
    if isinstance(node, core.Pattern):
        return {"pattern": core.save_json(core.Match(core.Tuple([]), [core.Clause(node, core.Tuple([]))]))}
    if isinstance(node, core.VirtualDevice):
        return {"place": [node.device_type_int, node.virtual_device_id, node.memory_scope, node._target, node._host]}
    if type(node).__name__ == "Target":
        return {"target": node.export()}
    if isinstance(node, TypeRelation):
        return {"relation": getattr(node.func, "name", node.func), "of": [_packed(each) for each in (list(node.args), node.num_inputs, node.attrs)]}
    if isinstance(node, DictAttrs):
        return {"dict_attrs": [[key, _packed(value)] for key, value in node.items()]}
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
    if "number" in value:
        return (FloatImm if "float" in value["number"] else IntImm)(value["number"], value["is"])
    if "span" in value:
        return core.Span(*value["span"])
    if "clause" in value:
        return core.load_json(value["clause"]).clauses[0]
    if "pattern" in value:
        return core.load_json(value["pattern"]).clauses[0].lhs
    if "place" in value:
        return core.VirtualDevice(*value["place"])
    if "target" in value:
        from ..target import Target

        return Target(value["target"])
    if "extent" in value:
        return core.load_json(value["extent"]).type_annotation.shape[0]
    if "relation" in value:
        return TypeRelation(_relation_named(value["relation"]), *(_unpacked(each) for each in value["of"]))
    if "dict_attrs" in value:
        return DictAttrs({key: _unpacked(each) for key, each in value["dict_attrs"]})
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


def _relation_named(name):
    from .names import EnvFunc

    return EnvFunc.get(name) if isinstance(name, str) else name
