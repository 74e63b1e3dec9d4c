"""Quantisation of float programs: relay.quantize.quantize under qconfig(...)."""
import threading
import warnings

from .._ffi_names import Object
from .._load import core, not_provided

__path__ = []  # of modules below it, baton.tvm says why they are missing
_DEFAULTS = {
    "nbit_input": 8, "nbit_weight": 8, "nbit_activation": 32,
    "dtype_input": "int8", "dtype_weight": "int8", "dtype_activation": "int32",
    "calibrate_mode": "global_scale", "global_scale": 8.0, "weight_scale": "power2",
    "skip_dense_layer": True, "skip_conv_layers": [0], "do_simulation": False, "round_for_shift": True,
    "debug_enabled_ops": None, "rounding": "UPWARD", "calibrate_chunk_by": -1, "partition_conversions": "disabled",
}
_entered = threading.local()


class QAnnotateKind:
    """The kind of value that a simulated_quantize rounds."""

    IDENTITY, INPUT, WEIGHT, ACTIVATION = range(4)


def kind2str(kind):
    """The name of a QAnnotateKind."""
    return {QAnnotateKind.INPUT: "input", QAnnotateKind.WEIGHT: "weight", QAnnotateKind.ACTIVATION: "activation",
            QAnnotateKind.IDENTITY: "identity"}[kind]


class QConfig:
    """The values of qconfig(); as a context, those that quantize() uses."""

    def __init__(self, **values):
        unknown = sorted(set(values) - set(_DEFAULTS))
        if unknown:
            warnings.warn(f"qconfig has no option {unknown[0]!r}, which changes nothing, as in TVM; there are {', '.join(_DEFAULTS)}", stacklevel=3)
        self.__dict__.update({**_DEFAULTS, **{name: value for name, value in values.items() if name in _DEFAULTS}})

    def arguments(self):
        """As the passes take them."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        return {**given, "skip_conv_layers": list(self.skip_conv_layers or [])}

    def get_nbit_by_kind(self, kind):
        """How many bits numbers of that QAnnotateKind have."""
        return getattr(self, "nbit_" + kind2str(kind))

    def get_dtype_by_kind(self, kind):
        """Which element type numbers of that QAnnotateKind have."""
        return getattr(self, "dtype_" + kind2str(kind))

    def __enter__(self):
        _stack().append(self)
        return self

    def __exit__(self, *exception):
        _stack().pop()

    def __str__(self):
        return "qconfig(" + ", ".join(f"{name}=={value}" for name, value in vars(self).items()) + ")"


def _stack():
    if not hasattr(_entered, "configs"):
        _entered.configs = []
    return _entered.configs


def qconfig(**kwargs):
    """A QConfig with these values, the rest at their defaults."""
    return QConfig(**kwargs)


def current_qconfig():
    """The innermost QConfig that was entered, or the defaults."""
    return _stack()[-1] if _stack() else QConfig()


def _pass(name):
    return core.make_pass(name, current_qconfig().arguments())


def partition():
    """The pass that marks where quantised regions end."""
    return _pass("QuantizePartition")


def annotate():
    """The pass that annotates values to be rounded."""
    return _pass("QuantizeAnnotate")


def _scales_on(dataset, module):
    """The scale of each value that is rounded in an annotated module, by the values that it has on the data set."""
    import numpy

    from .. import cpu
    from ..contrib.graph_executor import GraphModule
    from ..ir.transform import PassContext
    from ..runtime import ndarray
    from ._building import build

    config = current_qconfig()
    if dataset is None:
        raise ValueError(f"quantize: calibrate_mode={config.calibrate_mode!r} chooses scales by the values on samples; give dataset=, a list of "
                         "dicts of arrays by the name of the input")
    choose = {"kl_divergence": core.scale_by_divergence, "percentile": core.scale_by_percentile}[config.calibrate_mode]
    samples = [dict(sample) for sample in dataset]
    if not samples:
        raise ValueError("quantize: the data set has no sample")
    count = core.count_rounded_values(module)
    at_once = config.calibrate_chunk_by if config.calibrate_chunk_by > 0 else max(count, 1)
    scales = []
    for first in range(0, count, at_once):
        part = min(at_once, count - first)
        with PassContext(opt_level=3):
            runner = GraphModule(build(core.rounded_values(module, first, part), target="llvm")["default"](cpu(0)))
        seen = [[] for _ in range(part)]
        for sample in samples:
            runner.set_input(**sample)
            runner.run()
            for index, values in enumerate(seen):
                values.append(runner.get_output(index).numpy().reshape(-1))
        scales += [choose(ndarray.to_native(numpy.concatenate(values))) for values in seen]
    return scales


def calibrate(dataset=None):
    """The pass that chooses the scales: by global_scale, or by `dataset`, a list of dicts of arrays by input's name."""
    from ..ir.transform import module_pass

    if current_qconfig().calibrate_mode == "global_scale":
        return _pass("QuantizeCalibrate")

    def calibrated(module, _):
        return core.make_pass("QuantizeCalibrate", {**current_qconfig().arguments(), "activation_scales": _scales_on(dataset, module)})(module)

    return module_pass(calibrated, opt_level=1, name="QuantizeCalibrate")


def realize():
    """The pass that computes in integers."""
    return _pass("QuantizeRealize")


def prerequisite_optimize(mod, params=None):
    """`mod` with `params` as constants, and simplified as quantisation needs it."""
    from ..ir.transform import Sequential
    from . import transform
    from ._building import _native

    mod = core.bind_params(mod, _native(params)) if params else mod
    return Sequential([transform.SimplifyInference(), transform.FoldConstant(), transform.FoldScaleAxis(),
                       transform.CanonicalizeOps(), transform.FoldConstant()])(mod)


def quantize(mod, params=None, dataset=None):
    """`mod` computing in integers where the current qconfig says so.

    Weights must be constants: `params` (arrays by name) become some. Raises NotSupported where a weight is none.
    `dataset`, a list of dicts of arrays by input's name, is for the calibrate_modes "kl_divergence" and "percentile": the
    float program is run on it.
    """
    from ._building import _native

    mod = core.bind_params(mod, _native(params)) if params else mod
    config = current_qconfig()
    arguments = {**config.arguments(), "partition_conversions": "disabled"}
    if config.partition_conversions not in ("disabled", "enabled", "fully_integral"):
        raise ValueError(f"quantize: partition_conversions is disabled, enabled or fully_integral, not {config.partition_conversions!r}")
    if arguments["calibrate_mode"] in ("kl_divergence", "percentile"):
        arguments["activation_scales"] = _scales_on(dataset, annotate()(partition()(prerequisite_optimize(mod))))
    quantized = core.make_pass("quantize", arguments)(mod)
    if config.partition_conversions == "disabled":
        return quantized
    return partition_conversions(quantized, {config.dtype_input, config.dtype_weight, config.dtype_activation},
                                 config.partition_conversions == "fully_integral")


class QuantizeContext:
    """What an annotation by rules in Python would count; Baton's annotation is C++, so nothing is skipped or counted."""

    Current = None

    def __init__(self):
        self.qnode_map, self.conv2d_counter, self.stop = {}, 0, False

    def check_to_skip(self, ref_call):
        """Whether a call is not annotated: once stop_quantize() was called."""
        return self.stop

    def stop_quantize(self):
        """From now on check_to_skip() says True."""
        self.stop = True

    def reset(self):
        """Resets the state."""
        self.conv2d_counter, self.stop = 0, False

    def __enter__(self):
        self._outer, QuantizeContext.Current = QuantizeContext.Current, self
        self.reset()
        return self

    def __exit__(self, *exception):
        QuantizeContext.Current = self._outer


def quantize_context():
    """A QuantizeContext."""
    return QuantizeContext()


def partition_conversions(mod, quantized_dtypes, ensure_fully_integral):
    """A quantised module in three functions: quantize_inputs, quantized_main (of the element types `quantized_dtypes`) and
    dequantize_outputs, and a main that calls them.

    With `ensure_fully_integral` AssertionError where the middle also computes in floats, or more than conversions is around it.
    """
    parts, obstacle = core.partition_conversions(mod, sorted(str(dtype) for dtype in quantized_dtypes))
    if ensure_fully_integral and obstacle:
        raise AssertionError(f"partition_conversions: {obstacle}")
    return parts


def register_annotate_function(op_name, frewrite=None, level=10):
    """Rules of annotation are C++ in Baton: NotImplementedError."""
    raise NotImplementedError("register_annotate_function: rules of quantisation are C++ in Baton, none is read from Python")


def register_partition_function(op_name, frewrite=None, level=10):
    """Rules of partitioning are C++ in Baton: NotImplementedError."""
    raise NotImplementedError("register_partition_function: rules of quantisation are C++ in Baton, none is read from Python")


def __getattr__(name):
    not_provided(__name__, name)
