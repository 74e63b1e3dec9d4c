"""Bar of the farm: what a row costs more on a worker of distributed on this machine than in the runner of `--on local`. Prints "bar,
measured, ok"; 1 when it is missed. Both measure the same design in turns. Every kernel is sampled for the same fixed time (no
coefficient of variation ends it), so what differs is the way of jobs and rows: (measuring seconds of the one - those of the other) /
rows of kernels, the median of all rounds. The first round fills the cache of kernels and does not count.
On a quiet machine: `./baton python bench/bars/farm.py [--program build/release/baton] [--rounds 5]`"""
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
SECONDS = 0.04  # of samples of each kernel
DASK = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}


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
    """(seconds of measuring, rows of kernels, waits of the reference included)."""
    store = folder / "s.db"
    store.unlink(missing_ok=True)
    done = subprocess.run([program, "measure", "--design", design, "--store", store, "--campaign", "bar", "--wait", "0", "--json",
                           "--on", on], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "BATON_PYTHON": sys.executable})
    report = json.loads(done.stdout)
    if report["failed"] or report["partial"]:
        sys.exit(f"{on}: {report}")
    connection = sqlite3.connect(store)
    rows = connection.execute("select count(*) from rows where kind = 'kernel'").fetchone()[0]
    connection.close()
    return report["measure_s"], rows


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "baton")
    flags.add_argument("--rounds", type=int, default=5)
    flags.add_argument("--patterns", type=int, default=96)
    given = flags.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        design = folder / "design.json"
        design.write_text(json.dumps({"patterns": given.patterns, "seed": 5, "visits": 1,
                                      "protocol": {"max_seconds": SECONDS, "cv": 1e-12, "min_samples": 1}}), encoding="utf-8")
        port = free_port()
        os.environ.setdefault("BATON_RUNNER", str(given.program.with_name("baton-runner")))
        os.environ.setdefault("BATON_BUNDLE_CACHE", str(folder / "bundles"))
        processes = [start("distributed.cli.dask_scheduler", "--port", str(port))]
        try:
            wait_for(port)
            processes.append(start("distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-nanny", "--resources",
                                   "machine=1", "--local-directory", str(folder)))
            over, here_s, there_s, rows = [], [], [], 0
            for round_ in range(given.rounds + 1):
                local, rows = measure(given.program, folder, design, "local")
                farm, farm_rows = measure(given.program, folder, design, f"dask://127.0.0.1:{port}")
                if rows != farm_rows:
                    sys.exit(f"{rows} rows of local, {farm_rows} of the farm")
                if round_:
                    over.append((farm - local) * 1e3 / rows)
                    here_s.append(local)
                    there_s.append(farm)
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()
    worst = statistics.median(over)
    print(f"{'a row of --on dask:// beside one of --on local':<62} bar <= {BAR_MS:<10} ms   measured {worst:9.2f}  "
          f"{'ok' if worst <= BAR_MS else 'MISSED'}")
    print(f"{given.rounds} rounds of {rows} rows: {min(over):.2f} to {max(over):.2f} ms more a row; "
          f"local {1e3 * statistics.median(here_s) / rows:.1f}, dask {1e3 * statistics.median(there_s) / rows:.1f} ms a row in all")
    return 0 if worst <= BAR_MS else 1


if __name__ == "__main__":
    sys.exit(main())
