"""Floats are IEEE: NaN, infinities, signed zeros and denormal numbers through operators, reductions and fused chains, as
numpy computes them (docs/design/0042). Two freedoms are granted at the default precision: a multiply and an add may be one
rounding, and the terms of a sum may be added in another order."""
import math

import numpy as np
import pytest

import baton as tvm
from baton import relay

VALUES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1.1754944e-38, 3.4e38, -3.4e38, 1.0, -1.0, 2.0, 0.5, -0.5, 1.5, 2.5]
VALUES += [-2.5, 7.25, 100.0, -100.0, 88.0, 89.5, -87.5, -103.0, 1e-7, 8.0, 1000.0, 16777217.0, 3e9, -3e9, 1e20]


def rounded_away(x):
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole)


UNARY = {
    "negative": np.negative, "abs": np.abs, "sign": np.sign, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc,
    "round": rounded_away, "exp": np.exp, "log": np.log, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "tanh": np.tanh, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "erf": lambda x: np.vectorize(math.erf, otypes=["d"])(x), "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
    "nn.relu": lambda x: np.maximum(x, 0), "copy": lambda x: x, "fast_exp": np.exp, "fast_tanh": np.tanh,
}  # fmt: skip
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
    "minimum": np.minimum, "power": np.power, "mod": np.fmod, "floor_mod": np.mod, "equal": np.equal,
    "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
    "greater_equal": np.greater_equal, "floor_divide": lambda a, b: np.floor(a / b),
    "trunc_divide": lambda a, b: np.trunc(a / b),
}  # fmt: skip


def operator(name):
    found = relay
    for part in name.split("."):
        found = getattr(found, part)
    return found


def results(body, inputs, level, precision="f32", target="llvm"):
    module = tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(body), body))
    with tvm.transform.PassContext(opt_level=level, config={"baton.precision": precision}):
        built = relay.build(module, target)
    run = tvm.contrib.graph_executor.GraphModule(built["default"](tvm.device(target, 0)))
    for name, value in inputs.items():
        run.set_input(name, value)
    run.run()
    return [run.get_output(i).numpy() for i in range(run.get_num_outputs())]


def differences(got, want, tolerance):
    """The positions where `got` is neither `want` nor within `tolerance` of it (relative, or the least denormal)."""
    with np.errstate(all="ignore"):
        a, b = got.astype("float64"), np.asarray(want).astype(got.dtype).astype("float64")
        tiny = 3e-45 if got.dtype == np.float32 else 1e-320
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= tolerance * np.abs(b) + tiny)
    return np.argwhere(~same)


def check(name, got, want, tolerance, inputs=()):
    wrong = differences(got, want, tolerance)
    shown = [[float(x[tuple(i)]) for x in (*inputs, got, np.asarray(want))] for i in wrong[:5]]
    assert not len(wrong), f"{name}: {len(wrong)} wrong, (inputs, got, wanted): {shown}"


def targets():
    """The backends that compile any elementwise kernel here."""
    return ["llvm"] + [name for name in ("opencl",) if tvm.runtime.enabled(name) and tvm.device(name, 0).exist]


@pytest.fixture(params=["llvm", "opencl"])
def target(request):
    if request.param not in targets():
        pytest.skip(f"no device for {request.param}")
    return request.param


TOLERANCE = {"float16": 2e-3, "float32": 4e-6, "float64": 1e-12}


def values(dtype):
    with np.errstate(over="ignore"):  # some are infinite in float16
        return np.array(VALUES, dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("level", [0, 3])
def test_every_function_of_one_number(target, dtype, level):
    if (target, dtype) == ("opencl", "float16"):
        pytest.skip("needs an extension of OpenCL")
    x = values(dtype)
    var = relay.var("x", shape=x.shape, dtype=dtype)
    got = results(relay.Tuple([operator(name)(var) for name in UNARY]), {"x": x}, level, target=target)
    with np.errstate(all="ignore"):
        for (name, function), value in zip(UNARY.items(), got):
            check(name, value, function(x), TOLERANCE[dtype], [x])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("level", [0, 3])
def test_every_function_of_two_numbers(target, dtype, level):
    if (target, dtype) == ("opencl", "float16"):
        pytest.skip("needs an extension of OpenCL")
    x, y = (each.ravel().copy() for each in np.meshgrid(values(dtype), values(dtype)))
    a, b = relay.var("a", shape=x.shape, dtype=dtype), relay.var("b", shape=x.shape, dtype=dtype)
    body = relay.Tuple([operator(name)(a, b) for name in BINARY])
    got = results(body, {"a": x, "b": y}, level, target=target)
    with np.errstate(all="ignore"):
        for (name, function), value in zip(BINARY.items(), got):
            check(name, value, function(x, y), TOLERANCE[dtype], [x, y])


def test_constants_fold_as_kernels_compute():
    """What is folded at compile time is what a kernel gives, NaN and the sign of zeros included."""
    x, y = (each.ravel().copy() for each in np.meshgrid(np.array(VALUES, "float32"), np.array(VALUES, "float32")))
    names = [*UNARY, *BINARY]
    folded = relay.Tuple([operator(n)(relay.const(x), *([relay.const(y)] if n in BINARY else [])) for n in names])
    function = tvm.transform.Sequential([relay.transform.FoldConstant()])(tvm.IRModule.from_expr(folded))["main"]
    a, b = relay.var("a", shape=x.shape), relay.var("b", shape=x.shape)
    body = relay.Tuple([operator(name)(a, *([b] if name in BINARY else [])) for name in names])
    for name, field, value in zip(names, function.body.fields, results(body, {"a": x, "b": y}, 3)):
        assert isinstance(field, relay.Constant), name
        check(name, field.data.numpy(), value, 2e-6, [x, y])
        with np.errstate(all="ignore"):
            signs = ~np.isnan(value.astype("float64"))
        np.testing.assert_array_equal(np.signbit(field.data.numpy()[signs].astype("float64")), np.signbit(value[signs].astype("float64")), name)


def test_nothing_cancels(target):
    """No addition or multiplication is dropped because another one would undo it."""
    x = np.array([1.0, -7.5, np.nan, np.inf, -np.inf, -0.0, 3e38, 1e-40], "float32")
    y = np.array([np.inf, 3.0, 1.0, -np.inf, 2.0, 0.0, 3e38, 1.0], "float32")
    a, b = relay.var("a", shape=x.shape), relay.var("b", shape=x.shape)
    c = relay.const
    cases = {
        "x + 1e8 - 1e8": ((a + c(1e8)) - c(1e8), lambda: (x + np.float32(1e8)) - np.float32(1e8)),
        "x + 1e8 + -1e8": ((a + c(1e8)) + c(-1e8), lambda: (x + np.float32(1e8)) + np.float32(-1e8)),
        "x * 3e38 / 3e38": (a * c(3e38) / c(3e38), lambda: x * np.float32(3e38) / np.float32(3e38)),
        "x * 1e30 * 1e-30": (a * c(1e30) * c(1e-30), lambda: x * np.float32(1e30) * np.float32(1e-30)),
        "(x + y) - x - y": ((a + b) - a - b, lambda: (x + y) - x - y),
        "x - x": (a - a, lambda: x - x),
        "0 * x": (c(0.0) * a, lambda: np.float32(0) * x),
        "x / x": (a / a, lambda: x / x),
        "1 / (x + 0)": (c(1.0) / (a + c(0.0)), lambda: np.float32(1) / (x + np.float32(0))),
        "x != x": (relay.not_equal(a, a), lambda: x != x),
        "x == x ? x : y": (relay.where(relay.equal(a, a), a, b), lambda: np.where(x == x, x, y)),
        "isnan(x * 2)": (relay.isnan(a * c(2.0)), lambda: np.isnan(x * 2)),
        "isfinite(x + y)": (relay.isfinite(a + b), lambda: np.isfinite(x + y)),
        "x / sqrt(y)": (a / relay.sqrt(b), lambda: x / np.sqrt(y)),
    }
    for level in range(5):
        got = results(relay.Tuple([body for body, _ in cases.values()]), {"a": x, "b": y}, level, target=target)
        with np.errstate(all="ignore"):
            for (name, (_, want)), value in zip(cases.items(), got):
                check(f"{name} at level {level}", value, want(), 0 if "sqrt" not in name or level < 4 else 1e-6, [x, y])


def with_special_values(random, shape, dtype, share):
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40], dtype)
    x = (random.standard_normal(shape) * 3).astype(dtype)
    at = random.random(shape) < share
    x[at] = random.choice(values, at.sum())
    return x


def softmax(x):
    e = np.exp(x - np.max(x, -1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def windows(x, size, step, pad, fill, reduce):
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (2, 3))[:, :, ::step, ::step]
    return reduce(view, (4, 5))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 7), (4, 33), (2, 257), (16, 64)])
def test_reductions(target, dtype, shape):
    """NaN wins maxima, minima and their positions; it sorts behind all numbers. As numpy."""
    x = with_special_values(np.random.default_rng(shape[1]), shape, dtype, 0.05)
    var = relay.var("x", shape=shape, dtype=dtype)
    with np.errstate(all="ignore"):
        ordered = np.sort(x, -1)
        total = np.exp(x - np.max(x, -1, keepdims=True)).sum(-1, keepdims=True)
        cases = {
            "max": (relay.max(var, axis=-1), np.max(x, -1)), "max of columns": (relay.max(var, axis=0), np.max(x, 0)),
            "max of all": (relay.max(var), np.max(x)), "min": (relay.min(var, axis=-1), np.min(x, -1)),
            "sum": (relay.sum(var, axis=-1), np.sum(x, -1)), "mean": (relay.mean(var, axis=0), np.mean(x, 0)),
            "prod": (relay.prod(var, axis=0), np.prod(x, 0)), "argmax": (relay.argmax(var, axis=-1), np.argmax(x, -1)),
            "argmin": (relay.argmin(var, axis=0), np.argmin(x, 0)), "softmax": (relay.nn.softmax(var), softmax(x)),
            "log_softmax": (relay.nn.log_softmax(var), x - np.max(x, -1, keepdims=True) - np.log(total)),
            "sort": (relay.sort(var, axis=-1), ordered),
            "sort, descending": (relay.sort(var, axis=-1, is_ascend=False), ordered[:, ::-1]),
            "argsort": (relay.argsort(var, axis=-1), np.argsort(x, -1, kind="stable")),
            "topk": (relay.topk(var, k=3, ret_type="values"), ordered[:, ::-1][:, :3]),
            "cumsum": (relay.cumsum(var, axis=-1), np.cumsum(x, -1)),
            "any": (relay.any(relay.isnan(relay.exp(var)), axis=-1), np.isnan(np.exp(x)).any(-1)),
            "clip": (relay.clip(var, 0.0, 6.0), np.clip(x, 0, 6)),
        }  # fmt: skip
    for level in (0, 3):
        for name, (body, want) in cases.items():
            got = results(body, {"x": x}, level, target=target)[0]
            a, b = got.astype("float64"), np.asarray(want).astype("float64")
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | np.isclose(a, b, 1e-4, 1e-4)
            assert same.all(), (name, level, np.argwhere(~same)[:5], a[~same][:5], b[~same][:5])


@pytest.mark.parametrize("shape", [(1, 16, 9, 9), (1, 5, 8, 8), (2, 32, 7, 7)])
def test_pools_and_products(target, shape):
    random = np.random.default_rng(shape[1])
    x, w = with_special_values(random, shape, "float32", 0.02), with_special_values(random, (24, 40), "float32", 0.003)
    y = with_special_values(random, (5, 40), "float32", 0.01)
    var, a, b = relay.var("x", shape=shape), relay.var("a", shape=y.shape), relay.var("b", shape=w.shape)
    least = np.finfo("float32").min
    with np.errstate(all="ignore"):
        products = np.einsum("ik,jk->ij", y.astype("float64"), w.astype("float64"))
        cases = {
            "max_pool2d": (relay.nn.max_pool2d(var, (3, 3), strides=(2, 2), padding=(1, 1)), windows(x, 3, 2, 1, least, np.max)),
            "avg_pool2d": (relay.nn.avg_pool2d(var, (2, 2), strides=(2, 2)), windows(x, 2, 2, 0, 0, np.mean)),
            "global_max_pool2d": (relay.nn.global_max_pool2d(var), x.max((2, 3), keepdims=True)),
            "adaptive_max_pool2d": (relay.nn.adaptive_max_pool2d(var, (1, 1)), x.max((2, 3), keepdims=True)),
            "global_avg_pool2d": (relay.nn.global_avg_pool2d(var), x.mean((2, 3), keepdims=True)),
            "dense": (relay.nn.dense(a, b), products), "relu of dense": (relay.nn.relu(relay.nn.dense(a, b)), np.maximum(products, 0)),
        }  # fmt: skip
    for level in (0, 3):
        for name, (body, want) in cases.items():
            got = results(body, {"x": x} if "pool" in name else {"a": y, "b": w}, level, target=target)[0]
            same = (got == want) | (np.isnan(got) & np.isnan(want)) | np.isclose(got, want, 1e-4, 1e-4)
            assert same.all(), (name, level, np.argwhere(~same)[:5], got[~same][:5], want[~same][:5])


@pytest.mark.parametrize("value", [3e38, np.inf, np.nan, 1e25, -1e25, 1e-30, 0.0])
def test_scales_that_would_change_sums_are_not_folded(value):
    """relu(conv(x, w)) * s is not relu(conv(x, w * s)) where w * s overflows, or is infinite or NaN."""
    random = np.random.default_rng(0)
    x, w = random.standard_normal((1, 8, 10, 10)).astype("float32"), random.standard_normal((16, 8, 3, 3)).astype("float32")
    scale = np.full((16, 1, 1), value, "float32")
    scale[5] = 2.0
    var = relay.var("x", shape=x.shape)
    conv = relay.nn.conv2d(var, relay.const(w), kernel_size=(3, 3), channels=16, padding=(1, 1))
    for make, compute in ((relay.nn.relu, lambda a: np.maximum(a, 0)), (lambda a: a, lambda a: a), (relay.negative, np.negative)):
        for level in (3, 4):
            plain = results(make(conv), {"x": x}, level)[0]
            got = results(make(conv) * relay.const(scale), {"x": x}, level)[0]
            with np.errstate(all="ignore"):
                want = plain * scale
                same = (got == want) | (np.isnan(got) & np.isnan(want)) | (np.abs(got - want) <= 1e-3 * np.abs(want) + 1e-5)
            assert same.all(), (level, np.argwhere(~same)[:4], got[~same][:4], want[~same][:4])


@pytest.mark.parametrize("level", [0, 1, 2, 3, 4])
def test_strict_folds_no_scales(level):
    """In strict precision a scale multiplies the sum, as the program says, to the bit; also behind a dense layer and forward."""
    random = np.random.default_rng(1)
    x, w = random.standard_normal((1, 8, 6, 6)).astype("float32"), random.standard_normal((16, 8, 3, 3)).astype("float32")
    scale, before = (random.uniform(0.5, 2, (n, 1, 1)).astype("float32") for n in (16, 8))
    var = relay.var("x", shape=x.shape)

    def conv(data):
        return relay.nn.conv2d(data, relay.const(w), kernel_size=(3, 3), channels=16)

    plain = results(relay.nn.relu(conv(var)), {"x": x}, level, "strict")[0]
    scaled = results(relay.nn.relu(conv(var)) * relay.const(scale), {"x": x}, level, "strict")[0]
    np.testing.assert_array_equal(scaled, plain * scale)
    forward = results(conv(var * relay.const(before)), {"x": x}, level, "strict")[0]
    np.testing.assert_array_equal(forward, results(conv(var), {"x": x * before}, level, "strict")[0])


class Chains:
    """Random chains of elementwise operators, and what numpy makes of them."""

    ONE = ["negative", "abs", "sign", "ceil", "floor", "trunc", "sqrt", "nn.relu", "exp", "log", "tanh", "isnan", "isinf"]
    TWO = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "equal", "less", "less_equal", "where", "clip", "mod"]

    def __init__(self, seed, count):
        self.random = np.random.default_rng(seed)
        values = np.array(VALUES, "float32")
        self.inputs = {name: self.random.permutation(np.resize(values, 256)) for name in "abc"}
        self.vars = {name: relay.var(name, shape=(256,)) for name in "abc"}
        self.bodies, self.wants, self.texts = [], [], []
        for _ in range(count):
            body, want, text = self.chain()
            self.bodies.append(body)
            self.wants.append(want)
            self.texts.append(text)

    def operand(self):
        if self.random.random() < 0.3:
            value = np.float32(self.random.choice(VALUES))
            return relay.const(value), value, f"{value}"
        name = self.random.choice(list("abc"))
        return self.vars[name], self.inputs[name], name

    def chain(self):
        """(expression, value, text). No sum takes a product: that may be one rounding, which is not numpy's."""
        name = self.random.choice(list("abc"))
        body, want, text, product = self.vars[name], self.inputs[name], name, False
        for _ in range(self.random.integers(2, 9)):
            body, want, text, product = self.step(body, want, text, product)
        return body, want, text

    def step(self, body, want, text, product):
        if self.random.random() < 0.45:
            name = self.random.choice(self.ONE)
            result, value, text = operator(name)(body), UNARY[name](want), f"{name}({text})"
        else:
            name = self.random.choice(self.TWO)
            other, number, label = self.operand()
            if name in ("add", "subtract") and product:
                name = "maximum"
            text = f"{name}({text}, {label})"
            if name == "where":
                result, value = relay.where(relay.equal(body, body), body, other), np.where(want == want, want, number)
            elif name == "clip":
                result, value = relay.clip(body, -1.5, 6.0), np.clip(want, np.float32(-1.5), np.float32(6))
            else:
                result, value = operator(name)(body, other), BINARY[name](want, number)
            product = name == "multiply"
        if value.dtype == bool:
            result, value, product = relay.cast(result, "float32"), value.astype("float32"), False
        return result, np.asarray(value, "float32"), text, product

    def check(self, level, precision, target):
        got = results(relay.Tuple(self.bodies), self.inputs, level, precision, target)
        for text, value, want in zip(self.texts, got, self.wants):
            yield text, value, np.broadcast_to(want, value.shape)


def check_chains(seed, count, levels, target, precision="f32"):
    """Against numpy where every step is exact; functions whose last bits differ are compared with level 0."""
    with np.errstate(all="ignore"):
        chains = Chains(seed, count)
    reference = [value for _, value, _ in chains.check(0, precision, "llvm")]
    for level in levels:
        for (text, value, want), slow in zip(chains.check(level, precision, target), reference):
            exact = not any(name in text for name in ("exp", "log", "tanh"))
            label = f"{text} at level {level} on {target}, {precision}"
            if exact:
                check(label, value, want, 0)
            elif target == "llvm":
                check(label, value, slow, 0 if precision == "strict" else 1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_random_chains(target, seed):
    check_chains(seed, 20, (0, 1, 3), target)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_a_thousand_random_chains(target, seed):
    check_chains(seed, 25, range(5), target, "strict" if seed % 4 == 0 else "f32")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("precision", ["f32", "strict"])
@pytest.mark.parametrize("level", [0, 3])
def test_divisors_that_are_known_to_be_zero(target, dtype, precision, level):
    """They ended in "A bug in Baton" from opt level 1 on: Halide refuses them."""
    x = np.array(VALUES, dtype)
    var = relay.var("x", shape=x.shape, dtype=dtype)
    zero, negative, vector = (relay.const(np.array(each, dtype)) for each in (0.0, -0.0, [0.0, -0.0] * (len(x) // 2)))
    cases = {
        "divide": (lambda y: var / y, np.divide), "floor_divide": (lambda y: relay.floor_divide(var, y), lambda a, b: np.floor(a / b)),
        "trunc_divide": (lambda y: relay.trunc_divide(var, y), lambda a, b: np.trunc(a / b)), "mod": (lambda y: relay.mod(var, y), np.fmod),
        "floor_mod": (lambda y: relay.floor_mod(var, y), np.mod), "the reciprocal": (lambda y: relay.const(np.array(1.0, dtype)) / y + var, lambda a, b: 1 / b + a),
        "a sum of quotients": (lambda y: relay.sum(relay.nn.relu(var / y), axis=0), lambda a, b: np.sum(np.maximum(a / b, 0))),
    }  # fmt: skip
    for name, (body, function) in cases.items():
        for divisor in (zero, negative, vector):
            with np.errstate(all="ignore"):
                [got] = results(body(divisor), {"x": x}, level, precision, target)
                check(name, got, function(x, divisor.data.numpy()), 1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_zeros_of_both_signs_in_one_kernel(target):
    """Halide joins equal constants, and to it 0.0 is -0.0: the signs of a kernel that has both were those of the first."""
    x = np.array([0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e-40], "float32")
    v, zero, negative = relay.var("x", shape=x.shape), relay.const(np.float32(0.0)), relay.const(np.float32(-0.0))
    is_zero = relay.cast(relay.equal(v, zero), "float32")
    cases = {
        "product": (is_zero * negative, (x == 0).astype("float32") * np.float32(-0.0)),
        "quotient": (relay.nn.relu(v) / negative, np.maximum(x, 0) / np.float32(-0.0)),
        "negative": (relay.negative(relay.nn.relu(v)), -np.maximum(x, 0)),
        "where": (relay.where(relay.less(v, zero), zero, negative), np.where(x < 0, np.float32(0), np.float32(-0.0))),
        "where, turned": (relay.where(relay.less(v, zero), negative, zero), np.where(x < 0, np.float32(-0.0), np.float32(0))),
        "a sum": (relay.nn.relu(v) * zero + negative, np.maximum(x, 0) * np.float32(0) + np.float32(-0.0)),
        "clip": (relay.negative(relay.clip(v, 0.0, 6.0)), -np.clip(x, 0, 6)),
    }  # fmt: skip
    for name, (body, want) in cases.items():
        for level in (0, 1, 3):
            with np.errstate(all="ignore"):
                [got] = results(body, {"x": x}, level, target=target)
            check(f"{name}, level {level}", got, want, 0)
            signs = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got[signs]), np.signbit(want[signs]), f"{name}, level {level}")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64"])
def test_conversions_to_integers_fold_as_kernels_compute(dtype):
    """Numbers that the type does not hold were folded to its bounds; what a processor makes of them is another number."""
    x = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9, 300, -300, 70000, 1e20, -1, 255.5, -0.5, 2147483520], "float32")
    var = relay.var("x", shape=x.shape)
    for convert in (lambda v: relay.cast(v, dtype), lambda v: relay.cast_like(v, relay.const(np.zeros(1, dtype)))):
        [computed], [folded] = results(convert(var), {"x": x}, 3), results(convert(relay.const(x)), {}, 3)
        np.testing.assert_array_equal(folded, computed)
    large = np.tile(x, 20000)  # in parallel, and by strides
    np.testing.assert_array_equal(results(relay.cast(relay.transpose(relay.const(large.reshape(-1, 13))), dtype), {}, 3)[0],
                                  results(relay.cast(relay.var("y", shape=(13, 20000)), dtype), {"y": np.ascontiguousarray(large.reshape(-1, 13).T)}, 3)[0])
