"""ONNX Runtime as a peer of `baton bench` (bursts.py)."""
import os
import sys

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import bursts  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402


def main(relay, params, inputs, threads, onnx=None):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(bursts.onnx_bytes(relay, params, onnx), options, providers=["CPUExecutionProvider"])
    feed = dict(np.load(inputs))
    bursts.serve("onnxruntime " + onnxruntime.__version__, lambda: session.run(None, feed)[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
