"""Executors, the debugger, the VM's names, factories, modules."""
import json
import os
import threading

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor, utils
from baton.contrib.debugger import debug_executor, debug_result
from baton.relay.backend import Executor, Runtime, executor_factory, te_compiler
from baton.runtime import profiler_vm
from baton.runtime import vm as vm_rt
from programs import CONV, DENSE, TWO_RESULTS

RNG = np.random.default_rng(2)
X, W = RNG.standard_normal((2, 3), "float32"), RNG.standard_normal((4, 3), "float32")
EXPECTED = np.maximum(X @ W.T - 1, 0)
NEAR = {"rtol": 1e-5, "atol": 1e-6}


def dense(**more):
    return relay.build(tvm.parser.fromtext(DENSE), target="llvm", params={"w": W}, **more)


def test_factory():
    lib = dense()
    assert isinstance(lib, executor_factory.GraphExecutorFactoryModule) and lib.libmod_name == "default"
    assert str(lib.executor) == 'graph{"link-params": (bool)0}' and lib.get_devices() == ["cpu"]
    assert lib.module.type_key == "GraphExecutorFactory" and str(lib.get_lib()).startswith("Module(llvm, ") and lib.lib is lib.get_lib()
    assert lib.graph_json == lib.get_graph_json() == lib.get_executor_config()
    with pytest.warns(DeprecationWarning):
        graph, kernels, params = lib
    assert isinstance(graph, str) and isinstance(kernels, tvm.runtime.Module) and isinstance(params, dict)
    model = graph_executor.create(graph, kernels, tvm.cpu(0))
    model.set_input(**params)
    model.run(x=X)
    np.testing.assert_allclose(model.get_output(0).numpy(), EXPECTED, **NEAR)
    name = next(each for each in lib.function_metadata if each.startswith("tvmgen_default_fused_nn_dense"))
    function = next(iter(dict(lib.function_metadata[name].relay_primfuncs).values()))
    part = tvm.IRModule()
    part["main"] = relay.Function(function.params, function.body, function.ret_type, function.type_params)
    assert relay.build(part, target="llvm").get_graph_json()


def test_old_names():
    with pytest.warns(DeprecationWarning, match="target_host"):
        lib = relay.build(tvm.parser.fromtext(DENSE), target="llvm", target_host="llvm", params={"w": W})
    from baton.contrib import graph_runtime

    with pytest.warns(DeprecationWarning, match="graph_runtime"):
        model = graph_runtime.create(lib.get_graph_json(), lib.get_lib(), tvm.cpu(0))
    assert isinstance(model, graph_executor.GraphModule)
    with pytest.warns(DeprecationWarning):
        assert tvm.gpu(1) == tvm.cuda(1)


def test_a_plan_without_its_kernels():
    conv = relay.build(tvm.parser.fromtext(CONV), target="llvm", params={"w": np.zeros((4, 3, 3, 3), "float32")})
    with pytest.raises(tvm.TVMError, match="kernel"):
        graph_executor.create(dense().get_graph_json(), conv.get_lib(), tvm.cpu())
    with pytest.raises(tvm.TVMError, match="damaged"):
        graph_executor.create("{}", conv.get_lib(), tvm.cpu())
    with pytest.raises(TypeError, match="libmod"):
        graph_executor.create("{}", "conv.so", tvm.cpu())
    with pytest.raises(tvm.TVMError, match=r"cuda\(0\)"):
        graph_executor.create(dense().get_graph_json(), dense().get_lib(), tvm.cuda())
    with pytest.raises(tvm.TVMError, match=r"cuda\(0\)"):
        dense()["default"](tvm.cuda(0))


@pytest.mark.parametrize("wrong, error, match", [
    (np.zeros((3, 2), "float32"), tvm.TVMError, "`x` is float32.2, 3., but was given float32.3, 2."),
    (np.array([["a", "b", "c"]] * 2), TypeError, "input `x`"),
    (np.zeros((2, 3), "complex64"), TypeError, "input `x`"),
    (np.array([[object()] * 3] * 2), TypeError, "input `x`"),
    (None, TypeError, "input `x`"),
    ([[1, 2, 3], [4, 5]], ValueError, "input `x`"),
    (tvm.nd.array(np.zeros(6, "float32")), tvm.TVMError, "`x`"),
])
def test_wrong_inputs(wrong, error, match):
    model = graph_executor.GraphModule(dense()["default"](tvm.cpu()))
    with pytest.raises(error, match=match):
        model.set_input("x", wrong)
    model.run(x=X)
    np.testing.assert_allclose(model.get_output(0).numpy(), EXPECTED, **NEAR)


def test_inputs_that_are_not_row_major():
    model = graph_executor.GraphModule(dense()["default"](tvm.cpu()))
    wide = np.zeros((4, 6), "float32")
    wide[::2, ::2] = X
    for each in (np.asfortranarray(X), wide[::2, ::2], X.astype(">f4"), X.tolist(), X.astype("float64")):
        model.run(x=each)
        np.testing.assert_allclose(model.get_output(0).numpy(), EXPECTED, **NEAR)


def test_wrong_handles():
    model = graph_executor.GraphModule(dense()["default"](tvm.cpu()))
    for call, error in ((lambda: model.set_input(99, X), IndexError), (lambda: model.set_input(-1, X), IndexError),
                        (lambda: model.set_input(1.5, X), TypeError), (lambda: model.get_output(1), IndexError),
                        (lambda: model.get_output(-1), (IndexError, TypeError)), (lambda: model.get_input("y"), RuntimeError),
                        (lambda: model.debug_get_output(0, None), NotImplementedError),
                        (lambda: graph_executor.GraphModule(None), TypeError),
                        (lambda: model.benchmark(tvm.cpu(), number=0), ValueError),
                        (lambda: model.benchmark(tvm.cpu(), func_name="nothing"), AttributeError),
                        (lambda: model["nothing"], AttributeError), (lambda: model.load_params(b"12"), tvm.TVMError)):
        with pytest.raises(error):
            call()
    for call, name in ((lambda: model.get_output("x"), "index"), (lambda: model.get_output(0, X), "out"),
                       (lambda: model.get_input("x", [1]), "out"), (lambda: model.load_params(5), "params_bytes"),
                       (lambda: model.share_params(None, b""), "other"), (lambda: model.module["set_input_zero_copy"]("x", X), "input `x`"),
                       (lambda: relay.build(tvm.IRModule(), "llvm", params=[X]), "params"),
                       (lambda: relay.save_param_dict([X]), "params"), (lambda: tvm.Device("cpu", None), "device_id")):
        with pytest.raises(TypeError, match=name):
            call()


def test_params_of_models():
    lib = dense()
    one, two = (graph_executor.GraphModule(lib["default"](tvm.cpu())) for _ in range(2))
    name = next(iter(lib.get_params()))
    blob = relay.save_param_dict({name: tvm.nd.array(np.zeros(lib.get_params()[name].shape, "float32"))})
    one.load_params(blob)
    one.run(x=X)
    assert not one.get_output(0).numpy().any()  # relu(0 - 1)
    two.run(x=X)
    np.testing.assert_allclose(two.get_output(0).numpy(), EXPECTED, **NEAR)
    two.share_params(one, blob)
    two.run(x=X)
    assert not two.get_output(0).numpy().any()
    one.module["set_input_zero_copy"]("x", tvm.nd.array(X))
    np.testing.assert_array_equal(one.get_input(0).numpy(), X)
    given = tvm.nd.empty((2, 3))
    assert one.get_input("x", given) is given and (given.numpy() == X).all()


def test_constants_of_a_file_can_be_written(tmp_path):
    path = str(tmp_path / "dense.so")
    dense().export_library(path)
    module = tvm.runtime.load_module(path)
    one, two = (graph_executor.GraphModule(module["default"](tvm.cpu())) for _ in range(2))
    index = next(i for i in range(one.get_num_inputs()) if one._executor.input_name(i) != "x")
    one.get_input(index)[:] = np.zeros(one.get_input(index).shape)
    one.run(x=X)
    assert not one.get_output(0).numpy().any()
    module.save(str(tmp_path / "copy.so"))
    again = graph_executor.GraphModule(tvm.runtime.load_module(str(tmp_path / "copy.so"))["default"](tvm.cpu()))
    again.run(x=X)
    np.testing.assert_allclose(again.get_output(0).numpy(), EXPECTED, **NEAR)
    assert two.get_num_inputs() == one.get_num_inputs()


def test_modules():
    lib = dense()
    module = lib.module
    assert module.type_key == "GraphExecutorFactory" and module.implements_function("default") and module.imported_modules == []
    assert not module.implements_function("other") and module.entry_func is not None and "GraphExecutorFactory" in repr(module)
    with pytest.raises(AttributeError, match="default"):
        module["other"]
    for refused in (module.get_source, lambda: module.import_module(module), tvm.runtime.system_lib,
                    lambda: tvm.runtime.load_static_library("x", [])):
        with pytest.raises(NotImplementedError):
            refused()
    running = module["default"](tvm.cpu())
    running["set_input"]("x", tvm.nd.array(X))
    running["run"]()
    np.testing.assert_allclose(running["get_output"](0).numpy(), EXPECTED, **NEAR)
    timed = running.time_evaluator("run", tvm.cpu(), number=3, repeat=2)()
    assert len(timed.results) == 2 and str(timed).splitlines()[1].split() == "mean (ms) median (ms) max (ms) min (ms) std (ms)".split()
    assert running.time_evaluator("get_output", tvm.cpu(), number=3)(0).mean > 0
    assert module["debug_create"]("default", tvm.cpu())["get_num_outputs"]() == 1


def test_benchmark_text():
    text = str(tvm.runtime.benchmark.BenchmarkResult([1e-3, 3e-3]))
    assert text == ("Execution time summary:\n mean (ms)   median (ms)    max (ms)     min (ms)     std (ms)  \n"
                    "   2.0000       2.0000       3.0000       1.0000       1.0000   \n               ")
    model = graph_executor.GraphModule(dense()["default"](tvm.cpu()))
    assert len(model.benchmark(tvm.cpu(), repeat=4, number=2, end_to_end=True, x=X).results) == 4
    assert model.benchmark(tvm.cpu(), repeat=1, number=1, min_repeat_ms=5).mean < 5e-3


def test_debugger(tmp_path, capsys):
    lib = dense()
    model = debug_executor.create(lib.get_graph_json(), lib.get_lib(), tvm.cpu(), dump_root=str(tmp_path))
    model.set_input(**lib.get_params())
    model.run(number=2, x=X)
    shown = capsys.readouterr()
    assert "Op #0 tvmgen_default_fused_nn_dense" in shown.err and "us/iter" in shown.err
    assert shown.out.splitlines()[0].split() == "Node Name Ops Time(us) Time(%) Shape Inputs Outputs Measurements(us)".split()
    assert "Total_time" in shown.out
    folder = tmp_path / "_tvmdbg_device_CPU_0"
    assert sorted(os.listdir(folder)) == sorted([debug_result.GRAPH_DUMP_FILE_NAME, debug_result.CHROME_TRACE_FILE_NAME,
                                                 "output_tensors.params"])
    values = relay.load_param_dict((folder / "output_tensors.params").read_bytes())
    last = [each for each in values if each.startswith("tvmgen")][-1]
    np.testing.assert_allclose(values[last].numpy(), EXPECTED, **NEAR)
    events = json.loads((folder / debug_result.CHROME_TRACE_FILE_NAME).read_text())["traceEvents"]
    assert [each["ph"] for each in events] == ["B", "E"] * (len(events) // 2)
    assert [each["args"] for each in events if "args" in each] == [{"origins": [0, 1, 2]}]
    nodes = json.loads((folder / debug_result.GRAPH_DUMP_FILE_NAME).read_text())["nodes"]
    assert nodes[0]["op"] == "param" and nodes[0]["attrs"]["T"] == "type: float32" and nodes[0]["shape"] == [2, 3]
    times = model.run_individual(2, 3)
    assert len(times) == len(nodes) and times[0] == [0, 0, 0] and all(each > 0 for each in times[-1])
    assert model.run_individual_node(len(nodes) - 1, number=2).mean > 0
    np.testing.assert_allclose(model.debug_get_output(len(nodes) - 1).numpy(), EXPECTED, **NEAR)
    np.testing.assert_allclose(model.debug_get_output(nodes[-1]["name"]).numpy(), EXPECTED, **NEAR)
    with pytest.raises(AttributeError):
        model.debug_get_output("nothing")
    with pytest.raises(IndexError):
        model.debug_get_output(1000)
    model.exit()
    assert not folder.exists()


def test_report():
    lib = dense()
    model = debug_executor.GraphModuleDebug(lib["debug_create"]("default", tvm.cpu()), [tvm.cpu()], lib.get_graph_json(), None)
    report = model.profile(x=X)
    model.exit()
    call = report.calls[0]
    assert call["Name"].startswith("tvmgen_default_fused_nn_dense") and call["Duration (us)"].microseconds > 0
    assert call["Argument Shapes"].startswith("float32[2, 3], ") and call["Count"].value == 1 and call["Device"] == "cpu0"
    total = report.device_metrics["cpu0"]["Duration (us)"].microseconds
    assert sum(each["Duration (us)"].microseconds for each in report.calls) <= total * 1.001
    assert report.table().splitlines()[0].startswith("Name ") and "----------" in report.table() and "Executor: Graph" in str(report)
    assert "\nSum " not in report.table(sort=False, aggregate=False, col_sums=False)
    assert report.csv().splitlines()[0].startswith("Argument Shapes,Count,Device,Duration (us),Hash,Name,Percent")
    # What Baton adds: the operators of the program, for a reader of TVM's reports one attribute of the kernel more.
    assert call["origins"] == "[0, 1, 2]" and "origins" in report.csv().splitlines()[0] and "origins" in report.table().splitlines()[0]
    assert report.device_metrics["cpu0"]["Name"] == "Total"
    again = tvm.runtime.Report.from_json(report.json())
    assert again.table() == report.table() and again.calls == report.calls
    with pytest.raises(ValueError, match="no report"):
        tvm.runtime.Report.from_json("[]")
    with pytest.raises(NotImplementedError):
        model.profile(collectors=["x"])


def test_calls_alike_are_one_row():
    from baton.runtime.profiling import Count, Duration, Percent, Report

    call = {"Name": "a", "Duration (us)": Duration(2), "Percent": Percent(40), "Device": "cpu0", "Count": Count(1)}
    report = Report([call, call], {"cpu0": {"Duration (us)": Duration(5), "Device": "cpu0", "Count": Count(1)}}, {"Executor": "Graph"})
    assert report.table() == ("Name        Duration (us)  Percent  Device  Count  \n"
                              "a                    4.00    80.00    cpu0      2  \n"
                              "----------                                         \n"
                              "Sum                  4.00    80.00              2  \n"
                              "Total                5.00             cpu0      1  \n\n"
                              "Configuration\n-------------\nExecutor: Graph\n")
    assert report.table(aggregate=False).count("a  ") == 2


def test_calls_alike_are_one_row_of_all_their_operators():
    from baton.runtime.profiling import Count, Duration, Percent, Report

    def call(**more):
        return {"Name": "a", "Duration (us)": Duration(2), "Percent": Percent(40), "Count": Count(1), "Hash": "h", **more}

    def origins(*calls):
        report = Report(list(calls), {}, {})
        return [row["origins"] for row in report._table(sort=False, aggregate=True, col_sums=False)[1]]

    assert origins(call(origins="[3]"), call(origins="[1, 2]")) == ["[1, 2, 3]"]
    assert origins(call(origins="mine"), call(origins="[1]")) == ["mine"], "an attribute of the user's own"
    assert len(origins(call(origins="[1]"), call(origins="[1]", src_layout="NCHW"))) == 2


@pytest.mark.parametrize("kind", ["graph", "debug", "vm", "aot"])
def test_create_executor(kind):
    mod = tvm.parser.fromtext(DENSE)
    run = relay.create_executor(kind, mod, tvm.cpu(), "llvm").evaluate()
    np.testing.assert_allclose(run(X, W).numpy(), EXPECTED, **NEAR)
    np.testing.assert_allclose(run(X, w=W).numpy(), EXPECTED, **NEAR)
    bound = relay.create_executor(kind, mod, tvm.cpu(), "llvm", params={"w": W}).evaluate()
    np.testing.assert_allclose(bound(x=X).numpy(), EXPECTED, **NEAR)
    for call, error in ((lambda: run(X), ValueError), (lambda: run(X, y=W), TypeError), (lambda: run(X, X), tvm.TVMError)):
        with pytest.raises(error):
            call()
    first, (second, third) = relay.create_executor(kind, tvm.parser.fromtext(TWO_RESULTS)).evaluate()(X)
    np.testing.assert_allclose(second.numpy(), 2 * first.numpy())
    np.testing.assert_array_equal(third.numpy(), X)


@pytest.mark.parametrize("kind", ["graph", "debug", "vm", "aot"])
def test_evaluate_expressions(kind):
    executor = relay.create_executor(kind)
    assert executor.evaluate(relay.const(1.0) + relay.const(2.0)).numpy() == 3
    y = relay.var("y", shape=(2,))
    np.testing.assert_array_equal(executor.evaluate(y * y, {y: np.array([2, 3], "float32")}).numpy(), [4, 9])
    np.testing.assert_array_equal(executor.evaluate(relay.Function([y], y + y))(np.ones(2, "float32")).numpy(), [2, 2])
    pair = relay.var("pair", relay.TupleType([relay.TensorType((2,)), relay.TensorType((2,))]))
    swap = relay.Function([pair], relay.Tuple([relay.TupleGetItem(pair, 1), relay.TupleGetItem(pair, 0) + relay.const(1.0)]))
    one, two = np.ones(2, "float32"), np.full(2, 2, "float32")
    swapped = executor.evaluate(swap)((one, two))
    np.testing.assert_array_equal(swapped[0].numpy(), two)
    np.testing.assert_array_equal(swapped[1].numpy(), one + 1)
    with pytest.raises(ValueError, match="pair"):
        executor.evaluate(swap)((one,))
    with pytest.raises(TypeError):
        executor.evaluate("main")
    mod = tvm.parser.fromtext(DENSE)
    np.testing.assert_allclose(relay.create_executor(kind, mod).evaluate(mod.get_global_var("main"))(X, W).numpy(), EXPECTED, **NEAR)


BRANCH = """#[version = "0.0.5"]
def @main(%c: bool, %x: Tensor[(2), float32]) { if (%c) { %x } else { add(%x, %x) } }"""
DYNAMIC = """#[version = "0.0.5"]
def @main(%c: bool, %x: Tensor[(?), float32]) { (add(%x, %x), %c) }"""
FACTORIAL = """#[version = "0.0.5"]
def @fact(%n: int32) -> int32 { if (less(%n, 1)) { 1 } else { multiply(%n, @fact(subtract(%n, 1))) } }
def @main(%n: int32) { @fact(%n) }"""
CELL = """#[version = "0.0.5"]
def @main(%x: float32) { let %r = ref(%x); let %u = ref_write(%r, add(%x, 1f)); multiply(ref_read(%r), 2f) }"""


@pytest.mark.parametrize("kind", ["graph", "aot"])
@pytest.mark.parametrize("program", [BRANCH, DYNAMIC])
def test_what_a_graph_cannot_say(kind, program):
    with pytest.raises(NotImplementedError):
        relay.create_executor(kind, tvm.parser.fromtext(program)).evaluate()(np.array(True), np.ones(2, "float32"))


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_control_flow(kind):
    two = np.full(2, 2, "float32")
    run = relay.create_executor(kind, tvm.parser.fromtext(BRANCH)).evaluate()
    np.testing.assert_array_equal(run(np.array(True), two).numpy(), two)
    np.testing.assert_array_equal(run(np.array(False), x=two).numpy(), 2 * two)
    doubled = relay.create_executor(kind, tvm.parser.fromtext(DYNAMIC)).evaluate()(np.array(True), np.ones(5, "float32"))
    np.testing.assert_array_equal(doubled[0].numpy(), np.full(5, 2))
    assert relay.create_executor(kind, tvm.parser.fromtext(FACTORIAL)).evaluate()(6).numpy() == 720
    assert relay.create_executor(kind, tvm.parser.fromtext(CELL)).evaluate()(np.float32(3)).numpy() == 8
    with pytest.raises(ValueError, match="2 arguments"):
        run(two)
    with pytest.raises(tvm.TVMError, match="argument x"):
        run(np.array(True), np.ones(3, "float32"))
    with pytest.raises(TypeError, match="argument x"):
        run(np.array(True), "text")


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_algebraic_types(kind):
    from baton.relay.backend.interpreter import ConstructorValue, RefValue
    from baton.relay.prelude import Prelude

    mod = tvm.IRModule()
    prelude = Prelude(mod)
    _, cons, nil = prelude.mod.get_type("List")
    executor = relay.create_executor(kind, prelude.mod)
    numbers = cons(relay.const(1), cons(relay.const(2), nil()))
    value = executor.evaluate(prelude.mod.get_global_var("rev")(numbers))
    assert isinstance(value, ConstructorValue) and value.tag == cons.tag and value.constructor == cons
    assert value.fields[0].numpy() == 2 and value.fields[1].fields[0].numpy() == 1 and value.fields[1].fields[1].tag == nil.tag
    total = relay.Function([], prelude.mod.get_global_var("sum")(numbers))
    assert executor.evaluate(total)().numpy() == 3
    items = relay.var("items", cons.belong_to(relay.scalar_type("int32")))
    head = relay.Function([items], prelude.mod.get_global_var("hd")(items))
    assert executor.evaluate(head)(value).numpy() == 2
    cell = executor.evaluate(relay.RefCreate(relay.const(1.0)))
    assert isinstance(cell, RefValue) and cell.value.numpy() == 1


@pytest.mark.parametrize("kind", ["debug", "vm"])
@pytest.mark.parametrize("clauses, wanted", [
    ("(%a, _) => { %a }", [1, 2]), ("(%a, %b) => { %a }", [1, 2]), ("(%a, %b) => { %p }", [5, 6]), ("%c => { %p }", [5, 6]),
    ("(%a, %b) => { match (Link(%b, End)) { Link(%h, %t) => { %h }, End => { %a } } }", [3, 4]),
    ("(%a, %b) => { match (Link((%b, %a), End)) { Link((%h, %u), Link(%v, %w)) => { %h }, %z => { %b } } }", [3, 4]),
])
def test_variables_of_patterns_that_nobody_reads(kind, clauses, wanted):
    """They had no place in normal forms, which crashed."""
    tensor = "Tensor[(2), float32]"
    program = f"""#[version = "0.0.5"]
type Chain[A] {{
  Link(A, Chain[A]),
  End,
}}
def @main(%x: {tensor}, %y: {tensor}, %p: {tensor}) -> {tensor} {{ match ((%x, %y)) {{ {clauses} }} }}"""
    run = relay.create_executor(kind, tvm.parser.fromtext(program)).evaluate()
    inputs = [np.array(each, "float32") for each in ([1, 2], [3, 4], [5, 6])]
    assert run(*inputs).numpy().tolist() == wanted


def test_unknown_kinds_and_devices():
    with pytest.raises(RuntimeError, match="strategy"):
        relay.create_executor("jit")
    with pytest.raises(tvm.TVMError, match="cuda"):
        relay.create_executor("graph", tvm.parser.fromtext(DENSE), tvm.cuda(0))
    with pytest.raises(NotImplementedError, match="rocm"):
        relay.create_executor("graph", tvm.parser.fromtext(DENSE), target="rocm")
    with pytest.raises(TypeError, match="mod"):
        relay.create_executor("graph", "text")


def test_vm(tmp_path):
    mod = tvm.parser.fromtext(DENSE)
    exe = relay.vm.compile(mod, "llvm", params={"w": W})
    assert exe.globals == ["main"] and exe.get_function_params("main") == ["x"] and "Relay VM executable" in exe.stats
    assert all(each.startswith("vm_mod_fused_") for each in exe.primitive_ops) and exe.constants and exe.virtual_devices
    machine = vm_rt.VirtualMachine(exe, tvm.cpu())
    np.testing.assert_allclose(machine.run(X).numpy(), EXPECTED, **NEAR)
    machine.set_input("main", x=X)
    machine.invoke_stateful("main")
    np.testing.assert_allclose(machine.get_outputs()[0].numpy(), EXPECTED, **NEAR)
    machine.set_one_input("main", "x", 0 * X)
    assert not machine.invoke("main").numpy().any()
    machine.set_one_input("main", 0, X)
    target = tvm.nd.empty((2, 4))
    machine.invoke_with_outputs("main", {"x": X}, [target])
    np.testing.assert_allclose(target.numpy(), EXPECTED, **NEAR)
    assert machine.get_input_index("x") == 0 and machine.get_input_index("y") == -1
    assert machine.benchmark(tvm.cpu(), X, repeat=2, number=2).mean > 0
    for call, error in ((lambda: machine.run(), None), (lambda: machine.invoke("other"), ValueError),
                        (lambda: machine.run(X, X), ValueError), (lambda: machine.set_input("main", y=X), ValueError),
                        (lambda: machine.set_one_input("main", "x"), ValueError), (lambda: machine.run(X.T), tvm.TVMError)):
        if error:
            with pytest.raises(error):
                call()
        else:
            call()
    code, lib = exe.save()
    lib.export_library(str(tmp_path / "lib.so"))
    loaded = vm_rt.Executable.load_exec(bytes(code), tvm.runtime.load_module(str(tmp_path / "lib.so")))
    np.testing.assert_allclose(vm_rt.VirtualMachine(loaded, tvm.cpu()).run(X).numpy(), EXPECTED, **NEAR)
    for damaged in (b"", b"something", bytes(code)[:20], bytes(code[:-3])):
        with pytest.raises(tvm.TVMError):
            vm_rt.Executable.load_exec(damaged, lib)
    assert profiler_vm.enabled()
    profiler = profiler_vm.VirtualMachineProfiler(exe, tvm.cpu())
    report = profiler.profile(X)
    assert "Executor: VM" in str(report) and report.calls[0]["origins"] == "[0, 1, 2]" and report.device_metrics["cpu0"]["Name"] == "Total"
    with pytest.raises(ValueError, match="has no function 'other', only main"):
        profiler.profile(X, func_name="other")
    with pytest.raises(ValueError, match="takes 1 arguments"):
        profiler.profile(X, X)


def test_vm_of_several_functions(tmp_path):
    mod = tvm.parser.fromtext("""#[version = "0.0.5"]
    def @main(%x: Tensor[(2), float32]) { add(%x, 1f) }
    def @twice(%x: Tensor[(2), float32], %unused: float32) { (add(%x, %x), %x) }""")
    code, lib = relay.vm.compile(mod, "llvm").save()
    machine = vm_rt.VirtualMachine(vm_rt.Executable.load_exec(code, lib), tvm.cpu())
    two = np.full(2, 2, "float32")
    np.testing.assert_array_equal(machine.run(two).numpy(), two + 1)
    doubled = machine.invoke("twice", two, np.float32(0))
    np.testing.assert_array_equal(doubled[0].numpy(), 2 * two)
    np.testing.assert_array_equal(doubled[1].numpy(), two)


def test_executors_and_runtimes():
    assert "aot" in Executor.list_registered() and Executor.list_registered_options("graph") == {"link-params": "IntImm"}
    assert Executor("graph", {"link-params": True})["link-params"] and Executor("aot") == Executor("aot") != Executor("graph")
    assert "crt" in Runtime.list_registered() and str(Runtime("cpp")) == "cpp"
    for wrong in (lambda: Executor("woof"), lambda: Executor("graph", {"woof": 1}), lambda: Executor("graph", {"link-params": "x"}),
                  lambda: Executor.list_registered_options("woof"), lambda: Runtime("woof")):
        with pytest.raises(tvm.TVMError, match="woof|link-params"):
            wrong()
    lib = dense(executor=Executor("aot"))
    assert isinstance(lib, executor_factory.AOTExecutorFactoryModule) and lib.get_executor_config() is None
    model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    model.run(x=X)
    np.testing.assert_allclose(model.get_output(0).numpy(), EXPECTED, **NEAR)
    with pytest.raises(NotImplementedError, match="crt"):
        dense(runtime=Runtime("crt"))
    with pytest.raises(TypeError, match="executor"):
        dense(executor=3)
    te_compiler.get().clear()
    with pytest.raises(NotImplementedError):
        te_compiler.get().lower(None)


def test_threads_share_a_model():
    """Runs of one model, and inputs set meanwhile, take turns; another model runs beside it."""
    lib = dense()
    shared = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    shared.set_input("x", X)
    wrong, begun = [], threading.Barrier(5)

    def work(index):
        own = graph_executor.GraphModule(lib["default"](tvm.cpu()))
        begun.wait()
        for round_ in range(200):
            if index % 2:
                shared.set_input("x", X)
            shared.run()
            own.run(x=X)
            if round_ % 50 == 0:
                shared.benchmark(tvm.cpu(), number=2, repeat=1)
                for model in (own, shared):
                    if not np.allclose(model.get_output(0).numpy(), EXPECTED, **NEAR):
                        wrong.append(index)

    threads = [threading.Thread(target=work, args=(each,)) for each in range(5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_after_fork():
    """A child runs what its parent made, while a thread of the parent was running it, and builds."""
    lib = dense()
    model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    stop = threading.Event()

    def work():
        while not stop.is_set():
            model.run(x=X)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    model.run(x=X)
                    fresh = graph_executor.GraphModule(dense()["default"](tvm.cpu()))
                    fresh.run(x=X)
                    fine = all(np.allclose(each.get_output(0).numpy(), EXPECTED, **NEAR) for each in (model, fresh))
                    code = 0 if fine else 2
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        thread.join()


def test_tempdir():
    folder = utils.tempdir()
    path = folder.relpath("file")
    with open(path, "w", encoding="utf-8") as out:
        out.write("x")
    assert folder.listdir() == ["file"] and os.path.exists(folder.path) and utils.which("sh")
    kept = folder.path
    del folder
    assert not os.path.exists(kept)
    with utils.tempdir() as other:
        lock = utils.filelock(other.relpath("lock"))
        lock.release()
        place = other.path
    assert not os.path.exists(place)


def test_closures_keep_what_was_bound_where_they_were_made():
    """A chain of closures in a cell, as gradients make them: each one keeps the one before it."""
    source = """#[version = "0.0.5"]
    def @main(%x: float32) -> float32 {
      let %cell = ref(fn (%a: float32) -> float32 { %a });
      let %one = ref_read(%cell);
      let %first = ref_write(%cell, fn (%b: float32) -> float32 { %one(add(%b, 1f)) });
      let %two = ref_read(%cell);
      let %second = ref_write(%cell, fn (%c: float32) -> float32 { %two(multiply(%c, %x)) });
      let %last = ref_read(%cell);
      %last(10f)
    }
    """
    module = tvm.parser.fromtext(source)
    assert relay.create_executor("debug", mod=module).evaluate()(np.float32(3)).numpy() == 31


def test_a_profile_has_the_shapes_of_every_kernel():
    text = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4), float32]) { (cumsum(%x, axis=1), sum(%y), transpose(%x)) }"""
    lib = relay.build(tvm.parser.fromtext(text), target="llvm")
    model = debug_executor.GraphModuleDebug(lib["debug_create"]("default", tvm.cpu()), [tvm.cpu()], lib.get_graph_json(), None)
    shapes = [call["Argument Shapes"] for call in model.profile().calls]
    assert {"float32[2, 3], float32[2, 3]", "float32[4], float32[]", "float32[2, 3], float32[3, 2]"} <= set(shapes), shapes
