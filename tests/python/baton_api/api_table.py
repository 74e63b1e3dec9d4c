"""TVM's Python names and signatures, as tests/reference/python_api.json lists them."""
import importlib
import json
import pathlib

REFERENCE = pathlib.Path(__file__).resolve().parents[2] / "reference" / "python_api.json"


def names():
    """[(module, name, uses in TVM's tests)]."""
    return [tuple(each) for each in json.loads(REFERENCE.read_text())["names"]]


def signatures():
    """{"tvm.relay.add": "add(lhs, rhs)"}."""
    return json.loads(REFERENCE.read_text())["signatures"]


def methods():
    """{"tvm.IRModule": ["update", ..]}."""
    return json.loads(REFERENCE.read_text())["methods"]


def module(name):
    """Our module of TVM's name, or None."""
    try:
        return importlib.import_module("baton" + name[3:])
    except ModuleNotFoundError:
        pass
    import baton

    found = baton
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None:
            return None
    return found
