"""Every operator that is registered has the names, attributes, defaults and pattern that Relay's has."""
import json
import pathlib
import re

import pytest

from baton import relay
from baton._load import core

TABLE = json.loads((pathlib.Path(__file__).parents[1] / "reference" / "ops_table.json").read_text())
REGISTERED = set(core.list_op_names())
# Registered by Relay with DenseAttrs, but its calls carry DensePackAttrs, which is what our block has.
OTHER_ATTRS = {"nn.contrib_dense_pack": ("relay.attrs.DensePackAttrs", ["weight_layout"]),
               # Kernels of one row or column are transformed along the other axis only (Baton's own).
               "nn.contrib_conv2d_winograd_weight_transform": ("relay.attrs.ConvWinogradWeightTransformAttrs", ["skip_unit_axes"]),
               "nn.contrib_conv3d_winograd_weight_transform": ("relay.attrs.ConvWinogradWeightTransformAttrs", ["skip_unit_axes"]),
               # Halves to even, as ONNX quantises (Baton's own).
               "qnn.quantize": ("relay.attrs.QuantizeAttrs", ["rounding"]),
               # Registered with MaxPool2DAttrs, called with AvgPool2DAttrs: the goldens show them.
               "nn.avg_pool2d_grad": ("relay.attrs.AvgPool2DAttrs", ["count_include_pad"]),
               # Two structures of one name in TVM: the table shows that of qnn.simulated_quantize.
               "relay.op.annotation.simulated_quantize": ("relay.attrs.QuantizeAnnotationAttrs", ["kind", "sign", "rounding"])}
# An empty map and the open device have no JSON: what stands for them in the table, and in Python.
OTHER_DEFAULTS = {"Map<String, ObjectRef>()": None, "VirtualDevice(?)": core.VirtualDevice()}
# Baton's own: what ONNX files become that Relay has no operator for.
OWN = {"onnx.error", "onnx.node", "vision.sampled_regions"}
UNDECLARED = {"nn.avg_pool2d_grad"}


def plain(value):
    """A default as JSON has it: numbers as floats, so that 1 and 1.0 are the same; True is no number."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return value


def same(ours, theirs):
    return type(ours) is type(theirs) and ours == theirs


@pytest.mark.parametrize("name", sorted(REGISTERED & set(TABLE)))
def test_operator_is_relays(name):
    op, expected = relay.op.get(name), TABLE[name]
    _, attrs = core.op_signature(name)
    assert op.num_inputs == expected["num_inputs"]
    assert op.arguments == expected["arguments"]
    type_key, more = OTHER_ATTRS.get(name, (expected["attrs_type_key"], []))
    assert op.attrs_type_key == type_key
    assert op.declares_attrs == (expected["declares_attrs"] and name not in UNDECLARED)
    assert op.pattern == expected["pattern"]
    assert [attr for attr, *_ in attrs] == [attr for attr, *_ in expected["attrs"]] + more
    for (attr, has_default, default, *_), (_, expected_has, expected_default) in zip(attrs, expected["attrs"]):
        assert has_default == expected_has, attr
        if has_default:
            if isinstance(expected_default, str):
                expected_default = OTHER_DEFAULTS.get(expected_default, expected_default)
            assert same(plain(default), plain(expected_default)), f"{attr}: {default!r}, not {expected_default!r}"


def test_operators_that_are_missing(capsys):
    missing = sorted(set(TABLE) - REGISTERED)
    with capsys.disabled():
        print(f"\n{len(missing)} of Relay's {len(TABLE)} operators are not registered")
    assert REGISTERED - OWN <= set(TABLE), sorted(REGISTERED - OWN - set(TABLE))
    if missing:
        pytest.skip(f"{len(missing)} of {len(TABLE)} operators are not registered yet")


def test_documented_operators_are_those_that_cannot_run():
    text = (pathlib.Path(__file__).parents[2] / "docs" / "compatibility.md").read_text()
    listed = set(re.findall(r"`([\w.]+)`", text.split("say so by name (`NotSupported`).")[1]))
    assert listed == {name for name in REGISTERED if not relay.op.get(name).can_run}
