"""Pre-activation ResNets for video: windows in time too."""
from .. import op
from ..analysis import free_vars
from ..expr import var
from ..function import Function
from . import layers
from .init import create_workload

# Blocks in each of the four stages, and whether they have a bottleneck.
_UNITS = {18: ([2, 2, 2, 2], False), 34: ([3, 4, 6, 3], False), 50: ([3, 4, 6, 3], True), 101: ([3, 4, 23, 3], True),
          152: ([3, 8, 36, 3], True), 200: ([3, 24, 36, 3], True)}


def _norm_relu(data, name, layout):
    return op.nn.relu(layers.batch_norm_infer(data, epsilon=2e-5, axis=layout.index("C"), name=name))


def _conv(data, channels, kernel, stride, name, layout):
    padding = tuple((each - 1) // 2 for each in kernel)
    return layers.conv3d(data, channels=channels, kernel_size=kernel, strides=stride, padding=padding, data_layout=layout,
                         kernel_layout=layers.conv_kernel_layout(layout), name=name)


def residual_unit(data, num_filter, stride, dim_match, name, bottle_neck=True, data_layout="NCDHW"):
    """`data` plus what two convolutions, or three with a bottleneck, make of it; by 1x1x1 convolution unless dim_match."""
    small = num_filter // 4 if bottle_neck else num_filter
    windows = [((1, 1, 1), small), ((3, 3, 3), small), ((1, 1, 1), num_filter)] if bottle_neck else [((3, 3, 3), num_filter)] * 2
    strided = 1 if bottle_neck else 0
    active = shown = _norm_relu(data, name + "_bn1", data_layout)
    for i, (kernel, channels) in enumerate(windows):
        if i:
            shown = _norm_relu(shown, f"{name}_bn{i + 1}", data_layout)
        shown = _conv(shown, channels, kernel, stride if i == strided else (1, 1, 1), f"{name}_conv{i + 1}", data_layout)
    return op.add(shown, data if dim_match else _conv(active, num_filter, (1, 1, 1), stride, name + "_sc", data_layout))


def get_net(batch_size, num_classes, num_layers=50, image_shape=(3, 16, 112, 112), layout="NCDHW", dtype="float32"):
    """The network as a Function of `data`. Its form is that of ResNets in two dimensions; TVM's own text was not at hand.

    image_shape: (channels, time, height, width), or in the order of NDHWC. ValueError for a number of layers without a ResNet.
    """
    if num_layers not in _UNITS:
        raise ValueError(f"resnet_3d: there is none of {num_layers} layers; of {', '.join(map(str, _UNITS))} there are")
    units, bottle_neck = _UNITS[num_layers]
    filters = [64, 256, 512, 1024, 2048] if bottle_neck else [64, 64, 128, 256, 512]
    body = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    body = layers.batch_norm_infer(body, epsilon=2e-5, axis=layout.index("C"), scale=False, name="bn_data")
    body = _conv(body, filters[0], (3, 7, 7), (1, 2, 2), "conv0", layout)
    body = op.nn.max_pool3d(_norm_relu(body, "bn0", layout), pool_size=(3, 3, 3), strides=(2, 2, 2), padding=(1, 1, 1), layout=layout)
    for i, count in enumerate(units):
        for k in range(count):
            stride = (2, 2, 2) if k == 0 and i > 0 else (1, 1, 1)
            body = residual_unit(body, filters[i + 1], stride, k > 0, f"stage{i + 1}_unit{k + 1}", bottle_neck, layout)
    pooled = op.nn.global_avg_pool3d(_norm_relu(body, "bn1", layout), layout=layout)
    scores = layers.dense_add_bias(op.nn.batch_flatten(pooled), units=num_classes, name="fc1")
    net = op.nn.softmax(scores)
    return Function(free_vars(net), net)


def get_workload(batch_size=1, num_classes=1000, num_layers=18, image_shape=(3, 16, 112, 112), layout="NCDHW", dtype="float32",
                 **kwargs):
    """(module, params); keywords go to create_workload, e.g. initializer."""
    return create_workload(get_net(batch_size, num_classes, num_layers, image_shape, layout, dtype), **kwargs)
