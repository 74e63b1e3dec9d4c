"""OpenVINO, forced to f32, as a peer of `baton bench` (bursts.py); run_openvino_default.py leaves the precision to it."""
import json
import sys
import time

import bursts
import numpy as np
import openvino


PROFILED_RUNS = 20


def main(relay, params, inputs, threads, onnx=None, force_f32=True):
    core = openvino.Core()
    options = {"INFERENCE_NUM_THREADS": int(threads), "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
    # By itself it computes in bfloat16 where the processor has that.
    if force_f32:
        options["INFERENCE_PRECISION_HINT"] = "f32"
    model = core.read_model(bursts.onnx_bytes(relay, params, onnx))
    given = dict(np.load(inputs))
    if model.is_dynamic():
        # Its kernels for shapes that are known are faster, and Baton's are of these shapes, too.
        model.reshape({port.get_any_name(): given[next(iter(port.get_names() & given.keys()))].shape for port in model.inputs
                       if port.get_names() & given.keys()})
    compiled = core.compile_model(model, "CPU", options)
    precision = compiled.get_property("INFERENCE_PRECISION_HINT")
    if force_f32 and precision != openvino.Type.f32:
        raise RuntimeError(f"OpenVINO does not compute in f32: {precision}")
    request = compiled.create_infer_request()
    names = {name for port in compiled.inputs for name in port.get_names()}
    feed = {name: value for name, value in given.items() if name in names}
    version = openvino.__version__.split("-")[0]

    def profile(stem):
        return {"profile": write_profile(stem + ".json", core.compile_model(model, "CPU", options | {"PERF_COUNT": True}), feed, version,
                                         int(threads))}

    # The input is read in place, the output is copied: what Baton and ONNX Runtime give stays valid, too.
    bursts.serve(f"openvino {version}" + ("" if force_f32 else f" ({precision.get_type_name()})"),
                 lambda: request.infer(feed, share_inputs=True, share_outputs=False)[0], profile=profile)


def write_profile(path, compiled, feed, version, threads):
    """The counters of several runs, with the names that each step of the run has in its execution graph."""
    members = {op.get_friendly_name(): op.get_rt_info()["originalLayersNames"].astype(str) for op in compiled.get_runtime_model().get_ops()
               if "originalLayersNames" in op.get_rt_info()}
    request = compiled.create_infer_request()
    request.infer(feed)  # prepares
    rows, runs = {}, []
    for run in range(PROFILED_RUNS):
        begin = time.perf_counter()
        request.infer(feed)
        runs.append((time.perf_counter() - begin) * 1e6)
        for step in request.get_profiling_info():
            row = rows.setdefault(step.node_name, {"name": step.node_name, "op": step.node_type, "implementation": step.exec_type,
                                                   "samples_us": [0.0] * PROFILED_RUNS,
                                                   "members": [members[step.node_name]] if members.get(step.node_name) else []})
            row["samples_us"][run] += step.real_time.total_seconds() * 1e6
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"engine": "openvino", "version": version, "threads": threads, "runs_us": runs, "rows": list(rows.values())}, file)
    return path


if __name__ == "__main__":
    main(*sys.argv[1:])
