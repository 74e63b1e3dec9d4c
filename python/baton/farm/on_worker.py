"""What runs in a worker: the cache of bundles, and the runner. Sent there by value: a worker's machine needs distributed and
baton-runner, and nothing else of Baton."""
import contextlib
import hashlib
import json
import os
import pickle
import select
import shutil
import signal
import subprocess
import tempfile
import time

from distributed import get_worker
from distributed.diagnostics.plugin import WorkerPlugin

SIDE = "baton-farm-"  # begins the name of a WorkerSide, and the keys of its jobs
GRACE_S = 1  # beyond a job's time limit: loading the bundle, and writing the answer
CACHE_BYTES = 8 << 30


class Content:
    """A file's bytes, which travel as they are: pickled with the rest they would be copied several times."""

    def __init__(self, data):
        self.data = data

    def __reduce_ex__(self, protocol):
        return Content, (pickle.PickleBuffer(self.data),)


class WorkerSide(WorkerPlugin):
    """One on each worker."""

    def __init__(self, name, runner, flags, keys):
        self.name = name
        self._program, self._flags, self._keys = runner, flags, keys

    def setup(self, worker=None):
        self._process, self._received, self._greeting = None, b"", None
        self._cache = os.environ.get("BATON_BUNDLE_CACHE") or os.path.join(
            os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "baton", "bundles")

    def teardown(self, worker=None):
        self._kill()

    def transition(self, key, start, finish, **_):
        """Who asked is gone: the machine is free for the next one at once."""
        if start in ("executing", "long-running") and finish in ("cancelled", "released") and str(key).startswith(self.name):
            self._kill()

    def _kill(self):
        """From the event loop; the thread that waits for the runner sees its end."""
        process = self._process
        if process and process.poll() is None:
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(1)

    def greet(self):
        """The runner's greeting, where bundles are kept here, and which there are."""
        # Farms that were killed left theirs; one that still lives starts its own anew.
        for name, other in get_worker().plugins.items():
            if name.startswith(SIDE) and name != self.name:
                other._end()
        try:
            os.makedirs(self._cache, mode=0o700, exist_ok=True)
            held = [name for name in os.listdir(self._cache) if len(name) == 64]
            self._start()
        except (OSError, RuntimeError) as error:
            return {"error": str(error)}
        return {"greeting": self._greeting, "cache": self._cache, "held": held}

    def measure(self, job, digest, files):
        """The runner's answer, a line of JSON; {"need": true} when the bundle is not here."""
        folder = os.path.join(self._cache, digest)
        if files is not None:
            self._keep(folder, digest, files)
        if not os.path.isdir(folder):
            return {"need": True}
        os.utime(folder)
        answer = self._ask({**job, "bundle": folder})
        if answer.get("refused") and files is None:  # damaged here: it is sent once more
            shutil.rmtree(folder, ignore_errors=True)
            return {"need": True}
        return {"answer": answer}

    def _keep(self, folder, digest, files):
        if hashlib.sha256(files["manifest.json"].data).hexdigest() != digest:
            raise ValueError("the bundle that arrived is not the one that was announced")
        self._make_room(sum(len(content.data) for content in files.values()))
        new = tempfile.mkdtemp(prefix=".new-", dir=self._cache)
        for name, content in files.items():
            with open(os.path.join(new, os.path.basename(name)), "wb") as file:
                file.write(content.data)
        shutil.rmtree(folder, ignore_errors=True)
        try:
            os.rename(new, folder)
        except OSError:  # another worker of this machine was faster
            shutil.rmtree(new, ignore_errors=True)

    def _make_room(self, wanted):
        """Removes the bundles that were not used for longest."""
        most = int(os.environ.get("BATON_BUNDLE_CACHE_BYTES") or CACHE_BYTES)
        held = []
        for entry in os.scandir(self._cache):
            try:
                held.append((entry.stat().st_mtime, sum(file.stat().st_size for file in os.scandir(entry.path)), entry.path))
            except OSError:
                continue  # removed meanwhile
        total = wanted + sum(size for _, size, _ in held)
        for _, size, path in sorted(held):
            if total <= most:
                break
            shutil.rmtree(path, ignore_errors=True)
            total -= size

    def _start(self):
        if self._process and self._process.poll() is None:
            return
        self._end()
        program = self._program or os.environ.get("BATON_RUNNER") or shutil.which("baton-runner")
        if not program:
            raise RuntimeError("there is no baton-runner: put it into PATH there, or name it with BATON_RUNNER")
        flags = list(self._flags)
        if self._keys or os.environ.get("BATON_TRUSTED_KEYS"):
            # Whoever owns the machine decides; else whoever measures.
            path = os.environ.get("BATON_TRUSTED_KEYS")
            if not path:
                path = os.path.join(self._cache, ".trusted-" + hashlib.sha256(self._keys.encode()).hexdigest()[:16])
                with open(path, "w", encoding="utf-8") as file:
                    file.write(self._keys)
            flags += ["--trusted-keys", path]
        self._process = subprocess.Popen([program, "--serve", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         start_new_session=True)
        self._received = b""
        line = self._line(time.monotonic() + 30)
        if not line:
            raise RuntimeError(f"{program} {self._end() or 'said nothing for 30 s'} before it greeted")
        self._greeting = json.loads(line)

    def _ask(self, job):
        """One job, by at most three processes until it has begun."""
        for _ in range(3):
            try:
                self._start()
                self._process.stdin.write(json.dumps(job).encode() + b"\n")
                self._process.stdin.flush()
            except BrokenPipeError:
                continue
            except (OSError, RuntimeError) as error:
                return self._failed(job, str(error), retry=True)
            limit, begun = float(job["protocol"]["time_limit_s"]), False
            until = None
            while True:
                line = self._line(until)
                if line is None and self._process.poll() is None and until is not None and time.monotonic() >= until:
                    self._end()
                    return self._failed(job, f"no answer in {limit:g} s: the runner was ended")
                if line is None:
                    how = self._end() or "closed its output"
                    if not begun:
                        break
                    lost = "signal 9 " in how or "signal 15 " in how  # killed from outside: not the job's fault
                    return self._failed(job, f"the runner {how}", retry=lost)
                if line == b'{"begun":true}':
                    begun, until = True, time.monotonic() + limit + GRACE_S
                    continue
                try:
                    return json.loads(line)
                except ValueError:
                    self._end()
                    return self._failed(job, f"the runner answered what is no JSON: {line[:200]!r}")
        return self._failed(job, "the runner ended three times before it measured anything", retry=True)

    def _line(self, until):
        """The runner's next line; None at its end, or after `until`."""
        output = self._process.stdout
        while b"\n" not in self._received:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([output], [], [], left)[0]:
                return None
            block = os.read(output.fileno(), 1 << 16)
            if not block:
                return None
            self._received += block
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _end(self):
        """Kills it; how it had ended, "" when it had not."""
        process, self._process = self._process, None
        if not process:
            return ""
        status = None
        try:
            status = process.wait(0.05)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for pipe in (process.stdin, process.stdout):
            try:
                pipe.close()
            except OSError:
                pass
        if status is None:
            return ""
        if status >= 0:
            return f"ended with status {status}"
        return f"was killed by signal {-status} ({signal.strsignal(-status)})"

    def _failed(self, job, error, retry=False):
        result = {"id": job["id"], "error": error, "rows": []}
        if self._greeting:
            result.update(machine=self._greeting["machine"], sheet=self._greeting["sheet"])
        return {**result, "retry": True} if retry else result
