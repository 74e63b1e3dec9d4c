"""tvm.extract and tvm.mark: parts of programs, by nodes of graph.json, by kernel, by operators."""
import contextlib
import json

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor

BLOCK = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 8, 10, 10), float32], %w1: Tensor[(8, 8, 3, 3), float32], %g: Tensor[(8), float32],
          %b: Tensor[(8), float32], %m: Tensor[(8), float32], %v: Tensor[(8), float32], %w2: Tensor[(8, 8, 3, 3), float32]) {
  %0 = nn.relu(%x);
  %1 = nn.conv2d(%0, %w1, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %2 = nn.batch_norm(%1, %g, %b, %m, %v);
  %3 = nn.relu(%2.0);
  %4 = nn.dropout(%3);
  %5 = nn.conv2d(%4.0, %w2, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %6 = add(%5, %0);
  %7 = nn.max_pool2d(%6, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  nn.batch_flatten(%7)
}
"""


def weights(module, inputs=("x",)):
    random = np.random.default_rng(3)
    return {each.name_hint: random.uniform(0.1, 1, [int(n) for n in each.checked_type.shape]).astype("float32")
            for each in module["main"].params if each.name_hint not in inputs}


@pytest.fixture(scope="module", name="block")
def build_block():
    module = tvm.parser.fromtext(BLOCK)
    params = weights(module)
    with tvm.transform.PassContext(opt_level=3):
        return module, params, relay.build(module, target="llvm", params=params)


def run(lib, arrays):
    model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    model.run(**arrays)
    return [model.get_output(i).numpy() for i in range(model.get_num_outputs())]


def check(cut):
    """A program of its own, that computes what the whole computes there."""
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(cut.module, target="llvm", params=cut.params)
    made = run(lib, cut.inputs)
    assert len(made) == len(cut.outputs)
    for value, expected in zip(made, cut.outputs):
        np.testing.assert_allclose(value, expected.numpy(), rtol=1e-4, atol=1e-4)


def nodes_of(lib):
    return json.loads(lib.get_graph_json())["nodes"]


def test_every_node_alone_and_every_range(block):
    _, _, lib = block
    nodes, operators = nodes_of(lib), tvm.origins(lib)
    computing = [i for i, node in enumerate(nodes) if node["op"] == "tvm_op" and node["attrs"].get("origins")]
    assert len(computing) > 3
    ranges = [(i, i) for i in computing] + [(computing[0], i) for i in computing[1:]]
    for first, last in ranges:
        cut = tvm.extract(lib, nodes=f"{first}:{last}")
        wanted = {each["id"] for each in operators if any(first <= node <= last for node in each["nodes"])}
        taken = {each["id"] for each in cut.operators}
        assert wanted <= taken
        for each in cut.operators:
            if each["id"] not in wanted:
                assert "folded into" in each["why"] or "lies between" in each["why"], each
        check(cut)


def test_ways_to_name_nodes(block):
    _, _, lib = block
    graph = json.loads(lib.get_graph_json())
    at = next(i for i, node in enumerate(graph["nodes"]) if "max_pool" in node["name"])
    text = str(tvm.extract(lib, nodes=at).module)
    for same in (str(at), [at], range(at, at + 1), np.int64(at), graph["nodes"][at]["name"], (graph["nodes"][at]["name"],),
                 f"entry:{graph['node_row_ptr'][at]}"):
        assert str(tvm.extract(lib, nodes=same).module) == text
    assert str(tvm.extract(lib, kernel=graph["nodes"][at]["attrs"]["func_name"]).module) == text
    ids = [each["id"] for each in tvm.origins(lib) if at in each["nodes"]]
    assert str(tvm.extract(lib, operators=ids).module) == text


def test_operators_keep_their_place_in_the_source(block):
    _, _, lib = block
    cut = tvm.extract(lib, operators="%1,%2,%3")
    assert [each["op"] for each in cut.operators] == ["nn.conv2d", "nn.batch_norm", "nn.relu"]
    assert [each["line"] for each in cut.operators] == [5, 6, 7]
    module, params, inputs = cut
    assert sorted(params) == ["b", "g", "m", "v", "w1"] and list(inputs) == ["relu_0"]
    assert [each.name_hint for each in module["main"].params] == ["relu_0", "w1", "g", "b", "m", "v"]


def test_a_module_that_is_not_built(block):
    module, params, lib = block
    name = next(node["name"] for node in nodes_of(lib) if "max_pool2d" in node["name"])
    with tvm.transform.PassContext(opt_level=3):
        cut = tvm.extract(module, nodes=name, params=params)
        assert str(cut.module) == str(tvm.extract(lib, nodes=name).module)
        check(cut)
        for value, expected in zip(cut.outputs, tvm.extract(lib, nodes=name).outputs):
            np.testing.assert_array_equal(value.numpy(), expected.numpy())


def test_inputs_of_the_program_are_what_flows_in(block):
    module, params, lib = block
    x = np.random.default_rng(5).uniform(-1, 1, (1, 8, 10, 10)).astype("float32")
    cut = tvm.extract(lib, operators="%7", inputs={"x": x})
    np.testing.assert_allclose(cut.outputs[0].numpy().reshape(1, -1), run(lib, {"x": x})[0], rtol=1e-5)
    with pytest.raises(tvm.TVMError, match='"y" is no input of the model'):
        tvm.extract(lib, operators="%7", inputs={"y": x})
    # Without weights they are inputs.
    assert "w1" in tvm.extract(module, operators="%1", params={}).inputs
    del params


def test_a_kernel_as_it_was_compiled(block):
    _, _, lib = block
    for node in nodes_of(lib):
        if node["op"] != "tvm_op" or node["attrs"]["func_name"] == "__nop":
            continue
        cut = tvm.extract(lib, kernel=node["attrs"]["func_name"], as_built=True)
        fused = lib.function_metadata[node["attrs"]["func_name"]]
        assert str(cut.module["main"].body.checked_type) == str(list(fused.relay_primfuncs.values())[0].body.checked_type)
        check(cut)


MINE = "mine"


@contextlib.contextmanager
def compiler_mine(asked):
    def codegen(function):
        asked.append(function)
        return relay.build(tvm.IRModule.from_expr(relay.Function(function.params, function.body)), target="llvm")

    tvm.register_func("relay.ext." + MINE, codegen)
    try:
        yield
    finally:
        tvm.registry.remove_global_func("relay.ext." + MINE)


def test_a_range_of_graph_json_goes_to_another_compiler(block):
    # What "Correlation between graph json and relay IR" asks for: node_row_ptr names the ends of a subgraph, which is marked in
    # Relay, cut out by PartitionGraph and built for other hardware.
    module, params, lib = block
    graph = json.loads(lib.get_graph_json())
    kernels = [i for i, node in enumerate(graph["nodes"]) if node["op"] == "tvm_op"]
    row_ptr = graph["node_row_ptr"]
    start, end = row_ptr[kernels[1]], row_ptr[kernels[-2]]
    marked = tvm.mark(lib, nodes=f"entry:{start}:{end}", compiler=MINE)
    assert "annotation.compiler_begin" in str(marked) and "annotation.compiler_end" in str(marked)
    partitioned = relay.transform.PartitionGraph()(relay.transform.MergeCompilerRegions()(marked))
    regions = [each.name_hint for each in partitioned.get_global_vars() if each.name_hint != "main"]
    assert regions
    asked = []
    with compiler_mine(asked), tvm.transform.PassContext(opt_level=3):
        built = relay.build(partitioned, target="llvm", params=params)
    assert len(asked) == len(regions)
    x = {"x": np.random.default_rng(7).uniform(-1, 1, (1, 8, 10, 10)).astype("float32")}
    np.testing.assert_allclose(run(built, x)[0], run(lib, x)[0], rtol=1e-4, atol=1e-4)
    # Every operator of the user's is still found, with its line.
    before, after = tvm.origins(lib), tvm.origins(built)
    assert [(each["op"], each["line"]) for each in after[: len(before)]] == [(each["op"], each["line"]) for each in before]
    assert all(each["nodes"] or each["folded_into"] or each["retired"] for each in after)
    compilers = {node["attrs"].get("compiler") for node in nodes_of(built) if node["op"] == "tvm_op"}
    assert MINE in compilers


def test_what_is_marked_runs_without_that_compiler_too(block):
    _, params, lib = block
    marked = tvm.mark(lib, operators="%1,%2,%3", compiler=MINE)
    with tvm.transform.PassContext(opt_level=3):
        built = relay.build(marked, target="llvm", params=params)
    x = {"x": np.random.default_rng(9).uniform(-1, 1, (1, 8, 10, 10)).astype("float32")}
    np.testing.assert_allclose(run(built, x)[0], run(lib, x)[0], rtol=1e-4, atol=1e-4)


def test_programs_made_in_python():
    x, y = relay.var("x", shape=(4, 6)), relay.var("y", shape=(4, 2))
    parts = relay.split(x, 3, axis=1)
    joined = relay.concatenate([relay.tanh(parts[0]), parts[1], y], axis=1)
    module = tvm.IRModule.from_expr(relay.Function([x, y], relay.Tuple([joined, parts[2]])))
    lib = relay.build(module, target="llvm")
    at = [i for i, node in enumerate(nodes_of(lib)) if node["op"] == "tvm_op"]
    check(tvm.extract(lib, nodes=range(at[0], at[-1] + 1)))
    for each in at:
        check(tvm.extract(lib, nodes=each))
    cut = tvm.extract(lib, operators="tanh")
    assert list(cut.inputs) == ["split_0"]
    check(cut)


@pytest.mark.parametrize("arguments, error, message", [
    ({}, ValueError, "extract: one of nodes=, kernel= and operators= says what is meant, not none"),
    ({"nodes": 3, "kernel": "a"}, ValueError, "not nodes and kernel"),
    ({"nodes": []}, ValueError, "nodes: nothing is named"),
    ({"nodes": True}, TypeError, "an id or a name is expected, not True"),
    ({"nodes": 3.5}, TypeError, "an id, a name or a list of them is expected, not a float"),
    ({"kernel": 3}, TypeError, "kernel is a name, not a int"),
    ({"nodes": "fused_nn_max_pol2d"}, tvm.TVMError, "there is no node `fused_nn_max_pol2d`; did you mean"),
    ({"nodes": 999}, tvm.TVMError, "there is no node 999: the graph has"),
    ({"nodes": "2:1"}, tvm.TVMError, "runs backwards"),
    ({"nodes": "x"}, tvm.TVMError, r"node 0 is an input or a constant \(x\)"),
    ({"operators": "%0,%6"}, tvm.TVMError, "leaves a hole: from %0 nn.relu, through %1 nn.conv2d"),
    ({"operators": [99]}, tvm.TVMError, "there is no operator id:99: the program has 9 operators, 0 to 8"),
    ({"operators": "%1", "as_built": True}, ValueError, "as_built is for a kernel="),
])
def test_mistakes(block, arguments, error, message):
    with pytest.raises(error, match=message):
        tvm.extract(block[2], **arguments)


def test_other_things_are_no_programs():
    with pytest.raises(TypeError, match="extract: what relay.build returned or an IRModule is expected, not a str"):
        tvm.extract("resnet-18", nodes=3)
    with pytest.raises(TypeError, match="mark: compiler is a name, not a int"):
        tvm.mark(tvm.IRModule(), nodes=3, compiler=4)


REGION = """#[version = "0.0.5"]
def @mine_0(%a: Tensor[(4, 8), float32], %b: Tensor[(6, 8), float32], Primitive=1, Compiler="mine", global_symbol="mine_0", Inline=1)
    -> Tensor[(4, 6), float32] {
  %0 = nn.dense(%a, %b, units=None);
  exp(%0)
}
def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(6, 8), float32]) {
  %0 = tanh(%x);
  %1 = @mine_0(%0, %w);
  nn.relu(%1)
}
"""


def test_regions_of_other_compilers_are_taken_whole():
    asked = []
    with compiler_mine(asked):
        lib = relay.build(tvm.parser.fromtext(REGION), target="llvm")
        cut = tvm.extract(lib, nodes=next(i for i, node in enumerate(nodes_of(lib)) if node.get("attrs", {}).get("compiler") == MINE))
        assert [each["op"] for each in cut.operators] == ["nn.dense", "exp"]
        assert sorted(each.name_hint for each in cut.module.get_global_vars()) == ["main", "mine_0"]
        check(cut)
    assert len(asked) == 3  # the whole, as far as the cut, and the cut
    with pytest.raises(tvm.error.NotSupported if hasattr(tvm.error, "NotSupported") else tvm.TVMError, match="relay.ext.mine"):
        tvm.extract(lib, operators="nn.relu")
