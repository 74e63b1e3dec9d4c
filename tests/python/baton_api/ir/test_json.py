"""Modules and expressions as JSON."""
import json

import numpy as np
import pytest

import baton as tvm
from baton import relay
from programs import CONV, DENSE, PAIR


@pytest.mark.parametrize("text", [CONV, DENSE, PAIR])
def test_modules_come_back(text):
    module = tvm.parser.fromtext(text)
    saved = tvm.ir.save_json(module)
    again = tvm.ir.load_json(saved)
    assert isinstance(again, tvm.IRModule)
    assert tvm.ir.structural_equal(module, again) and again.astext() == module.astext()
    assert tvm.ir.save_json(again) == saved
    assert json.loads(saved)["format"] == "baton.ir"


def test_expressions_come_back_exactly():
    x = relay.var("x", shape=(3,), dtype="float32")
    values = np.array([0.1, 1e-40, np.inf], dtype="float32")
    call = relay.add(x, relay.const(values))
    again = tvm.ir.load_json(tvm.ir.save_json(call))
    assert isinstance(again, relay.Call) and again.op is call.op
    assert again.args[1].data.numpy().tobytes() == values.tobytes()
    assert isinstance(tvm.ir.load_json(tvm.ir.save_json(x)), relay.Var)


def test_source_text_may_be_left_out():
    module = tvm.parser.fromtext(DENSE)
    assert len(tvm.ir.save_json(module, source_text=False)) < len(tvm.ir.save_json(module))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format":"baton.ir","version":2,"nodes":[]}', '{"root":1,"nodes":[{"type_key":""}]}'])
def test_bad_json_is_an_error(text):
    with pytest.raises(tvm.TVMError):
        tvm.ir.load_json(text)
