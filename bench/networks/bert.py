"""The encoder of BERT (Devlin et al. 2018) behind its embedding, and the pooler without its tanh, which hides differences:
hidden 768, 12 heads, 128 tokens, erf-GELU.

Written as an importer of a PyTorch export leaves it: dense layers on two axes between reshapes, the left side of the
product q k' with its right side transposed, layer norm and GELU of single operators.
"""
import math

from baton import relay

from .layers import nn, var
from .weights import finish

HIDDEN, HEADS, TOKENS, INNER = 768, 12, 128, 3072


def encoder(layers):
    def build():
        data = var("data", 1, TOKENS, HIDDEN)
        made = layer_norm(data, "embedding")
        for index in range(layers):
            made = layer(made, f"layer{index}")
        first = relay.reshape(relay.strided_slice(made, begin=[0, 0, 0], end=[1, 1, HIDDEN]), (1, HIDDEN))
        pooled = nn.dense(first, var("pooler_weight", HIDDEN, HIDDEN), units=HIDDEN)
        return finish(nn.bias_add(pooled, var("pooler_bias", HIDDEN), axis=-1), data)

    return build


def layer(data, name):
    made = linear(attention(data, name), name + "_attention", HIDDEN, HIDDEN)
    data = layer_norm(made + data, name + "_attention")
    made = linear(gelu(linear(data, name + "_inner", HIDDEN, INNER)), name + "_outer", INNER, HIDDEN)
    return layer_norm(made + data, name + "_outer")


def attention(data, name):
    size = HIDDEN // HEADS
    query, key, value = (heads(linear(data, f"{name}_{part}", HIDDEN, HIDDEN), size) for part in ("query", "key", "value"))
    scores = nn.batch_matmul(joined(query, size), joined(key, size), transpose_a=False, transpose_b=True)
    scores = relay.reshape(scores, (1, HEADS, TOKENS, TOKENS)) / relay.const(math.sqrt(size), "float32")
    mixed = nn.batch_matmul(joined(nn.softmax(scores, axis=-1), TOKENS), joined(value, size), transpose_a=False, transpose_b=False)
    mixed = relay.transpose(relay.reshape(mixed, (1, HEADS, TOKENS, size)), (0, 2, 1, 3))
    return relay.reshape(mixed, (1, TOKENS, HIDDEN))


def heads(data, size):
    return relay.transpose(relay.reshape(data, (1, TOKENS, HEADS, size)), (0, 2, 1, 3))


def joined(data, width):
    """Batch and heads in one axis."""
    return relay.reshape(data, (HEADS, TOKENS, width))


def linear(data, name, inputs, outputs):
    made = nn.dense(relay.reshape(data, (TOKENS, inputs)), var(name + "_weight", outputs, inputs), units=outputs)
    return relay.reshape(made, (1, TOKENS, outputs)) + var(name + "_bias", outputs)


def gelu(data):
    return data * (relay.erf(data / relay.const(math.sqrt(2), "float32")) + relay.const(1.0)) * relay.const(0.5)


def layer_norm(data, name):
    less = data - relay.mean(data, axis=-1, keepdims=True)
    spread = relay.mean(relay.power(less, relay.const(2.0)), axis=-1, keepdims=True)
    made = less / relay.sqrt(spread + relay.const(1e-12))
    return made * var(name + "_ln_gamma", HIDDEN) + var(name + "_ln_beta", HIDDEN)
