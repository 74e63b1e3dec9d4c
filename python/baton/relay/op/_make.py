"""Generates operator builders from the operators' blocks."""
import inspect
import re

from ..._load import core, not_provided
from ..._signature import signature_of
from ..._wanted import listed
from ..expr import Call, Constant, Expr, TupleWrapper, as_expr

NAMES = frozenset(core.list_op_names())
_WINDOWS = ("kernel_size", "output_padding")  # a single number is repeated to the number of strides

# Descriptions of common parameters, for operators whose block has none.
_ANYWHERE = {
    "data": "the tensor",
    "x": "the tensor",
    "op_name": "the operator, such as \"nn.conv2d\"",
    "level": "of several registrations the one of the highest level counts",
    "axis": "an int, a list of them, or None for all",
    "keepdims": "whether these axes stay, with extent 1",
    "exclude": "whether `axis` names the axes that stay instead",
    "unbiased": "whether sums are divided by n - 1 instead of n",
    "dtype": "the element type of the result, a str",
    "layout": "the order of the axes of `data`, such as \"NCHW\"",
    "out_layout": "that of the result; \"\": the same",
    "shape": "extents: a list, or an expression where the operator allows it",
    "key": "the state of the generator, ten uint64",
    "scale": "that of `x`, a float32 expression",
    "zero_point": "that of `x`, an int32 expression",
    "input_scale": "a float32 expression",
    "input_zero_point": "an int32 expression",
    "output_scale": "that of the result, a float32 expression",
    "output_zero_point": "that of the result, an int32 expression",
}
_facts, _builders, _places = {}, {}, {}


def facts(name):
    """([names of inputs], {attribute: what it expects}) of an operator."""
    if name not in _facts:
        inputs, attrs = core.op_signature(name)
        _facts[name] = [each for each, _ in inputs], {each[0]: each[4] for each in attrs}
    return _facts[name]


def known(value):
    """`value`, its contents if it is a Constant, or None when it is known only at run time."""
    if isinstance(value, Constant):
        return value.data.numpy().tolist()
    return None if isinstance(value, Expr) else value


def call(name, operands, unpack=False, /, **attrs):
    """A call of operator `name`; attributes that are None keep their default.

    With `unpack` a TupleWrapper for operators with several results.
    """
    expects = facts(name)[1]
    values = {each: _attribute(value, expects.get(each, "")) for each, value in attrs.items() if value is not None}
    operands = [_operand(name, number, each) for number, each in enumerate(operands)]
    made = Call(core.get_op(name), operands, core.make_attrs(name, values))
    size = core.result_count(made) if unpack else None
    return made if size is None else TupleWrapper(made, size)


def _operand(name, number, value):
    """An operand as an expression. The error for other values names the operand."""
    try:
        return as_expr(value)
    except (TypeError, ValueError, OverflowError, core.TVMError) as why:
        names = facts(name)[0]
        raise TypeError(f"{name}: {names[min(number, len(names) - 1)]} is an expression or an array: {why}") from why


def _attribute(value, expects):
    """As make_attrs takes it: one number for a list of one, lists of plain numbers, Constants by what they hold."""
    if isinstance(value, Constant) and ("list" in expects or "integer" in expects or "number" in expects):
        value = value.data.numpy().tolist()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and value.is_integer() and expects.startswith("an integer"):
        value = int(value)
    if expects.startswith("a list"):
        return [_element(each) for each in value] if isinstance(value, (list, tuple)) else [_element(value)]
    return _element(value)


def _element(value):
    if isinstance(value, (list, tuple)):
        return [_element(each) for each in value]
    if isinstance(value, Expr) or not hasattr(value, "__int__") or hasattr(value, "__float__"):
        return value
    return int(value)


def _sides(padding, rank, what):
    """Before and after along each of `rank` axes, from one number, one for each axis, or all."""
    padding = [padding] if isinstance(padding, int) else listed("padding", padding, "an int or a list")
    if not all(hasattr(each, "__int__") and not isinstance(each, Expr) for each in padding):
        raise TypeError("padding is ints")
    padding = [int(each) for each in padding]
    if len(padding) == 2 * rank:
        return padding
    if len(padding) == rank:
        return padding * 2
    if len(padding) == 1:
        return padding * (2 * rank)
    raise ValueError(f"{what}: padding is 1, {rank} or {2 * rank} numbers, not {len(padding)}")


def _fitted(op, name, value, signature):
    """_fit(), whose errors name the argument."""
    try:
        return _fit(op, name, value, signature)
    except (TypeError, ValueError) as why:
        raise type(why)(str(why) if name in str(why) else f"{op}: {name}: {why}") from why


def _fit(op, name, value, signature):
    """An argument as the attribute `name`: numbers repeated where TVM repeats them, padding on all sides."""
    strides = signature.parameters.get("strides")
    default = signature.parameters[name].default
    rank = len(default) if isinstance(default, tuple) else 1
    if name == "padding" and strides is not None and facts(op)[1][name].startswith("a list"):
        return _sides(value, rank, op)
    if isinstance(value, int) and not isinstance(value, bool):
        if rank > 1:
            return [value] * rank
        if name in _WINDOWS and strides is not None and isinstance(strides.default, tuple):
            return [value] * len(strides.default)
    return value


def _explained(doc, parameters, op=None, operands=None):
    """`doc`, and lines for the parameters it does not name: what the operator's block says of them, or what they are anywhere.

    `operands`: names of the operands where the block has others (TVM's own lists of arguments are not all in the order of calls).
    """
    docs = dict(_ANYWHERE)
    if op is not None:
        inputs, attrs = core.op_signature(op)
        names = operands or [each[0] for each in inputs]
        docs.update({name: each[1] for name, each in zip(names, inputs) if each[1]})
        docs.update({each[0]: each[3] for each in attrs if each[3]})
    lines = [f"{each}: {docs[each]}" for each in parameters if each in docs and not re.search(rf"\b{each}\b", doc)]
    return "\n".join([inspect.cleandoc(doc), "", *lines]) if lines else doc


def explain(module, prefix=""):
    """Completes the docstrings of a module's own builders with descriptions of their parameters."""
    for name, build in module.items():
        if inspect.isfunction(build) and build.__module__ == module["__name__"] and not name.startswith("_"):
            op = prefix + name
            code = build.__code__
            build.__doc__ = _explained(build.__doc__, code.co_varnames[:code.co_argcount], op if op in NAMES else None)


def _named(function, name, signature, op, operands):
    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature
    function.__doc__ = _explained(core.get_op(op).description, signature.parameters, op, operands)
    return function


def _place(op):
    """(module, name) of the builder of an operator, as its block says it; None when it has none."""
    text = core.op_python(op)
    head = text.split("(")[0]
    if head:
        return head.rsplit(".", 1) if "(" in text else (head, op)
    return op.rsplit(".", 1) if "." in op else None


def places(module):
    """{name: operator}: the builders in relay.op's module `module`, "nn" or "transform"."""
    if not _places:
        for op in NAMES:
            if "." in op:
                of, name = op.rsplit(".", 1)
                _places.setdefault(of, {})[name] = op
        for op in NAMES:
            if (place := _place(op)) is not None:
                _places.setdefault(place[0], {})[place[1]] = op
    return _places.get(module, {})


def _default(value):
    """A default as shown in signatures: lists as tuples, empty values as None."""
    return tuple(map(_default, value)) or None if isinstance(value, list) else value


def signature(op):
    """The signature of an operator's builder: that of its block, else its inputs followed by its attributes in the order of its text."""
    text = core.op_python(op)
    if "(" in text:
        return signature_of(text[text.rindex(".", 0, text.index("(")) + 1:])
    inputs, attrs = core.op_signature(op)
    operands = [each for each, _ in inputs]
    kind, required = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    parameters, optional = [inspect.Parameter(each, kind) for each in operands], False
    for name, has_default, default, *_ in attrs:
        optional = optional or has_default
        if name not in operands:
            parameters.append(inspect.Parameter(name, kind, default=_default(default) if has_default else None if optional else required))
    return inspect.Signature(parameters)


def builder(op):
    """The builder of calls of operator `op`: the first parameters are the operands, the others attributes."""
    if op not in _builders:
        _builders[op] = _named_builder(op, op.rsplit(".", 1)[-1])
    return _builders[op]


def _named_builder(op, name):
    inputs, expected = facts(op)
    shown = signature(op)
    operands = list(shown.parameters)[:len(inputs)]
    attrs = [each for each in shown.parameters if each not in operands]
    twice = [each for each in expected if each in inputs]

    def build(*args, **kwargs):
        bound = shown.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        values = {each: _fitted(op, each, given[each], shown) for each in attrs if given[each] is not None}
        for each in twice:  # an attribute with an operand's name holds its constant value
            value = given[operands[inputs.index(each)]]
            value = value if "expression" in expected[each] else known(value)
            if value is not None:
                values[each] = value
        return call(op, [given[each] for each in operands], True, **values)

    return _named(build, name, shown, op, operands)


def fill(module, name_of_module):
    """(__getattr__, __dir__) for a module of relay.op: the builders not defined in the module itself."""
    def find(name):
        op = places(name_of_module).get(name)
        if op is None:
            not_provided(module["__name__"], name)
        module[name] = made = _named_builder(op, name)
        made.__module__ = module["__name__"]
        return made

    return find, lambda: sorted({*module, *places(name_of_module)})


def raw(of, *modules):
    """The __getattr__ of one of TVM's `_make` modules, `of` (its globals): builders that take all arguments by position and return Calls,
    also of operators with several results. `modules`: where the operators are found, as places() names them."""
    def find(name):
        for module in modules:
            op = places(module).get(name) or (f"{module}.{name}" if f"{module}.{name}" in NAMES else None)
            if op is not None:
                break
        else:
            op = name if name in NAMES else None
        if name.startswith("__") or op is None:
            raise AttributeError(f"module {of['__name__']!r} has no attribute {name!r}")
        wrapped = builder(op)

        def make(*args, **kwargs):
            made = wrapped(*args, **kwargs)
            return made.astuple() if isinstance(made, TupleWrapper) else made

        of[name] = _named(make, name, inspect.signature(wrapped), op, None)
        return make

    return find


__getattr__ = raw(globals(), "tensor", "transform", "reduce", "algorithm")
