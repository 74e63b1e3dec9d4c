"""Trains two small networks on digits that are drawn here: Relay computes the loss and its gradients, numpy updates the weights.

    python -m baton.tvm examples/training.py [STEPS]
"""
import sys

import numpy as np

import tvm
from tvm import relay
from tvm.relay import nn

FONT = """.###. ..#.. .###. .###. ...#. ##### .###. ##### .###. .###.
          #...# .##.. #...# #...# ..##. #.... #.... ....# #...# #...#
          #..## ..#.. ....# ....# .#.#. ####. ####. ...#. #...# #...#
          #.#.# ..#.. ...#. ..##. #..#. ....# #...# ..#.. .###. .####
          ##..# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#
          #...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# #...#
          .###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .###.""".split()
DIGITS = np.array([[[pixel == "#" for pixel in FONT[10 * row + digit]] for row in range(7)] for digit in range(10)], "float32")
SIZE, CLASSES, BATCH = 8, 10, 32


def images(random):
    """BATCH noisy digits at random places, (BATCH, 1, SIZE, SIZE) float32, and their classes as rows of zeros and a one."""
    digits = random.integers(0, CLASSES, BATCH)
    made = random.normal(0, 0.3, (BATCH, 1, SIZE, SIZE)).astype("float32")
    for image, digit in zip(made, digits):
        top, left = random.integers(0, SIZE - 6), random.integers(0, SIZE - 4)
        image[0, top:top + 7, left:left + 5] += DIGITS[digit]
    return made, np.eye(CLASSES, dtype="float32")[digits]


def mlp(x, w):
    hidden = nn.relu(nn.bias_add(nn.dense(nn.batch_flatten(x), w("w1", 64, SIZE * SIZE)), w("b1", 64)))
    return nn.bias_add(nn.dense(hidden, w("w2", CLASSES, 64)), w("b2", CLASSES))


def convnet(x, w):
    for name, inputs, outputs in (("1", 1, 8), ("2", 8, 16)):
        x = nn.conv2d(x, w("k" + name, outputs, inputs, 3, 3), kernel_size=(3, 3), channels=outputs, padding=(1, 1))
        x = nn.max_pool2d(nn.relu(nn.bias_add(x, w("b" + name, outputs))), pool_size=(2, 2), strides=(2, 2))
    return nn.bias_add(nn.dense(nn.batch_flatten(x), w("w3", CLASSES, 16 * 4)), w("b3", CLASSES))


def compiled(function):
    with tvm.transform.PassContext(opt_level=3):
        return tvm.runtime.vm.VirtualMachine(relay.vm.compile(tvm.IRModule.from_expr(function), "llvm"), tvm.cpu())


def train(network, steps, rate=0.2):
    """The losses of all steps, and the part of new images that are right afterwards."""
    random, weights, variables = np.random.default_rng(0), [], []

    def weight(name, *shape):
        weights.append((random.standard_normal(shape) * ((2 / np.prod(shape[1:])) ** 0.5 if len(shape) > 1 else 0)).astype("float32"))
        variables.append(relay.var(name, shape=shape))
        return variables[-1]

    x, y = relay.var("x", shape=(BATCH, 1, SIZE, SIZE)), relay.var("y", shape=(BATCH, CLASSES))
    scores = network(x, weight)
    loss = relay.negative(relay.sum(nn.log_softmax(scores) * y)) / relay.const(float(BATCH))
    module = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([x, y, *variables], loss)))
    # A function of the same arguments: (the loss, (the gradient of each argument)).
    step = compiled(relay.transform.gradient(module["main"], module))
    predict, losses = compiled(relay.Function([x, *variables], scores)), []
    for _ in range(steps):
        value, gradients = step.run(*images(random), *weights)
        losses.append(float(value.numpy()))
        for array, gradient in zip(weights, list(gradients)[2:]):
            array -= rate * gradient.numpy()
    tests = [images(random) for _ in range(16)]
    return losses, np.mean([predict.run(data, *weights).numpy().argmax(1) == classes.argmax(1) for data, classes in tests])


if __name__ == "__main__":
    for each in (mlp, convnet):
        history, right = train(each, int(sys.argv[1]) if len(sys.argv) > 1 else 600)
        print(f"{each.__name__}: loss {np.mean(history[:10]):.3f} -> {np.mean(history[-10:]):.3f}; {100 * right:.0f} % of new images right")
