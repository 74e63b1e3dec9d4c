"""Classes of attributes, by TVM's names: isinstance(call.attrs, Conv2DAttrs) checks a call's kind of attributes."""
from ..._load import core


class _AttrsMeta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, core.Attrs) and value.type_key.rsplit(".", 1)[-1] == cls.__name__


def __getattr__(name):
    if not name.endswith("Attrs"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = _AttrsMeta(name, (), {"__doc__": f"Attributes of class {name}.", "__module__": __name__})
    return made
