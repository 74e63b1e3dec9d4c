"""Integers at their limits, and attributes beyond 32 bits: they wrap as numpy's do, or are refused with a reason."""
import numpy as np
import pytest

import baton as tvm
from baton import relay

LEVELS = [0, 3]
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": None, "floor_divide": np.floor_divide,
    "trunc_divide": None, "mod": np.fmod, "floor_mod": np.mod, "trunc_mod": np.fmod, "maximum": np.maximum,
    "less": np.less, "greater": np.greater,
}


def edges(dtype):
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.min + 1, -7, -1, 1, 2, 7, limits.max - 1, limits.max], dtype)


def expected(name, a, b):
    """numpy's value, where it wraps; the quotient rounded toward zero, which numpy lacks."""
    with np.errstate(all="ignore"):
        if name in ("divide", "trunc_divide"):
            floor, rest = np.floor_divide(a, b), np.mod(a, b)
            return (floor + ((rest != 0) & ((a < 0) != (b < 0)))).astype(a.dtype)
        return BINARY[name](a, b)


def built(body, level):
    function = relay.Function(relay.analysis.free_vars(body), body)
    with tvm.transform.PassContext(opt_level=level):
        executor = relay.create_executor("graph", mod=tvm.IRModule.from_expr(function), device=tvm.cpu(), target="llvm")
        evaluate = executor.evaluate()

    def run(*inputs):
        result = evaluate(*inputs)
        return [each.numpy() for each in result] if isinstance(body, relay.Tuple) else result.numpy()
    return run


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_operands_at_the_limits(name, dtype):
    a, b = (each.ravel() for each in np.meshgrid(edges(dtype), edges(dtype)))
    x, y = (relay.var(each, shape=a.shape, dtype=dtype) for each in "xy")
    np.testing.assert_array_equal(built(getattr(relay, name)(x, y), 3)(a, b), expected(name, a, b))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", BINARY)
def test_constants_at_the_limits(name, level):
    """A bug in Baton, once: Halide folds no constants that overflow."""
    a = edges("int32")
    x = relay.var("x", shape=a.shape, dtype="int32")
    for value in (np.iinfo("int32").min, -1, np.iinfo("int32").max):
        constant = relay.const(value, "int32")
        zero = x * relay.const(0, "int32")
        known = (zero - constant) if name != "maximum" else zero + constant
        body = relay.Tuple([getattr(relay, name)(x, constant), getattr(relay, name)(known, relay.const(-1, "int32"))])
        one, two = built(body, level)(a)
        with np.errstate(all="ignore"):
            left = np.full_like(a, value) if name == "maximum" else np.zeros_like(a) - np.full_like(a, value)
        np.testing.assert_array_equal(one, expected(name, a, np.full_like(a, value)))
        np.testing.assert_array_equal(two, expected(name, left, np.full_like(a, -1)))


@pytest.mark.parametrize("level", LEVELS)
def test_chains_are_not_reordered(level):
    """x + 1 > x does not hold for the largest number, and (x + c) + c wraps twice."""
    a = edges("int32")
    x, most = relay.var("x", shape=a.shape, dtype="int32"), relay.const(np.iinfo("int32").max, "int32")
    one = relay.const(1, "int32")
    zero = x * relay.const(0, "int32")
    body = relay.Tuple([relay.greater(x + one, x), (x + most) + most, (x * most) * relay.const(65536, "int32"),
                        relay.negative(zero + relay.negative(most) - one)])
    wanted = [a != np.iinfo("int32").max, a - 2, a * np.int32(-65536), np.full_like(a, np.iinfo("int32").min)]
    for got, right in zip(built(body, level)(a), wanted):
        np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("by", [0, 1, 31])
def test_shifts_of_the_limits(level, by):
    a = edges("int32")
    x, known = relay.var("x", shape=a.shape, dtype="int32"), relay.const(by, "int32")
    zero = x * relay.const(0, "int32")
    body = relay.Tuple([relay.left_shift(x, known), relay.right_shift(x, known), relay.left_shift(zero + relay.const(2**31 - 1, "int32"), known)])
    wanted = [np.left_shift(a, by), np.right_shift(a, by), np.left_shift(np.full_like(a, 2**31 - 1), by)]
    for got, right in zip(built(body, level)(a), wanted):
        np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("extent", [4, 40])
def test_sums_and_products_wrap(level, dtype, extent):
    """A sum of four 2147483647 was 2147483647: Halide took it that it does not overflow."""
    most = np.iinfo(dtype).max
    x = relay.var("x", shape=(extent, 2), dtype=dtype)
    full = x * relay.const(0, dtype) + relay.const(most, dtype)
    values = np.full((extent, 2), most, dtype)
    for axis in (0, 1, None):
        body = relay.Tuple([relay.sum(full, axis), relay.prod(full, axis), relay.sum(x, axis)])
        wanted = [values.sum(axis, dtype=dtype), values.prod(axis, dtype=dtype), values.sum(axis, dtype=dtype)]
        for got, right in zip(built(body, level)(values), wanted):
            np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("k", [-2**31, -3, 0, 2, 2**31 - 1])
def test_triangles_beyond_the_corners(level, k):
    x = relay.var("x", shape=(4, 3))
    a = np.arange(12, dtype="float32").reshape(4, 3) + 1
    np.testing.assert_array_equal(built(relay.trilu(x, relay.const(k, "int32"), upper=True), level)(a), np.triu(a, max(k, -10)))
    np.testing.assert_array_equal(built(relay.trilu(x, relay.const(k, "int32"), upper=False), level)(a), np.tril(a, max(k, -10)))


# ---- Attributes

FAR = [2**31 - 1, 2**40, 2**63 - 1]


def x4():
    return relay.var("x", shape=(1, 4, 6, 7))


def weight(*shape):
    return relay.const(np.random.default_rng(1).normal(size=shape).astype("float32"))


# With a step that makes no difference, as there is one position (or tap) along that axis.
STEPPED = {
    "conv2d": lambda s: relay.nn.conv2d(x4(), weight(8, 4, 6, 3), strides=(s, 2), dilation=(1, 1)),
    "dilated": lambda s: relay.nn.conv2d(x4(), weight(8, 4, 1, 3), dilation=(s, 2)),
    "one pixel": lambda s: relay.nn.conv2d(x4(), weight(8, 4, 1, 1), strides=(s, s)),
    "depthwise": lambda s: relay.nn.conv2d(x4(), weight(4, 1, 1, 7), strides=(1, s), dilation=(s, 1), groups=4),
    "last": lambda s: relay.nn.conv2d(relay.layout_transform(x4(), "NCHW", "NHWC"), weight(1, 7, 4, 8), strides=(2, s),
                                      data_layout="NHWC", kernel_layout="HWIO"),
    "conv1d": lambda s: relay.nn.conv1d(relay.var("x", shape=(1, 4, 6)), weight(3, 4, 6), strides=s),
    "conv3d": lambda s: relay.nn.conv3d(relay.var("x", shape=(1, 2, 3, 4, 5)), weight(3, 2, 1, 2, 5), strides=(2, 1, s), dilation=(s, 1, 1)),
    "transposed": lambda s: relay.nn.conv2d_transpose(relay.var("x", shape=(1, 4, 1, 7)), weight(4, 3, 2, 1), strides=(s, 1), dilation=(1, s)),
    "max_pool": lambda s: relay.nn.max_pool2d(x4(), (6, 1), strides=(s, 2), dilation=(1, s)),
    "avg_pool": lambda s: relay.nn.avg_pool2d(x4(), (1, 7), strides=(2, s), dilation=(s, 1)),
    "pool3d": lambda s: relay.nn.avg_pool3d(relay.var("x", shape=(1, 2, 3, 4, 5)), (3, 1, 1), strides=(s, 1, 1), dilation=(1, s, 1)),
    "slice": lambda s: relay.strided_slice(x4(), [0, 1, 5, 0], [1, 4, -2**63, 7], [s, 2, -s, s]),
    "dilate": lambda s: relay.nn.dilate(relay.var("x", shape=(1, 5)), (s, 2)),
    "windows": lambda s: relay.sliding_window(x4(), 2, (6, 3), (s, 1)),
}


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("name", STEPPED)
def test_steps_that_lead_nowhere(name, level):
    """Strides and dilations of 2^40 were a bug in Baton, some a division by zero."""
    near = STEPPED[name](40)
    [x] = relay.analysis.free_vars(near)
    a = np.random.default_rng(0).normal(size=[int(each) for each in x.type_annotation.shape]).astype("float32")
    wanted = built(near, level)(a)
    for step in FAR:
        np.testing.assert_allclose(built(STEPPED[name](step), level)(a), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("make", [
    lambda n: relay.nn.lrn(x4(), size=n + 1), lambda n: relay.fixed_point_multiply(relay.var("x", shape=(3,), dtype="int32"), 5, n),
    lambda n: relay.nn.dilate(x4(), (1, 1, 1, n)), lambda n: relay.repeat(x4(), n, 0), lambda n: relay.nn.pad(x4(), ((0, 0), (0, 0), (n, 0), (0, 0))),
    lambda n: relay.nn.conv2d(x4(), weight(8, 4, 1, 1), padding=(n, 0)), lambda n: relay.sum(relay.full(relay.const(1.0), (n,))),
    lambda n: relay.expand_dims(x4(), 0, n), lambda n: relay.broadcast_to(x4(), (n, 4, 6, 7)), lambda n: relay.tile(x4(), (n, n)),
])
def test_what_is_too_large_is_refused(make, level):
    for size in (2**40, 2**62):
        with pytest.raises((tvm.TVMError, MemoryError)) as refusal:
            built(make(size), level)
        assert "bug in Baton" not in str(refusal.value) and ".cc:" not in str(refusal.value)
