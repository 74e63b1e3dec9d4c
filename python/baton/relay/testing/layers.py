"""Layers of networks: each creates its variables, named after it ("conv0_weight", ..), unless they are given."""
from .. import op as _op
from ..expr import var


def _named(kwargs, default):
    return kwargs.pop("name", None) or default


def _with_weight(build, default):
    def layer(data, weight=None, **kwargs):
        name = _named(kwargs, default)
        return build(data, var(name + "_weight") if weight is None else weight, **kwargs)

    layer.__name__ = layer.__qualname__ = default
    layer.__doc__ = f"nn.{default} of `data`, its weight named NAME_weight (keyword name=NAME) unless given; keywords as nn.{default}."
    return layer


def _convolution(name):
    return _with_weight(lambda data, weight, **kwargs: getattr(_op.nn, name)(data, weight, **kwargs), name)


conv1d, conv2d, conv3d = (_convolution(_name) for _name in ("conv1d", "conv2d", "conv3d"))
conv2d_transpose, conv3d_transpose = (_convolution(_name) for _name in ("conv2d_transpose", "conv3d_transpose"))
_KERNEL_LAYOUTS = {"NCHW": "OIHW", "NHWC": "HWIO", "NCDHW": "OIDHW", "NDHWC": "DHWIO", "NCW": "OIW", "NWC": "WIO"}


def conv_kernel_layout(data_layout, is_depthwise=False):
    """The layout of the weight that usually goes with a layout of the data."""
    if data_layout not in _KERNEL_LAYOUTS:
        raise ValueError(f"conv_kernel_layout: no weight's layout is usual for {data_layout}")
    return "HWOI" if is_depthwise and data_layout == "NHWC" else _KERNEL_LAYOUTS[data_layout]


def batch_norm_infer(data, gamma=None, beta=None, moving_mean=None, moving_var=None, **kwargs):
    """The first result of nn.batch_norm; variables are NAME_gamma, NAME_beta, NAME_moving_mean and NAME_moving_var."""
    name = _named(kwargs, "batch_norm")
    given = {"gamma": gamma, "beta": beta, "moving_mean": moving_mean, "moving_var": moving_var}
    values = [var(f"{name}_{each}") if value is None else value for each, value in given.items()]
    return _op.nn.batch_norm(data, *values, **kwargs)[0]


def dense_add_bias(data, weight=None, bias=None, units=None, **kwargs):
    """nn.dense and nn.bias_add; variables are NAME_weight and NAME_bias."""
    name = _named(kwargs, "dense")
    weight = var(name + "_weight") if weight is None else weight
    bias = var(name + "_bias") if bias is None else bias
    return _op.nn.bias_add(_op.nn.dense(data, weight, units, **kwargs), bias, axis=-1)
