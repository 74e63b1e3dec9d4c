"""Real ONNX files through Baton and ONNX Runtime: python bench/onnx/run_files.py PATH... [--value INPUT=NUMBER ...]

PATH: a file, or a folder whose .onnx files are all taken. Every file runs at two sizes of each dimension that it leaves open, as a plan
(shapes given) and as a program (shapes open). Sizes are tried with ONNX Runtime until it accepts them. A folder of the form that ONNX's
own tests have (model.onnx, test_data_set_0) is compared with its data, a model_output_0.pb beside a model.onnx with that.
Prints one line for each file: operators, sizes, and the largest difference against rtol = atol = 1e-4; the exit status is 1 where one is larger.
"""
import argparse
import glob
import os
import sys
import time

import numpy as np
import onnx
from onnx import numpy_helper

import baton
from baton import relay
from baton._load import core

TOLERANCE = 1e-4
SIZES = (2, 3, 4, 1, 32, 48, 64, 96, 192, 320, 512, 576)
LARGE_SIZES = (96, 128, 192, 320, 512, 576, 64, 48, 32, 4, 3, 2, 1)
TYPES = {1: "float32", 2: "uint8", 3: "int8", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64"}


class Model:
    """A file, its real inputs, and the dimensions that it leaves open."""

    def __init__(self, path):
        self.path = path
        graph = onnx.load(path, load_external_data=False).graph
        self.nodes = len(graph.node)
        made = {each.name for each in graph.initializer}
        self.inputs, self.open = {}, {}
        for each in graph.input:
            if each.name in made:
                continue
            dims = []
            for axis, dim in enumerate(each.type.tensor_type.shape.dim):
                symbol = dim.dim_param if dim.dim_param not in ("", "?", "-1") else f"{each.name}_{axis}"
                dims.append(dim.dim_value if dim.dim_value > 0 else symbol)
                if dim.dim_value <= 0:
                    self.open.setdefault(symbol, axis)
            self.inputs[each.name] = (TYPES[each.type.tensor_type.elem_type], dims)

    def shapes(self, sizes):
        return {name: tuple(sizes.get(dim, dim) for dim in dims) for name, (_, dims) in self.inputs.items()}

    def values(self, sizes, given):
        random = np.random.default_rng(0)
        values = {}
        for name, shape in self.shapes(sizes).items():
            dtype = self.inputs[name][0]
            if name in given:
                values[name] = np.full(shape, given[name], dtype)
            elif dtype.startswith("float"):
                values[name] = random.uniform(-1, 1, shape).astype(dtype)
            else:
                values[name] = random.integers(0, 2, shape).astype(dtype)
        return values


class Peer:
    """ONNX Runtime: which sizes are possible, and what the results are."""

    def __init__(self, path):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def run(self, values):
        """None: it does not accept them."""
        try:
            return self._session.run(None, values)
        except Exception:  # pylint: disable=broad-exception-caught
            return None


def possible_sizes(model, peer, given):
    """Two assignments of sizes, which differ in every dimension that can differ."""
    if not model.open:
        return [{}]

    def works(sizes):
        return peer.run(model.values(sizes, given)) is not None

    first = next((sizes for size in (64, 96, 512, 576, 48, 32, 1)
                  if works(sizes := {name: 1 if axis == 0 or "batch" in name else size for name, axis in model.open.items()})), None)
    first = first or next((sizes for size in (64, 512, 576, 1) if works(
        sizes := {name: size if "seq" in name or (axis == 1 and "input" in name) else 1 for name, axis in model.open.items()})), None)
    if first is None:
        raise RuntimeError("ONNX Runtime accepts none of the sizes that were tried")
    second = dict(first)
    for name in first:
        if second[name] != first[name]:
            continue
        together = [other for other in first if first[other] == first[name]]
        for size in SIZES if model.open[name] == 0 or first[name] == 1 else LARGE_SIZES:
            tries = ({**second, name: size}, {**second, **dict.fromkeys(together, size)})
            found = next((sizes for sizes in tries if size != first[name] and works(sizes)), None)
            if found:
                second = found
                break
    return [first, second] if second != first else [first]


def results_of(module, model, values, executor):
    """`executor`: "graph", or "vm"; what has control flow runs in the latter."""
    arguments = [values[name] for name in model.inputs]  # those that nothing reads are parameters, too
    try:
        got = relay.create_executor(executor, module, baton.cpu(), "llvm").evaluate()(*arguments)
    except NotImplementedError:
        got = relay.create_executor("vm", module, baton.cpu(), "llvm").evaluate()(*arguments)
    return tensors_of(got)


def tensors_of(value):
    return [value.numpy()] if hasattr(value, "numpy") else [part for each in value for part in tensors_of(each)]


def difference(got, wanted):
    """The largest one, relative to the tolerance: 1 is just within."""
    if len(got) != len(wanted):
        return f"{len(got)} results, not {len(wanted)}"
    worst = 0.0
    for one, other in zip(got, wanted):
        if one.shape != other.shape:
            return f"shape {one.shape}, not {other.shape}"
        if one.size:
            one, other = one.astype("float64"), other.astype("float64")
            same = (one == other) | (np.isnan(one) & np.isnan(other))
            worst = max(worst, float(np.max(np.where(same, 0, np.abs(one - other) / (TOLERANCE * (1 + np.abs(other)))))))
    return worst


def imported(model, shapes):
    begun = time.perf_counter()
    module, _ = core.import_onnx(model.path, {name: list(shape) for name, shape in shapes.items()})
    return module, time.perf_counter() - begun


def report(path, what, outcome, begun):
    is_good = isinstance(outcome, float) and outcome <= 1
    text = f"{outcome:8.4f} of the tolerance" if isinstance(outcome, float) else str(outcome)
    print(f"{'ok  ' if is_good else 'FAIL'} {os.path.basename(path):34} {what:46} {text} ({time.perf_counter() - begun:.1f} s)", flush=True)
    return is_good


def compare(path, given, with_program):
    model = Model(path)
    try:
        peer = Peer(path)
        all_sizes = possible_sizes(model, peer, given)
    except Exception as why:  # pylint: disable=broad-exception-caught
        return report(path, "ONNX Runtime", str(why).splitlines()[0][:150], time.perf_counter())
    is_good = True
    program = None
    for sizes in all_sizes:
        values = model.values(sizes, given)
        wanted = peer.run(values)
        for kind in ("plan", "program") if with_program and model.open else ("plan",):
            begun = time.perf_counter()
            try:
                if kind == "program":
                    program = program or imported(model, {})[0]
                module = program if kind == "program" else imported(model, model.shapes(sizes))[0]
                outcome = difference(results_of(module, model, values, "vm" if kind == "program" else "graph"), wanted)
            except Exception as why:  # pylint: disable=broad-exception-caught
                outcome = f"{type(why).__name__}: {' | '.join(str(why).splitlines()[:3])[:300]}"
            is_good &= report(path, f"{kind} {' '.join(f'{name}={size}' for name, size in sizes.items())}", outcome, begun)
    return is_good


def read_tensor(path):
    with open(path, "rb") as file:
        return numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))


def with_data(path, inputs, outputs):
    """A model beside files of data."""
    begun = time.perf_counter()
    try:
        model = Model(path)
        values = dict(zip(model.inputs, map(read_tensor, inputs)))
        module, _ = core.import_onnx(path, {name: list(value.shape) for name, value in values.items()})
        outcome = difference(results_of(module, model, values, "vm"), [read_tensor(each) for each in outputs])
    except Exception as why:  # pylint: disable=broad-exception-caught
        outcome = f"{type(why).__name__}: {' | '.join(str(why).splitlines()[:3])[:300]}"
    return report(os.path.dirname(path), "its data", outcome, begun)


def files_of(paths):
    for path in paths:
        yield from sorted(glob.glob(os.path.join(path, "**", "*.onnx"), recursive=True)) if os.path.isdir(path) else [path]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--value", action="append", default=[], metavar="INPUT=NUMBER", help="all elements of an input")
    parser.add_argument("--no-program", action="store_true", help="only with shapes given")
    options = parser.parse_args()
    given = {name: float(value) for name, _, value in (each.rpartition("=") for each in options.value)}
    good, count = 0, 0
    for path in files_of(options.paths):
        folder = os.path.join(os.path.dirname(path), "test_data_set_0")
        count += 1
        if os.path.isdir(folder):
            good += with_data(path, *(sorted(glob.glob(os.path.join(folder, f"{kind}_*.pb"))) for kind in ("input", "output")))
        else:
            good += compare(path, given, not options.no_program)
    print(f"{good} of {count} files")
    return 0 if good == count else 1


if __name__ == "__main__":
    sys.exit(main())
