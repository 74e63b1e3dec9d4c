"""Everything public says what it is; builders of operators say what each parameter is."""
import inspect
import re

import pytest

from junk_calls import modules, public_callables

# Python's own classes: what these inherit is not explained again.
INHERITED = (list, dict, tuple, str, int, float)
BUILDERS = ("baton.relay.op.nn.", "baton.relay.op.image.", "baton.relay.op.vision.", "baton.relay.op.random.",
            "baton.relay.op.annotation.", "baton.relay.op.memory.", "baton.relay.op.vm.", "baton.relay.op.dyn.",
            "baton.relay.qnn.op.", "baton.relay.op.op.")


@pytest.fixture(name="found", scope="module")
def found_fixture():
    return public_callables()


def text_of(value):
    return (value.__doc__ if isinstance(value, (type, property)) else inspect.getdoc(value)) or ""


def members(cls):
    for name, value in sorted(vars(cls).items()):
        inherited = any(name in vars(base) for base in INHERITED if issubclass(cls, base))
        if not name.startswith("_") and not inherited and (callable(value) or isinstance(value, (property, staticmethod, classmethod))):
            yield name, value if isinstance(value, property) else getattr(cls, name)


def test_everything_public_has_a_docstring(found):
    assert len(found) > 1000
    missing = [name for name, value in found if not text_of(value).strip()]
    missing += [name for name, module in modules().items() if not text_of(module).strip()]
    for name, value in found:
        if isinstance(value, type) and value.__module__.startswith("baton"):
            missing += [f"{name}.{member}" for member, each in members(value) if not text_of(each).strip()]
    assert not missing


def test_builders_explain_their_parameters(found):
    unexplained, looked_at = [], 0
    for name, value in found:
        if isinstance(value, type) or not (name.startswith(BUILDERS) or re.fullmatch(r"baton\.relay\.[a-z_0-9]+", name)):
            continue
        try:
            parameters = [each.name for each in inspect.signature(value).parameters.values()
                          if each.kind is each.POSITIONAL_OR_KEYWORD]
        except ValueError:  # a function of C++: its text begins with its signature
            continue
        looked_at += 1
        doc = text_of(value)
        lacking = [each for each in parameters if not re.search(rf"\b{re.escape(each)}\b", doc) and each != "_"]
        if lacking:
            unexplained.append(f"{name}: {', '.join(lacking)}")
    assert looked_at > 250 and not unexplained
