"""lib.origins, lib.fused_mod, function_metadata: from any operator to its kernels and back, in Python."""
import json

import pytest

import baton as tvm
from baton import relay
from baton.relay import testing


@pytest.fixture(scope="module", name="built")
def built_mlp():
    module, params = testing.mlp.get_workload(batch_size=1)
    with tvm.transform.PassContext(opt_level=3):
        return module, relay.build(module, target="llvm", params=params)


def calls_of(module):
    calls = []
    relay.analysis.post_order_visit(module["main"], lambda node: calls.append(node) if isinstance(node, relay.Call) else None)
    return calls


def graph_of(lib):
    return json.loads(lib.get_graph_json())["nodes"]


def test_calls_of_the_program_lead_to_nodes_and_back(built):
    module, lib = built
    graph = graph_of(lib)
    for call in calls_of(module):
        (row,) = lib.origins.of(call)
        assert row["op"] == call.op.name and row is lib.origins[row["id"]]
        assert row["type"] == str(call.checked_type)
        for operator in (call, row, row["id"]):
            assert lib.origins.nodes_of(operator) == row["nodes"]
            assert lib.origins.kernels_of(operator) == [graph[node]["name"] for node in row["nodes"]]
        for node in row["nodes"]:
            assert row in lib.origins.of_node(node)
            assert row["id"] in json.loads(graph[node]["attrs"]["origins"])
    assert len(lib.origins) == len(calls_of(module))


def test_kernels_by_name(built):
    _, lib = built
    for node in graph_of(lib):
        if node["op"] == "null" or node["attrs"]["func_name"] == "__nop":
            continue
        rows = lib.origins.of_kernel(node["attrs"]["func_name"])
        assert {row["id"] for row in rows} >= set(json.loads(node["attrs"]["origins"]))
        assert rows == lib.origins.of_kernel(node["attrs"]["func_name"].removeprefix("tvmgen_default_"))
        assert lib.origins.of_node(node["name"]) == [lib.origins[each] for each in json.loads(node["attrs"]["origins"])]


def test_rows_say_what_was_fused_and_why(built):
    _, lib = built
    dense = next(row for row in lib.origins if row["op"] == "nn.dense")
    assert [lib.origins[each]["op"] for each in dense["fused_with"]] == ["nn.bias_add", "nn.relu"]
    assert dense["fused"].startswith("only elementwise operators follow") and dense["not_fused"] is None
    assert dense["attrs"]["units"] == 128 and dense["inputs"] == [0]
    assert dense["input_types"] == ["Tensor[(1, 784), float32]", "Tensor[(128, 784), float32]"]
    assert tvm.origins(lib) == lib.origins and lib.origins is lib.origins


def test_lines_are_those_of_the_text():
    module = tvm.parser.fromtext('#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n  %0 = exp(%x);\n  nn.relu(%0)\n}')
    with tvm.transform.PassContext(opt_level=0):
        lib = relay.build(module, target="llvm")
    assert [(row["name"], row["line"], row["column"], row["text"]) for row in lib.origins] == \
        [("%0", 3, 8, "  %0 = exp(%x);"), ("4:3", 4, 3, "  nn.relu(%0)")]
    assert [row["not_fused"] for row in lib.origins] == ["fusion is off at level 0"] * 2


@pytest.mark.parametrize("ask, message", [
    (lambda origins: origins.of_kernel("tvmgen_default_fused_nn_softmay"), "did you mean `tvmgen_default_fused_nn_softmax`"),
    (lambda origins: origins.of_kernel("nothing"), "there is no kernel `nothing`"),
    (lambda origins: origins.of_node(1000), "there is no node 1000: graph.json has nodes 0 to"),
    (lambda origins: origins.of_node("nothing"), "there is no node `nothing`"),
    (lambda origins: origins.of_node(0), "node 0 is `data`, an input or a constant"),
    (lambda origins: origins.nodes_of(1000), "there is no operator 1000: the last one is"),
])
def test_unknown_names(built, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(built[1].origins)


def test_what_is_no_operator_of_the_program(built):
    module, lib = built
    with pytest.raises(tvm.TVMError, match="no operator: a call of one was expected"):
        lib.origins.of(module["main"].params[0])
    with pytest.raises(tvm.TVMError, match="`nn.relu` is no operator of the program that was built"):
        lib.origins.of(relay.nn.relu(relay.var("x", shape=(2,))))
    fused = next(each for each in calls_of(lib.fused_mod) if len(lib.origins.of(each)) > 1)
    with pytest.raises(ValueError, match="ask for one of them"):
        lib.origins.nodes_of(fused)
    with pytest.raises(TypeError, match="what relay.build returned is expected, not a str"):
        tvm.origins("mlp")


def test_fused_functions_are_named_as_in_the_graph(built):
    module, lib = built
    fused = lib.fused_mod
    tvm.ir.assert_structural_equal(tvm.parser.fromtext(fused.astext(show_meta_data=True)), fused)
    names = {node["attrs"]["func_name"] for node in graph_of(lib) if node["op"] != "null"} - {"__nop"}
    assert names <= {name.name_hint for name in fused.get_global_vars()}
    for name in names:
        tvm.ir.assert_structural_equal(fused[name], lib.function_metadata[name].function)
    assert lib.ir_mod is module or tvm.ir.structural_equal(lib.ir_mod, module)


def test_the_fused_module_is_built_to_the_same_kernels(built):
    _, lib = built
    again = relay.build(lib.fused_mod, target="llvm")
    assert again.function_metadata.keys() == lib.function_metadata.keys()
    assert len(again.origins) == len(lib.origins)


def test_function_metadata_as_people_use_it(built):
    # The question that this answers: how do fused operators of graph.json relate to Relay?
    _, lib = built
    name = next(each for each in lib.function_metadata if "nn_softmax" in each)
    function = list(dict(lib.function_metadata[name].relay_primfuncs).values())[0]
    alone = tvm.IRModule()
    alone["main"] = relay.Function(function.params, function.body, function.ret_type)
    assert "tvmgen_default_fused_nn_softmax" in relay.build(alone, target="llvm").function_metadata
    assert dict(lib.function_metadata)[name].relay_primfuncs == lib.function_metadata[name].relay_primfuncs
    assert {str(target) for target in lib.function_metadata[name].relay_primfuncs} == {"llvm"} or \
        all(target.kind.name == "llvm" for target in lib.function_metadata[name].relay_primfuncs)
