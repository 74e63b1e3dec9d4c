"""OpenVINO, forced to f32, as a peer of `baton bench` (bursts.py)."""
import sys

import bursts
import numpy as np
import openvino


def main(relay, params, inputs, threads, onnx=None):
    core = openvino.Core()
    # By itself it computes in bfloat16 where the processor has that.
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": int(threads), "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
    compiled = core.compile_model(core.read_model(bursts.onnx_bytes(relay, params, onnx)), "CPU", options)
    if compiled.get_property("INFERENCE_PRECISION_HINT") != openvino.Type.f32:
        raise RuntimeError("OpenVINO does not compute in f32: " + str(compiled.get_property("INFERENCE_PRECISION_HINT")))
    request = compiled.create_infer_request()
    names = {name for port in compiled.inputs for name in port.get_names()}
    feed = {name: value for name, value in np.load(inputs).items() if name in names}
    # The input is read in place, the output is copied: what Baton and ONNX Runtime give stays valid, too.
    bursts.serve("openvino " + openvino.__version__.split("-")[0],
                 lambda: request.infer(feed, share_inputs=True, share_outputs=False)[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
