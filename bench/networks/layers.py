"""Layers that the networks are made of. Every one names its variables after itself."""
from baton import relay

nn = relay.op.nn


def var(name, *shape):
    return relay.var(name, shape=shape, dtype="float32")


def conv(data, name, inputs, outputs, size, stride=1, padding=0, groups=1):
    """A convolution without bias; size and padding: a number or (height, width)."""
    size = (size, size) if isinstance(size, int) else size
    return nn.conv2d(data, var(name + "_weight", outputs, inputs // groups, *size), channels=outputs, kernel_size=size,
                     strides=(stride, stride), padding=padding, groups=groups)


def norm(data, name, channels, epsilon=1e-5):
    parts = [var(f"{name}_{each}", channels) for each in ("gamma", "beta", "moving_mean", "moving_var")]
    return nn.batch_norm(data, *parts, epsilon=epsilon)[0]


def conv_norm(data, name, inputs, outputs, size, activation=None, **options):
    made = norm(conv(data, name, inputs, outputs, size, **options), name + "_bn", outputs)
    return activation(made) if activation else made


def dense(data, name, inputs, outputs):
    return nn.bias_add(nn.dense(data, var(name + "_weight", outputs, inputs), units=outputs), var(name + "_bias", outputs), axis=-1)


def classify(data, inputs, classes=1000):
    """Global average and one dense layer."""
    return dense(nn.batch_flatten(nn.global_avg_pool2d(data)), "classes", inputs, classes)


def swish(data):
    return data * relay.sigmoid(data)


def clip6(data):
    return relay.clip(data, 0.0, 6.0)
