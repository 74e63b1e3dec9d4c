"""Nothing public ends the process, hangs, or blames Baton, whatever it is called with (junk_calls.py)."""
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(
    os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each)}


def answered_wrongly(tmp_path, seed, calls_each):
    log = tmp_path / "last call"
    done = subprocess.run([sys.executable, os.path.join(HERE, "junk_calls.py"), str(seed), str(calls_each), "0", "1", str(log)],
                          cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, errors="replace", timeout=900, check=False)
    last = log.read_text(errors="replace") if log.exists() else "nothing yet"
    assert done.returncode == 0, f"the process ended with {done.returncode} in {last}\n{done.stderr[-3000:]}"
    count, _, wrong = done.stdout.partition(" calls\n")
    assert int(count) > 1000 * calls_each
    return wrong.strip()


@pytest.mark.parametrize("seed", [1, 2])
def test_calls_with_junk(tmp_path, seed):
    assert not answered_wrongly(tmp_path, seed, 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 11))
def test_many_calls_with_junk(tmp_path, seed):
    assert not answered_wrongly(tmp_path, seed, 20)
