"""How many operators of a network its profile names, Baton's beside ONNX Runtime's own (where it can be imported).

`PYTHONPATH=python:build/release/python BATON_PROGRAM=build/release/baton python bench/peers/found_operators.py [resnet-18]`
Baton: an operator counts when its row has kernels, what it was folded into, or the reason why it is gone. ONNX Runtime: a
node counts when an event of the profile bears its name or that of the tensor it makes. The same network, converted: batch_norm and its tuple are one node.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np


def baton(model):
    program = os.environ.get("BATON_PROGRAM", "build/release/baton")
    command = [program, "profile", model, "--json", "--no-inside", "--no-unfused", "--no-peaks", "--repeat", "1"]
    rows = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["operators"]
    found = sum(bool(row["nodes"] or row["folded_into"] or (row["retired"] and row["retired"]["reason"])) for row in rows)
    return found, len(rows), subprocess.run([program, "print", model], stdout=subprocess.PIPE, check=True, text=True).stdout


def onnx_runtime(text):
    import onnx
    import onnxruntime
    import relay_to_onnx
    header = next(line for line in text.splitlines() if line.startswith("def @main("))
    shapes = {name: [int(d) for d in dims.split(",")] for name, dims in re.findall(r"%(\w+): Tensor\[\(([\d, ]+)\), float32\]", header)}
    random = np.random.default_rng(0)
    values = {name: random.random(shape, dtype=np.float32) for name, shape in shapes.items()}
    model = onnx.load_from_string(relay_to_onnx.convert(text, {name: value for name, value in values.items() if name != "data"}))
    for node in model.graph.node:
        node.name = "op_" + node.output[0]
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.enable_profiling = True
        options.profile_file_prefix = os.path.join(folder, "ort")
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        session.run(None, {"data": values["data"]})
        with open(session.end_profiling(), encoding="utf-8") as file:
            events = json.load(file)
    # Nodes that were fused into others of a packed layout are called by the tensor they make.
    seen = {re.sub(r"^op_|(_bn)?(_nchwc)?_kernel_time$", "", event["name"]) for event in events if event.get("cat") == "Node"}
    made = [node.output[0] for node in model.graph.node]
    return sum(name in seen for name in made), len(made), onnxruntime.__version__


def main(model="resnet-18"):
    found, of, text = baton(model)
    print(f"{model}: Baton names {found} of {of} operators")
    try:
        found_by_peer, of_peer, version = onnx_runtime(text)
    except ImportError as error:
        print(f"ONNX Runtime: not measured ({error})")
    else:
        print(f"{model}: ONNX Runtime {version} names {found_by_peer} of {of_peer} nodes")
    sys.exit(0 if found == of else 1)


if __name__ == "__main__":
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    main(*sys.argv[1:])
