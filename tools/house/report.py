"""Output of set-up: steps, a progress line on a terminal, one clear message on failure."""
import os
import re
import selectors
import shutil
import subprocess
import sys
import time


class Failure(Exception):
    """A set-up failure: what failed, what was seen, and what to do."""

    def __init__(self, what, *, seen="", command=(), todo="", output=""):
        super().__init__(what)
        self.what, self.seen, self.command, self.todo, self.output = what, seen, command, todo, output

    def __str__(self):
        lines = [self.output.rstrip()] if self.output else []
        lines.append(f"baton: {self.what}")
        if self.seen:
            lines.append(f"  seen:    {self.seen}")
        if self.command:
            lines.append(f"  command: {' '.join(self.command)}")
        if self.todo:
            lines.append(f"  do:      {self.todo}")
        return "\n".join(lines)


NO_SPACE = re.compile(r"^.*(?:No space left on device|ENOSPC|not enough free space|You don't have enough).*$", re.M)
NO_NETWORK = re.compile(
    r"^.*(?:Temporary failure|Could not resolve|Name or service not known|Network is unreachable|No route to host|"
    r"Connection refused|Connection timed out|Could not connect|Failed to establish a new connection|"
    r"NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|Unable to connect).*$", re.M)
NO_TRUST = re.compile(r"^.*(?:certificate verify failed|CERTIFICATE_VERIFY_FAILED|NO_PUBKEY).*$", re.M)
NO_MEMORY = re.compile(r"^.*(?:Killed signal terminated program|out of memory|virtual memory exhausted).*$", re.M)


def explain(what, command, output, network_todo, otherwise):
    """The Failure for a command that failed: known causes first, else the last line that looks like an error."""
    for pattern, cause, todo in (
        (NO_SPACE, "the disk is full", "free some space (about 2 GB are needed in all), then run the same command again"),
        (NO_MEMORY, "not enough memory", "close other programs or add swap, then run the same command again"),
        (NO_TRUST, "the server's certificate or key is not known here",
         "add it to this machine (or to pip's `cert` setting), then run the same command again"),
        (NO_NETWORK, "no network", network_todo),
    ):
        found = pattern.search(output)
        if found and todo:
            return Failure(f"{what}: {cause}", seen=found.group().strip()[:300], command=command, todo=todo)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(E:|ERROR|error|fatal|CMake Error)", line)]
    seen = (errors or lines or ["no output"])[-1][:300]
    return Failure(what, seen=seen, command=command, todo=otherwise)


class Steps:
    """Announces the steps and runs their commands. Everything the commands print also goes to a log file."""

    def __init__(self, log_path):
        self.log_path = log_path
        self.terminal = sys.stderr.isatty()
        self.title = ""
        self.began = self.last_line = 0.0
        self.shown = False

    def step(self, title):
        self.close()
        self.title = title
        self.began = self.last_line = time.monotonic()
        self._draw("")
        if not self.terminal:
            print(f"baton: {title}", file=sys.stderr, flush=True)

    def note(self, text):
        self._wipe()
        print(f"baton: {text}", file=sys.stderr, flush=True)

    def close(self):
        """Ends the step: on a terminal its line stays, with the time it took."""
        if self.title and self.terminal:
            self._wipe()
            print(f"baton: {self.title} ({time.monotonic() - self.began:.0f} s)", file=sys.stderr, flush=True)
        self.title = ""

    def run(self, command, *, environment=None, keep=()):
        """Runs `command` with no input. Returns its exit status and all it printed.

        `keep`: file descriptors the command inherits (the lock: it stays taken while any of its processes lives).
        """
        environment = {**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})}
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, env=environment, pass_fds=keep)
        except FileNotFoundError as error:
            return 127, f"{error.filename}: not found"
        output = bytearray()
        try:
            with open(self.log_path, "ab") as log, selectors.DefaultSelector() as ready:
                log.write(f"\n$ {' '.join(command)}\n".encode())
                ready.register(process.stdout, selectors.EVENT_READ)
                while True:
                    if ready.select(0.25):
                        piece = process.stdout.read1(65536)
                        if not piece:
                            break
                        output += piece
                        log.write(piece)
                        log.flush()
                    self._draw(_last_line(output))
            return process.wait(), output.decode("utf-8", "replace")
        except BaseException:
            process.terminate()
            process.wait()
            raise

    def _draw(self, detail):
        now = time.monotonic()
        if not self.title:
            return
        if self.terminal:
            width = shutil.get_terminal_size().columns
            line = f"baton: {self.title} ({now - self.began:.0f} s) {detail}"
            sys.stderr.write("\r\x1b[K" + line[: width - 1])
            sys.stderr.flush()
            self.shown = True
        elif detail and now - self.last_line >= 20:
            self.last_line = now
            print(f"baton:   {now - self.began:.0f} s: {detail[:140]}", file=sys.stderr, flush=True)

    def _wipe(self):
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            self.shown = False


def _last_line(output):
    tail = bytes(output[-600:]).decode("utf-8", "replace")
    lines = [line.strip() for line in re.split(r"[\r\n]", tail) if line.strip()]
    return re.sub(r"Building CXX object CMakeFiles/[^/]*\.dir/", "", lines[-1]) if lines else ""
