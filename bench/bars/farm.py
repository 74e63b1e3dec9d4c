"""Bar of the farm: what a row costs more on a worker of distributed on this machine than in the runner of `--on local`. Prints "bar,
measured, ok"; 1 when it is missed.

Both measure the same design in turns. A runner that plays back takes the place of baton-runner: the first campaign records what
baton-runner answers to each job, and from then on the same answer comes after a fixed time. So the machine's state is not part of
the difference, which is that of the ways of jobs, bundles and rows: (seconds of measuring with the one - those with the other) / rows of
kernels and models in the store; the median of the rounds is judged, for patterns and whole models in the proportions of
bench/dataset/design.json. The same for patterns alone, whose bundles have one or two rows, is printed beside it.
`./baton python bench/bars/farm.py [--program build/release/baton] [--rounds 5]`"""
import argparse
import json
import os
import pathlib
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BAR_MS = 5
JOB_S = 0.03  # of a job that is played back
DASK = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}


def play_back(folder, real, flags):
    """A baton-runner that asks the real one only what is not recorded."""
    folder, runner = pathlib.Path(folder), None

    def ask(line):
        nonlocal runner
        if runner is None:
            runner = subprocess.Popen([real, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            greeting = runner.stdout.readline()
            if line is None:
                return greeting
        runner.stdin.write(line)
        runner.stdin.flush()
        runner.stdout.readline()  # it has begun
        return runner.stdout.readline()

    def recorded(name, line):
        path = folder / name
        if not path.exists():
            path.write_text(ask(line), encoding="utf-8")
        return path.read_text(encoding="utf-8")

    print(recorded("greeting", None), end="", flush=True)
    for line in sys.stdin:
        answer = json.loads(recorded(json.loads(line)["id"].partition("@")[0], line))
        print('{"begun":true}', flush=True)
        time.sleep(JOB_S)
        print(json.dumps({**answer, "id": json.loads(line)["id"]}), flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(module, *words):
    return subprocess.Popen([sys.executable, "-m", module, *words, "--host", "127.0.0.1", "--no-dashboard", "--dashboard-address",
                             "127.0.0.1:0"], env={**os.environ, **DASK}, stderr=subprocess.DEVNULL)


def wait_for(port):
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    sys.exit("the scheduler did not start")


def measure(program, folder, design, on):
    """(seconds of measuring, rows)."""
    store = folder / "s.db"
    store.unlink(missing_ok=True)
    done = subprocess.run([program, "measure", "--design", design, "--store", store, "--campaign", "bar", "--wait", "0", "--json",
                           "--on", on], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "BATON_PYTHON": sys.executable})
    report = json.loads(done.stdout)
    if report["failed"] or report["partial"]:
        sys.exit(f"{on}: {report}")
    connection = sqlite3.connect(store)
    rows = connection.execute("select count(*) from rows where kind in ('kernel', 'model')").fetchone()[0]
    connection.close()
    return report["measure_s"], rows


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "baton")
    flags.add_argument("--rounds", type=int, default=5)
    flags.add_argument("--patterns", type=int, default=50)
    flags.add_argument("--models", type=int, default=1, help="of each family")
    given = flags.parse_args()
    patterns = {"patterns": given.patterns, "seed": 5, "visits": 1, "protocol": {"max_seconds": 0.05}}
    designs = {"patterns and whole models": {**patterns, "families": [{"family": "all", "count": given.models}]}, "patterns alone": patterns}
    over = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        design, answers, runner = folder / "design.json", folder / "answers", folder / "runner"
        answers.mkdir()
        runner.write_text(f"#!/bin/sh\nexec {sys.executable} {pathlib.Path(__file__).resolve()} --play-back {answers} "
                          f'{given.program.with_name("baton-runner")} "$@"\n', encoding="utf-8")
        runner.chmod(0o700)
        os.environ.update(BATON_RUNNER=str(runner), BATON_BUNDLE_CACHE=str(folder / "bundles"))
        port = free_port()
        processes = [start("distributed.cli.dask_scheduler", "--port", str(port))]
        try:
            wait_for(port)
            processes.append(start("distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-nanny", "--resources",
                                   "machine=1", "--local-directory", str(folder)))
            for what, asked in designs.items():
                design.write_text(json.dumps(asked), encoding="utf-8")
                rows = measure(given.program, folder, design, "local")[1]  # records
                local, farm = [], []
                for _ in range(given.rounds):
                    for on, seconds in (("local", local), (f"dask://127.0.0.1:{port}", farm)):
                        one, found = measure(given.program, folder, design, on)
                        if found != rows:
                            sys.exit(f"{on}: {found} rows, not {rows}")
                        seconds.append(one)
                over[what] = [(there - here) * 1e3 / rows for here, there in zip(local, farm)]
                print(f"{what}: {given.rounds} rounds of {rows} rows, {JOB_S * 1e3:.0f} ms a job: {min(over[what]):.2f} to {max(over[what]):.2f} "
                      f"ms more a row, median {statistics.median(over[what]):.2f}; in all {1e3 * statistics.median(local) / rows:.1f} ms a row on "
                      f"local, {1e3 * statistics.median(farm) / rows:.1f} on dask", flush=True)
        finally:
            for process in processes:  # a worker that is told to end waits for a scheduler that has ended
                process.kill()
                process.wait()
    more = statistics.median(over["patterns and whole models"])
    print(f"{'a row of --on dask:// beside one of --on local':<62} bar <= {BAR_MS:<10} ms   measured {more:9.2f}  "
          f"{'ok' if more <= BAR_MS else 'MISSED'}")
    return 0 if more <= BAR_MS else 1


if __name__ == "__main__":
    sys.exit(play_back(sys.argv[2], sys.argv[3], sys.argv[4:]) if sys.argv[1:2] == ["--play-back"] else main())
