"""ONNX Runtime as a peer of `baton bench` (bursts.py)."""
import os
import sys

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import bursts  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402


PROFILED_RUNS = 21  # the first prepares


def session_options(threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    return options


def main(relay, params, inputs, threads, onnx=None):
    model = bursts.onnx_bytes(relay, params, onnx)
    session = onnxruntime.InferenceSession(model, session_options(threads), providers=["CPUExecutionProvider"])
    feed = dict(np.load(inputs))

    def profile(stem):
        options = session_options(threads)
        options.enable_profiling = True
        options.profile_file_prefix = stem
        options.optimized_model_filepath = stem + ".onnx"
        profiled = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        for _ in range(PROFILED_RUNS):
            profiled.run(None, feed)
        return {"profile": profiled.end_profiling(), "optimized": stem + ".onnx"}

    bursts.serve("onnxruntime " + onnxruntime.__version__, lambda: session.run(None, feed)[0], profile=profile)


if __name__ == "__main__":
    main(*sys.argv[1:])
