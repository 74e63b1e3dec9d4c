"""Operators: one builder each, made from the operator's own block."""
from ..._load import core, not_provided

NAMES = frozenset(core.list_op_names())
Op = core.Op
get = core.get_op

_SEVERAL_RESULTS = {"nn.batch_norm": 3, "nn.dropout": 2}
_builders = {}


def builder(name):
    """The function that makes calls of operator `name`: inputs first, then attributes, in the order of its text."""
    if name not in _builders:
        _builders[name] = _make_builder(name)
    return _builders[name]


def _make_builder(name):
    import inspect

    from ..expr import Call, TupleWrapper, as_expr

    operator = core.get_op(name)
    inputs, attrs = core.op_signature(name)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(each, kind) for each, _ in inputs]
    parameters += [inspect.Parameter(each, kind, default=default if has_default else None)
                   for each, has_default, default, _ in attrs]
    signature = inspect.Signature(parameters)
    defaults = {each: default for each, has_default, default, _ in attrs if has_default}

    def build(*args, **kwargs):
        bound = signature.bind(*args, **kwargs).arguments
        operands = [as_expr(bound.pop(each)) for each, _ in inputs]
        values = {each: _attribute(value, defaults.get(each)) for each, value in bound.items()
                  if value is not None or each in defaults}
        call = Call(operator, operands, core.make_attrs(name, values))
        size = _SEVERAL_RESULTS.get(name)
        if name == "split":
            sections = values["indices_or_sections"]
            size = sections if isinstance(sections, int) else len(sections) + 1
        return TupleWrapper(call, size) if size else call

    build.__name__ = name.rsplit(".", 1)[-1]
    build.__signature__ = signature
    build.__doc__ = "\n".join([operator.description, ""] + [f"{each}: {doc}" for each, doc in inputs]
                              + [f"{each}: {doc}" for each, _, _, doc in attrs])
    return build


def _attribute(value, default):
    """One number stands for a list of equal ones where the default is a list."""
    if isinstance(default, list) and default and isinstance(value, int):
        return [value] * len(default)
    return list(value) if isinstance(value, tuple) else value


class _Namespace:
    """relay.nn and its like: the operators whose names begin with it."""

    def __init__(self, prefix):
        self.__name__ = f"{__name__}.{prefix}"
        self._prefix = prefix + "."

    def __getattr__(self, name):
        if self._prefix + name in NAMES:
            return builder(self._prefix + name)
        not_provided(self.__dict__.get("__name__", "relay.op"), name)

    def __dir__(self):
        return sorted(each[len(self._prefix):] for each in NAMES if each.startswith(self._prefix))


def register_gradient(op_name, fgradient=None, level=10):
    """Makes `fgradient(orig, grad) -> [Expr]` the gradient of the operator: the adjoint of each argument of the call
    `orig`, given that of its result. Without `fgradient` a decorator. The one registered last counts, whatever `level`.
    """
    from ..expr import as_expr

    def register(given):
        core.register_gradient(op_name, lambda orig, grad: [as_expr(each) for each in given(orig, grad)])
        return given

    return register if fgradient is None else register(fgradient)


nn, image, vision, annotation = (_Namespace(each) for each in ("nn", "image", "vision", "annotation"))


def device_copy(data, src_device, dst_device):
    """A copy of `data` from one device to another: Devices, names of them ("cuda") or VirtualDevices."""
    from ...target.virtual_device import as_virtual_device

    return builder("device_copy")(data, as_virtual_device(src_device), as_virtual_device(dst_device))


def register_mixed_precision_conversion(op_name, func=None, level=10):
    """Says in which precision `op_name` computes: func(call, dtype) -> [colour, accumulation dtype, output dtype].

    Colours are those of relay.transform.mixed_precision. The operators that ToMixedPrecision knows have level 10: a higher
    one replaces them. Without `func` it is a decorator.
    """
    def register(rule):
        core.register_mixed_precision(op_name, rule, level)
        return rule

    return register(func) if func else register


def __getattr__(name):
    if name == "contrib":
        import importlib

        return importlib.import_module(__name__ + ".contrib")
    if name == "register_op_attr":
        from ...ir.op import register_op_attr

        return register_op_attr
    if name in NAMES:
        return builder(name)
    not_provided(__name__, name)
