"""ONNX Runtime as a peer of `baton bench`: a process that times bursts on request.

Started by `baton bench --peers ort` as: python ort.py MODEL.relay PARAMS.npz INPUT.npz THREADS
Reads one line per request from standard input: `burst MS` runs for at least MS milliseconds and answers with one line
of JSON {"runs", "cpu", "wall"} (seconds in all); `output FILE.npy` writes the first output.
"""
import json
import os
import resource
import sys
import time

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402

import relay_to_onnx  # noqa: E402


def cpu_seconds():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime


def main(relay, params, inputs, threads):
    with open(relay) as file:
        model = relay_to_onnx.convert(file.read(), dict(np.load(params)))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    del model
    feed = dict(np.load(inputs))
    output = session.run(None, feed)[0]
    print(json.dumps({"version": "onnxruntime " + onnxruntime.__version__}), flush=True)
    for line in sys.stdin:
        verb, value = line.split(None, 1)
        if verb == "output":
            np.save(value.strip(), output)
            print("{}", flush=True)
            continue
        runs, end = 0, time.perf_counter() + float(value) / 1e3
        cpu, wall = cpu_seconds(), time.perf_counter()
        while runs < 2 or time.perf_counter() < end:
            session.run(None, feed)
            runs += 1
        print(json.dumps({"runs": runs, "cpu": cpu_seconds() - cpu, "wall": time.perf_counter() - wall}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
