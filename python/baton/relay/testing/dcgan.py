"""The generator of DCGAN (Radford, Metz, Chintala 2015): an image from a vector of noise."""
from .. import op
from ..analysis import free_vars
from ..expr import var
from ..function import Function
from . import layers
from .init import create_workload


def deconv2d(data, ishape, oshape, kshape, layout, name, stride=(2, 2)):
    """nn.conv2d_transpose that takes shape `ishape` (channels, height, width) to `oshape`."""
    if layout not in ("NCHW", "NHWC"):
        raise ValueError(f"deconv2d: layout is NCHW or NHWC, not {layout}")
    pad_y, pad_x = (kshape[0] - 1) // 2, (kshape[1] - 1) // 2
    extra = ((oshape[-2] + 2 * pad_y - kshape[0]) % stride[0], (oshape[-1] + 2 * pad_x - kshape[1]) % stride[1])
    made = [(extent - 1) * step - 2 * pad + kernel + more for extent, step, pad, kernel, more in
            zip(ishape[-2:], stride, (pad_y, pad_x), kshape, extra)]
    if made != list(oshape[-2:]):
        raise ValueError(f"deconv2d: {ishape} becomes {made}, not {oshape}")
    return layers.conv2d_transpose(data, channels=oshape[0], kernel_size=kshape, strides=stride, padding=(pad_y, pad_x),
                                   output_padding=extra, data_layout=layout, kernel_layout="IOHW" if layout == "NCHW" else "HWOI",
                                   name=name)


def deconv2d_bn_relu(data, prefix, **kwargs):
    """deconv2d, batch normalisation and nn.relu."""
    eps = 1e-5 + 1e-12
    axis = 1 if kwargs["layout"] == "NCHW" else 3
    return op.nn.relu(layers.batch_norm_infer(deconv2d(data, name=f"{prefix}_deconv", **kwargs), epsilon=eps, scale=False, axis=axis,
                                              name=f"{prefix}_batch_norm"))


def get_net(batch_size, random_len=100, oshape=(3, 64, 64), ngf=128, code=None, layout="NCHW", dtype="float32"):
    """The network as a Function of `data`, (batch, random_len). Its form is that of the paper; TVM's own text was not at hand."""
    if tuple(oshape[-2:]) != (64, 64):
        raise ValueError(f"dcgan: images are 64 by 64, not {oshape[-2:]}")
    code = var("data", dtype=dtype, shape=(batch_size, random_len)) if code is None else code
    channels = [ngf * 8, ngf * 4, ngf * 2, ngf, oshape[0]]
    net = layers.dense_add_bias(code, units=4 * 4 * channels[0], name="dense")
    net = op.reshape(op.nn.relu(net), (-1, channels[0], 4, 4) if layout == "NCHW" else (-1, 4, 4, channels[0]))
    for i in range(3):
        size = 4 << i
        net = deconv2d_bn_relu(net, f"g{i + 2}", ishape=(channels[i], size, size), oshape=(channels[i + 1], 2 * size, 2 * size),
                               kshape=(4, 4), layout=layout)
    net = op.tanh(deconv2d(net, (channels[3], 32, 32), tuple(oshape), (4, 4), layout, "g5_deconv"))
    return Function(free_vars(net), net)


def get_workload(batch_size, oshape=(3, 64, 64), ngf=128, random_len=100, layout="NCHW", dtype="float32"):
    """(module, params)."""
    return create_workload(get_net(batch_size, dtype=dtype, oshape=oshape, ngf=ngf, random_len=random_len, layout=layout))
