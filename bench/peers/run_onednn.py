"""oneDNN called by hand for one layer, as a peer of `baton bench` (bursts.py): describes the only call of the Relay text to
onednn_layer.cc, which is compiled first (to build/bench/) against the wheels of oneDNN, and becomes that program."""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import relay_to_onnx

SOURCE = pathlib.Path(__file__).with_name("onednn_layer.cc")
FOLDER = SOURCE.parents[2] / "build" / "bench"


def main(relay, params, inputs, threads, onnx=None):
    del onnx
    with open(relay, encoding="utf-8") as file:
        call = relay_to_onnx.only_call(file.read())
    constants = dict(np.load(params))
    values = {**constants, **np.load(inputs)}
    words, program = describe(call), compiled()
    for role, name in zip(("src", "weights"), call.args):
        with tempfile.NamedTemporaryFile(prefix="baton-onednn-", delete=False) as file:  # the program removes it
            values[name].tofile(file)
        words[role + "_file"] = file.name
    words["constant"] = int(len(call.args) > 1 and call.args[1] in constants)
    os.environ["OMP_NUM_THREADS"] = threads
    os.execv(program, [program, words.pop("kind"), *(f"{name}={text(value)}" for name, value in words.items())])


def text(value):
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def compiled():
    """The program, compiled anew when its source is newer."""
    program = FOLDER / "onednn_layer"
    if program.exists() and program.stat().st_mtime > SOURCE.stat().st_mtime:
        return str(program)
    include, library = pathlib.Path(sys.prefix, "include"), pathlib.Path(sys.prefix, "lib")
    if not (include / "dnnl.hpp").exists():
        sys.exit(f"{include}/dnnl.hpp is missing: run ./baton setup")
    FOLDER.mkdir(parents=True, exist_ok=True)
    temporary = f"{program}.{os.getpid()}"
    command = ["c++", "-std=c++17", "-O2", SOURCE, "-o", temporary, f"-I{include}", f"-L{library}", f"-Wl,-rpath,{library}", "-ldnnl"]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(f"{SOURCE} could not be compiled")
    os.replace(temporary, program)
    return str(program)


def describe(call):
    """The words for onednn_layer but the files."""
    import onnx_operators as operators

    shapes, op = call.shapes, call.op
    words = {"src": shapes[0], "dst": call.shape}
    if op == "nn.dense":
        outputs, inputs = shapes[1]
        return {**words, "kind": "matmul", "weights": [inputs, outputs], "weights_strides": [1, inputs]}
    if op == "nn.batch_matmul":
        words["kind"] = "matmul"
        for role, name, shape in (("src", "transpose_a", shapes[0]), ("weights", "transpose_b", shapes[1])):
            batch, rows, columns = shape
            turned = call.get(name, False)
            words[role] = [batch, columns, rows] if turned else shape
            words[role + "_strides"] = [rows * columns, 1, columns] if turned else [rows * columns, columns, 1]
        return words
    if op in operators.REDUCTIONS:
        axes = operators.reduced_axes(call)
        return {**words, "kind": "reduction_" + op, "dst": [1 if axis in axes else extent for axis, extent in enumerate(shapes[0])]}
    pads, axes = operators.pads(call), operators.spatial(call)
    words.update(left=pads[:axes], strides=operators.each_axis(call, "strides"))
    if "pool" in op:
        kernel = operators.each_axis(call, "pool_size")
        words.update(kind="pooling_max" if "max" in op else "pooling_avg_padded" if call.get("count_include_pad", False) else "pooling_avg",
                     kernel=kernel, dilates=[0] * axes)
        steps = [(dst - 1) * stride + size for dst, stride, size in zip(call.shape[2:], words["strides"], kernel)]
        words["right"] = [step - src - left for step, src, left in zip(steps, shapes[0][2:], words["left"])]
        return words
    groups, weights = call.get("groups", 1), list(shapes[1])
    words["dilates"] = [each - 1 for each in operators.each_axis(call, "dilation")]
    words["right"] = pads[axes:]
    if "transpose" in op:  # Relay: (in, out / groups, ...); oneDNN: (groups, out / groups, in / groups, ...)
        words["kind"] = "deconvolution"
        size = int(np.prod(weights[2:]))
        extra = operators.each_axis(call, "output_padding", 0)
        words["right"] = [right - more for right, more in zip(words["right"], extra)]
        inner = [int(np.prod(weights[axis + 1:])) for axis in range(2, len(weights))]
        words["weights"] = [weights[1], weights[0] // groups, *weights[2:]]
        words["weights_strides"] = [size, weights[1] * size, *inner]
        if groups > 1:
            words["weights"].insert(0, groups)
            words["weights_strides"].insert(0, weights[0] // groups * weights[1] * size)
    else:
        words["kind"] = "convolution"
        words["weights"] = [groups, weights[0] // groups, *weights[1:]] if groups > 1 else weights
    return words


if __name__ == "__main__":
    main(*sys.argv[1:])
