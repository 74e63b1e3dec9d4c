"""Programs with shapes that are known at run time, on the virtual machine: operators beside numpy, programs beside the interpreter."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.runtime import vm as vm_rt

RNG = np.random.default_rng(5)
NEAR = {"rtol": 1e-4, "atol": 1e-5}
ANY = relay.Any()


def floats(*shape):
    return RNG.standard_normal(shape).astype("float32")


def ints(low, high, *shape, dtype="int32"):
    return RNG.integers(low, high, shape).astype(dtype)


def var(name, *shape, dtype="float32"):
    return relay.var(name, shape=[ANY if extent is None else extent for extent in shape], dtype=dtype)


def module_of(params, body):
    return tvm.IRModule.from_expr(relay.Function(params, body))


def machine_of(module):
    return vm_rt.VirtualMachine(relay.vm.compile(module, "llvm"), tvm.cpu())


def plain(value):
    """Values as nested lists of numpy arrays."""
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else np.asarray(value.numpy())


def same(found, wanted, **near):
    if isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            same(one, other, **near)
        return
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (found.shape, found.dtype, wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found, wanted, **near) if wanted.dtype.kind == "f" else np.testing.assert_array_equal(found, wanted)


def check(params, body, runs, reference=None):
    """All `runs`, tuples of arrays, on one machine: as `reference` of them says, or the interpreter."""
    module = module_of(params, body)
    machine = machine_of(module)
    if reference is None:
        interpreted = relay.create_executor("debug", module).evaluate()
        reference = lambda *args: plain(interpreted(*args))
    for args in runs:
        same(plain(machine.run(*args)), reference(*args), **NEAR)


SHAPES = [(3, 4), (1, 4), (7, 4), (3, 4)]

UNARY = {
    "abs": np.abs, "ceil": np.ceil, "cos": np.cos, "exp": np.exp, "floor": np.floor, "negative": np.negative, "sign": np.sign,
    "tanh": np.tanh, "round": np.round, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "nn.relu": lambda x: np.maximum(x, 0),
    "zeros_like": np.zeros_like, "ones_like": np.ones_like, "copy": lambda x: x}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    x = var("x", None, 4)
    operator = relay
    for part in name.split("."):
        operator = getattr(operator, part)
    check([x], operator(x), [(floats(*shape),) for shape in SHAPES], UNARY[name])


BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum, "minimum": np.minimum,
    "less": np.less, "greater_equal": np.greater_equal, "not_equal": np.not_equal}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("left, right, runs", [
    ((None, 4), (None, 4), [((3, 4), (3, 4)), ((1, 4), (5, 4)), ((5, 4), (1, 4))]),
    ((None, 4), (4,), [((3, 4), (4,)), ((1, 4), (4,))]),
    ((None, None), (1, 2), [((3, 2), (1, 2)), ((4, 1), (1, 2))]),
    ((2, 3, None), (None, 1), [((2, 3, 5), (3, 1)), ((2, 3, 5), (1, 1))]),
    ((None,), (), [((6,), ()), ((0,), ())]),
])
def test_broadcasting(name, left, right, runs):
    x, y = var("x", *left), var("y", *right)
    check([x, y], getattr(relay, name)(x, y), [(floats(*a), np.asarray(floats(*b), "float32")) for a, b in runs], BINARY[name])


EQUAL_OR_ONE = [
    (lambda x, y: relay.nn.relu(x + y), (None, None), (None, None), [((3, 4), (3, 4)), ((3, 4), (1, 4)), ((1, 4), (3, 1)), ((0, 4), (1, 4)), ((5, 2), (5, 2))]),
    (lambda x, y: x * y, (None, 4), (3, 4), [((3, 4), (3, 4)), ((1, 4), (3, 4)), ((3, 4), (3, 4))]),
    (lambda x, y: relay.where(relay.less(x, y), x, y), (None, None), (None, None), [((3, 4), (3, 4)), ((3, 1), (1, 4))]),
    (lambda x, y: relay.concatenate((x, y), axis=0), (None, None), (1, None), [((3, 4), (1, 4)), ((0, 4), (1, 4)), ((2, 6), (1, 6))]),
    (lambda x, y: relay.nn.bias_add(x, y), (None, None), (None,), [((3, 4), (4,)), ((0, 4), (4,))]),
    (lambda x, y: relay.nn.batch_matmul(x, y), (None, None, 8), (None, None, 8), [((2, 3, 8), (2, 5, 8)), ((2, 3, 8), (1, 5, 8)), ((1, 3, 8), (2, 5, 8))]),
    (lambda x, y: relay.nn.softmax(x * relay.exp(x) + y), (None, None), (None, None), [((3, 4), (3, 4)), ((3, 4), (3, 1)), ((1, 4), (5, 4)), ((3, 4), (3, 4))]),
]


@pytest.mark.parametrize("build, left, right, runs", EQUAL_OR_ONE)
def test_extents_that_are_equal_or_one(build, left, right, runs):
    """Kernels where extents are equal that need not be, the compiler where one of them is 1."""
    x, y = var("x", *left), var("y", *right)
    check([x, y], build(x, y), [(floats(*one), floats(*other)) for one, other in runs])
    exe = relay.vm.compile(module_of([x, y], build(x, y)), "llvm")
    assert exe.primitive_ops or "append" in exe.bytecode


def test_extents_that_must_be_equal_and_are_not():
    x, y = var("x", None, None), var("y", 1, None)
    machine = machine_of(module_of([x, y], relay.concatenate((x, y), axis=0)))
    with pytest.raises(tvm.error.TVMError):
        machine.run(floats(3, 4), floats(1, 5))
    same(machine.run(floats(3, 4) * 0, floats(1, 4) * 0).numpy(), np.zeros((4, 4), "float32"))


def test_extents_that_are_equal_in_branches_and_files(tmp_path):
    x, y, n = var("x", None), var("y", None), relay.var("n", shape=(), dtype="int32")
    body = relay.If(relay.less(n, relay.const(2)), x + y, relay.nn.relu(x)) * y
    runs = [(floats(a), floats(b), np.int32(n)) for a, b, n in ((3, 3, 1), (3, 1, 1), (1, 3, 3), (3, 3, 3))]
    check([x, y, n], body, runs)
    path = str(tmp_path / "program.so")
    relay.vm.compile(module_of([x, y, n], body), "llvm").mod.export_library(path)
    machine = vm_rt.VirtualMachine(tvm.runtime.load_module(path), tvm.cpu())
    one, two, _ = runs[0]
    np.testing.assert_allclose(machine.run(*runs[0]).numpy(), (one + two) * two, rtol=1e-5)


def test_kernels_for_extents_that_the_user_names():
    n = tvm.te.var("n")
    x, w = relay.var("x", shape=(n, 64)), relay.const(floats(32, 64))
    body = relay.nn.softmax(relay.nn.relu(relay.nn.dense(x, w)))
    module = module_of([x], body)
    with tvm.transform.PassContext(opt_level=3, config={"baton.specialize": "n=1,16"}):
        exe = relay.vm.compile(module, "llvm")
    assert len(exe.primitive_ops) == 3 * len(relay.vm.compile(module, "llvm").primitive_ops)
    machine, interpreted = vm_rt.VirtualMachine(exe, tvm.cpu()), relay.create_executor("debug", module).evaluate()
    for rows in (1, 16, 3, 1, 0, 17):
        given = floats(rows, 64)
        same(machine.run(given).numpy(), interpreted(given).numpy(), **NEAR)
    for wrong, message in (("m=1", "no extent of main's parameters is called `m`; names: n"), ("n", "`n` does not name an extent"),
                           ("n=0", "`n=0` does not name"), ("n=1,", "`n=1,` does not name"), ("n=one", "`n=one` does not name")):
        with tvm.transform.PassContext(opt_level=3, config={"baton.specialize": wrong}), pytest.raises(Exception, match=message):
            relay.vm.compile(module, "llvm")


def test_bounds_of_extents():
    n = tvm.te.var("n")
    x, w = relay.var("x", shape=(n, 64)), relay.const(floats(32, 64))
    module = module_of([x], relay.nn.softmax(relay.exp(relay.nn.dense(x, w))))
    with tvm.transform.PassContext(opt_level=3, config={"baton.most": "n=16"}):
        machine = machine_of(module)
    interpreted = relay.create_executor("debug", module).evaluate()

    def check_rows(rows):
        data = floats(rows, 64)
        same(machine.run(data).numpy(), interpreted(data).numpy(), **NEAR)

    for rows in (1, 16, 0, 3):
        check_rows(rows)
    with pytest.raises(tvm.TVMError, match="axis 0, n = 17, is above 16"):
        machine.run(floats(17, 64))
    check_rows(2)


def test_named_extents_beside_equal_ones_and_branches():
    n = tvm.te.var("n")
    x, y, k = relay.var("x", shape=(n, 4)), var("y", None, 4), relay.var("k", shape=(), dtype="int32")
    module = module_of([x, y, k], relay.If(relay.less(k, relay.const(2)), relay.exp(x) + y, relay.nn.relu(x)) * x)
    with tvm.transform.PassContext(opt_level=3, config={"baton.specialize": "n=2"}):
        machine = machine_of(module)
    interpreted = relay.create_executor("debug", module).evaluate()
    for a, b, number in ((2, 2, 1), (3, 3, 1), (2, 1, 1), (3, 1, 1), (2, 1, 5), (3, 1, 5)):
        args = floats(a, 4), floats(b, 4), np.int32(number)
        same(machine.run(*args).numpy(), interpreted(*args).numpy(), **NEAR)


def test_broadcasts_that_do_not_fit():
    x, y = var("x", None, 4), var("y", None, 4)
    machine = machine_of(module_of([x, y], relay.add(x, y)))
    for _ in range(2):
        with pytest.raises(tvm.TVMError):
            machine.run(floats(2, 4), floats(3, 4))
        same(machine.run(floats(3, 4) * 0, np.ones((3, 4), "float32")).numpy(), np.ones((3, 4), "float32"))


REDUCTIONS = [("sum", np.sum), ("mean", np.mean), ("max", np.max), ("min", np.min), ("prod", np.prod)]


@pytest.mark.parametrize("name, reference", REDUCTIONS)
@pytest.mark.parametrize("axis, keepdims", [(0, False), (1, True), ((0, 2), False), (None, False)])
def test_reductions(name, reference, axis, keepdims):
    x = var("x", None, None, 3)
    check([x], getattr(relay, name)(x, axis=axis, keepdims=keepdims), [(floats(2, 5, 3),), (floats(4, 1, 3),), (floats(2, 5, 3),)],
          lambda a: np.asarray(reference(a, axis=axis, keepdims=keepdims), "float32"))


@pytest.mark.parametrize("name, reference", [("argmax", np.argmax), ("argmin", np.argmin)])
def test_where_extremes_are(name, reference):
    x = var("x", None, 5)
    check([x], getattr(relay, name)(x, axis=1), [(floats(2, 5),), (floats(9, 5),)], lambda a: reference(a, axis=1).astype("int32"))
    check([x], getattr(relay, name)(x, axis=0), [(floats(2, 5),), (floats(9, 5),)], lambda a: reference(a, axis=0).astype("int32"))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax(axis):
    x = var("x", None, None)

    def reference(a):
        shifted = np.exp(a - a.max(axis, keepdims=True))
        return shifted / shifted.sum(axis, keepdims=True)

    check([x], relay.nn.softmax(x, axis=axis), [(floats(2, 5),), (floats(1, 1),), (floats(33, 17),)], reference)
    check([x], relay.nn.log_softmax(x, axis=-1), [(floats(2, 5),), (floats(7, 3),)],
          lambda a: np.log(np.exp(a - a.max(-1, keepdims=True)) / np.exp(a - a.max(-1, keepdims=True)).sum(-1, keepdims=True)))


def test_all_any_and_cumsum():
    x, y = var("x", None, 4, dtype="bool"), var("y", None, 4)
    bits = [(ints(0, 2, *shape, dtype="bool"),) for shape in SHAPES]
    check([x], relay.all(x, axis=1), bits, lambda a: np.all(a, axis=1))
    check([x], relay.any(x, axis=0), bits, lambda a: np.any(a, axis=0))
    check([y], relay.cumsum(y, axis=0), [(floats(*shape),) for shape in SHAPES], lambda a: np.cumsum(a, axis=0))


@pytest.mark.parametrize("start, stop, step", [(0, 7, 1), (2, 11, 3), (10, 0, -2), (5, 5, 1)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_arange(start, stop, step, dtype):
    params = [var(name, dtype=dtype) for name in ("start", "stop", "step")]
    runs = [tuple(np.array(each, dtype) for each in (start, stop, step)), tuple(np.array(each, dtype) for each in (0, 3, 1))]
    check(params, relay.arange(*params, dtype=dtype), runs, lambda a, b, c: np.arange(a, b, c).astype(dtype))


@pytest.mark.parametrize("dtype", ["int32", "float32", "bool"])
@pytest.mark.parametrize("shapes", [((0,), (5,), (8,)), ((2, 3), (5, 1)), ((2, 3, 4), (1, 1, 9))])
def test_argwhere(dtype, shapes):
    x = var("x", *[None] * len(shapes[0]), dtype=dtype)
    check([x], relay.argwhere(x), [(ints(0, 2, *shape, dtype=dtype),) for shape in shapes], lambda a: np.argwhere(a).astype("int32"))


def test_argwhere_then_more():
    x = var("x", None)
    places = relay.argwhere(relay.greater(x, relay.const(0.0)))
    check([x], relay.shape_of(relay.squeeze(places, axis=[1])), [(np.array([1, -1, 2], "float32"),), (np.full(4, -1, "float32"),)],
          lambda a: np.array([(a > 0).sum()], "int32"))


def test_concatenate_stack_and_split():
    x, y = var("x", None, 2), var("y", None, 2)
    check([x, y], relay.concatenate([x, y], axis=0), [(floats(3, 2), floats(1, 2)), (floats(2, 2), floats(0, 2))],
          lambda a, b: np.concatenate([a, b]))
    wide = var("x", 2, None)
    check([wide, wide_y := var("y", 2, None)], relay.concatenate([wide, wide_y], axis=1), [(floats(2, 3), floats(2, 4))],
          lambda a, b: np.concatenate([a, b], 1))
    check([x], relay.stack([x, x], axis=1), [(floats(3, 2),), (floats(1, 2),)], lambda a: np.stack([a, a], 1))
    even = var("x", None, 6)
    check([even], relay.split(even, 3, axis=1).astuple(), [(floats(2, 6),), (floats(5, 6),)], lambda a: np.split(a, 3, 1))
    check([even], relay.split(even, [1, 4], axis=1).astuple(), [(floats(2, 6),), (floats(5, 6),)], lambda a: np.split(a, [1, 4], 1))
    open_axis = var("x", None, 2)
    check([open_axis], relay.split(open_axis, 2, axis=0).astuple(), [(floats(4, 2),), (floats(6, 2),)], lambda a: np.split(a, 2))
    check([open_axis], relay.split(open_axis, [1, 3], axis=0).astuple(), [(floats(4, 2),), (floats(9, 2),)], lambda a: np.split(a, [1, 3]))


@pytest.mark.parametrize("shape, newshape, runs", [
    ((None, 4), (-1,), [(3, 4), (1, 4)]), ((None, 4), (0, 2, 2), [(3, 4), (5, 4)]), ((None, 4), (2, -1), [(2, 4), (6, 4)]),
    ((None, None, 3), (0, -1), [(2, 5, 3), (1, 1, 3)]), ((None, 6), (-3,), [(2, 6), (3, 6)]), ((4, None), (-2,), [(4, 2), (4, 5)]),
    ((None, 6), (0, -4, 2, 3), [(2, 6), (1, 6)]),
])
def test_reshape(shape, newshape, runs):
    x = var("x", *shape)
    check([x], relay.reshape(x, newshape), [(floats(*each),) for each in runs])


def test_shapes_that_are_values():
    x, shape = var("x", None, 4), var("shape", 3, dtype="int64")
    check([x, shape], relay.reshape(x, shape), [(floats(3, 4), np.array([2, 3, 2], "int64")), (floats(6, 4), np.array([1, -1, 8], "int64"))],
          lambda a, s: a.reshape(s))
    y = var("y", None, None)
    check([x, y], relay.reshape(x, relay.shape_of(y)), [(floats(3, 4), floats(6, 2)), (floats(5, 4), floats(2, 10))],
          lambda a, b: a.reshape(b.shape))
    check([x, y], relay.broadcast_to(x, relay.shape_of(y)), [(floats(1, 4), floats(6, 4)), (floats(3, 4), floats(3, 4))],
          lambda a, b: np.broadcast_to(a, b.shape))
    two = var("shape", 2, dtype="int64")
    value = var("value")
    check([value, two], relay.full(value, two, "float32"), [(np.float32(3), np.array([2, 5], "int64")), (np.float32(0), np.array([1, 1], "int64"))],
          lambda v, s: np.full(s, v, "float32"))
    for operator, fill in ((relay.zeros, 0), (relay.ones, 1)):
        check([two], operator(two, "float32"), [(np.array([2, 5], "int64"),), (np.array([0, 3], "int64"),)],
              lambda s, fill=fill: np.full(s, fill, "float32"))
    repeats = var("repeats", 2, dtype="int64")
    check([x, repeats], relay.tile(x, repeats), [(floats(2, 4), np.array([3, 2], "int64")), (floats(1, 4), np.array([1, 1], "int64"))], np.tile)


def test_axes_come_and_go():
    x = var("x", None, 1, None, 1)
    runs = [(floats(2, 1, 3, 1),), (floats(1, 1, 5, 1),)]
    check([x], relay.squeeze(x, axis=[1, 3]), runs, lambda a: a.squeeze((1, 3)))
    check([x], relay.expand_dims(x, axis=1, num_newaxis=2), runs, lambda a: a[:, None, None])
    check([x], relay.transpose(x), runs, lambda a: a.T)
    check([x], relay.transpose(x, axes=[0, 2, 1, 3]), runs, lambda a: a.transpose(0, 2, 1, 3))
    check([x], relay.nn.batch_flatten(x), runs, lambda a: a.reshape(len(a), -1))
    check([x], relay.reverse(x, axis=2), runs, lambda a: a[:, :, ::-1])
    check([x], relay.layout_transform(x, "NCHW", "NHWC"), runs, lambda a: a.transpose(0, 2, 3, 1))
    check([x], relay.repeat(x, 2, axis=0), runs, lambda a: np.repeat(a, 2, 0))
    check([x], relay.tile(x, (2, 1, 1, 3)), runs, lambda a: np.tile(a, (2, 1, 1, 3)))


@pytest.mark.parametrize("begin, end, strides", [([1, 0], [3, 2], [1, 1]), ([0, 3], [4, 0], [1, -1]), ([-2, 0], [100, 4], [1, 2])])
def test_strided_slice(begin, end, strides):
    x = var("x", None, 4)
    check([x], relay.strided_slice(x, begin, end, strides), [(floats(4, 4),), (floats(6, 4),)],
          lambda a: a[tuple(slice(*each) for each in zip(begin, end, strides))])


def test_slices_whose_ends_are_values():
    x, begin, end = var("x", None, 4), var("begin", 2, dtype="int64"), var("end", 2, dtype="int64")
    runs = [(floats(5, 4), np.array([1, 0], "int64"), np.array([3, 2], "int64")), (floats(2, 4), np.array([0, 1], "int64"), np.array([2, 4], "int64"))]
    check([x, begin, end], relay.strided_slice(x, begin, end, relay.const(np.array([1, 1], "int64"))), runs,
          lambda a, b, e: a[b[0]:e[0], b[1]:e[1]])


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_take(axis):
    x, places = var("x", None, 4), var("places", None, dtype="int32")
    check([x, places], relay.take(x, places, axis=axis), [(floats(3, 4), ints(0, 3, 2)), (floats(6, 4), ints(0, 4, 9))],
          lambda a, i: np.take(a, i, axis))


def test_gather():
    x, places = var("x", None, 4), var("places", None, 4, dtype="int32")
    check([x, places], relay.gather(x, 0, places), [(floats(3, 4), ints(0, 3, 2, 4)), (floats(6, 4), ints(0, 6, 6, 4))],
          lambda a, i: np.take_along_axis(a, i, 0))
    where = var("where", 2, None, dtype="int32")
    check([x, where], relay.gather_nd(x, where), [(floats(3, 4), ints(0, 3, 2, 5)), (floats(6, 4), ints(0, 4, 2, 1))],
          lambda a, i: a[tuple(i)])


def test_where_clip_cast_and_one_hot():
    c, x, y = var("c", None, 4, dtype="bool"), var("x", None, 4), var("y", None, 4)
    check([c, x, y], relay.where(c, x, y), [(ints(0, 2, n, 4, dtype="bool"), floats(n, 4), floats(n, 4)) for n in (1, 5, 2)], np.where)
    check([x], relay.clip(x, -0.5, 0.5), [(floats(n, 4),) for n in (1, 5)], lambda a: np.clip(a, -0.5, 0.5))
    check([x], relay.cast(x, "int32"), [(floats(n, 4) * 5,) for n in (1, 5)], lambda a: a.astype("int32"))
    i = var("i", None, dtype="int32")
    check([i], relay.one_hot(i, relay.const(1.0), relay.const(0.0), 5, -1, "float32"), [(ints(0, 5, n),) for n in (1, 7)],
          lambda a: np.eye(5, dtype="float32")[a])


@pytest.mark.parametrize("ascending", [True, False])
def test_sort_and_argsort(ascending):
    x = var("x", None, 5)
    turned = (lambda a: a) if ascending else (lambda a: a[:, ::-1])
    check([x], relay.sort(x, axis=1, is_ascend=ascending), [(floats(2, 5),), (floats(6, 5),)], lambda a: turned(np.sort(a, 1)))
    check([x], relay.argsort(x, axis=1, is_ascend=ascending, dtype="int32"), [(floats(2, 5),), (floats(6, 5),)],
          lambda a: turned(np.argsort(a, 1)).astype("int32"))


@pytest.mark.parametrize("ret_type", ["both", "values", "indices"])
def test_topk(ret_type):
    x = var("x", None, 7)

    def reference(a, k=3):
        order = np.argsort(-a, 1)[:, :k]
        both = [np.take_along_axis(a, order, 1), order.astype("int32")]
        return both if ret_type == "both" else both[ret_type == "indices"]

    body = relay.topk(x, k=3, axis=1, ret_type=ret_type)
    check([x], body.astuple() if ret_type == "both" else body, [(floats(2, 7),), (floats(5, 7),)], reference)
    k = var("k", dtype="int32")
    body = relay.topk(x, k, axis=1, ret_type=ret_type)
    check([x, k], body.astuple() if ret_type == "both" else body, [(floats(2, 7), np.int32(2)), (floats(5, 7), np.int32(4))], reference)


@pytest.mark.parametrize("counts", [False, True])
def test_unique(counts):
    x = var("x", None, dtype="int32")
    values, places, back, number, *more = relay.unique(x, is_sorted=True, return_counts=counts)

    def cut(value):
        return relay.strided_slice(value, relay.const([0], dtype="int64"), relay.cast(number, "int64"), relay.const([1], dtype="int64"))

    def reference(a):
        found, first, inverse, times = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
        return [found, first.astype("int32"), inverse.astype("int32")] + ([times.astype("int32")] if counts else [])

    check([x], relay.Tuple([cut(values), cut(places), back, *map(cut, more)]), [(ints(0, 4, 9),), (ints(0, 9, 3),), (ints(0, 2, 30),)],
          reference)


@pytest.mark.parametrize("count", [1, 6, 20])
def test_non_max_suppression(count):
    boxes, valid, places = var("boxes", 1, None, 6), var("valid", 1, dtype="int32"), var("places", 1, None, dtype="int32")
    body = relay.vision.non_max_suppression(boxes, valid, places, relay.const(-1), relay.const(0.5), return_indices=False)
    corner = RNG.random((1, count, 2)).astype("float32") * 3
    scores = RNG.permutation(count).astype("float32").reshape(1, count, 1) + 1
    given = np.concatenate([np.zeros((1, count, 1), "float32"), scores, corner, corner + 1], 2)
    check([boxes, valid, places], body, [(given, np.array([count], "int32"), np.arange(count, dtype="int32")[None])])


@pytest.mark.parametrize("pad_mode", ["constant", "edge", "reflect"])
def test_pad(pad_mode):
    x = var("x", None, 4)
    check([x], relay.nn.pad(x, ((1, 2), (0, 3)), pad_mode=pad_mode), [(floats(3, 4),), (floats(6, 4),)],
          lambda a: np.pad(a, ((1, 2), (0, 3)), pad_mode))


def test_widths_of_pads_that_are_values():
    x, width = var("x", None, 4), var("width", 2, 2, dtype="int64")
    check([x, width], relay.nn.pad(x, width, relay.const(2.0)), [(floats(3, 4), np.array([[1, 2], [0, 3]], "int64")),
                                                                 (floats(1, 4), np.array([[0, 0], [1, 0]], "int64"))],
          lambda a, w: np.pad(a, w, constant_values=2))


def test_dense_and_batch_matmul():
    x, w, more = var("x", None, 8), var("w", 5, 8), var("more", None, None)
    check([x, w], relay.nn.dense(x, w), [(floats(n, 8), floats(5, 8)) for n in (1, 3, 17, 130)], lambda a, b: a @ b.T)
    check([x, more], relay.nn.dense(x, more), [(floats(2, 8), floats(5, 8)), (floats(4, 8), floats(3, 8))], lambda a, b: a @ b.T)
    left, right = var("left", None, None, 4), var("right", None, 6, 4)
    check([left, right], relay.nn.batch_matmul(left, right), [(floats(b, m, 4), floats(b, 6, 4)) for b, m in ((1, 2), (3, 5), (2, 1))],
          lambda a, b: a @ b.transpose(0, 2, 1))
    one, two = var("one", None, None), var("two", None, None)
    check([one, two], relay.nn.matmul(one, two), [(floats(2, 3), floats(3, 4)), (floats(5, 1), floats(1, 2))], np.matmul)
    machine = machine_of(module_of([one, two], relay.nn.matmul(one, two)))
    with pytest.raises(tvm.TVMError):
        machine.run(floats(2, 3), floats(4, 4))


CONVOLUTIONS = [((None, 3, 8, 8), [(1, 3, 8, 8), (4, 3, 8, 8)]), ((1, 3, None, None), [(1, 3, 8, 8), (1, 3, 5, 11)]),
                ((None, 3, None, None), [(2, 3, 7, 6), (1, 3, 12, 9)])]


@pytest.mark.parametrize("shape, runs", CONVOLUTIONS)
@pytest.mark.parametrize("strides", [1, 2])
def test_conv2d(shape, runs, strides):
    x, w = var("x", *shape), var("w", 4, 3, 3, 3)
    body = relay.nn.relu(relay.nn.conv2d(x, w, strides=strides, padding=1, channels=4, kernel_size=3))

    def reference(a, b):
        padded = np.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::strides, ::strides]
        return np.maximum(np.einsum("nchwij,kcij->nkhw", windows, b), 0)

    check([x, w], body, [(floats(*each), floats(4, 3, 3, 3)) for each in runs], reference)


@pytest.mark.parametrize("shape, runs", CONVOLUTIONS)
def test_pools_and_upsampling(shape, runs):
    x = var("x", *shape)
    given = [(floats(*each),) for each in runs]
    windows = lambda a: np.lib.stride_tricks.sliding_window_view(a, (2, 2), (2, 3))[:, :, ::2, ::2]
    check([x], relay.nn.max_pool2d(x, 2, 2), given, lambda a: windows(a).max((-1, -2)))
    check([x], relay.nn.avg_pool2d(x, 2, 2), given, lambda a: windows(a).mean((-1, -2)))
    check([x], relay.nn.global_avg_pool2d(x), given, lambda a: a.mean((2, 3), keepdims=True))
    check([x], relay.nn.global_max_pool2d(x), given, lambda a: a.max((2, 3), keepdims=True))
    check([x], relay.nn.adaptive_avg_pool2d(x, 1), given, lambda a: a.mean((2, 3), keepdims=True))
    check([x], relay.nn.upsampling(x, 2, 2), given, lambda a: a.repeat(2, 2).repeat(2, 3))


def test_other_convolutions():
    x = var("x", None, None, None, 3)
    check([x, w := var("w", 3, 3, 3, 4)], relay.nn.conv2d(x, w, channels=4, kernel_size=3, data_layout="NHWC", kernel_layout="HWIO"),
          [(floats(1, 6, 5, 3), floats(3, 3, 3, 4)), (floats(2, 4, 9, 3), floats(3, 3, 3, 4))])
    y = var("y", None, 3, 4, 4)
    check([y, w := var("w", 3, 2, 3, 3)], relay.nn.conv2d_transpose(y, w, channels=2, kernel_size=3),
          [(floats(1, 3, 4, 4), floats(3, 2, 3, 3)), (floats(3, 3, 4, 4), floats(3, 2, 3, 3))])
    z = var("z", None, 3, None)
    check([z, w := var("w", 4, 3, 3)], relay.nn.conv1d(z, w, channels=4, kernel_size=3, padding=1),
          [(floats(1, 3, 7), floats(4, 3, 3)), (floats(2, 3, 5), floats(4, 3, 3))])
    depth = var("x", None, 4, None, None)
    check([depth, w := var("w", 4, 1, 3, 3)], relay.nn.conv2d(depth, w, channels=4, groups=4, kernel_size=3, padding=1),
          [(floats(1, 4, 6, 6), floats(4, 1, 3, 3)), (floats(2, 4, 5, 9), floats(4, 1, 3, 3))])


def test_norms():
    x, gamma, beta = var("x", None, 6), var("gamma", 6), var("beta", 6)

    def reference(a, g, b):
        return (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5) * g + b

    check([x, gamma, beta], relay.nn.layer_norm(x, gamma, beta, axis=-1), [(floats(n, 6), floats(6), floats(6)) for n in (1, 4)], reference)
    check([x, beta], relay.nn.bias_add(x, beta, axis=-1), [(floats(n, 6), floats(6)) for n in (1, 4)], np.add)


def test_scatters():
    x, places, updates = var("x", None, 4), var("places", None, 4, dtype="int32"), var("updates", None, 4)

    def reference(a, i, u):
        a = a.copy()
        np.put_along_axis(a, i, u, 0)
        return a

    runs = [(floats(n, 4), np.stack([RNG.permutation(n)[:k] for _ in range(4)], 1).astype("int32"), floats(k, 4)) for n, k in ((3, 2), (6, 6))]
    check([x, places, updates], relay.scatter(x, places, updates, 0), runs, reference)


def test_ndarray_size_and_shape_of():
    x = var("x", None, None, 2)
    runs = [(floats(3, 4, 2),), (floats(1, 1, 2),)]
    check([x], relay.shape_of(x), runs, lambda a: np.array(a.shape, "int32"))
    check([x], relay.shape_of(x, "int64"), runs, lambda a: np.array(a.shape, "int64"))
    check([x], relay.ndarray_size(x, "int32"), runs, lambda a: np.int32(a.size))


def test_results_without_elements():
    x = var("x", None, 4)
    check([x], relay.add(x, relay.const(1.0)), [(floats(0, 4),), (floats(2, 4),), (floats(0, 4),)], lambda a: a + 1)
    check([x], relay.sum(x, axis=[1]), [(floats(0, 4),), (floats(2, 4),)], lambda a: a.sum(1))
    check([x, w := var("w", 5, 4)], relay.nn.dense(x, w), [(floats(0, 4), floats(5, 4)), (floats(2, 4), floats(5, 4))], lambda a, b: a @ b.T)


@pytest.mark.parametrize("kind", ["vm", "debug"])
def test_tuples_of_open_shapes(kind):
    pair = relay.var("pair", relay.TupleType([relay.TensorType([ANY, 3]), relay.TensorType([ANY, 3])]))
    body = relay.Tuple([relay.concatenate(pair, axis=0), relay.TupleGetItem(pair, 1)])
    run = relay.create_executor(kind, module_of([pair], body)).evaluate()
    for n, m in ((1, 2), (4, 1), (3, 3)):
        a, b = floats(n, 3), floats(m, 3)
        joined, second = run((a, b))
        np.testing.assert_array_equal(joined.numpy(), np.concatenate([a, b]))
        np.testing.assert_array_equal(second.numpy(), b)


def test_a_branch_of_open_shape():
    c, x = var("c", dtype="bool"), var("x", None, 4)
    body = relay.If(c, relay.concatenate([x, x], axis=0), relay.nn.relu(x))
    module = module_of([c, x], body)
    machine = machine_of(module)
    data = floats(3, 4)
    same(machine.run(np.array(True), data).numpy(), np.concatenate([data, data]))
    same(machine.run(False, data).numpy(), np.maximum(data, 0))


GROW = """#[version = "0.0.5"]
def @grow(%i: int32, %acc: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] {
  if (equal(%i, 0)) { %acc } else {
    @grow(subtract(%i, 1), concatenate((%acc, full(cast(%i, dtype="float32"), shape=[1, 2], dtype="float32")), axis=0))
  }
}
def @main(%n: int32, %x: Tensor[(?, 2), float32]) { @grow(%n, %x) }"""


def test_a_loop_that_grows_a_tensor():
    machine = machine_of(tvm.parser.fromtext(GROW))
    for n, rows in ((0, 1), (5, 0), (200, 3), (2, 2)):
        data = floats(rows, 2)
        wanted = np.concatenate([data, *[np.full((1, 2), i, "float32") for i in range(n, 0, -1)]])
        same(machine.run(np.int32(n), data).numpy(), wanted)


def test_while_loop_over_open_shapes():
    i, acc = var("i", dtype="int32"), var("acc", None, 1, dtype="int32")
    loop = relay.loops.while_loop(lambda i, acc: relay.less(i, relay.const(9)), [i, acc],
                                  lambda i, acc: [i + relay.const(1), relay.concatenate([acc, relay.reshape(i, (1, 1))], axis=0)])
    start = relay.var("start", shape=(), dtype="int32")
    first = relay.reshape(relay.const(0), (1, 1))
    module = module_of([start], relay.TupleGetItem(loop(start, first), 1))
    machine = machine_of(module)
    for begin in (1, 5, 9):
        same(machine.run(np.int32(begin)).numpy(), np.array([[0], *[[each] for each in range(begin, 9)]], "int32"))


def test_shapes_of_one_program_in_turn():
    """A machine keeps what it prepared for the last extents only; each call has its own."""
    x, w = var("x", None, 16), var("w", 16, 16)
    body = relay.nn.softmax(relay.nn.dense(relay.nn.relu(relay.nn.dense(x, w)), w))
    check([x, w], body, [(floats(n, 16), floats(16, 16)) for n in (1, 128, 3, 64, 3, 3, 128, 7, 1, 2)])


def test_batches_of_a_network():
    from baton.relay.testing import mlp

    module, params = mlp.get_workload(1)
    main = module["main"]
    data = relay.var("data", relay.TensorType([ANY, *main.params[0].checked_type.shape[1:]]))
    opened = relay.Function([data, *main.params[1:]], relay.bind(main.body, {main.params[0]: data}))
    machine = vm_rt.VirtualMachine(relay.vm.compile(tvm.IRModule.from_expr(opened), "llvm", params=params), tvm.cpu())
    for batch in (1, 5, 2):
        given = floats(batch, *[int(each) for each in main.params[0].checked_type.shape[1:]])
        alone, fixed = relay.testing.mlp.get_workload(batch)
        wanted = relay.create_executor("graph", alone, tvm.cpu(), "llvm", params=params).evaluate()(given).numpy()
        np.testing.assert_allclose(machine.run(given).numpy(), wanted, rtol=1e-4, atol=1e-6)
        assert set(fixed) == set(params)


@pytest.mark.parametrize("wrong, match", [
    (lambda: (floats(3, 5),), "argument x"), (lambda: (floats(3),), "argument x"), (lambda: (floats(1, 3, 4),), "argument x"),
    (lambda: ("text",), "argument x"), (lambda: ((floats(3, 4), floats(3, 4)),), None), (lambda: (None,), "argument x")])
def test_arguments_of_the_wrong_shape(wrong, match):
    x = var("x", None, 4)
    machine = machine_of(module_of([x], relay.exp(x)))
    with pytest.raises((tvm.TVMError, TypeError, ValueError), match=match):
        machine.run(*wrong())
    data = floats(2, 4)
    same(machine.run(data).numpy(), np.exp(data), **NEAR)


def test_one_hot_of_a_depth_that_is_a_value():
    i, depth = var("i", None, dtype="int32"), var("depth", dtype="int32")
    check([i, depth], relay.one_hot(i, relay.const(1.0), relay.const(0.0), depth, -1, "float32"),
          [(ints(0, 3, 4), np.int32(3)), (ints(0, 6, 2), np.int32(6))], lambda a, n: np.eye(n, dtype="float32")[a])


def test_axes_that_are_values():
    x, axes, axis = var("x", 1, 3, 1), var("axes", 2, dtype="int64"), var("axis", dtype="int64")
    check([x, axes], relay.squeeze(x, axes), [(floats(1, 3, 1), np.array([0, 2], "int64"))], lambda a, s: a.squeeze(tuple(s)))
    check([x, axis], relay.expand_dims(x, axis, 1), [(floats(1, 3, 1), np.int64(1)), (floats(1, 3, 1), np.int64(3))],
          lambda a, n: np.expand_dims(a, int(n)))


def test_sparse_to_dense():
    places, shape, values = var("places", None, 2, dtype="int32"), var("shape", 2, dtype="int32"), var("values", None)

    def reference(i, s, v):
        found = np.zeros(s, "float32")
        found[tuple(i.T)] = v
        return found

    check([places, shape, values], relay.sparse_to_dense(places, shape, values, relay.const(0.0)),
          [(np.array([[0, 1], [2, 3]], "int32"), np.array([3, 4], "int32"), floats(2)),
           (np.array([[1, 0]], "int32"), np.array([2, 1], "int32"), floats(1))], reference)


def test_sizes_of_images_that_are_values():
    x, size = var("x", 1, 2, None, None), var("size", 2, dtype="int64")
    check([x, size], relay.image.resize2d(x, size, method="nearest_neighbor", coordinate_transformation_mode="asymmetric"),
          [(floats(1, 2, 4, 4), np.array([8, 8], "int64")), (floats(1, 2, 6, 3), np.array([12, 9], "int64"))],
          lambda a, s: a.repeat(s[0] // a.shape[2], 2).repeat(s[1] // a.shape[3], 3))
    high, wide = var("high", dtype="float32"), var("wide", dtype="float32")
    check([x, high, wide], relay.nn.upsampling(x, high, wide), [(floats(1, 2, 4, 3), np.float32(2), np.float32(3))],
          lambda a, h, w: a.repeat(int(h), 2).repeat(int(w), 3))


@pytest.mark.parametrize("disabled", [[], ["MemoryPlan"], ["FoldConstant", "SimplifyExpr"]])
def test_memory_of_results_and_intermediates(disabled):
    """Results of pieces that share memory are those of programs without sharing."""
    x, y = var("x", None, 6), var("y", 6)
    chain = x
    for _ in range(4):
        chain = relay.exp(relay.multiply(relay.add(chain, y), relay.const(0.1)))
        chain = relay.reshape(relay.transpose(relay.reshape(chain, (-1, 2, 3)), axes=[0, 2, 1]), (-1, 6))
    module = module_of([x, y], relay.Tuple([chain, relay.add(chain, x), relay.sum(chain, axis=[0])]))
    with tvm.transform.PassContext(opt_level=2, disabled_pass=disabled):
        machine = machine_of(module)
    interpreted = relay.create_executor("debug", module).evaluate()
    for rows in (1, 5, 2, 5):
        args = floats(rows, 6), floats(6)
        same(plain(machine.run(*args)), plain(interpreted(*args)), **NEAR)


@pytest.mark.parametrize("batch", [1, 3])
def test_a_recurrent_cell_over_a_sequence_of_any_length(batch):
    text = f"""#[version = "0.0.5"]
    def @step(%i: int32, %n: int32, %x: Tensor[(?, {batch}, 4), float32], %h: Tensor[({batch}, 8), float32],
              %w: Tensor[(8, 4), float32], %u: Tensor[(8, 8), float32]) -> Tensor[({batch}, 8), float32] {{
      if (less(%i, %n)) {{
        let %now = take(%x, %i, axis=0);
        let %next = tanh(add(nn.dense(%now, %w, units=8), nn.dense(%h, %u, units=8)));
        @step(add(%i, 1), %n, %x, %next, %w, %u)
      }} else {{ %h }}
    }}
    def @main(%x: Tensor[(?, {batch}, 4), float32], %w: Tensor[(8, 4), float32], %u: Tensor[(8, 8), float32]) {{
      let %n = take(shape_of(%x), 0, mode="clip");
      @step(0, %n, %x, zeros(shape=[{batch}, 8], dtype="float32"), %w, %u)
    }}"""
    machine = machine_of(tvm.parser.fromtext(text))
    w, u = floats(8, 4) * 0.3, floats(8, 8) * 0.3
    for length in (1, 20, 3):
        x, h = floats(length, batch, 4), np.zeros((batch, 8), "float32")
        for each in x:
            h = np.tanh(each @ w.T + h @ u.T)
        same(machine.run(x, w, u).numpy(), h, **NEAR)


def test_reshapes_that_do_not_fit():
    """A view is never larger than what it shows."""
    x = var("x", None, 4)
    for newshape, good, wrong in (((4, 4), 4, 2), ((3, -1), 3, 4), ((16,), 4, 5)):
        machine = machine_of(module_of([x], relay.reshape(x, newshape)))
        for _ in range(2):
            data = floats(good, 4)
            same(machine.run(data).numpy(), data.reshape(newshape))
            with pytest.raises(tvm.TVMError):
                machine.run(floats(wrong, 4))
