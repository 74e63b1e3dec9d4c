"""Attributes of operators, and their fields."""
from .._load import core

Attrs = core.Attrs
_ops = {}  # the name of an attribute class -> an operator that has it


def _operator_of(type_key):
    if not _ops:
        for name in core.list_op_names():
            attrs = core.make_attrs(name, {}) if core.op_signature(name)[1] else None
            if attrs is not None:
                _ops.setdefault(attrs.type_key, name)
    return _ops.get(type_key)


def _list_field_info(self):
    """[AttrFieldInfo]: name, type_info (what it expects) and description of each attribute."""
    operator = _operator_of(self.type_key)
    return [AttrFieldInfo(each[0], each[4], each[3]) for each in core.op_signature(operator)[1]] if operator else []


class AttrFieldInfo:
    """One attribute of a class of them."""

    def __init__(self, name, type_info, description):
        self.name, self.type_info, self.description = name, type_info, description


Attrs.list_field_info = _list_field_info
