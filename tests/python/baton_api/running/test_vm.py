"""Programs with control flow, functions, data types and references on the virtual machine; the machine's interface; its profiler."""
import json
import threading

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.relay.backend.interpreter import Closure, ConstructorValue, RefValue
from baton.relay.prelude import Prelude
from baton.runtime import container, profiler_vm
from baton.runtime import vm as vm_rt

HEAD = '#[version = "0.0.5"]\n'
FACTORIAL = HEAD + """
def @fact(%n: int32) -> int32 { if (less(%n, 1)) { 1 } else { multiply(%n, @fact(subtract(%n, 1))) } }
def @main(%n: int32) { @fact(%n) }"""
DENSE = HEAD + """
def @main(%x: Tensor[(?, 8), float32], %w: Tensor[(4, 8), float32]) { nn.relu(nn.dense(%x, %w, units=4)) }"""
LOOP = HEAD + """
def @loop(%i: int32, %x: Tensor[(4), float32]) -> Tensor[(4), float32] {
  if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), tanh(add(%x, 1f))) }
}
def @main(%n: int32, %x: Tensor[(4), float32]) { @loop(%n, %x) }"""


def executable(text, **more):
    return relay.vm.compile(tvm.parser.fromtext(text if text.startswith("#") else HEAD + text), "llvm", **more)


def machine(text, **more):
    return vm_rt.VirtualMachine(executable(text, **more), tvm.cpu())


def plain(value):
    """Values as nested lists: a value of a data type is [tag, fields...]."""
    if isinstance(value, ConstructorValue):
        return [value.tag, *map(plain, value.fields)]
    if isinstance(value, RefValue):
        return plain(value.value)
    return list(map(plain, value)) if isinstance(value, (list, tuple)) else value.numpy().tolist()


def check(text, *runs):
    """Each of `runs`, tuples of arguments, gives what the interpreter gives."""
    module = tvm.parser.fromtext(HEAD + text)
    compiled = vm_rt.VirtualMachine(relay.vm.compile(module, "llvm"), tvm.cpu())
    interpreted = relay.create_executor("debug", module).evaluate()
    found = [plain(compiled.run(*args)) for args in runs]
    wanted = [plain(interpreted(*args)) for args in runs]
    for one, other in zip(found, wanted):
        assert repr(one) == repr(other) or np.allclose(one, other, rtol=1e-4, atol=1e-5)
    return found


TWO, THREE = np.array([1, -2], "float32"), np.array([3, 4], "float32")


def test_branches():
    assert check("def @main(%c: bool, %x: Tensor[(2), float32]) { if (%c) { %x } else { add(%x, %x) } }",
                 (True, TWO), (np.array(False), TWO)) == [[1, -2], [2, -4]]
    check("""def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) {
      let %c = less(sum(%x), sum(%y));
      let %p = if (%c) { (%x, add(%y, 1f)) } else { (multiply(%y, 2f), %x) };
      if (logical_and(%c, greater(max(%p.1), 0f))) { %p.0 } else { if (logical_not(%c)) { add(%p.0, %p.1) } else { %y } }
    }""", (TWO, THREE), (THREE, TWO), (TWO, TWO))
    check("def @main(%a: int32, %b: int32) { if (equal(%a, %b)) { 1 } else { if (less(%a, %b)) { 2 } else { 3 } } }", (1, 1), (1, 2), (2, 1))


def test_recursion():
    assert machine(FACTORIAL).run(6).numpy() == 720
    check("""def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }
    def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }
    def @main(%n: int32) { @even(%n) }""", (0,), (7,), (100,))
    check("""def @ack(%m: int32, %n: int32) -> int32 {
      if (equal(%m, 0)) { add(%n, 1) } else {
        if (equal(%n, 0)) { @ack(subtract(%m, 1), 1) } else { @ack(subtract(%m, 1), @ack(%m, subtract(%n, 1))) } }
    }
    def @main(%m: int32, %n: int32) { @ack(%m, %n) }""", (2, 3), (1, 0))
    check("""def @main(%n: int32, %x: Tensor[(2), float32]) {
      let %f = fn (%i: int32, %a: Tensor[(2), float32]) -> Tensor[(2), float32] {
        if (equal(%i, 0)) { %a } else { %f(subtract(%i, 1), multiply(%a, 2f)) }
      };
      (%f(%n, %x), %f(2, %x))
    }""", (0, TWO), (5, TWO))


def test_deep_recursion_and_loops_of_many_turns():
    deep = machine("""def @deep(%i: int32) -> int32 { if (equal(%i, 0)) { 0 } else { add(1, @deep(subtract(%i, 1))) } }
    def @main(%n: int32) -> int32 { @deep(%n) }""")
    assert deep.run(1_000_000).numpy() == 1_000_000
    assert machine(LOOP).run(100_000, np.zeros(4, "float32")).numpy().shape == (4,)
    endless = machine("def @f(%i: int32) -> int32 { add(1, @f(%i)) }\ndef @main(%n: int32) -> int32 { if (less(%n, 0)) { @f(%n) } else { %n } }")
    endless.executable.code.program.set_depth(100_000)
    for _ in range(2):
        with pytest.raises(tvm.TVMError, match="nested more than 100000 deep"):
            endless.run(-1)
        assert endless.run(3).numpy() == 3


def test_closures():
    check("""def @twice(%f: fn (int32) -> int32, %x: int32) -> int32 { %f(%f(%x)) }
    def @main(%n: int32) {
      let %k = multiply(%n, 3);
      let %plus = fn (%i: int32) -> int32 { add(%i, %k) };
      let %chosen = if (less(%n, 4)) { %plus } else { fn (%i: int32) -> int32 { multiply(%i, %i) } };
      (@twice(%plus, %n), @twice(%chosen, 2), (fn (%f: fn (int32) -> int32) -> int32 { %f(%n) })(%chosen))
    }""", (3,), (10,))
    made = machine("def @main(%x: Tensor[(2), float32]) { fn (%y: Tensor[(2), float32]) -> Tensor[(2), float32] { subtract(%x, %y) } }")
    closure = made.run(THREE)
    del made
    assert isinstance(closure, Closure)
    np.testing.assert_array_equal(closure(tvm.nd.array(TWO)).numpy(), THREE - TWO)
    run = machine("def @main(%f: fn (int32) -> int32, %x: int32) { add(%f(%x), %f(add(%x, 1))) }").run
    adds_two = machine("def @main(%k: int32) { fn (%i: int32) -> int32 { add(%i, %k) } }").run(2)
    assert run(adds_two, 5).numpy() == 15
    assert run(lambda i: tvm.nd.array(i.numpy() * np.int32(10)), 5).numpy() == 110


def test_python_functions_that_fail():
    run = machine("def @main(%f: fn (int32) -> int32, %x: int32) { %f(%x) }").run

    def fails(_):
        raise KeyError("mine")

    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            run(fails, 1)
        assert run(lambda i: i, 1).numpy() == 1


def test_references():
    check("""def @main(%x: float32) {
      let %r = ref(%x);
      let %s = ref(%r);
      let %u = ref_write(ref_read(%s), add(ref_read(%r), 1f));
      (ref_read(%r), ref_read(ref_read(%s)))
    }""", (3.0,))
    counted = machine("""def @main(%cell: ref(int32)) { let %u = ref_write(%cell, add(ref_read(%cell), 1)); %cell }""")
    cell = RefValue(tvm.nd.array(np.int32(4)))
    for wanted in (5, 6):
        counted.run(cell)
        assert cell.value.numpy() == wanted
    made = machine("def @main(%x: Tensor[(2), float32]) { ref((%x, 1)) }").run(TWO)
    assert isinstance(made, RefValue) and made.value[1].numpy() == 1


def test_tuples():
    found = machine("def @main(%x: Tensor[(2), float32]) { ((%x, (add(%x, 1f),)), (), %x) }").run(TWO)
    assert isinstance(found, container.ADT) and found.tag == 0 and len(found) == 3 and len(found[1]) == 0
    np.testing.assert_array_equal(found[0][1][0].numpy(), TWO + 1)
    swap = machine("""def @swap[A, B](%p: (A, B)) -> (B, A) { (%p.1, %p.0) }
    def @main(%p: (Tensor[(2), float32], int32)) { @swap(%p) }""")
    for pair in ((TWO, 4), [TWO, np.int32(4)], container.ADT(0, [tvm.nd.array(TWO), tvm.nd.array(np.int32(4))])):
        assert plain(swap.run(pair)) == [4, [1, -2]]
    for wrong in ((TWO,), TWO, (TWO, 4, 5)):
        with pytest.raises(ValueError, match="argument p"):
            swap.run(wrong)


TREE = """type Tree[A] { Node(A, Tree[A], Tree[A]), Leaf, }
def @make(%n: int32) -> Tree[int32] {
  if (less(%n, 1)) { Leaf } else { Node(%n, @make(subtract(%n, 1)), @make(subtract(%n, 2))) }
}
def @sum(%t: Tree[int32]) -> int32 {
  match (%t) { Node(%v, Leaf, Leaf) => %v, Node(%v, %a, %b) => add(%v, add(@sum(%a), @sum(%b))), Leaf => 0, }
}
"""


def test_data_types():
    assert check(TREE + "def @main(%n: int32) { let %t = @make(%n); (@sum(%t), %t) }", (0,), (1,), (6,))[2][0] == 46
    tree = machine(TREE + "def @main(%n: int32) { @make(%n) }").run(3)
    total = machine(TREE + "def @main(%t: Tree[int32]) { @sum(%t) }")
    assert isinstance(tree, ConstructorValue) and tree.constructor.name_hint == "Node" and total.run(tree).numpy() == 7
    check(TREE + """def @both(%p: (Tree[int32], int32)) -> int32 { match (%p) { (Leaf, %k) => %k, (Node(%v, _, _), %k) => multiply(%v, %k), } }
    def @main(%n: int32) { @both((@make(%n), 3)) }""", (0,), (5,))
    check(TREE + "def @main(%n: int32) { let %node = Node; match? (%node(%n, Leaf, Leaf)) { Node(%v, _, %r) => (%v, @sum(%r)) } }", (4,))


def test_a_match_without_a_clause_for_the_value():
    run = machine(TREE + "def @main(%n: int32) { match? (@make(%n)) { Node(%v, _, _) => %v } }").run
    for _ in range(2):
        with pytest.raises(tvm.TVMError):
            run(0)
        assert run(2).numpy() == 2


def test_values_of_data_types_that_are_wrong_inside():
    """Types of fields are not checked when a value is given: what uses a field says so, and nothing is read as something else."""
    total = machine("""type Chain { Link(int32, Chain), End, }
    def @sum(%c: Chain) -> int32 { match (%c) { Link(%v, %r) => add(%v, @sum(%r)), End => 0, } }
    def @main(%c: Chain) { @sum(%c) }
    def @one(%n: int32) -> Chain { Link(%n, End) }""")
    good = total.invoke("one", 4)
    link, end = good.constructor, good.fields[1]
    for fields in ([np.zeros((2, 2), "float32"), end], [good, end], [], [tvm.nd.array(np.float32(2)), end], [np.int32(1), 3]):
        with pytest.raises(tvm.TVMError):
            total.run(ConstructorValue(good.tag, fields, link))
    with pytest.raises(tvm.TVMError):
        total.run(ConstructorValue(12345, [], None))
    with pytest.raises(tvm.TVMError):
        total.run(3)
    assert total.run(good).numpy() == 4


def test_the_prelude():
    module = tvm.IRModule()
    prelude = Prelude(module)
    _, cons, nil = module.get_type("List")
    name = module.get_global_var
    numbers = nil()
    for each in (3, 1, 2):
        numbers = cons(relay.const(each), numbers)
    x, y = relay.var("x", "int32"), relay.var("y", "int32")
    double = relay.Function([x], relay.multiply(x, relay.const(2)))
    plus = relay.Function([x, y], relay.add(x, y))
    big = relay.Function([x], relay.greater(x, relay.const(1)))
    calls = {
        "map": name("map")(double, numbers), "foldl": name("foldl")(plus, relay.const(0), numbers),
        "foldr": name("foldr")(plus, relay.const(0), numbers), "filter": name("filter")(big, numbers), "rev": name("rev")(numbers),
        "hd": name("hd")(numbers), "tl": name("tl")(numbers), "nth": name("nth")(numbers, relay.const(2)),
        "length": name("length")(numbers), "sum": name("sum")(numbers), "concat": name("concat")(numbers, numbers),
        "update": name("update")(numbers, relay.const(1), relay.const(9)), "zip": name("zip")(numbers, numbers),
        "foldr1": name("foldr1")(plus, numbers), "compose": name("compose")(double, double)(relay.const(3)),
        "iterate": name("iterate")(double, relay.const(4))(relay.const(1))}

    def listed(value):
        return plain(value) if not isinstance(value, ConstructorValue) else \
            [] if value.tag == nil.tag else [plain(value.fields[0]), *listed(value.fields[1])]

    wanted = {"map": [4, 2, 6], "foldl": 6, "foldr": 6, "filter": [2, 3], "rev": [3, 1, 2], "hd": 2, "tl": [1, 3], "nth": 3, "length": 3,
              "sum": 6, "concat": [2, 1, 3, 2, 1, 3], "update": [2, 9, 3], "zip": [[2, 2], [1, 1], [3, 3]], "foldr1": 6, "compose": 12,
              "iterate": 16}
    for what, call in calls.items():
        main = prelude.mod.copy()
        main["main"] = relay.Function([], call)
        assert listed(vm_rt.VirtualMachine(relay.vm.compile(main, "llvm"), tvm.cpu()).run()) == wanted[what], what


def test_lists_of_tensors_and_options():
    module = tvm.IRModule()
    Prelude(module)
    _, cons, nil = module.get_type("List")
    _, some, none = module.get_type("Option")
    x, c = relay.var("x", shape=(2,)), relay.var("c", shape=(), dtype="bool")
    pair = cons(x, cons(relay.nn.relu(x), nil()))
    found = relay.If(c, some(module.get_global_var("hd")(module.get_global_var("rev")(pair))), none())
    module["main"] = relay.Function([c, x], found)
    run = vm_rt.VirtualMachine(relay.vm.compile(module, "llvm"), tvm.cpu()).run
    taken = run(True, TWO)
    assert taken.tag == some.tag and taken.fields[0].numpy().tolist() == [1, 0] and run(False, TWO).tag == none.tag


@pytest.mark.parametrize("given, wanted", [(3, "int32"), (3.5, "float32"), (True, "int32")])
def test_numbers_of_python(given, wanted):
    """Where no type is declared, a number is int32 or float32."""
    from baton.runtime.executable import value_for

    assert value_for("x", None, given).dtype == wanted
    assert machine(f"def @main(%x: {wanted}) {{ add(%x, %x) }}").run(given).numpy() == 2 * given


def test_inputs():
    run = machine("def @main(%a: int32, %b: float32, %t: Tensor[(2), float32]) { (%a, %b, %t) }")
    run.set_input("main", 1, 2.5, TWO)
    assert plain(run.invoke("main")) == [1, 2.5, [1, -2]]
    run.set_input("main", t=THREE, a=2, b=1, unknown=7)  # a superset is allowed
    assert plain(run.run()) == [2, 1, [3, 4]]
    run.set_input("main", 5, t=TWO, b=3)
    assert plain(run.run()) == [5, 3, [1, -2]]
    run.set_one_input("main", 0, 8)
    run.set_one_input("main", "b", 4.5)
    run.set_one_input("main", t=THREE)
    assert plain(run.run()) == [8, 4.5, [3, 4]]
    run.invoke_stateful("main")
    assert plain(run.get_outputs()) == [8, 4.5, [3, 4]]
    run.invoke_stateful("main", 1, 1, TWO)
    targets = [tvm.nd.empty((), "int32"), tvm.nd.empty(()), tvm.nd.empty((2,))]
    run.invoke_with_outputs("main", {"a": 3, "b": 2, "t": THREE}, targets)
    assert plain(targets) == [3, 2, [3, 4]]
    assert run.get_input_index("t") == 2 and run.get_input_index("z") == -1
    for call, error in ((lambda: run.set_input("main", 1, 2), ValueError), (lambda: run.set_input("main", a=1, b=2, z=3), ValueError),
                        (lambda: run.run(1, 2, TWO, TWO), ValueError), (lambda: run.set_one_input("main", "z", 1), ValueError),
                        (lambda: run.set_one_input("main", 3, 1), IndexError), (lambda: run.set_one_input("main", 1.5, 1), TypeError),
                        (lambda: run.set_one_input("main", 1), ValueError), (lambda: run.set_one_input("main", a=1, b=2), ValueError),
                        (lambda: run.invoke("other"), ValueError),
                        (lambda: run.invoke_with_outputs("main", {"a": 1, "b": 2, "t": TWO}, []), ValueError),
                        (lambda: run.get_input_index("a", "other"), ValueError)):
        with pytest.raises(error):
            call()
    assert plain(run.run(1, 2, TWO)) == [1, 2, [1, -2]]


def test_inputs_that_are_missing_or_wrong():
    run = machine("def @main(%x: Tensor[(2, ?), float32], %n: int32) { (%x, %n) }")
    with pytest.raises(tvm.TVMError, match="x, n"):
        run.run()
    with pytest.raises(tvm.TVMError, match="nothing has been run"):
        run.get_outputs()
    run.set_one_input("main", "x", np.zeros((2, 1), "float32"))
    with pytest.raises(tvm.TVMError, match="no value: n"):
        run.invoke("main")
    for wrong in (np.zeros((3, 1)), np.zeros(2), np.zeros((2, 2, 2)), tvm.nd.array(np.zeros((1, 1), "float32"))):
        with pytest.raises(tvm.TVMError, match="argument x"):
            run.run(wrong, 1)
    for wrong in ("text", None, object(), relay.var("x"), np.zeros((2, 1), "complex64")):
        with pytest.raises(TypeError, match="argument x"):
            run.run(wrong, 1)
    assert run.run(np.zeros((2, 3)), 1)[0].numpy().dtype == "float32"  # numbers are cast


def test_parameters_of_one_name():
    x, y = relay.var("x", shape=(2,)), relay.var("x", shape=(2,))
    run = vm_rt.VirtualMachine(relay.vm.compile(tvm.IRModule.from_expr(relay.Function([x, y], relay.subtract(x, y))), "llvm"), tvm.cpu())
    assert run.run(THREE, TWO).numpy().tolist() == [2, 6]


def test_other_functions_than_main(tmp_path):
    compiled = executable("""def @main(%x: Tensor[(2), float32]) { let %p = @twice(%x, 0f); %p.0 }
    def @twice(%x: Tensor[(2), float32], %unused: float32) { (add(%x, %x), %x) }
    def @alone(%n: int32) -> int32 { if (less(%n, 3)) { %n } else { 3 } }""")
    assert set(compiled.globals) >= {"main", "twice", "alone"}
    assert compiled.get_function_params("twice") == ["x", "unused"]
    run = vm_rt.VirtualMachine(compiled, tvm.cpu())
    assert plain(run.invoke("twice", TWO, 0)) == [[2, -4], [1, -2]] and run.invoke("alone", n=7).numpy() == 3
    assert run.invoke("main", TWO).numpy().tolist() == [2, -4]


def test_params_are_constants():
    weight = np.ones((4, 8), "float32")
    compiled = executable(DENSE, params={"w": weight})
    assert compiled.get_function_params("main") == ["x"] and "[4, 8]" in compiled.constants or "[4" in compiled.stats
    np.testing.assert_array_equal(vm_rt.VirtualMachine(compiled, tvm.cpu()).run(weight).numpy(), np.full((4, 4), 8))
    compiler = relay.vm.VMCompiler()
    with pytest.raises(tvm.TVMError, match="lower"):
        compiler.get_exec()
    compiler.set_params({"w": weight})
    assert set(compiler.get_params()) == {"w"}
    compiler.lower(tvm.parser.fromtext(DENSE), "llvm")
    compiler.codegen()
    assert compiler.get_params() and vm_rt.VirtualMachine(compiler.get_exec(), tvm.cpu()).run(weight).numpy().shape == (4, 4)
    optimized, _ = relay.vm.VMCompiler().optimize(tvm.parser.fromtext(DENSE), "llvm", params={"w": weight})
    assert isinstance(optimized, tvm.IRModule)


def test_what_an_executable_says():
    compiled = executable(LOOP)
    lines = compiled.bytecode.splitlines()
    assert any(each.startswith("VM Function[") and "main(n, x)" in each for each in lines)
    assert "# reg file size =" in compiled.bytecode and "# instruction count =" in compiled.bytecode
    assert "invoke" in compiled.bytecode and "ret $" in compiled.bytecode
    assert compiled.stats.startswith("Relay VM executable statistics:") and '("main", ' in compiled.stats
    assert any("tanh" in each for each in compiled.primitive_ops) and all(not each.startswith("tvmgen_") for each in compiled.primitive_ops)
    assert compiled.lib.type_key and compiled.mod.type_key == compiled.module.type_key == "VMExecutable"
    assert compiled["get_stats"]() == compiled.stats and compiled.mod["get_function_arity"]("main") == 2
    assert compiled.primitives and compiled.virtual_devices


@pytest.mark.parametrize("memory", [None, "naive", "pooled", {tvm.cpu(): "naive"}])
def test_memory_configurations(memory):
    run = vm_rt.VirtualMachine(executable(LOOP), tvm.cpu(), memory)
    assert run.run(2, np.zeros(4)).numpy().shape == (4,)


def test_wrong_machines():
    compiled = executable(LOOP)
    for wrong, error in ((lambda: vm_rt.VirtualMachine("x", tvm.cpu()), TypeError), (lambda: vm_rt.VirtualMachine(compiled, tvm.cpu(), 3), TypeError),
                         (lambda: vm_rt.VirtualMachine(compiled, tvm.cpu(), "other"), ValueError),
                         (lambda: vm_rt.VirtualMachine(compiled, tvm.cpu(), {"cpu": "naive"}), TypeError),
                         (lambda: vm_rt.VirtualMachine(compiled, tvm.cuda()), tvm.TVMError), (lambda: vm_rt.Executable("x"), TypeError),
                         (lambda: relay.vm.compile(tvm.IRModule(), "llvm"), ValueError), (lambda: relay.vm.compile("x", "llvm"), ValueError),
                         (lambda: relay.vm.compile(tvm.parser.fromtext(LOOP), "rocm"), NotImplementedError)):
        with pytest.raises(error):
            wrong()
    assert vm_rt.VirtualMachine(compiled, [tvm.cpu()]).run(0, np.ones(4)).numpy().tolist() == [1, 1, 1, 1]


def test_two_machines_over_one_executable():
    compiled, wrong = executable(DENSE), []
    weight = np.random.default_rng(0).standard_normal((4, 8)).astype("float32")
    begun = threading.Barrier(4)

    def work(seed):
        run, generator = vm_rt.VirtualMachine(compiled, tvm.cpu()), np.random.default_rng(seed)
        begun.wait()
        for _ in range(100):
            data = generator.standard_normal((generator.integers(1, 20), 8)).astype("float32")
            found = run.run(data, weight).numpy()
            if found.shape != (len(data), 4) or not np.allclose(found, np.maximum(data @ weight.T, 0), atol=1e-5):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(each,)) for each in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_results_are_ones_own():
    """What a run returned stays as it is when the machine runs again."""
    run = machine("def @main(%x: Tensor[(?), float32]) { (%x, add(%x, 1f)) }")
    given = tvm.nd.array(TWO)
    first = run.run(given)
    second = run.run(THREE)
    assert plain(first) == [[1, -2], [2, -1]] and plain(second) == [[3, 4], [4, 5]]
    given.copyfrom(THREE)
    assert plain(first[0]) == [1, -2]


def test_benchmark():
    run = machine(LOOP)
    result = run.benchmark(tvm.cpu(), 3, np.zeros(4), repeat=2, number=4)
    assert len(result.results) == 2 and 0 < result.mean < 1
    assert run.benchmark(tvm.cpu(), 3, np.zeros(4), repeat=2, number=2, end_to_end=True).mean > 0
    assert run.benchmark(tvm.cpu(), repeat=1, number=1, func_name="loop", i=1, x=np.zeros(4)).mean > 0
    with pytest.raises(ValueError):
        run.benchmark(tvm.cpu(), 3)


def test_profile():
    profiler = profiler_vm.VirtualMachineProfiler(executable(LOOP), tvm.cpu())
    report = profiler.profile(50, np.zeros(4, "float32"))
    rows = {call["Name"]: call for call in report.calls}
    kernel = next(call for name, call in rows.items() if "tanh" in name)
    assert kernel["Count"].value == 50 and kernel["Argument Shapes"].endswith("float32[4]") and "origins" in kernel and kernel["Device"] == "cpu0"
    assert {"VM::AllocTensor", "VM::UnknownOp"} <= set(rows)
    total = report.device_metrics["cpu0"]["Duration (us)"].microseconds
    assert sum(call["Duration (us)"].microseconds for call in report.calls) == pytest.approx(total, rel=1e-6)
    assert "Executor: VM" in str(report) and json.loads(report.json())["calls"]
    np.testing.assert_allclose(profiler.run(1, np.zeros(4)).numpy(), np.tanh(np.ones(4, "float32")), rtol=1e-5)  # plain runs go on
    with pytest.warns(UserWarning, match="has been removed"):
        assert "tanh" in profiler.get_stat()
    with pytest.raises(NotImplementedError):
        profiler.profile(1, np.zeros(4), collectors=["x"])
    with pytest.raises(ValueError, match="has no function 'other'"):
        profiler.profile(func_name="other")


def test_profile_of_open_shapes():
    """Calls on tensors of other shapes have rows of their own."""
    text = """def @grow(%i: int32, %x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] {
      if (equal(%i, 0)) { %x } else { @grow(subtract(%i, 1), concatenate((%x, ones(shape=[1, 2], dtype="float32")), axis=0)) }
    }
    def @main(%n: int32, %x: Tensor[(?, 2), float32]) { @grow(%n, %x) }"""
    report = profiler_vm.VirtualMachineProfiler(executable(text), tvm.cpu()).profile(3, np.zeros((1, 2), "float32"))
    shapes = [call["Argument Shapes"] for call in report.calls if "Argument Shapes" in call]
    assert all(any(f"float32[{rows}, 2]" in each for each in shapes) for rows in (2, 3, 4))


def test_executor_keeps_what_it_compiled():
    executor = relay.create_executor("vm", tvm.parser.fromtext(LOOP), tvm.cpu(), "llvm")
    assert executor.executable is None
    run = executor.evaluate()
    assert run(0, np.ones(4)).numpy().tolist() == [1, 1, 1, 1] and run(n=0, x=np.ones(4)).numpy().tolist() == [1, 1, 1, 1]
    assert isinstance(executor.executable, vm_rt.Executable) and isinstance(executor.vm, vm_rt.VirtualMachine)
    with pytest.raises(ValueError, match="2 arguments"):
        run(1)
    with pytest.raises(TypeError, match="no parameter 'z'"):
        run(1, z=2)
    with pytest.raises(RuntimeError, match="module"):
        relay.backend.vm.VMExecutor(None, tvm.cpu(), "llvm")


def test_levels_of_optimization():
    for level in range(4):
        with tvm.transform.PassContext(opt_level=level):
            assert machine(FACTORIAL).run(5).numpy() == 120
            data = np.ones((3, 8), "float32")
            np.testing.assert_allclose(machine(DENSE).run(data, np.ones((4, 8))).numpy(), np.full((3, 4), 8), rtol=1e-6)


def test_arrays_are_copied_when_they_are_set():
    run = machine("def @main(%x: Tensor[(?, 2), float32]) { (%x, fn (%y: Tensor[(1), float32]) { add(%x, %y) }) }")
    given = np.ones((2, 2), "float32")
    first, closure = run.invoke("main", given)
    given[:] = 5
    np.testing.assert_array_equal(run.invoke("main")[0].numpy(), np.ones((2, 2)))  # the value set before
    second, _ = run.invoke("main", given)  # not in the memory that the first result and the closure still have
    np.testing.assert_array_equal(first.numpy(), np.ones((2, 2)))
    np.testing.assert_array_equal(second.numpy(), np.full((2, 2), 5))
    np.testing.assert_array_equal(closure(np.ones(1, "float32")).numpy(), np.full((2, 2), 2))


@pytest.mark.parametrize("given", [
    np.arange(6, dtype="float32").reshape(3, 2), np.arange(12, dtype="float32").reshape(3, 4)[:, ::2],
    np.arange(6, dtype="float32").reshape(2, 3).T, np.arange(6, dtype=">f4").reshape(3, 2), np.arange(6).reshape(3, 2),
    np.arange(6, dtype="float16").reshape(3, 2), np.zeros((0, 2), "float32"), [[1, 2], [3, 4]],
    np.ma.masked_array(np.ones((1, 2), "float32"))], ids=lambda given: getattr(given, "dtype", "list"))
def test_any_array_of_numbers_is_taken(given):
    run = machine("def @main(%x: Tensor[(?, 2), float32]) { add(%x, 1f) }")
    fixed = np.frombuffer(np.asarray(given, "float32").tobytes(), "float32").reshape(np.shape(given))  # not to be written
    for value in (given, fixed, given):
        np.testing.assert_array_equal(run.run(value).numpy(), np.asarray(given, "float32") + 1)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
                                   "float32", "float64"])
def test_arrays_of_every_element_type_are_taken_as_they_are(dtype):
    run = machine(f"def @main(%x: Tensor[(?), {dtype}]) {{ (%x, %x) }}")
    given = np.array([0, 1, 1]).astype(dtype)
    assert run.executable.code.start("main")._call.set(0, given)
    result = run.run(given)[1].numpy()
    assert result.dtype == given.dtype
    np.testing.assert_array_equal(result, given)
