"""A plug-in of pytest for processes that `python -m baton.tvm` starts: `import tvm` is Baton, and testing.plugin is there, once.

$PYTEST_PLUGINS names it, so that processes which pytest starts have it, too.
"""
from ..tvm import install

install()


def pytest_configure(config):
    """Loads testing.plugin, unless a conftest.py has."""
    from . import plugin

    if not config.pluginmanager.is_registered(plugin):
        config.pluginmanager.register(plugin, "baton.testing.plugin")
