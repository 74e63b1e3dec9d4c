"""Programs that no graph can say, run with values at hand: recursion, data types, references, closures, dynamic shapes."""
import gc
import signal
import threading
import time
import weakref

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.relay.backend.interpreter import Closure, ConstructorValue, RefValue
from baton.relay.prelude import Prelude
from baton.relay.scope_builder import ScopeBuilder

SCALAR = relay.scalar_type("int32")


def program(text):
    return tvm.parser.fromtext('#[version = "0.0.5"]\n' + text)


def runner(mod, kind="debug"):
    return relay.create_executor(kind, mod).evaluate()


@pytest.fixture(name="lists", scope="module")
def lists_fixture():
    prelude = Prelude(tvm.IRModule())
    return prelude, *prelude.mod.get_type("List")


def made(lists, numbers):
    """A list of the prelude, as a value."""
    _, _, cons, nil = lists
    result = ConstructorValue(nil.tag, [], nil)
    for each in reversed(list(numbers)):
        result = ConstructorValue(cons.tag, [np.int32(each), result], cons)
    return result


def numbers_of(lists, value):
    _, _, cons, _ = lists
    found = []
    while value.tag == cons.tag:
        found.append(value.fields[0].numpy().tolist())
        value = value.fields[1]
    return found


def over_list(lists, name, *first):
    """A function of a list of int32: the prelude's `name`."""
    prelude, _, cons, _ = lists
    items = relay.var("items", cons.belong_to(SCALAR))
    return relay.create_executor("debug", prelude.mod).evaluate(
        relay.Function([items], prelude.mod.get_global_var(name)(*first, items)))


COUNT = """def @loop(%i: int32, %s: int64) -> int64 {
  if (equal(%i, 0)) { %s } else { @loop(subtract(%i, 1), add(%s, cast(%i, dtype="int64"))) } }
def @main(%n: int32) -> int64 { @loop(%n, 0i64) }"""
DEEP = """def @deep(%i: int32) -> int32 { if (equal(%i, 0)) { 0 } else { add(1, @deep(subtract(%i, 1))) } }
def @main(%n: int32) -> int32 { @deep(%n) }"""
ENDLESS = "def @f(%x: int32) -> int32 { add(1, @f(%x)) }\ndef @main(%x: int32) -> int32 { @f(%x) }"
SPIN = "def @f(%x: int32) -> int32 { @f(%x) }\ndef @main(%x: int32) -> int32 { @f(%x) }"


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_loops_and_recursion(kind):
    assert runner(program(COUNT), kind)(1000).numpy() == 500500
    assert runner(program(DEEP), kind)(3000).numpy() == 3000


def test_recursion_without_an_end():
    with pytest.raises(tvm.TVMError, match="262144 deep: does the recursion end"):
        runner(program(ENDLESS))(1)


def test_lists(lists):
    prelude, _, cons, nil = lists
    assert numbers_of(lists, over_list(lists, "rev")(made(lists, range(300)))) == list(range(299, -1, -1))
    assert over_list(lists, "length")(made(lists, range(400))).numpy() == 400
    assert over_list(lists, "sum")(made(lists, range(100))).numpy() == 4950
    x = relay.var("x", SCALAR)
    twice = relay.Function([x], relay.add(x, x), SCALAR)
    assert numbers_of(lists, over_list(lists, "map", twice)(made(lists, range(5)))) == [0, 2, 4, 6, 8]
    y = relay.var("y", SCALAR)
    plus = relay.Function([x, y], relay.add(x, y))
    assert over_list(lists, "foldl", plus, relay.const(0))(made(lists, [1, 2, 3])).numpy() == 6
    assert over_list(lists, "hd")(cons(relay.const(7), nil())).numpy() == 7  # an expression is computed first
    with pytest.raises(tvm.TVMError, match="no clause"):
        over_list(lists, "hd")(made(lists, []))


def test_a_long_list_is_made_and_freed(lists):
    value = over_list(lists, "id")(made(lists, range(100_000)))
    assert value.fields[0].numpy() == 0
    del value
    gc.collect()


def test_values_are_copied_and_pickled(lists):
    import copy
    import pickle

    value = made(lists, [3, 1, 2])
    for each in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert numbers_of(lists, each) == [3, 1, 2] and each.constructor.name_hint == "Cons"
    cell = RefValue(value)
    for each in (copy.copy(cell), pickle.loads(pickle.dumps(cell))):
        each.value = np.float32(1)
        assert cell.value.tag == value.tag
    assert over_list(lists, "sum")(pickle.loads(pickle.dumps(value))).numpy() == 6


def test_trees_and_mutual_recursion(lists):
    prelude = lists[0]
    _, rose = prelude.mod.get_type("Tree")
    _, _, cons, nil = lists
    leaf = [rose(relay.const(each), nil()) for each in (1, 2)]
    tree = rose(relay.const(3), cons(leaf[0], cons(leaf[1], nil())))
    assert relay.create_executor("debug", prelude.mod).evaluate(prelude.mod.get_global_var("size")(tree)).numpy() == 3
    even = """def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }
    def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }
    def @main(%n: int32) -> bool { @even(%n) }"""
    assert not runner(program(even))(1001).numpy()


def test_closures():
    adder = runner(program("def @main(%x: float32) { fn (%y: float32) { add(%x, %y) } }"))(np.float32(2))
    assert isinstance(adder, Closure) and adder(np.float32(3)).numpy() == 5 and "Closure" in repr(adder)
    with pytest.raises(tvm.TVMError, match="takes 1 argument"):
        adder()
    twice = "def @main(%f: fn (float32) -> float32, %x: float32) { %f(%f(%x)) }"
    assert runner(program(twice))(adder, np.float32(1)).numpy() == 5
    assert runner(program(twice))(lambda x: tvm.nd.array(x.numpy() * np.float32(3)), np.float32(2)).numpy() == 18
    with pytest.raises(ZeroDivisionError):  # an exception of the caller's own function arrives as it is
        runner(program(twice))(lambda x: 1 / 0, np.float32(2))

    def endless(x):
        return runner(program(twice))(endless, x)

    with pytest.raises(RecursionError):
        endless(np.float32(1))
    own = """def @main(%n: int32) {
      let %f = fn (%i: int32) -> int32 { if (less(%i, 1)) { 1 } else { multiply(%i, %f(subtract(%i, 1))) } }; %f(%n) }"""
    assert runner(program(own))(5).numpy() == 120


def test_references():
    cell = RefValue(np.float32(1))
    add_one = runner(program("def @main(%r: ref(float32)) { ref_write(%r, add(ref_read(%r), 1f)) }"))
    assert len(add_one(cell)) == 0 and cell.value.numpy() == 2  # the caller's cell is written
    cell.value = np.float32(10)
    add_one(cell)
    assert cell.value.numpy() == 11 and "float32" in repr(cell)
    made_in = runner(program("def @main(%x: float32) { ref(%x) }"))(np.float32(4))
    assert isinstance(made_in, RefValue) and made_in.value.numpy() == 4
    order = """def @main(%x: float32) { let %r = ref(%x); let %a = ref_read(%r); let %u = ref_write(%r, multiply(%a, 2f));
      let %b = ref_read(%r); (%a, %b) }"""
    first, second = runner(program(order))(np.float32(3))
    assert first.numpy() == 3 and second.numpy() == 6


def test_a_function_in_its_own_cell_is_freed():
    knot = """def @main(%n: int32) -> int32 {
      let %r = ref(fn (%i: int32) -> int32 { %i });
      let %f = fn (%i: int32) -> int32 { if (less(%i, 1)) { 0 } else { let %g = ref_read(%r); add(1, %g(subtract(%i, 1))) } };
      let %u = ref_write(%r, %f); %f(%n) }"""
    run = runner(program(knot))

    class Held:
        def __call__(self, x):
            return x

    assert run(50).numpy() == 50
    held = Held()
    alive = weakref.ref(held)
    runner(program("""def @main(%h: fn (int32) -> int32) -> int32 {
      let %r = ref(%h); let %f = fn (%i: int32) -> int32 { let %g = ref_read(%r); %h(%i) }; let %u = ref_write(%r, %f); %f(1) }"""))(held)
    del held
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_dynamic_shapes(kind):
    x = relay.var("x", shape=(relay.Any(), 3))
    body = relay.reshape(relay.concatenate([x, x], axis=0), relay.shape_of(relay.transpose(relay.concatenate([x, x], axis=0))))
    run = relay.create_executor(kind, tvm.IRModule.from_expr(relay.Function([x], body))).evaluate()
    for rows in (1, 4):
        given = np.arange(rows * 3, dtype="float32").reshape(rows, 3)
        np.testing.assert_array_equal(run(given).numpy(), np.concatenate([given, given]).reshape(3, 2 * rows))
    with pytest.raises(tvm.TVMError, match="argument x is a tensor float32.1, 4., expected Tensor"):
        run(np.zeros((1, 4), "float32"))
    data = relay.var("d", shape=(relay.Any(),), dtype="int32")
    chosen = relay.Function([data], relay.argwhere(relay.greater(data, relay.const(1))))
    np.testing.assert_array_equal(relay.create_executor(kind).evaluate(chosen)(np.array([0, 2, 5, 1], "int32")).numpy(), [[1], [2]])
    grow = program("""def @grow(%i: int32, %x: Tensor[(?), int32]) -> Tensor[(?), int32] {
      if (equal(%i, 0)) { %x } else { @grow(subtract(%i, 1), concatenate((%x, %x))) } }
    def @main(%i: int32, %x: Tensor[(?), int32]) { @grow(%i, %x) }""")
    assert relay.create_executor(kind, grow).evaluate()(5, np.array([7], "int32")).shape == (32,)


def test_operators_that_a_build_lowers():
    quantized = """def @main(%c: bool, %x: Tensor[(2, 3), int8], %w: Tensor[(4, 3), int8]) {
      if (%c) { qnn.dense(%x, %w, 0, 0, 0.5f, 0.5f, units=4, out_dtype="int32") } else { zeros(shape=[2, 4], dtype="int32") } }"""
    x, w = np.arange(6, dtype="int8").reshape(2, 3), np.ones((4, 3), "int8")
    np.testing.assert_array_equal(runner(program(quantized))(True, x, w).numpy(), x.astype("int32") @ w.T)
    normed = """def @main(%c: bool, %x: Tensor[(1, 2), float32], %g: Tensor[(2), float32]) {
      if (%c) { let %n = nn.batch_norm(%x, %g, %g, %g, %g); %n.0 } else { %x } }"""
    ones = np.ones(2, "float32")
    np.testing.assert_allclose(runner(program(normed))(True, np.full((1, 2), 3, "float32"), ones).numpy(), [[3, 3]], rtol=1e-4)
    primitive = """def @main(%c: bool, %x: float32) { let %f = fn (%y: float32, Primitive=1) { exp(add(%y, 1f)) };
      if (%c) { %f(%x) } else { %x } }"""
    np.testing.assert_allclose(runner(program(primitive))(True, np.float32(1)).numpy(), np.exp(2), rtol=1e-6)


def test_what_is_shared_is_computed_once():
    block, n = ScopeBuilder(), relay.var("n", SCALAR)
    cell = block.let("r", relay.RefCreate(relay.const(0)))
    step = relay.Function([], relay.Let(relay.var("u"), relay.RefWrite(cell, relay.add(relay.RefRead(cell), relay.const(1))), n))
    once = relay.Call(step, [])
    total = block.let("t", relay.add(once, once))
    block.ret(relay.Tuple([total, relay.RefRead(cell)]))
    total, calls = relay.create_executor("debug").evaluate(relay.Function([n], block.get()))(5)
    assert total.numpy() == 10 and calls.numpy() == 1


def test_results_are_the_callers_own():
    mod = program("def @main(%c: bool, %x: Tensor[(2), float32]) { if (%c) { %x } else { ones(shape=[2], dtype=\"float32\") } }")
    x = tvm.nd.array(np.zeros(2, "float32"))
    run = runner(mod)
    run(True, x)[:] = np.ones(2)
    assert not x.numpy().any()
    constant = relay.create_executor("debug").evaluate(relay.If(relay.const(True), relay.const([1.0]), relay.const([2.0])))
    constant[:] = [5]


def test_wrong_values(lists):
    _, _, cons, nil = lists
    run = over_list(lists, "sum")
    pair = runner(program("def @main(%p: (int32, (int32, int32)), %r: ref(int32), %f: fn (int32) -> int32) { (%p.0, %r, %f) }"))
    good = (1, (2, 3)), RefValue(np.int32(1)), lambda x: x
    wrong_list = ConstructorValue(cons.tag, [np.zeros((2, 2), "float32"), ConstructorValue(nil.tag, [], nil)], cons)
    loop = []
    loop.append(loop)
    for call, error, match in (
            (lambda: run(3), tvm.TVMError, "argument items"), (lambda: run((1, 2)), tvm.TVMError, "argument items"),
            (lambda: run("text"), TypeError, "."), (lambda: run(None), TypeError, "."),
            (lambda: run(wrong_list), tvm.TVMError, "."),
            (lambda: run(ConstructorValue(cons.tag, [], cons)), tvm.TVMError, "0 fields"),
            (lambda: run(ConstructorValue(12345, [], None)), tvm.TVMError, "no clause"),
            (lambda: pair((1, 2), *good[1:]), tvm.TVMError, "argument p.1"),
            (lambda: pair(good[0], 1, good[2]), tvm.TVMError, "argument r"),
            (lambda: pair(good[0], RefValue(1.5), good[2]), tvm.TVMError, "argument r.value"),
            (lambda: pair(good[0], good[1], 1), tvm.TVMError, "argument f"),
            (lambda: pair((1, (2, "x")), *good[1:]), TypeError, "argument p.1.1"),
            (lambda: RefValue(loop), RecursionError, "."), (lambda: RefValue(object()), TypeError, "."),
            (lambda: ConstructorValue("a", [], None), TypeError, "."), (lambda: ConstructorValue(0, None, None), TypeError, "."),
            (lambda: ConstructorValue(0, [], 1), TypeError, "."), (lambda: ConstructorValue(2 ** 40, [], None), TypeError, ".")):
        with pytest.raises(error, match=match):
            call()
    assert pair(*good)[0].numpy() == 1 and repr(wrong_list) == "ConstructorValue(Cons, 2 fields)"


def test_ctrl_c_is_heard():
    run = runner(program(SPIN))
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 1.3


def test_threads_share_a_program_and_a_cell():
    run, cell = runner(program("def @main(%r: ref(int32), %n: int32) { ref_write(%r, add(ref_read(%r), %n)) }")), RefValue(np.int32(0))
    threads = [threading.Thread(target=lambda: [run(cell, 1) for _ in range(50)]) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert 50 <= cell.value.numpy() <= 200


def test_free_variables_with_values(lists):
    prelude, _, cons, _ = lists
    items = relay.var("items", cons.belong_to(SCALAR))
    executor = relay.create_executor("debug", prelude.mod)
    length = executor.evaluate(prelude.mod.get_global_var("length")(items), {items: made(lists, range(7))})
    assert length.numpy() == 7
    with pytest.raises(tvm.TVMError, match="function"):
        executor.evaluate(items, {items: lambda x: x})
