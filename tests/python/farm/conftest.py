import os
import pathlib
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))


@pytest.fixture(name="spoiling")
def _spoiling(tmp_path):
    """A program that runs spoiling_runner.py, and obeys files in `tmp_path`."""
    from cluster import RUNNER

    script = pathlib.Path(__file__).with_name("spoiling_runner.py")
    program = tmp_path / "runner.sh"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {script} {tmp_path} {RUNNER} "$@"\n', encoding="utf-8")
    program.chmod(0o700)
    return program
