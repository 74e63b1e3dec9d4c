"""Image classifiers as torchvision has them: ResNet v1.5 (He et al. 2015; stride in the 3x3 convolution), DenseNet (Huang et al. 2016)."""
from baton import relay

from .layers import classify, conv, conv_norm, nn, norm, var
from .weights import finish


def stem(data):
    made = conv_norm(data, "stem", 3, 64, 7, nn.relu, stride=2, padding=3)
    return nn.max_pool2d(made, pool_size=(3, 3), strides=(2, 2), padding=(1, 1))


def shortcut(data, name, inputs, outputs, stride):
    if inputs == outputs and stride == 1:
        return data
    return conv_norm(data, name + "_shortcut", inputs, outputs, 1, stride=stride)


def basic(data, name, inputs, width, stride):
    made = conv_norm(data, name + "_1", inputs, width, 3, nn.relu, stride=stride, padding=1)
    made = conv_norm(made, name + "_2", width, width, 3, padding=1)
    return nn.relu(made + shortcut(data, name, inputs, width, stride)), width


def bottleneck(data, name, inputs, width, stride):
    made = conv_norm(data, name + "_1", inputs, width, 1, nn.relu)
    made = conv_norm(made, name + "_2", width, width, 3, nn.relu, stride=stride, padding=1)
    made = conv_norm(made, name + "_3", width, 4 * width, 1)
    return nn.relu(made + shortcut(data, name, inputs, 4 * width, stride)), 4 * width


def resnet(block, counts):
    data = var("data", 1, 3, 224, 224)
    made, channels = stem(data), 64
    for stage, count in enumerate(counts):
        for index in range(count):
            made, channels = block(made, f"block{stage}_{index}", channels, 64 << stage, 2 if stage and not index else 1)
    return finish(classify(made, channels), data)


def resnet18():
    return resnet(basic, (2, 2, 2, 2))


def resnet50():
    return resnet(bottleneck, (3, 4, 6, 3))


def densenet121(growth=32):
    data = var("data", 1, 3, 224, 224)
    made, channels = stem(data), 64
    for stage, count in enumerate((6, 12, 24, 16)):
        for index in range(count):
            name = f"dense{stage}_{index}"
            new = conv(nn.relu(norm(made, name + "_bn1", channels)), name + "_1", channels, 4 * growth, 1)
            new = conv(nn.relu(norm(new, name + "_bn2", 4 * growth)), name + "_2", 4 * growth, growth, 3, padding=1)
            made, channels = relay.concatenate([made, new], axis=1), channels + growth
        made = nn.relu(norm(made, f"transition{stage}_bn", channels))
        if stage < 3:
            made = conv(made, f"transition{stage}", channels, channels // 2, 1)
            made, channels = nn.avg_pool2d(made, pool_size=(2, 2), strides=(2, 2)), channels // 2
    return finish(classify(made, channels), data)
