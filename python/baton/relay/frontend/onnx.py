"""ONNX models as Relay modules."""
import os

from ..._load import core


def from_onnx(model, shape=None, dtype="float32", opset=None, freeze_params=True, convert_config=None):
    """The module of an ONNX model, and its parameters: none, since initializers are constants of the module.

    Parameters
    ----------
    model : onnx.ModelProto, or a file's path or bytes
    shape : {input: extents}; dimensions that the file leaves open and that are not given are symbolic extents, by their names in the file
    dtype : without effect, as in TVM: the file says the types of its inputs
    opset : the version of the file's operators; another one than the file's raises NotImplementedError
    freeze_params : False raises NotImplementedError
    convert_config : without effect

    Operators that there is no rule for raise NotImplementedError, which names all of them with their nodes; see docs/compatibility.md.
    A file that is none, or contradicts itself, raises TVMError. The operators of the module's reports are the nodes, by their names.
    """
    if not freeze_params:
        raise NotImplementedError("from_onnx: initializers are constants of the module: freeze_params=False is not provided")
    shapes = {name: [int(extent) for extent in extents] for name, extents in (shape or {}).items()}
    if isinstance(model, (str, os.PathLike)):
        return core.import_onnx(os.fspath(model), shapes), {}
    if not isinstance(model, bytes) and not hasattr(model, "SerializeToString"):
        raise TypeError(f"from_onnx: model is an onnx.ModelProto, a path or bytes, not {type(model).__name__}")
    inputs = {each.name for each in model.graph.input} if hasattr(model, "graph") else set(shapes)
    unknown = sorted(set(shapes) - inputs)
    assert not unknown, f"User specified the shape for inputs that weren't found in the graph: {unknown}"
    versions = {each.version for each in getattr(model, "opset_import", ()) if each.domain in ("", "ai.onnx")}
    if opset is not None and versions and opset not in versions:
        raise NotImplementedError(f"from_onnx: the model is of version {max(versions)} of ONNX's operators; another `opset` is not provided")
    return core.import_onnx_bytes(model if isinstance(model, bytes) else model.SerializeToString(), "the model", shapes), {}
