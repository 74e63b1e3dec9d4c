"""Options that `./baton test` hands on: --filter, --slow."""
import importlib.util
import os
import re
import signal

import pytest


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run tests marked slow, and peers where they are installed")
    parser.addoption("--filter", default="", help="only tests whose id matches this regular expression")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds; only with --slow")
    config.addinivalue_line("markers", "peers: compares with other engines (tools/requirements-bench.txt); only with --slow")
    # Shells make background jobs ignore Ctrl-C, and what is ignored stays so in children: its tests would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    def chosen(item):
        if not re.search(config.getoption("--filter"), item.nodeid):
            return False
        marks = {mark.name for mark in item.iter_markers()}
        return config.getoption("--slow") or not marks & {"slow", "peers"}

    kept, dropped = [], []
    for item in items:
        (kept if chosen(item) else dropped).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=dropped)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """Processor time of the test itself, for the limit of tools/house/checks.py; fixtures are shared, and not counted."""
    before = sum(os.times()[:4])
    yield
    item.user_properties += [("cpu_s", f"{sum(os.times()[:4]) - before:.3f}"),
                             ("slow", any(mark.name in ("slow", "peers") for mark in item.iter_markers()))]


@pytest.fixture(scope="session")
def onnxruntime():
    """The peer compiler; asked for by tests marked `peers`."""
    assert importlib.util.find_spec("onnxruntime"), "run them with ./baton test --slow, which installs it"
    import onnxruntime

    return onnxruntime
