"""The protocol of a peer of `baton bench`: a process that times bursts of runs on request.

It is started as: python run_NAME.py MODEL.relay PARAMS.npz INPUTS.npz THREADS [MODEL.onnx]
Its first line is {"version"}. Then it reads one request per line from standard input: `burst MS` runs for at least MS
milliseconds and answers with one line of JSON {"runs", "cpu", "wall"} (seconds in all); `output FILE.npy` writes the
first output of the model; `profile STEM` writes what the engine says of its own steps to files that begin with STEM, and answers
with their paths: {"profile"}, and {"optimized"} where the engine saves the model that it made of the file.
"""
import json
import resource
import signal
import sys
import time

import numpy as np

# Ctrl-C reaches the peers of a program as well; it says what is to be said.
signal.signal(signal.SIGINT, signal.SIG_DFL)


def serve(version, run, timed=None, profile=None):
    """Answers requests until standard input ends. `run`: takes nothing, returns the model's first output as a new numpy array.
    `timed`: what bursts call instead. `profile`: takes the files' stem, returns their paths."""
    timed = timed or run
    output = run()
    print(json.dumps({"version": version}), flush=True)
    for line in sys.stdin:
        verb, value = line.split(None, 1)
        if verb == "output":
            np.save(value.strip(), output)
            print("{}", flush=True)
            continue
        if verb == "profile":
            print(json.dumps(profile(value.strip())), flush=True)
            continue
        runs, end = 0, time.perf_counter() + float(value) / 1e3
        cpu, wall = cpu_seconds(), time.perf_counter()
        while runs < 2 or time.perf_counter() < end:
            timed()
            runs += 1
        print(json.dumps({"runs": runs, "cpu": cpu_seconds() - cpu, "wall": time.perf_counter() - wall}), flush=True)


def cpu_seconds():
    """CPU time of all threads of this process."""
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime


def onnx_bytes(relay, params, onnx=None):
    """The model for engines that read ONNX: the file `onnx` if there is one, else converted."""
    if onnx:
        with open(onnx, "rb") as file:
            return file.read()
    import relay_to_onnx

    with open(relay, encoding="utf-8") as file:
        return relay_to_onnx.convert(file.read(), dict(np.load(params)))
