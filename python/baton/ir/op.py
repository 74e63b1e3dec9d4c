"""Operators."""
from .._load import core

Op = core.Op
Op.get = staticmethod(core.get_op)
Op.list_op_names = staticmethod(core.list_op_names)

_TARGET = "target."
_attrs = {}  # (operator, key) -> (value, level): what nobody in C++ reads, and a copy of what target rules were given


def _known_elsewhere(key):
    """Attributes that TVM's own passes read: a rule of that name would change nothing here."""
    return key[:1] in ("F", "T") and key[1:2].isupper()


def register_op_attr(op_name, attr_key, value=None, level=10):
    """Gives an operator an attribute; as a decorator of the value when that is not given.

    `target.<compiler>`: f(call) -> bool, whether that compiler takes a call of the operator (relay.transform.AnnotateTarget).
    A value of a higher level replaces one of a lower; UsageError for two of one level. NotImplementedError for attributes
    that TVM's own passes read.
    """
    core.get_op(op_name)

    def register(given):
        key = (op_name, attr_key)
        if attr_key.startswith(_TARGET):
            core.register_target_rule(op_name, attr_key[len(_TARGET):], given, level)
        elif _known_elsewhere(attr_key):
            raise NotImplementedError(f"register_op_attr: Baton does not read {attr_key} from Python (docs/compatibility.md)")
        elif key in _attrs and _attrs[key][1] == level:
            raise core.UsageError(f"attribute {attr_key} of {op_name} is already registered with level {level}")
        if key not in _attrs or _attrs[key][1] < level:
            _attrs[key] = (given, level)
        return given

    return register if value is None else register(value)


def _get_attr(self, attr_name):
    """The attribute, or None."""
    return _attrs.get((self.name, attr_name), (None, 0))[0]


def _has_attr(self, attr_name):
    return (self.name, attr_name) in _attrs


def _set_attr(self, attr_name, value, plevel=10):
    register_op_attr(self.name, attr_name, value, plevel)


def _reset_attr(self, attr_name):
    """Forgets the attribute."""
    if attr_name.startswith(_TARGET):
        core.reset_target_rule(self.name, attr_name[len(_TARGET):])
    _attrs.pop((self.name, attr_name), None)


Op.get_attr, Op.has_attr, Op.set_attr, Op.reset_attr = _get_attr, _has_attr, _set_attr, _reset_attr
