"""Regions for oneDNN: every operator and composite that the backend claims, against Baton's own kernels.

The cases of CASES are chosen by the claims: an operator or composite without one fails the test.
"""
import json
import os
import re

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from baton.relay.op.contrib import dnnl

nn = relay.nn


def var(name, *shape):
    return relay.var(name, shape=shape, dtype="float32")


def const(*shape, seed=0, low=-1.0, high=1.0):
    return relay.const(np.random.default_rng(seed).uniform(low, high, shape).astype("float32"))


def conv(shape, weight, channels=None, kernel=None, op=nn.conv2d, **attrs):
    axes = len(shape) - 2
    return op(var("x", *shape), const(*weight), channels=channels or weight[0],
              kernel_size=kernel or tuple(weight[-axes:]), **attrs)


def dense(rows=3, k=5, units=7):
    return nn.dense(var("x", rows, k), const(units, k), units=units)


def unary(op, *shape, **attrs):
    return op(var("x", *shape), **attrs)


def binary(op, left, right):
    return op(var("x", *left), var("y", *right))


def pools(op, spatial, **attrs):
    return [op(var("x", 1, 3, *[9] * spatial), pool_size=(3,) * spatial, strides=(2,) * spatial, **attrs),
            op(var("x", 2, 16, *[7] * spatial), pool_size=(2,) * spatial, padding=(1,) * spatial, **attrs),
            op(var("x", 1, 5, *[8] * spatial), pool_size=(3,) * spatial, strides=(2,) * spatial, ceil_mode=True, **attrs),
            op(var("x", 1, 4, *[1] * spatial), pool_size=(1,) * spatial, **attrs)]


CONVOLUTIONS = {
    "plain": lambda: conv((1, 3, 16, 17), (8, 3, 3, 3), padding=(1, 1)),
    "one by one": lambda: conv((1, 16, 7, 5), (32, 16, 1, 1)),
    "one pixel": lambda: conv((1, 16, 1, 1), (4, 16, 1, 1)),
    "odd channels": lambda: conv((2, 5, 9, 11), (7, 5, 3, 2), padding=(1, 0)),
    "strides": lambda: conv((1, 16, 15, 14), (16, 16, 3, 3), strides=(2, 3), padding=(1, 1)),
    "asymmetric padding": lambda: conv((1, 4, 8, 8), (8, 4, 3, 3), padding=(0, 1, 2, 1)),
    "dilation": lambda: conv((1, 8, 17, 17), (8, 8, 3, 3), dilation=(2, 3), padding=(2, 2)),
    "groups": lambda: conv((1, 12, 8, 9), (18, 4, 3, 3), groups=3, padding=(1, 1)),
    "depthwise": lambda: conv((1, 24, 10, 10), (24, 1, 3, 3), groups=24, padding=(1, 1)),
    "depthwise, two each": lambda: conv((1, 6, 8, 8), (6, 2, 3, 3), channels=12, groups=6, padding=(1, 1)),
    "NHWC": lambda: conv((1, 9, 8, 5), (3, 3, 5, 6), channels=6, kernel=(3, 3), data_layout="NHWC", kernel_layout="HWIO", padding=(1, 1)),
    "weight that is no constant": lambda: nn.conv2d(var("x", 1, 4, 6, 6), var("w", 8, 4, 3, 3), channels=8, kernel_size=(3, 3)),
}

def norm(op, *shape, vectors=None, axis=1, **attrs):
    """`vectors`: how many operands behind the data; the last one is a variance where there are four."""
    extent = shape[axis]
    return op(var("x", *shape), *[const(extent, seed=seed, low=0.5 if seed in (0, 3) else -1) for seed in range(vectors or 2)], axis=axis, **attrs)


def layer_norm(x, extent, form="power", tiny=1e-5):
    """As exporters write it: single operators."""
    number = lambda value: relay.const(np.float32(value))  # noqa: E731
    mean = relay.mean(x, axis=-1, keepdims=True)
    less = relay.subtract(x, mean)
    square = relay.power(less, number(2)) if form == "power" else relay.multiply(less, less)
    spread = relay.add(relay.mean(square, axis=-1, keepdims=True), number(tiny))
    standard = relay.multiply(less, relay.rsqrt(spread)) if form == "rsqrt" else relay.divide(less, relay.sqrt(spread))
    return relay.add(relay.multiply(standard, const(extent, seed=5, low=0.5)), const(extent, seed=6))


CASES = {
    "nn.layer_norm": [norm(nn.layer_norm, *shape, axis=-1, **attrs) for shape, attrs in (
        ((2, 8), {}), ((3, 5, 33), {"epsilon": 1e-12}), ((2, 3, 4, 7), {"center": False}), ((1, 2, 3, 2, 3, 16), {"scale": False}), ((9,), {}),
        ((1, 1), {}), ((4, 300), {"center": False, "scale": False}))],
    "nn.group_norm": [norm(nn.group_norm, *shape, num_groups=groups, **attrs) for shape, groups, attrs in (
        ((2, 4, 3, 3), 2, {}), ((1, 12, 5), 3, {"center": False}), ((3, 6), 2, {"scale": False}), ((2, 32, 4, 5, 2), 32, {}), ((1, 5, 7, 7), 1, {"scale": False, "center": False}))],
    "nn.instance_norm": [norm(nn.instance_norm, *shape, **attrs) for shape, attrs in (
        ((2, 3, 4), {}), ((1, 7, 5, 6), {"epsilon": 1e-3}), ((2, 16, 3, 3, 3), {"center": False}), ((2, 3, 8, 8), {"scale": False}))],
    "nn.batch_norm": [norm(nn.batch_norm, *shape, vectors=4, axis=axis, **attrs)[0] for shape, axis, attrs in (
        ((2, 3, 4, 4), 1, {}), ((2, 5), 1, {"center": False}), ((1, 7, 5, 16), 3, {"scale": False}), ((2, 33, 3, 2, 4), 1, {"epsilon": 1e-3}), ((4, 3, 5), 0, {}))],
    "nn.conv2d": [case() for case in CONVOLUTIONS.values()],
    "nn.conv1d": [conv((1, 3, 20), (8, 3, 3), op=nn.conv1d), conv((2, 8, 9), (16, 8, 1), op=nn.conv1d, strides=2)],
    "nn.conv3d": [conv((1, 3, 6, 7, 8), (4, 3, 3, 3, 3), op=nn.conv3d, padding=(1, 1, 1)),
                  conv((1, 4, 5, 5, 5), (4, 2, 2, 2, 2), op=nn.conv3d, groups=2, strides=(2, 1, 2))],
    "nn.conv2d_transpose": [
        conv((1, 3, 5, 6), (3, 4, 3, 3), channels=4, op=nn.conv2d_transpose, strides=(2, 2), padding=(1, 1), kernel_layout="IOHW"),
        conv((1, 4, 5, 5), (4, 3, 2, 2), channels=6, op=nn.conv2d_transpose, groups=2, kernel_layout="IOHW")],
    "nn.dense": [dense(), dense(1, 1, 1), dense(1, 300, 33), nn.dense(var("x", 2, 3, 8), const(5, 8)), nn.dense(var("x", 4, 6), var("w", 3, 6))],
    "nn.matmul": [nn.matmul(var("x", 3, 4), const(4, 5)), nn.matmul(var("x", 4, 3), var("y", 5, 4), transpose_a=True, transpose_b=True)],
    "nn.batch_matmul": [nn.batch_matmul(var("x", 2, 3, 4), var("y", 2, 5, 4)), nn.batch_matmul(var("x", 3, 5, 2), const(3, 5, 4), transpose_a=True, transpose_b=False),
                        nn.batch_matmul(var("x", 4, 3, 8), const(1, 7, 8))],
    "nn.max_pool1d": pools(nn.max_pool1d, 1), "nn.max_pool2d": pools(nn.max_pool2d, 2), "nn.max_pool3d": pools(nn.max_pool3d, 3),
    "nn.avg_pool1d": pools(nn.avg_pool1d, 1), "nn.avg_pool2d": pools(nn.avg_pool2d, 2), "nn.avg_pool3d": pools(nn.avg_pool3d, 3),
    "nn.global_avg_pool2d": [unary(nn.global_avg_pool2d, 1, 17, 7, 5), unary(nn.global_avg_pool2d, 2, 8, 6, 3, layout="NCHW")],
    "nn.global_max_pool2d": [unary(nn.global_max_pool2d, 2, 3, 4, 9)],
    "nn.softmax": [unary(nn.softmax, 2, 1000), unary(nn.softmax, 2, 3, 5, axis=1), unary(nn.softmax, 7)],
    "nn.log_softmax": [unary(nn.log_softmax, 3, 11), unary(nn.log_softmax, 2, 4, 3, axis=0)],
    "nn.leaky_relu": [unary(nn.leaky_relu, 2, 5, alpha=0.3)],
    "clip": [unary(relay.clip, 3, 7, a_min=-0.5, a_max=0.25)],
    "nn.bias_add": [nn.bias_add(var("x", 2, 5, 3), var("b", 5)), nn.bias_add(var("x", 2, 3, 4, 6), const(6), axis=-1)],
    "concatenate": [relay.concatenate([var("x", 2, 3, 4), var("y", 2, 5, 4)], 1), relay.concatenate([var("x", 3), const(4), var("y", 1)], 0)],
    "expand_dims": [relay.nn.relu(unary(relay.expand_dims, 2, 3, axis=1))],
    "squeeze": [relay.nn.relu(unary(relay.squeeze, 2, 1, 3, 1, axis=[1, 3]))],
    "reshape": [relay.nn.relu(unary(relay.reshape, 2, 6, newshape=(3, 4)))],
    "transpose": [relay.nn.relu(unary(relay.transpose, 2, 3, 4, axes=(2, 0, 1))), unary(relay.transpose, 5, 5)],
    "nn.batch_flatten": [relay.nn.relu(unary(nn.batch_flatten, 2, 3, 4))],
    **{name: [unary(op, 3, 5), unary(op, 1, 16, 4, 4), unary(op, 1)] for name, op in {
        "abs": relay.abs, "exp": relay.exp, "sigmoid": relay.sigmoid, "tanh": relay.tanh, "nn.relu": nn.relu, "negative": relay.negative}.items()},
    **{name: [op(relay.add(relay.abs(var("x", 3, 5)), relay.const(np.float32(0.1))))] for name, op in {"log": relay.log, "sqrt": relay.sqrt}.items()},
    **{name: [binary(op, (2, 3, 4), (2, 3, 4)), binary(op, (2, 3, 4), (3, 1)), binary(op, (1,), (1,)), op(var("x", 2, 5), relay.const(np.float32(0.7)))]
       for name, op in {"add": relay.add, "subtract": relay.subtract, "multiply": relay.multiply, "maximum": relay.maximum, "minimum": relay.minimum}.items()},
    "divide": [relay.divide(var("x", 2, 3, 4), relay.const(np.float32(3))), relay.divide(var("x", 2, 3), const(3, low=0.5))],
}


def modules_of(body):
    return tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(body), body))


def inputs_of(mod, seed=1):
    random = np.random.default_rng(seed)
    return {p.name_hint: random.uniform(-1, 1, p.type_annotation.concrete_shape).astype("float32") for p in mod["main"].params}


def outputs_of(lib, inputs):
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.set_input(**inputs)
    module.run()
    return [module.get_output(i).numpy() for i in range(module.get_num_outputs())]


def regions_of(mod):
    return [function for function in mod.functions.values() if "Compiler" in dict(function.attrs or {})]


def nodes_of(lib):
    nodes = [node for node in json.loads(lib.get_graph_json())["nodes"] if node["op"] == "tvm_op"]
    return [node for node in nodes if node["attrs"].get("backend") == "dnnl"], len(nodes)


def check_equal(mod, *, only=True, prune=False):
    """The partitioned program gives what the plain one does; `only`: nothing is left outside of one region."""
    split = dnnl.partition_for_dnnl(mod, prune=prune)
    inputs = inputs_of(mod)
    with tvm.transform.PassContext(config={"baton.strict_regions": True}):
        lib = relay.build(split, "llvm")
    ours, count = nodes_of(lib)
    assert ours, split
    if only:
        assert len(regions_of(split)) == len(ours) == count == 1, split
    for got, expected in zip(outputs_of(lib, inputs), outputs_of(relay.build(mod, "llvm"), inputs), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)
    assert all(row["nodes"] or row["folded_into"] or row["retired"] for row in tvm.origins(lib))
    return split, lib


@pytest.mark.parametrize("op", dnnl.operators())
def test_operator(op):
    assert op in CASES, f"{op} is claimed, and no case tests it"
    for body in CASES[op]:
        check_equal(modules_of(body))


LAYERS = {
    "conv1d": lambda: conv((1, 3, 20), (8, 3, 3), op=nn.conv1d),
    "conv2d": lambda: conv((1, 5, 9, 8), (8, 5, 3, 3), padding=(1, 1)),
    "conv3d": lambda: conv((1, 3, 6, 7, 8), (8, 3, 3, 3, 3), op=nn.conv3d),
    "conv2d_transpose": lambda: conv((1, 3, 5, 6), (3, 8, 3, 3), channels=8, op=nn.conv2d_transpose, strides=(2, 2), kernel_layout="IOHW"),
    "dense": lambda: dense(3, 5, 8),
}
AFTER = {"relu": nn.relu, "tanh": relay.tanh, "sigmoid": relay.sigmoid, "clip": lambda x: relay.clip(x, -0.3, 0.4)}


def gelu(x, form=0):
    half, one = relay.const(np.float32(0.5)), relay.const(np.float32(1))
    scaled = relay.divide(x, relay.const(np.float32(2**0.5))) if form else relay.multiply(x, relay.const(np.float32(0.5**0.5)))
    part = relay.add(relay.erf(scaled), one)
    return [relay.multiply(relay.multiply(x, part), half), relay.multiply(relay.multiply(x, half), part),
            relay.multiply(x, relay.multiply(part, half))][form]


def extents_of(body):
    return relay.transform.InferType()(modules_of(body))["main"].body.checked_type.concrete_shape


def composite(name):
    if name == "dnnl.gelu":
        return gelu(var("x", 3, 7))
    if name == "dnnl.layer_norm":
        return layer_norm(var("x", 3, 7), 7)
    layer, *parts = re.fullmatch(r"dnnl\.(conv1d|conv2d_transpose|conv2d|conv3d|dense)_(.*)", name).groups()
    body = LAYERS[layer]()
    shape = extents_of(body)
    for part in parts[0].split("_"):
        if part == "bias":
            body = nn.bias_add(body, const(8, seed=3))
        elif part == "sum":
            body = relay.add(body, var("residual", *shape))
        else:
            body = gelu(body) if part == "gelu" else AFTER[part](body)
    return body


def primitives_of(lib):
    """The number of primitives in each region, copies between layouts not counted."""
    report = tvm.profile(lib, repeat=1, seconds=0, inside_ms=1)
    return [each["params"]["primitives"] for each in json.loads(report.json())["functions"].values() if each["template"] == "dnnl"]


@pytest.mark.parametrize("name", [entry[0] for entry in dnnl.pattern_table() if not entry[0].startswith("dnnl.qnn.")])
def test_composite(name):
    split, lib = check_equal(modules_of(composite(name)))
    assert f'Composite="{name}"' in str(split)
    assert primitives_of(lib) == [1]  # what follows the layer are post-operations


@pytest.mark.parametrize("form", [0, 1, 2])
def test_every_form_of_gelu(form):
    split, _ = check_equal(modules_of(gelu(var("x", 2, 9), form)))
    assert 'Composite="dnnl.gelu"' in str(split)


@pytest.mark.parametrize("form", ["power", "product", "rsqrt"])
@pytest.mark.parametrize("shape", [(1, 5, 12), (7,), (2, 2, 2, 1)])
def test_every_form_of_layer_norm(form, shape):
    split, lib = check_equal(modules_of(layer_norm(var("x", *shape), shape[-1], form)))
    assert 'Composite="dnnl.layer_norm"' in str(split)
    assert primitives_of(lib) == [1]


def test_a_simplified_layer_norm_is_whole_again():
    mod = modules_of(norm(nn.layer_norm, 2, 3, 8, axis=-1))
    simple = relay.transform.SimplifyInference()(mod)
    assert "nn.layer_norm" not in str(simple)
    split, lib = check_equal(simple)
    assert 'Composite="dnnl.layer_norm"' in str(split) and primitives_of(lib) == [1]


def test_what_only_looks_like_layer_norm_is_none():
    x, y = var("x", 3, 8), var("y", 3, 8)
    number = lambda value: relay.const(np.float32(value))  # noqa: E731
    less = relay.subtract(x, relay.mean(x, axis=-1, keepdims=True))
    for data, power, axis in ((x, 3, -1), (y, 2, -1), (x, 2, 0)):
        other = relay.subtract(data, relay.mean(data, axis=-1, keepdims=True)) if data is y else less
        spread = relay.mean(relay.power(other, number(power)), axis=axis, keepdims=True)
        spread = relay.add(relay.abs(spread) if power == 3 else spread, number(1))
        body = relay.add(relay.multiply(relay.divide(less, relay.sqrt(spread)), const(8)), const(8, seed=1))
        split, _ = check_equal(modules_of(body), only=False)
        assert "dnnl.layer_norm" not in str(split)


@pytest.mark.parametrize("body", CASES["nn.batch_norm"], ids=range(len(CASES["nn.batch_norm"])))
def test_batch_norm_as_an_operator(body):
    """partition_for_dnnl folds it before; scripts that annotate themselves do not."""
    mod = relay.transform.InferType()(modules_of(body))
    passes = [relay.transform.AnnotateTarget("dnnl"), relay.transform.MergeCompilerRegions(), relay.transform.PartitionGraph()]
    split = tvm.transform.Sequential(passes)(mod)
    [region] = regions_of(split)
    assert "nn.batch_norm" in str(region)
    with tvm.transform.PassContext(config={"baton.strict_regions": True}):
        lib = relay.build(split, "llvm")
    inputs = inputs_of(mod)
    np.testing.assert_allclose(outputs_of(lib, inputs)[0], outputs_of(relay.build(mod, "llvm"), inputs)[0], rtol=1e-4, atol=1e-5)
    assert primitives_of(lib) == [1]


def test_norms_that_are_left():
    for body, why in ((norm(nn.layer_norm, 3, 4, axis=0), "`nn.layer_norm` normalises another axis than the last"),
                      (norm(nn.group_norm, 2, 3, 4, axis=2, num_groups=2), "`nn.group_norm` has its channels along another axis than the second"),
                      (norm(nn.instance_norm, 2, 3, 4, axis=2), "`nn.instance_norm` has its channels along another axis than the second")):
        assert [reason for _, reason in dnnl.refusals(modules_of(body))] == [why]
        check_equal(modules_of(body), only=False)


def test_a_batch_norm_of_many_axes_is_a_product_and_a_sum():
    mod = modules_of(norm(nn.batch_norm, 1, 2, 1, 2, 1, 2, vectors=4)[0])
    assert dnnl.refusals(mod) == []
    check_equal(mod, only=False)


def test_norms_without_elements_are_left():
    mod = modules_of(norm(nn.layer_norm, 0, 4, axis=-1))
    assert [reason for _, reason in dnnl.refusals(mod)] == ["`nn.layer_norm` is empty"]
    split = dnnl.partition_for_dnnl(mod, prune=False)
    assert not regions_of(split) and outputs_of(relay.build(split, "llvm"), inputs_of(mod))[0].shape == (0, 4)


def test_what_only_looks_like_gelu_is_none():
    x = var("x", 2, 9)
    part = relay.add(relay.erf(relay.multiply(x, relay.const(np.float32(0.5**0.5)))), relay.const(np.float32(1)))
    body = relay.multiply(relay.multiply(x, part), relay.const(np.float32(0.4)))
    split, _ = check_equal(modules_of(body), only=False)
    assert "dnnl.gelu" not in str(split)


def block(x, channels, seed, stride=1):
    w = lambda i, o, k, s: const(o, i, k, k, seed=seed + s, low=-0.2, high=0.2)  # noqa: E731
    main = nn.relu(nn.bias_add(nn.conv2d(x, w(channels, channels, 3, 0), padding=(1, 1), strides=(stride, stride), channels=channels, kernel_size=(3, 3)), const(channels, seed=seed)))
    main = nn.bias_add(nn.conv2d(main, w(channels, channels, 3, 1), padding=(1, 1), channels=channels, kernel_size=(3, 3)), const(channels, seed=seed + 1))
    side = x if stride == 1 else nn.conv2d(x, w(channels, channels, 1, 2), strides=(stride, stride), channels=channels, kernel_size=(1, 1))
    return nn.relu(relay.add(main, side))


REGIONS = {
    "residual blocks": lambda: block(block(var("x", 1, 16, 14, 14), 16, 5), 16, 9, 2),
    "the residual is used again": lambda: (lambda y: relay.add(block(y, 8, 3), y))(nn.relu(conv((1, 3, 9, 9), (8, 3, 3, 3)))),
    "branches joined": lambda: (lambda x: relay.concatenate([
        nn.relu(nn.conv2d(x, const(16, 8, 1, 1, seed=s), channels=16, kernel_size=(1, 1))) for s in (1, 2)] + [nn.max_pool2d(x, (3, 3), padding=(1, 1))], 1))(
            nn.relu(conv((1, 3, 12, 12), (8, 3, 3, 3)))),
    "a head": lambda: nn.softmax(nn.bias_add(nn.dense(nn.batch_flatten(nn.global_avg_pool2d(conv((2, 8, 6, 6), (24, 8, 3, 3)))), const(10, 24)), const(10))),
    "attention": lambda: (lambda q, k, v: nn.batch_matmul(nn.softmax(relay.multiply(nn.batch_matmul(q, k), relay.const(np.float32(0.125)))), relay.transpose(v, (0, 2, 1))))(
        *[relay.transpose(relay.reshape(nn.dense(var("x" if s == 0 else f"x{s}", 6, 16), const(16, 16, seed=s)), (6, 4, 4)), (1, 0, 2)) for s in range(3)]),
    "two results, one used inside": lambda: (lambda y: relay.Tuple([y, nn.conv2d(y, const(8, 8, 3, 3), channels=8, kernel_size=(3, 3))]))(
        nn.relu(conv((1, 3, 9, 9), (8, 3, 3, 3)))),
    "one result twice": lambda: (lambda y: relay.Tuple([y, y]))(nn.relu(dense())),
    "reshaped, and used before": lambda: (lambda y: relay.add(nn.relu(relay.reshape(y, (3, 7))), y))(dense()),
    "its own sum": lambda: (lambda y: relay.add(y, y))(dense()),
    "transposed square": lambda: nn.relu(relay.transpose(dense(6, 4, 6))),
    "two sums": lambda: relay.add(relay.add(dense(), var("a", 3, 7)), var("b", 3, 7)),
    "scales and biases of channels": lambda: nn.relu(relay.add(relay.multiply(conv((1, 3, 8, 8), (8, 3, 3, 3)), const(8, 1, 1)), const(8, 1, 1, seed=2))),
    "NHWC block": lambda: nn.relu(nn.bias_add(conv((1, 9, 8, 5), (3, 3, 5, 6), channels=6, kernel=(3, 3), data_layout="NHWC", kernel_layout="HWIO"), const(6), axis=3)),
}


@pytest.mark.parametrize("name", REGIONS)
def test_region(name):
    check_equal(modules_of(REGIONS[name]()), only=False)


@pytest.mark.parametrize("channels", [16, 7, 1])
def test_a_scaled_sum_is_one_primitive(channels):
    """As after the sums of residual networks: the pooled value is read twice, lies in blocks of channels, and cannot be scaled in place."""
    y = nn.max_pool2d(nn.relu(conv((1, 3, 9, 9), (channels, 3, 3, 3))), (2, 2), strides=(2, 2))
    scaled = nn.relu(relay.add(relay.multiply(y, const(channels, 1, 1)), const(channels, 1, 1, seed=2)))
    _, lib = check_equal(modules_of(relay.add(nn.conv2d(scaled, const(channels, channels, 1, 1, seed=3)), y)), only=False)
    assert primitives_of(lib) == [4]  # convolution, pool, scale, convolution


@pytest.mark.parametrize("depth, strides", [(512, (2, 2)), (768, (1, 2)), (512, (1, 1))])
def test_transposed_convolutions_of_many_channels(depth, strides):
    """oneDNN 3.2 added the bias of strided ones once for each part of the sum over channels."""
    y = conv((1, depth, 4, 4), (depth, 64, 4, 4), channels=64, op=nn.conv2d_transpose, strides=strides, kernel_layout="IOHW")
    check_equal(modules_of(relay.tanh(relay.add(relay.multiply(y, relay.const(0.01)), const(64, 1, 1, seed=2)))))


def test_residual_blocks_are_one_region():
    split, lib = check_equal(modules_of(REGIONS["residual blocks"]()))
    assert len(nodes_of(lib)[0]) == 1


@pytest.mark.parametrize("network", ["resnet-18", "mobilenet", "squeezenet"])
def test_network(network):
    from baton.relay import testing

    mod, params = {"resnet-18": lambda: testing.resnet.get_workload(num_layers=18, image_shape=(3, 64, 64)),
                   "mobilenet": lambda: testing.mobilenet.get_workload(image_shape=(3, 64, 64)),
                   "squeezenet": lambda: testing.squeezenet.get_workload(image_shape=(3, 64, 64))}[network]()
    data = {"data": np.random.default_rng(2).uniform(-1, 1, (1, 3, 64, 64)).astype("float32")}
    split = dnnl.partition_for_dnnl(mod, params)
    lib = relay.build(split, "llvm", params=params)
    ours, count = nodes_of(lib)
    assert ours and count <= 3, count
    [got], [expected] = outputs_of(lib, data), outputs_of(relay.build(mod, "llvm", params=params), data)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    rows = tvm.origins(lib)
    assert all(row["nodes"] or row["folded_into"] or row["retired"] for row in rows)
    assert all(row["nodes"] for row in rows if row["op"] == "nn.conv2d")


def test_profile_has_a_row_for_a_region_with_its_operators():
    lib = relay.build(dnnl.partition_for_dnnl(modules_of(block(var("x", 1, 16, 8, 8), 16, 5))), "llvm")
    report = tvm.profile(lib, repeat=2, seconds=0, inside_ms=1)
    [row] = [row for row in report.kernels if row.get("compiler") == "dnnl"]
    assert row["region"] == "tvmgen_default_dnnl_main_0" or row["region"].startswith("tvmgen_default_dnnl_main_")
    assert row["target"] == "dnnl" and row["median_us"] > 0
    assert len([each for each in tvm.origins(lib) if each["op"] == "nn.conv2d" and each["nodes"]]) == 2


def test_artifact(tmp_path):
    mod = modules_of(REGIONS["residual blocks"]())
    lib, inputs = relay.build(dnnl.partition_for_dnnl(mod), "llvm"), inputs_of(mod)
    lib.export_library(str(tmp_path / "model.baton"))
    loaded = tvm.runtime.load_module(str(tmp_path / "model.baton"))
    np.testing.assert_array_equal(outputs_of(loaded, inputs)[0], outputs_of(lib, inputs)[0])


def test_regions_share_equal_constants(tmp_path):
    """As the steps of an unrolled loop do: the file, and the memory of packed weights, hold them once."""
    weight, y = const(256, 256, seed=3, low=-0.1, high=0.1), var("x", 2, 256)
    for _ in range(4):
        y = relay.erf(nn.dense(y, weight))  # erf alone is not taken, so each dense layer is a region
    split, lib = check_equal(modules_of(y), only=False)
    assert len([each for each in split.get_global_vars() if "dnnl" in each.name_hint]) == 4
    lib.export_library(str(tmp_path / "model.baton"))
    assert (tmp_path / "model.baton").stat().st_size < 2 * 256 * 256 * 4


def test_small_regions_are_left_alone():
    mod = modules_of(relay.exp(nn.dense(relay.cast(relay.cast(relay.tanh(var("x", 2, 4)), "float64"), "float32"), const(3, 4))))
    assert len(regions_of(dnnl.partition_for_dnnl(mod, prune=False))) == 2
    assert len(regions_of(dnnl.partition_for_dnnl(mod))) == 1
    check_equal(mod, only=False, prune=True)


def test_says_why_not():
    x = relay.var("x", shape=(2, 3), dtype="float64")
    [(call, why)] = dnnl.refusals(tvm.IRModule.from_expr(relay.nn.relu(x)))
    assert call.op.name == "nn.relu" and why == "`nn.relu` has elements of type float64, not float32"
    [(call, why)] = dnnl.refusals(modules_of(relay.erf(var("x", 2))))
    assert why == "`erf` is not mapped to dnnl"
    pool = nn.avg_pool2d(var("x", 1, 3, 5, 5), (2, 2), (2, 2), ceil_mode=True, count_include_pad=True)
    assert [why for _, why in dnnl.refusals(modules_of(pool))] == ["`nn.avg_pool2d` rounds up and counts padding"]


REFUSED = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = @region(%x);
  nn.relu(%0)
}
def @region(%a: Tensor[(2, 3), float32], Compiler="dnnl", Primitive=1, Inline=1, global_symbol="region") -> Tensor[(2, 3), float32] {
  %1 = tanh(%a);
  %2 = erf(%1);
  nn.softmax(%2)
}
"""


def test_a_region_with_a_refused_operator_falls_back_with_a_warning(capfd):
    mod = tvm.parser.fromtext(REFUSED)
    lib = relay.build(mod, "llvm")
    assert "oneDNN does not compile region `region`: `erf` is not mapped to a primitive of oneDNN" in capfd.readouterr().err
    x = np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)
    e = np.exp([[__import__("math").erf(v) for v in row] for row in np.tanh(x)])
    np.testing.assert_allclose(outputs_of(lib, {"x": x})[0], e / e.sum(1, keepdims=True), rtol=1e-4)
    with tvm.transform.PassContext(config={"baton.strict_regions": True}), pytest.raises(NotImplementedError, match="baton.strict_regions"):
        relay.build(mod, "llvm")


LOADER = """
import ctypes, random, struct, sys

WORDS = ("header name last_error device_count device_kind device_name allocate release copy queue_create queue_destroy queue_wait "
         "event_create event_destroy event_record event_ns load unload bind unbind").split()
THREADS = ctypes.CFUNCTYPE(ctypes.c_int32)


class Host(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("bytes", ctypes.c_uint32), ("services", ctypes.c_void_p), ("threads", THREADS)]


host = Host(1, ctypes.sizeof(Host), None, THREADS(lambda: 1))
entry = ctypes.CDLL(sys.argv[1]).baton_backend_entry
entry.restype = ctypes.POINTER(ctypes.c_void_p)
table = entry(ctypes.byref(host))
load = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p))(table[WORDS.index("load")])
last_error = ctypes.CFUNCTYPE(ctypes.c_char_p)(table[WORDS.index("last_error")])


def answer(blob):
    return "" if load(bytes(blob), len(blob), ctypes.byref(ctypes.c_void_p())) == 0 else last_error().decode()


def summed(blob):
    value = 0xcbf29ce484222325
    for at in range(32, len(blob), 8):
        value = ((value ^ int.from_bytes(blob[at:at + 8], "little")) * 0x100000001b3) % 2**64
    return blob[:24] + struct.pack("<Q", value) + blob[32:]


model = open(sys.argv[2], "rb").read()
at = model.index(b"BATONDNN")
blob = model[at:at + struct.unpack_from("<Q", model, at + 16)[0]]
assert summed(blob) == blob
print(answer(blob))
print(answer(blob[:8] + struct.pack("<Q", 7) + blob[16:]))
print(answer(blob[:-64]))
print(answer(b"no blob of ours, but long enough for one"))
print(answer(blob[:-1] + bytes([blob[-1] ^ 1])))
random.seed(3)
answers = set()
for _ in range(400):
    damaged = bytearray(blob)
    for _ in range(random.choice([1, 2, 8])):
        place = random.randrange(32, len(blob) // 8) // 8 * 8
        struct.pack_into("<q", damaged, place, random.choice([0, 1, 2, 3, 5, 64, -1, 2**31, 2**40, 2**62, -2**63]))
    answers.add(answer(summed(bytes(damaged))))
assert len(answers) > int(sys.argv[3]), answers
print("survived")
"""


def wide_products():
    """Whether oneDNN adds products of bytes in 32 bits here; without VNNI it does not."""
    with open("/proc/cpuinfo", encoding="ascii") as info:
        return re.search("avx(512)?_vnni|amx_int8", info.read()) is not None and not os.environ.get("ONEDNN_MAX_CPU_ISA")


def bytes_and_norms():
    data = relay.var("q", shape=(1, 8, 6, 6), dtype="uint8")
    sums = nn.conv2d(data, relay.const(np.full((8, 8, 3, 3), 3, "int8")), channels=8, kernel_size=(3, 3), out_dtype="int32")
    return relay.Tuple([sums, norm(nn.layer_norm, 4, 6, axis=-1), nn.conv2d(layer_norm(var("y", 1, 3, 4, 6), 6), const(2, 3, 1, 1))])


@pytest.mark.parametrize("body", [lambda: block(var("x", 1, 8, 6, 6), 8, 5), bytes_and_norms], ids=["convolutions", "bytes and norms"])
def test_damaged_blobs_are_refused(body, tmp_path):
    import subprocess
    import sys

    mod = modules_of(body())
    relay.build(dnnl.partition_for_dnnl(mod), "llvm").export_library(str(tmp_path / "model.baton"))
    with open("/proc/self/maps", encoding="ascii") as maps:
        plugin = next(line.split()[-1] for line in maps if line.rstrip().endswith("libbaton_plugin_dnnl.so"))
    (tmp_path / "loader.py").write_text(LOADER, encoding="utf-8")
    # Without VNNI the processor has the sums of bytes: there are fewer steps to damage.
    least = 5 if wide_products() or body is not bytes_and_norms else 4
    done = subprocess.run([sys.executable, str(tmp_path / "loader.py"), plugin, str(tmp_path / "model.baton"), str(least)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == ""
    assert lines[1] == "its code has version 7 of the format, this plug-in reads 2: build the model again"
    assert re.fullmatch(r"its code has \d+ bytes instead of \d+", lines[2])
    assert lines[3:] == ["its code is no blob of dnnl", "its code is damaged (the checksum differs)", "survived"]


def test_without_the_plug_in(tmp_path):
    """Partitioning needs no oneDNN; a build says what to install. (A fresh process: plug-ins stay loaded.)"""
    import shutil
    import subprocess
    import sys

    with open("/proc/self/maps", encoding="ascii") as maps:
        runtime = next(line.split()[-1] for line in maps if line.rstrip().endswith("libbaton_runtime.so"))
    shutil.copy(runtime, tmp_path)  # plug-ins are looked for beside it
    script = f"""
import ctypes
ctypes.CDLL({str(tmp_path / "libbaton_runtime.so")!r}, ctypes.RTLD_GLOBAL)
import baton as tvm
from baton import relay
from baton.relay.op.contrib.dnnl import partition_for_dnnl
x, w = (relay.var(n, shape=(4, 4), dtype="float32") for n in "xw")
mod = partition_for_dnnl(tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.dense(x, w))))
try:
    relay.build(mod, "llvm")
except NotImplementedError as error:
    print(error)
"""
    environment = {name: value for name, value in os.environ.items() if name != "BATON_ROOT"}  # no clone that could build it
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "regions for dnnl need oneDNN: there is no plug-in `dnnl` here" in done.stdout
    assert "in a clone of Baton `./baton setup dnnl` builds it" in done.stdout
