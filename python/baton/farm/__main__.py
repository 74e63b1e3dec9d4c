"""The farm's process: jobs as lines of JSON on standard input, results on standard output."""
import argparse
import asyncio
import os
import queue
import sys
import threading

# As a package of its own: importing baton would load the compiler. At the end: its names must not hide others.
sys.path[0:1] = []
sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def main():
    parser = argparse.ArgumentParser(prog="baton.farm", description=__doc__)
    parser.add_argument("--on", required=True, help="ssh://HOST,..., dask://SCHEDULER:PORT, or slurm")
    parser.add_argument("--runner", default="", help="baton-runner on the workers' machines")
    parser.add_argument("--trusted-keys", default="", help="its flag of that name, a file on this machine")
    parser.add_argument("--wait", type=float, default=60, help="its flag of that name")
    parser.add_argument("--under-load", action="store_true", help="its flag of that name")
    parser.add_argument("--worker-wait", type=float, default=60, help="seconds to wait for a machine that there is not")
    parser.add_argument("--tls-ca-file", default="")
    parser.add_argument("--tls-cert", default="")
    parser.add_argument("--tls-key", default="")
    options = parser.parse_args()
    wire = Wire()
    try:
        from farm import dispatch, places
    except ImportError as error:
        wire.say({"error": f"the farm needs distributed and dask-jobqueue in {sys.executable} ({error}): "
                           "pip install 'baton-compiler[farm]', or name another Python with BATON_PYTHON"})
        wire.close()
        return 1
    try:
        asyncio.run(dispatch.run(options, wire, places))
        return 0
    except places.Gone as error:
        wire.say({"error": str(error)})
        return 1
    finally:
        wire.close()


class Wire:
    """Lines from and to the C++ side, each by a thread: neither side's pauses hold up the event loop."""

    def __init__(self):
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # whatever else prints, prints to standard error
        self._lines = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    def say(self, message):
        import json

        self._lines.put(json.dumps(message))

    def listen(self, each):
        """Calls each(line) in a thread, and each(None) at the end."""
        def read():
            for line in sys.stdin:
                each(line)
            each(None)

        threading.Thread(target=read, daemon=True).start()

    def close(self):
        self._lines.put(None)
        self._writer.join(10)

    def _write(self):
        while (line := self._lines.get()) is not None:
            try:
                print(line, file=self._out, flush=True)
            except OSError:  # nobody reads any more
                os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
