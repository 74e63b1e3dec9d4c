"""A plug-in of pytest (`pytest_plugins = ["baton.testing.plugin"]` in a conftest.py, or `python -m baton.tvm -m pytest`): tests that take
`target` and `dev` run on what can be built for, and fixtures of testing.parameters vary together without skipped combinations."""
import inspect

import pytest

from .fixtures import _is_of, target_cases
from .utils import device_enabled, enabled_targets


@pytest.fixture(params=[each for each, _ in enabled_targets()])
def target(request):
    """Every target that can be built for."""
    return request.param


@pytest.fixture
def dev(target):
    """The device of `target`."""
    from .. import device

    return device(str(target).split()[0]) if device_enabled(str(target)) else None


def pytest_configure(config):
    """The marks that testing uses."""
    config.addinivalue_line("markers", "gpu: runs on a GPU where there is one")
    config.addinivalue_line("markers", "baton_targets(*targets): what a test runs on that takes `target` by a fixture")
    config.addinivalue_line("markers", "baton_except(act, *targets): what becomes of a test on some targets")


def pytest_runtest_call(item):
    """Skips or expects to fail: tests that take `target` by a fixture alone."""
    chosen = getattr(item, "callspec", None) and item.callspec.params.get("target")
    for mark in item.iter_markers("baton_except"):
        if chosen is not None and _is_of(str(chosen), mark.args[1:]):
            mark.args[0](str(chosen))


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Sets targets, and fixtures of one testing.parameters() at once: by a mark, which pytest prefers to a fixture's own parameters."""
    _set_targets(metafunc)
    groups = {}
    for name in metafunc.fixturenames:
        for definition in metafunc._arg2fixturedefs.get(name, ())[-1:]:
            found = getattr(definition.func, "_baton_group", None) or _group_of(metafunc, name)
            if found:
                groups.setdefault(id(found[0]), []).append((name, found))
    for members in groups.values():
        sets = members[0][1][2]
        cases = [pytest.param(*(values[column] for _, (_, column, _) in members), id=label, marks=marks) for values, label, marks in sets]
        metafunc.definition.add_marker(pytest.mark.parametrize([name for name, _ in members], cases))


def _set_targets(metafunc):
    mark = metafunc.definition.get_closest_marker("baton_targets")
    if mark is None or "target" not in metafunc.fixturenames:
        return
    if any("target" in str(each.args[0]) for each in metafunc.definition.iter_markers("parametrize")):
        return
    metafunc.definition.add_marker(pytest.mark.parametrize("target", target_cases(mark.args)))


def _group_of(metafunc, name):
    for holder in (metafunc.cls, metafunc.module):
        found = inspect.getattr_static(holder, name, None) if holder else None  # a class's would be bound
        function = getattr(found, "_fixture_function", found)
        if function is not None and hasattr(function, "_baton_group"):
            return function._baton_group
    return None
