"""Makes builders of operators: from their signatures in TVM (_signatures.py), or from the operators' own blocks."""
import inspect
import re

from ..._load import core, not_provided
from ..._signature import signature_of
from ..._wanted import listed
from ..expr import Call, Constant, Expr, TupleWrapper, as_expr
from . import _signatures

NAMES = frozenset(core.list_op_names())
_NAMED_OTHERWISE = {
    "reverse_reshape": "contrib_reverse_reshape",
    "nn.contrib_conv2d_nchwc": "nn.contrib_conv2d_NCHWc",
    "nn.contrib_depthwise_conv2d_nchwc": "nn.contrib_depthwise_conv2d_NCHWc",
}
_WINDOWS = ("kernel_size", "output_padding")  # given as one number, they are as many as there are strides

# How many results a call has that is to be indexed and unpacked; None: it has one.
_RESULTS = {
    "nn.batch_norm": lambda given: 3,
    "nn.dropout": lambda given: 2,
    "split": lambda given: (given["indices_or_sections"] if isinstance(given["indices_or_sections"], int)
                            else len(given["indices_or_sections"]) + 1),
    "meshgrid": lambda given: len(given["data"].fields if hasattr(given["data"], "fields") else given["data"]),
    "topk": lambda given: 2 if given["ret_type"] == "both" else None,
    "dyn.topk": lambda given: 2 if given["ret_type"] == "both" else None,
    "unique": lambda given: 5 if given["return_counts"] else 4,
    "sparse_fill_empty_rows": lambda given: 3,
    "sparse_reshape": lambda given: 2,
    "vision.all_class_non_max_suppression": lambda given: 2 if given["output_format"] == "onnx" else 3,
    "vision.get_valid_counts": lambda given: 3,
    "vision.multibox_transform_loc": lambda given: 2,
    "vision.non_max_suppression": lambda given: 2 if given["return_indices"] else None,
    **{"random." + each: lambda given: 2 for each in ("multinomial", "normal", "threefry_generate", "threefry_split", "uniform")},
}
# What a parameter of that name is where the operator's own block does not say it.
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
_facts, _builders, _texts = {}, {}, {}


def facts(name):
    """([names of inputs], {attribute: what it expects}) of an operator."""
    if name not in _facts:
        inputs, attrs = core.op_signature(name)
        _facts[name] = [each for each, _ in inputs], {each[0]: each[4] for each in attrs}
    return _facts[name]


def known(value):
    """`value`, what it holds when it is a Constant, or None when it is known only when the program runs."""
    if isinstance(value, Constant):
        return value.data.numpy().tolist()
    return None if isinstance(value, Expr) else value


def call(name, operands, given=None, /, **attrs):
    """A call of operator `name`; attributes that are None keep their default.

    With `given`, the builder's arguments by name, a TupleWrapper for operators with several results.
    """
    expects = facts(name)[1]
    values = {each: _attribute(value, expects.get(each, "")) for each, value in attrs.items() if value is not None}
    operands = [_operand(name, number, each) for number, each in enumerate(operands)]
    made = Call(core.get_op(name), operands, core.make_attrs(name, values))
    size = _result_count(name, given) if given is not None and name in _RESULTS else None
    return made if size is None else TupleWrapper(made, size)


def _result_count(name, given):
    try:
        return _RESULTS[name](given)
    except TypeError as why:
        raise TypeError(f"{name}: it cannot be seen how many results there are: {why}") from why


def _operand(name, number, value):
    """An operand as an expression. What cannot be one is refused with the name of the operand."""
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
    """Lets the docstrings of the builders that a module defines say what each parameter is."""
    for name, build in module.items():
        if inspect.isfunction(build) and build.__module__ == module["__name__"] and not name.startswith("_"):
            op = _NAMED_OTHERWISE.get(prefix + name, prefix + name)
            code = build.__code__
            build.__doc__ = _explained(build.__doc__, code.co_varnames[:code.co_argcount], op if op in NAMES else None)


def _named(function, name, signature, op, operands):
    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature
    function.__doc__ = _explained(core.get_op(op).description, signature.parameters, op, operands)
    return function


def from_signature(op, text):
    """The builder of `op` with the signature `text`: its first parameters are the operands, the others attributes."""
    signature = signature_of(text)
    operands = list(signature.parameters)[:len(facts(op)[0])]
    attrs = [each for each in signature.parameters if each not in operands]

    def build(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        return call(op, [given[each] for each in operands], given,
                    **{each: _fitted(op, each, given[each], signature) for each in attrs if given[each] is not None})

    return _named(build, text.split("(")[0], signature, op, operands)


def builder(name):
    """The function that makes calls of operator `name`: inputs first, then attributes, in the order of its text."""
    if name in _builders:
        return _builders[name]
    inputs, attrs = core.op_signature(name)
    operands = [each for each, _ in inputs]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(each, kind) for each in operands]
    parameters += [inspect.Parameter(each[0], kind, default=each[2] if each[1] else None) for each in attrs if each[0] not in operands]
    twice = [each[0] for each in attrs if each[0] in operands]
    signature = inspect.Signature(parameters)

    def build(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        values = {each: value for each, value in given.items() if each not in operands}
        for each in twice:  # an attribute of an operand's name holds what is known of it
            value = given[each] if "expression" in facts(name)[1][each] else known(given[each])
            if value is not None:
                values[each] = value
        return call(name, [given[each] for each in operands], given, **values)

    _builders[name] = _named(build, name.rsplit(".", 1)[-1], signature, name, operands)
    return _builders[name]


def _signatures_of(table):
    if table not in _texts:
        lines = [line for line in getattr(_signatures, table).splitlines() if line]
        _texts[table] = {line.split("(")[0]: line for line in lines}
    return _texts[table]


def fill(module, table, prefix=""):
    """(__getattr__, __dir__) for a module: the builders of a table of signatures that the module does not define itself."""
    def find(name):
        texts = _signatures_of(table)
        op = _NAMED_OTHERWISE.get(prefix + name, prefix + name)
        if name not in texts or op not in NAMES:
            if prefix and prefix + name in NAMES:
                return builder(prefix + name)
            not_provided(module["__name__"], name)
        module[name] = made = from_signature(op, texts[name])
        made.__module__ = module["__name__"]
        return made

    def names():
        more = (each[len(prefix):] for each in NAMES if prefix and each.startswith(prefix) and "." not in each[len(prefix):])
        return sorted({*module, *_signatures_of(table), *more})

    return find, names
