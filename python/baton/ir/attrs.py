"""Attributes, and nodes by the name of their class."""
from .._load import core
from .function import DictAttrs

Attrs = core.Attrs
_ops = {}  # the name of an attribute class -> an operator that has it


def _operator_of(type_key):
    if not _ops:
        for name in core.list_op_names():
            attrs = core.make_attrs(name, {}) if core.op_signature(name)[1] else None
            if attrs is not None:
                _ops.setdefault(attrs.type_key, name)
    return _ops.get(type_key)


def make_node(type_key, **kwargs):
    """An object by the name of its class in TVM: attributes of operators ("relay.attrs.Conv2DAttrs"), "DictAttrs",
    "relay.Constant", ..; NotImplementedError for classes that Baton does not have."""
    from .. import relay, tir

    if type_key == "DictAttrs":
        return DictAttrs(kwargs)
    if type_key in ("IntImm", "FloatImm", "StringImm", "tir.StringImm"):
        return getattr(tir, type_key.rsplit(".", 1)[-1])(**kwargs) if "dtype" in kwargs else tir.StringImm(**kwargs)
    name = _operator_of(type_key)
    if name is not None:
        expects = relay.op._make.facts(name)[1]
        return core.make_attrs(name, {each: relay.op._make._attribute(value, expects.get(each, "")) for each, value in kwargs.items()})
    found = getattr(relay, type_key.split(".")[-1], None) if type_key.startswith("relay.") else getattr(core, type_key, None)
    if not isinstance(found, type):
        raise NotImplementedError(f"make_node: Baton has no {type_key}")
    return found(**kwargs)


def _list_field_info(self):
    """[AttrFieldInfo]: name, type_info (what it expects) and description of each attribute."""
    operator = _operator_of(self.type_key)
    return [AttrFieldInfo(each[0], each[4], each[3]) for each in core.op_signature(operator)[1]] if operator else []


class AttrFieldInfo:
    """One attribute of a class of them."""

    def __init__(self, name, type_info, description):
        self.name, self.type_info, self.description = name, type_info, description


Attrs.list_field_info = _list_field_info
