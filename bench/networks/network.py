"""One network and how it is stored for `baton bench`."""
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Network:
    name: str
    build: Callable  # () -> (IRModule, {name: numpy array})
    bar: float | None = None
    onnx: Callable | None = None  # (params) -> bytes, for what relay_to_onnx.convert would translate badly
    peers: tuple | None = None  # those that have a form of it; None: all
    tolerance: float = 1e-4  # of outputs, in parts of the largest

    def write(self, folder):
        """Writes NAME.relay, NAME.npz, input/data.npy and, if `onnx`, NAME.onnx; returns the arguments for the program."""
        module, params = self.build()
        base = os.path.join(folder, self.name)
        with open(base + ".relay", "w", encoding="utf-8") as file:
            file.write(module.astext(show_meta_data=False))
        np.savez(base + ".npz", **params)
        shape = module["main"].params[0].checked_type.concrete_shape
        os.makedirs(base + "-input", exist_ok=True)
        np.save(os.path.join(base + "-input", "data.npy"), np.random.default_rng(1).normal(0, 1, shape).astype("float32"))
        arguments = {"model": [base + ".relay", "--params", base + ".npz"], "input": ["--input", base + "-input"], "onnx": []}
        if self.onnx:
            with open(base + ".onnx", "wb") as file:
                file.write(self.onnx(params))
            arguments["onnx"] = ["--onnx", base + ".onnx"]
        return arguments
