"""OpenVINO, forced to f32, as a peer of `baton bench` (bursts.py); run_openvino_default.py leaves the precision to it."""
import sys

import bursts
import numpy as np
import openvino


def main(relay, params, inputs, threads, onnx=None, force_f32=True):
    core = openvino.Core()
    options = {"INFERENCE_NUM_THREADS": int(threads), "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
    # By itself it computes in bfloat16 where the processor has that.
    if force_f32:
        options["INFERENCE_PRECISION_HINT"] = "f32"
    compiled = core.compile_model(core.read_model(bursts.onnx_bytes(relay, params, onnx)), "CPU", options)
    precision = compiled.get_property("INFERENCE_PRECISION_HINT")
    if force_f32 and precision != openvino.Type.f32:
        raise RuntimeError(f"OpenVINO does not compute in f32: {precision}")
    request = compiled.create_infer_request()
    names = {name for port in compiled.inputs for name in port.get_names()}
    feed = {name: value for name, value in np.load(inputs).items() if name in names}
    # The input is read in place, the output is copied: what Baton and ONNX Runtime give stays valid, too.
    bursts.serve(f"openvino {openvino.__version__.split('-')[0]}" + ("" if force_f32 else f" ({precision.get_type_name()})"),
                 lambda: request.infer(feed, share_inputs=True, share_outputs=False)[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
