"""MobileNetV2 (Sandler et al. 2018) and EfficientNet-B0 (Tan and Le 2019)."""
from baton import relay

from .layers import classify, clip6, conv_norm, nn, swish, var
from .weights import finish


def mobilenet_v2():
    data = var("data", 1, 3, 224, 224)
    made, channels = conv_norm(data, "stem", 3, 32, 3, clip6, stride=2, padding=1), 32
    for stage, (expansion, outputs, count, stride) in enumerate(
            ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))):
        for index in range(count):
            made = inverted(made, f"block{stage}_{index}", channels, outputs, 3, 1 if index else stride, expansion, clip6)
            channels = outputs
    return finish(classify(conv_norm(made, "last", channels, 1280, 1, clip6), 1280), data)


def efficientnet_b0():
    data = var("data", 1, 3, 224, 224)
    made, channels = conv_norm(data, "stem", 3, 32, 3, swish, stride=2, padding=1), 32
    for stage, (expansion, outputs, count, stride, size) in enumerate(
            ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3))):
        for index in range(count):
            made = inverted(made, f"block{stage}_{index}", channels, outputs, size, 1 if index else stride, expansion, swish,
                            squeezed=channels // 4)
            channels = outputs
    return finish(classify(conv_norm(made, "last", channels, 1280, 1, swish), 1280), data)


def inverted(data, name, inputs, outputs, size, stride, expansion, activation, squeezed=0):
    """The inverted residual block; `squeezed`: the channels that squeeze and excite has in the middle."""
    wide = inputs * expansion
    made = conv_norm(data, name + "_expand", inputs, wide, 1, activation) if expansion > 1 else data
    made = conv_norm(made, name + "_depthwise", wide, wide, size, activation, stride=stride, padding=size // 2, groups=wide)
    if squeezed:
        made = squeeze_excite(made, name, wide, squeezed)
    made = conv_norm(made, name + "_project", wide, outputs, 1)
    return made + data if stride == 1 and inputs == outputs else made


def squeeze_excite(data, name, channels, squeezed):
    made = pointwise(nn.global_avg_pool2d(data), name + "_squeeze", channels, squeezed)
    return data * relay.sigmoid(pointwise(swish(made), name + "_excite", squeezed, channels))


def pointwise(data, name, inputs, outputs):
    made = nn.conv2d(data, var(name + "_weight", outputs, inputs, 1, 1), channels=outputs, kernel_size=(1, 1))
    return nn.bias_add(made, var(name + "_bias", outputs))
