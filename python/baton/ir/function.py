"""Functions and their attributes."""
from .._load import core

BaseFunc = core.Function


class CallingConv:
    """How a kernel is called, in TVM's numbers."""

    DEFAULT, C_PACKED_FUNC, DEVICE_KERNEL_LAUNCH = range(3)


class DictAttrs(dict):
    """Attributes of a function by name; also read as attrs.NAME."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the function has no attribute {name!r}") from None

    def get_int(self, name):
        """An attribute as an int; KeyError when it is not there."""
        return int(self[name])

    def get_str(self, name):
        """An attribute as a str; KeyError when it is not there."""
        return str(self[name])


def _with_attr(self, attr_key_or_dict, attr_value=None):
    """A copy of the function with one attribute, or all of a dict, set."""
    given = attr_key_or_dict if isinstance(attr_key_or_dict, dict) else {attr_key_or_dict: attr_value}
    function = self
    for name, value in given.items():
        function = function._with_attr(name, value)
    return function


def _without_attr(self, attr_key):
    """A copy of the function without that attribute."""
    return core.rebuild(self, None, None, None, None, {name: value for name, value in self._attrs.items() if name != attr_key}, None)


BaseFunc.without_attr = _without_attr
BaseFunc.attrs = property(lambda self: DictAttrs(self._attrs), doc="A DictAttrs.")
BaseFunc.with_attr = _with_attr
