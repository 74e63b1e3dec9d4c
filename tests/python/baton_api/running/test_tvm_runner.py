"""`python -m baton.tvm script.py`: scripts that say `import tvm`, run as python runs them."""
import os
import subprocess
import sys

import pytest

# Scripts run in folders of their own.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(
    os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each)}

IDENTITY = """
import tvm, baton, sys
import tvm.relay as relay
import tvm.relay.transform as T
from tvm import relay as again
from tvm.relay import transform, testing
from tvm.contrib import graph_executor
import tvm.contrib.graph_executor as runtime
from tvm.relay.testing import resnet
from tvm.ir.instrument import pass_instrument
assert tvm is baton and relay is again is baton.relay and T is transform is baton.relay.transform
assert runtime is graph_executor is sys.modules["baton.contrib.graph_executor"] is sys.modules["tvm.contrib.graph_executor"]
assert tvm.relay.__name__ == "baton.relay" and tvm.relay.__spec__.name == "baton.relay" and tvm.__spec__.name == "baton"
assert resnet is tvm.relay.testing.resnet
print("same")
"""


def run(tmp_path, source, *arguments, flags=("-m", "baton.tvm"), name="script.py", **options):
    (tmp_path / name).write_text(source, encoding="utf-8")
    return subprocess.run([sys.executable, *flags, name, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=100, env=ENVIRONMENT, **options)


def test_modules_are_the_same(tmp_path):
    done = run(tmp_path, IDENTITY)
    assert (done.returncode, done.stdout, done.stderr) == (0, "same\n", "")


def test_in_a_program_of_ones_own(tmp_path):
    done = run(tmp_path, "import baton.tvm; baton.tvm.install(); baton.tvm.install()\n" + IDENTITY +
               "baton.tvm.uninstall()\ntry: import tvm\nexcept ModuleNotFoundError: print('gone')\n", flags=())
    assert (done.returncode, done.stdout, done.stderr) == (0, "same\ngone\n", "")


# What a script can see of how it was started must be what plain python shows it.
SEEN = """
import __main__, os, sys
print(sys.argv, __name__, os.path.basename(__file__), __main__.__dict__ is globals(), __spec__, __package__)
print(sorted(name for name in globals() if name.startswith("__")), os.path.realpath(sys.path[0]) == os.path.realpath(os.getcwd()))
import beside
print(beside.X, type(__loader__).__name__, type(__builtins__).__name__)
"""


def test_sees_what_plain_python_shows(tmp_path):
    (tmp_path / "beside.py").write_text("X = 3\n", encoding="utf-8")
    plain, ours = run(tmp_path, SEEN, "a", "-b", flags=()), run(tmp_path, SEEN, "a", "-b")
    assert plain.returncode == 0 and plain.stdout == ours.stdout and ours.stderr == ""


@pytest.mark.parametrize("source", [
    "def f():\n    raise ValueError('x')\nf()\n",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('y') from e\n",
    "import sys\nsys.exit(7)\n",
    "import sys\nsys.exit('a message')\n",
    "raise SystemExit\n",
    "x = (\n",
    "import sys\nsys.excepthook = lambda *a: print('mine', a[0].__name__, a[2].tb_frame.f_code.co_name)\n1 / 0\n",
    "import atexit\natexit.register(print, 'bye')\nraise RuntimeError\n",
    "raise KeyboardInterrupt\n",
    "import json\njson.loads('{')\n",
])
def test_ends_as_plain_python_does(tmp_path, source):
    plain, ours = run(tmp_path, source, flags=()), run(tmp_path, source)
    assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_a_module(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "tool.py").write_text("import sys, tvm\nprint(tvm.__name__, __name__, sys.argv[1:])\n1 / 0\n")
    done = subprocess.run([sys.executable, "-m", "baton.tvm", "-m", "package.tool", "x"], cwd=tmp_path, capture_output=True,
                          text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 1 and done.stdout == "baton __main__ ['x']\n"
    assert "runpy" not in done.stderr and "tvm.py" not in done.stderr and "ZeroDivisionError" in done.stderr


def test_no_script():
    call = [sys.executable, "-m", "baton.tvm"]
    done = subprocess.run([*call, "no/such.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "can't open file" in done.stderr and "Errno 2" in done.stderr
    assert subprocess.run(call, capture_output=True, check=False).returncode == 2
    assert "script.py [args]" in subprocess.run([*call, "--help"], capture_output=True, text=True, check=True).stdout


def test_refuses_beside_a_real_tvm(tmp_path):
    (tmp_path / "tvm.py").write_text("X = 1\n", encoding="utf-8")
    done = run(tmp_path, "import tvm, baton.tvm\ntry:\n    baton.tvm.install()\nexcept ImportError as e:\n    print(e)\n"
                         "assert tvm.X == 1", flags=())
    assert done.returncode == 0 and "already imported from" in done.stdout and "tvm.py" in done.stdout
    assert run(tmp_path, "import tvm\nprint(tvm.__name__)").stdout == "baton\n"  # one that was not imported is no matter


def test_what_there_is_not(tmp_path):
    done = run(tmp_path, """
import tvm
from tvm import te, autotvm
import tvm.topi
import baton.te
assert te is tvm.te is baton.te
for use in (lambda: te.placeholder((1,)), lambda: tvm.topi.nn.relu(1)):
    try:
        use()
    except NotImplementedError as error:
        print(error)
try:
    import tvm.relay.no_such
except ModuleNotFoundError as error:
    print(error.name, error)
""")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "te.placeholder" in lines[0] and "topi.nn.relu" in lines[1]
    assert lines[2].startswith("tvm.relay.no_such No module named 'tvm.relay.no_such': Baton does not provide it")
