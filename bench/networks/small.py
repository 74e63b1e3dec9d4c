"""The generator of DCGAN (Radford, Metz, Chintala 2015) as in PyTorch's tutorial, and a perceptron with three hidden layers."""
from baton import relay

from .layers import dense, nn, norm, var
from .weights import finish


def dcgan():
    data = var("data", 1, 100, 1, 1)
    made, channels = data, 100
    for index, (outputs, stride, padding) in enumerate(((512, 1, 0), (256, 2, 1), (128, 2, 1), (64, 2, 1), (3, 2, 1))):
        weight = var(f"deconv{index}_weight", channels, outputs, 4, 4)
        made = nn.conv2d_transpose(made, weight, channels=outputs, kernel_size=(4, 4), strides=(stride, stride),
                                   padding=(padding, padding), kernel_layout="IOHW")
        made = nn.relu(norm(made, f"deconv{index}_bn", outputs)) if index < 4 else relay.tanh(made)
        channels = outputs
    return finish(made, data)


def mlp():
    data = var("data", 1, 784)
    made = data
    for index, inputs in enumerate((784, 512, 512)):
        made = nn.relu(dense(made, f"dense{index}", inputs, 512))
    return finish(dense(made, "classes", 512, 10), data)
