"""A plug-in of pytest (`pytest_plugins = ["baton.testing.plugin"]` in a conftest.py): tests that take `target` and `dev` run on
what can be built for, and fixtures of testing.parameters vary together without skipped combinations."""
import inspect

import pytest

from .utils import enabled_targets


@pytest.fixture(params=[each for each, _ in enabled_targets()])
def target(request):
    """Every target that can be built for."""
    return request.param


@pytest.fixture
def dev(target):
    """The device of `target`."""
    return dict(enabled_targets())[target]


def pytest_configure(config):
    """The marks that testing uses."""
    config.addinivalue_line("markers", "gpu: runs on a GPU where there is one")


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Sets fixtures of one testing.parameters() at once: by a mark, which pytest prefers to a fixture's own parameters."""
    groups = {}
    for name in metafunc.fixturenames:
        for definition in metafunc._arg2fixturedefs.get(name, ())[-1:]:
            found = getattr(definition.func, "_baton_group", None) or _group_of(metafunc, name)
            if found:
                groups.setdefault(id(found[0]), []).append((name, found))
    for members in groups.values():
        _, _, sets, ids = members[0][1]
        values = [tuple(each[column] for _, (_, column, _, _) in members) for each in sets]
        metafunc.definition.add_marker(pytest.mark.parametrize([name for name, _ in members], values, ids=ids))


def _group_of(metafunc, name):
    for holder in (metafunc.cls, metafunc.module):
        found = inspect.getattr_static(holder, name, None) if holder else None  # a class's would be bound
        if found is not None and hasattr(found, "_baton_group"):
            return found._baton_group
    return None
