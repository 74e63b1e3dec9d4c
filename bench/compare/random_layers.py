"""Single layers of random shapes, odd extents among them, for which nothing was tuned: seeded, so that all see the same ones."""
import numpy as np

from baton import IRModule, relay

nn = relay.op.nn
KINDS = {"conv": 6, "depthwise": 3, "grouped": 2, "transposed": 3, "dense": 4, "batch_matmul": 3, "reduce": 2, "pool": 3}
LARGEST = 2e9  # operations: some 20 ms of one core
SMALLEST = {"reduce": 2e5, "pool": 2e5}  # operations; of the others ten times as many


def layers(count, seed):
    """`count` of (name, kind, module, params, inputs)."""
    random = np.random.default_rng(seed)
    kinds = [kind for kind, weight in KINDS.items() for _ in range(weight)]
    made = []
    while len(made) < count:
        kind = kinds[len(made) % len(kinds)]
        text, result, constants, inputs, operations = MAKERS[kind](random)
        if not SMALLEST.get(kind, 2e6) <= operations <= LARGEST:
            continue
        module = relay.transform.InferType()(IRModule.from_expr(relay.Function([*inputs, *constants], result)))
        fill = lambda var: random.normal(0, 1, [int(each) for each in var.type_annotation.shape]).astype("float32")  # noqa: E731
        made.append((f"{len(made)} {text}", kind, module, {var.name_hint: fill(var) for var in constants},
                     {var.name_hint: fill(var) for var in inputs}))
    return made


def var(name, *shape):
    return relay.var(name, shape=[int(each) for each in shape], dtype="float32")


def pick(random, *values):
    return values[random.integers(len(values))]


def extent(random, least, most):
    """Between the two, evenly in the logarithm; every other one a multiple of 8."""
    value = int(np.exp(random.uniform(np.log(least), np.log(most))))
    return max(8, value // 8 * 8) if random.random() < 0.5 else value


def image(random):
    return int(np.exp(random.uniform(np.log(5), np.log(120)))), int(np.exp(random.uniform(np.log(5), np.log(120))))


def windows(random):
    size = (pick(random, 1, 1, 3, 3, 3, 5, 7), pick(random, 1, 1, 3, 3, 3, 5, 7)) if random.random() < 0.2 else (pick(random, 1, 1, 3, 3, 5, 7),) * 2
    return size, (pick(random, 1, 1, 2),) * 2, tuple(each // 2 for each in size)


def convolution(random, groups, inputs, outputs):
    (height, width), (size, strides, padding) = image(random), windows(random)
    dilation = pick(random, 1, 1, 1, 1, 2) if max(size) > 1 else 1
    padding = tuple(each * dilation for each in padding)
    data, weight = var("data", 1, inputs, height, width), var("weight", outputs, inputs // groups, *size)
    result = nn.conv2d(data, weight, channels=outputs, kernel_size=size, strides=strides, padding=padding, dilation=(dilation,) * 2, groups=groups)
    operations = 2 * outputs * (inputs // groups) * np.prod(size) * (height // strides[0]) * (width // strides[1])
    notes = f"/{strides[0]}" if strides[0] > 1 else ""
    notes += f" dilation {dilation}" if dilation > 1 else ""
    return f"{size[0]}x{size[1]}{notes} {inputs}x{height}x{width} -> {outputs}", result, [weight], [data], operations


def conv(random):
    text, *rest = convolution(random, 1, extent(random, 3, 600), extent(random, 4, 600))
    return "conv " + text, *rest


def depthwise(random):
    channels = extent(random, 8, 1000)
    text, *rest = convolution(random, channels, channels, channels)
    return "depthwise " + text, *rest


def grouped(random):
    groups = pick(random, 2, 3, 4, 8, 16, 32)
    inputs, outputs = (groups * int(random.integers(2, 40)) for _ in range(2))
    text, *rest = convolution(random, groups, inputs, outputs)
    return f"grouped {groups} {text}", *rest


def transposed(random):
    inputs, outputs, (height, width) = extent(random, 3, 300), extent(random, 3, 300), image(random)
    size, stride = pick(random, 2, 3, 4, 5), pick(random, 1, 2, 2, 3)
    padding = int(random.integers(0, size // 2 + 1))
    extra = int(random.integers(0, stride))
    data, weight = var("data", 1, inputs, height, width), var("weight", inputs, outputs, size, size)
    result = nn.conv2d_transpose(data, weight, channels=outputs, kernel_size=(size, size), strides=(stride, stride), padding=(padding, padding),
                                 output_padding=(extra, extra), kernel_layout="IOHW")
    return (f"transposed {size}x{size}/{stride} pad {padding} {inputs}x{height}x{width} -> {outputs}", result, [weight], [data],
            2 * inputs * outputs * size * size * height * width)


def dense(random):
    rows, inputs, outputs = pick(random, 1, 1, 2, 4, 7, 16, 33, 64, 128, 200), extent(random, 16, 4096), extent(random, 10, 4096)
    data, weight = var("data", rows, inputs), var("weight", outputs, inputs)
    return f"dense {rows}x{inputs} -> {outputs}", nn.dense(data, weight, units=outputs), [weight], [data], 2 * rows * inputs * outputs


def batch_matmul(random):
    batch, rows, columns, depth = int(random.integers(1, 25)), extent(random, 5, 300), extent(random, 5, 300), extent(random, 5, 300)
    turned = [bool(random.integers(2)) for _ in range(2)]
    left = var("data", batch, *((depth, rows) if turned[0] else (rows, depth)))
    right = var("other", batch, *((columns, depth) if turned[1] else (depth, columns)))
    result = nn.batch_matmul(left, right, transpose_a=turned[0], transpose_b=turned[1])
    text = f"batch_matmul {'NT'[turned[0]]}{'NT'[turned[1]]} {batch}x{rows}x{depth}x{columns}"
    return text, result, [], [left, right], 2 * batch * rows * columns * depth


def reduce(random):
    shape = [extent(random, 4, 200) for _ in range(int(random.integers(2, 5)))]
    axes = sorted(random.choice(len(shape), size=int(random.integers(1, len(shape) + 1)), replace=False).tolist())
    name = pick(random, "sum", "mean", "max")
    data = var("data", *shape)
    result = getattr(relay, name)(data, axis=axes, keepdims=bool(random.integers(2)))
    return f"{name} {'x'.join(map(str, shape))} over {axes}", result, [], [data], np.prod(shape)


def pool(random):
    channels, (height, width) = extent(random, 8, 600), image(random)
    size, stride = pick(random, 2, 3, 3, 5), pick(random, 1, 2, 2)
    padding = int(random.integers(0, size // 2 + 1))
    data, kind = var("data", 1, channels, height, width), pick(random, "max", "avg")
    options = {"count_include_pad": bool(random.integers(2))} if kind == "avg" else {}
    result = getattr(nn, kind + "_pool2d")(data, pool_size=(size, size), strides=(stride, stride), padding=(padding, padding), **options)
    return (f"{kind}_pool {size}x{size}/{stride} pad {padding} {channels}x{height}x{width}", result, [], [data],
            channels * size * size * (height // stride) * (width // stride))


MAKERS = {each.__name__: each for each in (conv, depthwise, grouped, transposed, dense, batch_matmul, reduce, pool)}
