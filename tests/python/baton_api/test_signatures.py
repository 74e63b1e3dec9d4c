"""Functions and classes have the parameters of TVM's, in its order and with its defaults; classes have its methods."""
import ast
import inspect
import pathlib

import pytest

import baton
from api_table import methods, module, signatures
from baton._signature import signature_of
from test_names import is_counted

STUBS = pathlib.Path(baton.__file__).parent / "_baton.pyi"
NEEDS_TE = ("tvm.relay.op.strategy.", "tvm.relay.op.contrib.", "tvm.contrib.pipeline_executor")  # refused when called
# Reasons: TVM's are made from handles of its C interface, or not by users at all.
OTHERWISE = {
    "tvm.runtime.Module", "tvm.runtime.NDArray", "tvm.runtime.ndarray.NDArrayBase", "tvm.runtime.PackedFunc", "tvm.ir.Op",
    "tvm.relay.quantize.QConfig", "tvm.relay.qnn.op.RequantizeConfig", "tvm.relay.op.OpStrategy", "tvm.relay.op.op.OpStrategy",
    "tvm.relay.prelude.StaticTensorArrayOps", "tvm.runtime.ndarray.check_call", "tvm.runtime.ndarray.c_array", "tvm.PoolInfo",
    "tvm.relay.prelude.Any", "tvm.relay.frontend.ChangeDatatype", "tvm.error.InternalError", "tvm.ir.SourceName", "tvm.ir.diagnostics.Diagnostic", "tvm.ir.Span"}
# Reasons: TVM lists methods that its own C++ needs, or what te and TIR would be needed for; docs/compatibility.md.
NO_METHODS = ("tvm.relay.prelude.StaticTensorArrayOps", "tvm.relay.prelude.TensorArrayOps", "tvm.runtime.ObjectPath",
              "tvm.contrib.pipeline_executor", "tvm.relay.op.op.Op", "tvm.ir.EnvFunc", "tvm.ir.Node", "tvm.relay.quantize.QConfig", "tvm.relay.dataflow_pattern.TuplePattern")


def stubbed():
    """{name: signature} of what C++ defines, as the stubs have it."""
    found = {}

    def value(default):
        try:
            return ast.literal_eval(default)
        except ValueError:
            return ast.unparse(default)

    def read(function, of_class):
        given = function.args
        defaults = [inspect.Parameter.empty] * (len(given.args) - len(given.defaults)) + [value(each) for each in given.defaults]
        parameters = [inspect.Parameter(each.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
                      for each, default in zip(given.args, defaults)]
        return inspect.Signature(parameters[1:] if of_class else parameters)

    for node in ast.parse(STUBS.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, read(node, False))
        for each in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(each, ast.FunctionDef) and each.name in ("__init__", "__new__"):
                found[node.name] = read(each, True)
    return found


def signature_here(value, stubs):
    try:
        return inspect.signature(value)
    except (TypeError, ValueError):
        return stubs.get(value.__name__)


def shown(signature):
    return [(each.name, each.default) for each in signature.parameters.values()]


def accepts(given, expected):
    """Whether what fits TVM's parameters fits ours: more may follow, and what TVM must be given may have a default."""
    required = inspect.Parameter.empty
    return (len(given) >= len(expected) and all(default is not required for _, default in given[len(expected):])
            and all(here == there and (at == default or default is required) for (here, at), (there, default) in zip(given, expected)))


def test_signatures_are_tvms():
    stubs, compared, wrong = stubbed(), 0, []
    for place, text in signatures().items():
        owner, name = place.rsplit(".", 1)
        if place in OTHERWISE or place.startswith(NEEDS_TE) or not is_counted(owner):
            continue
        try:
            found = getattr(module(owner), name)
        except (AttributeError, ImportError):
            continue  # test_names.py says which are missing
        here = signature_here(found, stubs)
        given, expected = (shown(here) if here else None), shown(signature_of(text))
        if given is None or not accepts(given, expected):
            wrong.append(f"{place}: {text}, here {here}")
        compared += 1
    assert compared > 600 and not wrong, "\n".join(wrong)


def test_classes_have_tvms_methods():
    missing = []
    for place, names in methods().items():
        owner, name = place.rsplit(".", 1)
        if is_counted(owner) and not place.startswith((*NO_METHODS, *NEEDS_TE)):
            found = getattr(module(owner), name, None)
            missing += [f"{place}.{each}" for each in names if found is not None and not hasattr(found, each)]
    assert not missing


def test_positional_arguments_stand_where_tvm_has_them():
    from baton import relay

    x = relay.var("x", shape=(1, 8, 4, 4))
    call = relay.nn.conv2d(x, relay.var("w"), (2, 2), 1, 1, 1, 16, 3)
    assert list(call.attrs.strides) == [2, 2] and list(call.attrs.padding) == [1] * 4 and list(call.attrs.kernel_size) == [3, 3]
    assert call.attrs.channels == 16 and list(call.attrs.dilation) == [1, 1]
    assert relay.take(x, x, 2, 1, "wrap").attrs.axis == 2 and relay.argmax(x, 1, True, True).attrs.exclude
    assert list(relay.strided_slice(x, [0], [1], [1], [2]).attrs.axes) == [2]
    with pytest.raises(TypeError):
        relay.nn.relu(x, x)
