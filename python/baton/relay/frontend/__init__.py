"""Importers. Of the others than from_onnx the names can be imported, and raise NotImplementedError when called."""
from ..._refused import refused
from ..._signature import signature_of
from .onnx import from_onnx

_REASON = "this importer is not provided yet: write the model as Relay text, or with relay.testing"
_SIGNATURES = """
from_caffe(init_net, predict_net, shape_dict, dtype_dict)
from_caffe2(init_net, predict_net, shape=None, dtype='float32')
from_coreml(model, shape=None)
from_darknet(net, shape=None, dtype='float32')
from_keras(model, shape=None, layout='NCHW')
from_mxnet(symbol, shape=None, dtype='float32', arg_params=None, aux_params=None)
from_oneflow(graph, model_dir_path)
from_paddle(program_or_layer, shape_dict=None, scope=None)
from_pytorch(script_module, input_infos, custom_convert_map=None, default_dtype='float32', use_parser_friendly_name=False, keep_quantized_weight=False)
from_tensorflow(graph, layout='NHWC', shape=None, outputs=None, convert_config=None)
from_tflite(model, shape_dict=None, dtype_dict=None, op_converter=None)
quantize_conv_bias_mkldnn_from_var(bias_var, bias_scale)
"""


def _importer(text):
    name = text.split("(")[0]

    def refuse(*args, **kwargs):
        raise NotImplementedError(f"relay.frontend.{name}: {_REASON} (docs/compatibility.md)")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raises NotImplementedError: {_REASON}."
    refuse.__signature__ = signature_of(text)
    return refuse


globals().update({_text.split("(")[0]: _importer(_text) for _text in _SIGNATURES.splitlines() if _text})
ChangeDatatype = refused(__name__, "ChangeDatatype", "own data types are not provided")


def __getattr__(name):
    if name == "common":
        import importlib

        return importlib.import_module(__name__ + ".common")
    from ..._load import not_provided

    not_provided(__name__, name)
