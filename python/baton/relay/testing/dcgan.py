"""The generator of DCGAN (Radford, Metz, Chintala 2015): an image from a vector of noise."""
from ..._load import core
from .. import op
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
    axis = kwargs.get("layout", "NCHW").index("C")
    return op.nn.relu(layers.batch_norm_infer(deconv2d(data, name=f"{prefix}_deconv", **kwargs), epsilon=1e-5, scale=False, axis=axis,
                                              name=f"{prefix}_batch_norm"))


def get_net(batch_size, random_len=100, oshape=(3, 64, 64), ngf=128, code=None, layout="NCHW", dtype="float32"):
    """The network as a Function of `data`, (batch, random_len), or of what `code` is made of where it is given."""
    if tuple(oshape[-2:]) != (64, 64):
        raise ValueError(f"dcgan: images are 64 by 64, not {oshape[-2:]}")
    return core.dcgan(batch_size, random_len, oshape[0], ngf, layout, dtype, code)["main"]


def get_workload(batch_size, oshape=(3, 64, 64), ngf=128, random_len=100, layout="NCHW", dtype="float32"):
    """(module, params)."""
    return create_workload(get_net(batch_size, dtype=dtype, oshape=oshape, ngf=ngf, random_len=random_len, layout=layout))
