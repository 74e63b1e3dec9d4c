"""Makes programs.py importable, whatever folder pytest was started in."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def pytest_configure(config):
    """The mark of tvm.testing.uses_gpu."""
    config.addinivalue_line("markers", "gpu: runs on a GPU where there is one")
