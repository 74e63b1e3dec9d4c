"""Baton as it is called from Python, numpy in and out, as a peer of `baton bench` (bursts.py)."""
import os
import pathlib
import sys

import bursts
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "python"), str(ROOT / "build" / os.environ.get("BATON_PRESET", "release") / "python")]


def main(relay, params, inputs, threads, onnx=None, prepare=lambda module, params: module, in_place=False):
    """`prepare`: (module, parameters) -> the module that is built. `in_place`: inputs are set once, and outputs stay in the model."""
    del onnx
    os.environ["TVM_NUM_THREADS"] = threads  # read once, when the package is loaded
    import baton
    from baton import relay as language
    from baton.contrib import graph_executor

    with open(relay, encoding="utf-8") as file:
        module = baton.parser.fromtext(file.read())
    values = {name: baton.nd.array(value) for name, value in np.load(params).items()}
    with baton.transform.PassContext(opt_level=3):
        prepared = prepare(module, values)
        names = {each.name_hint for each in prepared["main"].params}
        built = language.build(prepared, "llvm", params={name: value for name, value in values.items() if name in names})
    model = graph_executor.GraphModule(built["default"](baton.cpu()))
    feed = dict(np.load(inputs))
    model.set_input(**feed)

    def run():
        model.run(**feed)
        return model.get_output(0).numpy()

    bursts.serve("baton in Python " + baton.__version__, run, model.run if in_place else run)


if __name__ == "__main__":
    main(*sys.argv[1:])
