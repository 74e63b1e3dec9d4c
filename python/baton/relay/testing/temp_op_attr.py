"""A temporary attribute of an operator."""
from ...ir.op import forget_attr, register_op_attr, _attrs
from ..op import get

_FOR_GOOD = ("FPrimalGradient", "FTVMMixedPrecisionConversionType", "TOpPattern", "TOpIsStateful")


class TempOpAttr:
    """Inside `with`, an operator has this attribute; afterwards the previous one is restored (see ir.register_op_attr for the keys)."""

    def __init__(self, op_name, attr_key, attr_value):
        if attr_key in _FOR_GOOD:
            raise NotImplementedError(f"TempOpAttr: {attr_key} cannot be taken back; register_op_attr sets it for good")
        self.op, self._key, self._value = get(op_name), attr_key, attr_value
        self.older_attr = None

    def __enter__(self):
        self.older_attr = _attrs.get((self.op.name, self._key))
        forget_attr(self.op, self._key)
        register_op_attr(self.op.name, self._key, self._value)
        return self

    def __exit__(self, *exception):
        forget_attr(self.op, self._key)
        if self.older_attr is not None:
            register_op_attr(self.op.name, self._key, self.older_attr[0], self.older_attr[1])
