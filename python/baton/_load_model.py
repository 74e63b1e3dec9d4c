"""Models from files, whatever they were written by."""
import os
import tempfile

from ._load import core


def load(path, shape=None):
    """The module of a file: ONNX, Relay text, or what TVM's or Baton's save_json wrote; what is in it decides, not its name.

    Parameters
    ----------
    path : of the file, or the name of a workload (`baton models`), whose weights are parameters
    shape : {input: extents}, or {symbol: extent} of dimensions that the file leaves open; others stay symbolic

    Returns the IRModule, typed, with the origins of its operators. Raises TVMError for a file that cannot be read or is none of these, and
    NotImplementedError for an ONNX file with operators that there is no rule for.
    """
    shapes = {name: [extents] if isinstance(extents, int) else list(extents) for name, extents in (shape or {}).items()}
    return core.load_model(os.fspath(path), shapes)


def from_torch(module, args, shape=None, **export):
    """The module of a torch.nn.Module, through torch.onnx.export: its operators are the exporter's nodes, with the path of the torch
    modules around each, and the line of Python that called it.

    Parameters
    ----------
    module : torch.nn.Module, in the mode that it is exported in (module.eval() for inference)
    args : tuple of example inputs, as for torch.onnx.export
    shape : as for load(): values of dimensions that `dynamic_shapes` leaves open
    export : further arguments of torch.onnx.export, e.g. dynamic_shapes, input_names, opset_version

    Returns the IRModule. Raises ImportError, with what to install, where torch or onnxscript is missing; the exporter's errors as they are.
    Tried with torch 2.15 (docs/guide.md).
    """
    try:
        import onnxscript  # noqa: F401
        import torch
    except ImportError as error:
        raise ImportError(f"baton.from_torch needs torch and onnxscript: pip install torch onnxscript ({error})") from error
    with tempfile.TemporaryDirectory(prefix="baton-torch-") as folder:
        path = os.path.join(folder, type(module).__name__ + ".onnx")
        torch.onnx.export(module, args, path, dynamo=True, verbose=False, **export)
        return load(path, shape)
