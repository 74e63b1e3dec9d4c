"""The virtual environment build/venv with the pinned wheels."""
import json
import os
import shutil
import sys

from . import state
from .report import Failure, explain

PINS = "tools/requirements.txt"  # what every build needs
SETS = {name: f"tools/requirements-{name}.txt" for name in ("data", "onnx", "tests", "bench")}  # and what only some calls need


def ensure(steps, root, sets, keep):
    """Makes build/venv hold the pinned wheels of every build, and those of `sets`; nothing that is not pinned.

    `build/venv.stamp` names what the environment holds and is written last: an environment without it was interrupted
    and is made anew. A symbolic link is a user-provided environment: it is checked and never changed.
    """
    venv = os.path.join(root, "build", "venv")
    files = [PINS, *(SETS[name] for name in sets)]
    wanted = [pin for name in files for pin in read_pins(os.path.join(root, name))]
    stamp = os.path.join(root, "build", "venv.stamp")
    held = _read_stamp(stamp)
    made_here = held.get("path") == os.path.realpath(venv) and os.path.exists(state.venv_python(root))
    if made_here and set(wanted) <= set(held.get("pins", [])):
        return

    if os.path.islink(venv):
        _check_foreign(steps, root, wanted)
    else:
        _remove(stamp)
        if not made_here:
            steps.step("making the virtual environment build/venv")
            shutil.rmtree(venv, ignore_errors=True)
            _run(steps, [sys.executable, "-m", "venv", venv], keep, "cannot make the virtual environment")
        steps.step(f"installing {len(wanted)} wheels")
        _run(steps, [state.venv_python(root), "-m", "pip", "install", "--no-deps", "--no-input",
                     "--disable-pip-version-check", "--retries", "2", "--only-binary", ":all:", "--progress-bar", "off",
                     *(word for name in files for word in ("-r", os.path.join(root, name)))],
             keep, "cannot install the wheels")
    temporary = stamp + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump({"path": os.path.realpath(venv), "pins": wanted}, file)
    os.replace(temporary, stamp)


def read_pins(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.split("#")[0].strip() for line in file]
    return [line for line in lines if line]


def _run(steps, command, keep, what):
    status, output = steps.run(command, keep=keep)
    if status != 0:
        raise explain(what, command, output,
                      "connect this machine to its Python package index (see `pip config list`), then run the same "
                      "command again",
                      f"see {steps.log_path}, then run the same command again")


def _check_foreign(steps, root, wanted):
    status, output = steps.run([state.venv_python(root), "-m", "pip", "freeze", "--all"])
    held = {_normal(line) for line in output.splitlines()} if status == 0 else set()
    wrong = [pin for pin in wanted if _normal(pin) not in held]
    if wrong:
        raise Failure("build/venv is a link to an environment without the pinned wheels",
                      seen="not there: " + " ".join(wrong),
                      todo="install them there, or remove the link build/venv")


def _normal(pin):
    return pin.lower().replace("_", "-")


def _read_stamp(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def _remove(path):
    try:
        os.remove(path)
    except FileNotFoundError:
        pass
