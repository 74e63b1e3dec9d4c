"""TVM's modules that Baton does not have, each with the reason: they can be imported, their names raise when they are used."""
import importlib.machinery
import types

from ._refused import fill

_NO_TENSOR_EXPRESSIONS = "Baton makes kernels without tensor expressions and TIR"
_NO_TUNING = "Baton's kernels are not tuned by TVM's tuners"
_REASONS = {
    "tvm.te": _NO_TENSOR_EXPRESSIONS, "tvm.tir": _NO_TENSOR_EXPRESSIONS, "tvm.topi": _NO_TENSOR_EXPRESSIONS, "tvm.arith": _NO_TENSOR_EXPRESSIONS,
    "tvm.script": _NO_TENSOR_EXPRESSIONS, "tvm.testing.tir": _NO_TENSOR_EXPRESSIONS, "tvm.testing.usmp": _NO_TENSOR_EXPRESSIONS,
    "tvm.autotvm": _NO_TUNING, "tvm.auto_scheduler": _NO_TUNING, "tvm.meta_schedule": _NO_TUNING, "tvm.testing.auto_scheduler": _NO_TUNING,
    "tvm.testing.autotvm": _NO_TUNING,
    "tvm.micro": "Baton does not build for microcontrollers", "tvm.testing.aot": "Baton does not build C for microcontrollers",
    "tvm.testing.popen_pool": "Baton runs in one process", "tvm.exec": "Baton runs on this machine only", "tvm.rpc": "Baton runs on this machine only",
    "tvm.driver.tvmc": "Baton has a command line of its own: python -m baton --help",
    "tvm.relay.frontend": "Baton has no importers of other frameworks' models",
    "tvm.relay.op.strategy": _NO_TENSOR_EXPRESSIONS,
    "tvm.relay.collage": "CollagePartition is not provided", "tvm.relay.backend.contrib": "TVM's code generators for accelerators are not provided",
    "tvm.relay.backend.aot": "Baton builds no C", "tvm.relay.backend.runner": _NO_TUNING,
    "tvm.relay.quantize": "rules of quantize cannot be written in Python",
}
_CONTRIB = "it belongs to a library or device that Baton does not use"
# Names, not prefixes: what else is asked for below them is a mistake.
_MODULES = {
    "tvm.contrib": (_CONTRIB, """binutil clang coreml_runtime cublas cublaslt cuda_graph cuda_graph.cuda_graph_executor cudnn cutlass
        cutlass.build dlpack dnnl emcc ethosu hexagon hexagon.build hexagon.session hexagon.tools miopen mkl mps mxnet ndk nnpack nvcc peak
        pickle_memoize popen_pool random rocblas rocm rpc sdaccel sparse spirv_utils stackvm tar target target.coreml target.onnx
        target.vitis_ai target.android_nnapi tedd tflite_runtime thrust torch tvmjs uma vitis_ai xcode cblas nvrtc debugger.debug_runtime
        cuda_graph.cuda_graph_runtime arm_compute_lib ethosn libtorch"""),
    "tvm.relay.frontend": ("Baton has no importers of other frameworks' models", """caffe caffe2 change_datatype coreml darknet keras mxnet
        mxnet_qnn_op_utils nnvm_common oneflow onnx paddlepaddle pytorch pytorch_utils qnn_torch tensorflow tensorflow2
        tensorflow2_ops tensorflow_ops tensorflow_parser tensorflow2_parser tflite tflite_flexbuffer"""),
    "tvm.relay.testing": ("it needs other frameworks' models", "tf tflite darknet yolo_detection"),
    "tvm.relay.op.strategy": (_NO_TENSOR_EXPRESSIONS, "adreno arm_cpu bifrost cuda generic hexagon hls intel_graphics mali rocm x86"),
    "tvm.relay.collage": ("CollagePartition is not provided", "collage"),
    "tvm.relay.quantize": ("rules of quantize cannot be written in Python", """_annotate _calibrate _partition _partition_conversions
        kl_divergence _quantize quantize"""),
    "tvm.relay.analysis": ("it is not provided", "operations_distribution count_layers"),
    "tvm.relay.transform": ("it is not provided", "memory_alloc memory_plan"),
    "tvm.relay": ("it prints what programs compute from inside of TVM: Baton has relay.op.debug and baton extract", "debug"),
    "tvm.relay.op.nn": (_NO_TENSOR_EXPRESSIONS, "_nn"),
    "tvm.target": (_NO_TENSOR_EXPRESSIONS, "codegen datatype intrin x86 detect_target"),
    "tvm.runtime": ("it is not provided", "graph_executor script_printer"),
}


def reason_of(name):
    """Why there is no module `name` of TVM ("tvm.micro.project"); None for a name that TVM does not have, either."""
    parent = name
    while parent:
        why = _REASONS.get(parent)
        # Below packages that Baton has in part, only TVM's own names.
        if why is not None and (parent == name or parent not in _MODULES):
            return why
        parent = parent.rpartition(".")[0]
    for package, (why, names) in _MODULES.items():
        if name.startswith(package + ".") and name[len(package) + 1:] in names.split():
            return why
    return None


def module_of(name, why):
    """A new module `name` whose public names raise NotImplementedError when they are used."""
    made = types.ModuleType(name, f"{name} is not provided by Baton: what is used of it raises NotImplementedError.")
    made.__getattr__ = fill(made.__dict__, why)
    made.__path__ = []
    made.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    return made
