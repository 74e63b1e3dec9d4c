"""A scheduler and workers of distributed as processes of this machine, and `baton measure` beside them."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import sys
import time

import psutil

PROGRAM = os.environ["BATON_PROGRAM"]
RUNNER = str(pathlib.Path(PROGRAM).with_name("baton-runner"))
PATIENCE_S = 120  # for what takes a second on a machine that is not busy
QUIET = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False", "BATON_PYTHON": sys.executable}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(condition, what, process=None):
    """What `condition` gives once it is true; `process` must not end before."""
    end = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert process is None or process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end, f"{what} did not happen in {PATIENCE_S} s"
        time.sleep(0.02)
    return found


def descendants(pid):
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def end_all(processes):
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


class Cluster:
    """Each worker is a machine of its own: it has a name, a lock and a cache of bundles."""

    def __init__(self, folder, runner=RUNNER, flags=()):
        self.folder, self.runner, self.flags = pathlib.Path(folder), str(runner), list(flags)
        self.port = free_port()
        self.protocol = "tls" if flags else "tcp"
        self.scheduler, self.workers = None, {}

    def __enter__(self):
        self.start_scheduler()
        return self

    def __exit__(self, *_):
        for process in [self.scheduler, *self.workers.values()]:
            end_all([*descendants(process.pid), process])
            process.wait()

    @property
    def on(self):
        return f"dask://127.0.0.1:{self.port}"

    def _start(self, name, module, words, environment):
        with open(self.folder / f"{name}.log", "a", encoding="utf-8") as log:
            return subprocess.Popen([sys.executable, "-m", module, *map(str, words), "--no-dashboard", "--dashboard-address", "127.0.0.1:0",
                                     *self.flags], stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**os.environ, **environment})

    def start_scheduler(self):
        self.scheduler = self._start("scheduler", "distributed.cli.dask_scheduler", ["--host", "127.0.0.1", "--port", self.port], {})
        until(self._listens, "a scheduler")

    def _listens(self):
        assert self.scheduler.poll() is None, self.log("scheduler")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def start_worker(self, name, resources=("--resources", "machine=1"), **environment):
        words = [f"{self.protocol}://127.0.0.1:{self.port}", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--name", name,
                 "--local-directory", self.folder / "dask", *resources]
        self.workers[name] = self._start(name, "distributed.cli.dask_worker", words, {
            **QUIET, "BATON_RUNNER": self.runner, "BATON_MACHINE": name, "BATON_MACHINE_LOCK": str(self.folder / f"{name}.lock"),
            "BATON_BUNDLE_CACHE": str(self.folder / f"{name}.bundles"), **environment})

    def wait_for_workers(self):
        until(lambda: self.log("scheduler").count("Starting worker compute stream") >= len(self.workers), "all workers")

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(encoding="utf-8")

    def runners(self):
        return [process for worker in self.workers.values() for process in descendants(worker.pid)]

    # -- kills: nobody has time to say good-bye

    def kill_runner(self, choose):
        if runners := self.runners():
            end_all([choose.choice(runners)])

    def kill_worker(self, choose):
        name = choose.choice(sorted(self.workers))
        self.workers[name].kill()
        self.workers[name].wait()
        self.start_worker(name)

    def kill_scheduler(self, _):
        """Workers end when their scheduler does."""
        for process in [self.scheduler, *self.workers.values()]:
            process.kill()
            process.wait()
        self.start_scheduler()
        for name in list(self.workers):
            self.start_worker(name)


class Campaign:
    """One command that can be started again and again."""

    def __init__(self, folder, on, *words, **design):
        self.folder, self.store = pathlib.Path(folder), pathlib.Path(folder) / "s.db"
        (self.folder / "design.json").write_text(json.dumps({"visits": 1, "protocol": {"max_seconds": 0.1}, **design}), encoding="utf-8")
        self._words = ["--design", self.folder / "design.json", "--store", self.store, "--campaign", "c", "--seed", "5"]
        self._place = ["--on", on, "--wait", "0", "--json", *words]
        self.environment = {**os.environ, "BATON_MACHINE": "asks", "BATON_MACHINE_LOCK": str(self.folder / "lock"),
                            "BATON_PYTHON": sys.executable}

    def command(self, *words):
        return [PROGRAM, "measure", *map(str, [*self._words, *self._place, *words])]

    def start(self, *words):
        return subprocess.Popen(self.command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment)

    def run(self, *words):
        """(exit status, standard output, standard error)."""
        process = self.start(*words)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    def report(self, *words):
        status, out, err = self.run(*words)
        assert status == 0, err
        return json.loads(out)

    def planned(self):
        return {each["configuration"] for each in self.report("--dry-run")["configurations"]}

    def sql(self, statement):
        if not self.store.exists():
            return []
        connection = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=30)
        try:
            return connection.execute(statement).fetchall()
        except sqlite3.OperationalError:  # a store that is being made
            return []
        finally:
            connection.close()

    def rows(self):
        """(configuration, node, cache) of what was measured or has failed."""
        return self.sql("select configuration, node, cache from rows where kind != 'reference'")

    def failures(self):
        return self.sql("select configuration, machine, unreliable from rows where unreliable like 'failed: %'")

    def check_whole(self):
        assert self.sql("pragma integrity_check") == [("ok",)]
        rows = self.rows()
        assert len(rows) == len(set(rows)), "rows are there twice"
        return {row[0] for row in rows}


def interrupt(process):
    process.send_signal(signal.SIGINT)
