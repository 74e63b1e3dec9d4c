"""ONNX models as Relay modules."""
import os
import warnings

from ..._load import core


def from_onnx(model, shape=None, dtype="float32", opset=None, freeze_params=True, convert_config=None):
    """The module of an ONNX model, and its parameters.

    Parameters
    ----------
    model : onnx.ModelProto, or a file's path or bytes
    shape : {input: extents}; dimensions that the file leaves open and that are not given are symbolic extents, by their names in the file
    dtype : without effect, as in TVM: the file says the types of its inputs
    opset : the version of ONNX's operators, where it is another one than the file says; a lower one is warned of
    freeze_params : initializers are constants of the module, and the second result is empty. False: initializers that are read are
        parameters of `main` behind its inputs, by their names, and the second result has their values. Those that decide what the module
        is (shapes, axes, bounds) are constants nevertheless
    convert_config : without effect

    Operators that there is no rule for raise NotImplementedError, which names all of them with their nodes; see docs/compatibility.md.
    A file that is none, or contradicts itself, raises TVMError. The operators of the module's reports are the nodes, by their names.
    """
    shapes = {name: [int(extent) for extent in extents] for name, extents in (shape or {}).items()}
    if isinstance(model, (str, os.PathLike)):
        return core.import_onnx(os.fspath(model), shapes, opset, freeze_params)
    if not isinstance(model, bytes) and not hasattr(model, "SerializeToString"):
        raise TypeError(f"from_onnx: model is an onnx.ModelProto, a path or bytes, not {type(model).__name__}")
    if hasattr(model, "graph"):
        _check_inputs(model, shapes, opset)
    return core.import_onnx_bytes(model if isinstance(model, bytes) else model.SerializeToString(), "the model", shapes, opset, freeze_params)


def _check_inputs(model, shapes, opset):
    """What TVM asserts and warns of."""
    unknown = sorted(set(shapes) - {each.name for each in model.graph.input})
    assert not unknown, f"User specified the shape for inputs that weren't found in the graph: {unknown}"
    made = {each.name for each in model.graph.initializer}
    for each in model.graph.input:
        dims = [dim.dim_value if dim.dim_value > 0 else dim.dim_param or "?" for dim in each.type.tensor_type.shape.dim]
        if each.name not in shapes and each.name not in made and any(isinstance(dim, str) for dim in dims):
            warnings.warn(f"Input {each.name} has unknown dimension shapes: {dims}. Specifying static values may improve performance",
                          stacklevel=3)
    versions = [each.version for each in model.opset_import if each.domain in ("", "ai.onnx")]
    if opset is not None and versions and opset < max(versions):
        warnings.warn(f"You are overwritting original opset ver = {max(versions)} by lower ver = {opset}. That might cause model "
                      "conversion errors.", stacklevel=3)
