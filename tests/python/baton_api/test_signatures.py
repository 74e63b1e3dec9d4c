"""Builders and passes have the names, order and defaults of TVM's, as far as its signatures can be read."""
import inspect

import pytest

from api_table import module, signatures
from baton._signature import signature_of

# Modules whose functions are compared. Others have callables of C++, which have no signature, or are not TVM's own.
COMPARED = ("tvm.relay", "tvm.relay.nn", "tvm.relay.image", "tvm.relay.vision", "tvm.relay.random", "tvm.relay.annotation",
            "tvm.relay.qnn.op", "tvm.relay.op", "tvm.relay.op.op", "tvm.relay.op.memory", "tvm.relay.op.vm", "tvm.relay.transform",
            "tvm.relay.quantize", "tvm.relay.frontend", "tvm.ir.transform", "tvm.parser", "tvm.target")
# Reasons: C++ functions show no signature; bind comes with expression functors; one default is a class of an importer's.
OTHERWISE = {"tvm.relay.op.get", "tvm.relay.op.op.get", "tvm.relay.bind", "tvm.relay.create_executor", "tvm.relay.optimize",
             "tvm.relay.transform.ToCPS"}


def shown(signature):
    return [(each.name, each.default) for each in signature.parameters.values()]


@pytest.mark.parametrize("owner", COMPARED)
def test_signatures_are_tvms(owner):
    compared = 0
    for place, text in signatures().items():
        if place.rsplit(".", 1)[0] != owner or place in OTHERWISE:
            continue
        found = getattr(module(owner), text.split("(")[0])
        assert shown(inspect.signature(found)) == shown(signature_of(text)), place
        compared += 1
    assert compared > 0


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
