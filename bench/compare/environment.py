"""The program, the Python module and the peers' environment for the scripts of this folder.

`become_ready()` makes all of it with the wheels of tools/requirements*.txt (build/venv), as
`./baton bench --peers` does, and starts the script again there. Where $BATON_PROGRAM names a program and $PYTHONPATH the
package, these are taken as they are, with the Python that runs the script.
"""
import contextlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def become_ready():
    """Returns in a Python that has the package and the peers; else ends the process with the reason."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.environ["BATON_ROOT"] = str(ROOT)
    if "BATON_PROGRAM" not in os.environ:
        _install()
    os.environ["BATON_PYTHON"] = sys.executable
    sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench" / "peers")]
    missing = [name for name in ("baton", "numpy", "onnx", "onnxruntime", "openvino") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"{sys.executable} has no {', '.join(missing)}\n  do: unset BATON_PROGRAM, so that everything is installed here, or "
                 "install tools/requirements-data.txt and tools/requirements-bench.txt, and set PYTHONPATH")


def _install():
    sys.path.insert(0, str(ROOT / "tools"))
    from house import setup, state
    from house.report import Failure

    build = state.Build(str(ROOT), os.environ.get("BATON_PRESET") or "release")
    try:
        setup.prepare(build, "baton", wheel_sets=("data", "bench"))
        setup.prepare(build, "_baton", wheel_sets=("data", "bench"))
    except Failure as failure:
        sys.exit(str(failure))
    python = state.venv_python(build.root)
    os.environ["BATON_PROGRAM"] = build.program
    build.offer_package()
    os.execv(python, [python, *sys.argv])


class Failed(Exception):
    """The program ended with an error; it is told on standard error."""


def program(*arguments):
    """The JSON that `baton ARGUMENTS --json` prints; its progress and errors go to standard error."""
    command = [os.environ["BATON_PROGRAM"], *map(str, arguments), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: status {done.returncode}")
    return json.loads(done.stdout)


def about():
    """What results are worth nothing without."""
    import datetime
    import platform

    def first(command):
        try:
            return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""

    with open("/proc/cpuinfo", encoding="utf-8") as file:
        name = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return {"date": datetime.date.today().isoformat(), "commit": first(["git", "describe", "--always", "--dirty"]), "processor": name,
            "processors": len(os.sched_getaffinity(0)), "system": platform.platform()}


def write(path, results):
    """Writes atomically: an interrupted run leaves what it had."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    os.replace(temporary, path)


@contextlib.contextmanager
def interruptible(path, results):
    """Ctrl-C ends the program with 130; `results` are then written, marked as partial."""
    try:
        yield
    except KeyboardInterrupt:
        results["partial"] = True
        write(path, results)
        print(f"interrupted; what was measured is in {path}", file=sys.stderr)
        sys.exit(130)
