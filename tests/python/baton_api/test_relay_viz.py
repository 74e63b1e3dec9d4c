"""contrib.relay_viz: trees of text, parsers and plotters of one's own, pictures where Graphviz is there."""
import importlib.util

import pytest

import baton as tvm
from baton import relay
from baton.contrib import relay_viz
from baton.contrib.relay_viz.interface import DefaultVizParser, Plotter, VizEdge, VizGraph, VizNode, VizParser
from baton.contrib.relay_viz.terminal import TermGraph, TermPlotter, TermVizParser

MODULE = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  %1 = nn.relu(%0);
  %2 = @twice(%1);
  add(%1, %2)
}
def @twice(%y: Tensor[(1, 4, 8, 8), float32]) -> Tensor[(1, 4, 8, 8), float32] {
  multiply(%y, 2f)
}
"""


@pytest.fixture
def mod():
    return tvm.parser.fromtext(MODULE)


def test_a_tree_of_each_function(mod, capsys):
    relay_viz.RelayVisualizer(mod, relay_param={"w": None}).render()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "@main" and lines[1].startswith("`--Function params: x, w") and lines[2].lstrip().startswith("`--add")
    assert any("nn.conv2d" in each and "kernel_size: [3, 3]" in each and "shape: (1, 4, 8, 8)" in each for each in lines)
    assert any("Param name_hint: w" in each for each in lines) and any("Var name_hint: x" in each for each in lines)
    assert any("Call twice" in each for each in lines) and "@twice" in lines
    assert any("--Const value: 2.0" in each for each in lines)
    # Written once; the second user refers to it.
    assert sum("(1) nn.relu" in each for each in lines) == 1 and sum("(see 1) nn.relu" in each for each in lines) == 1
    assert "out_layout" not in "".join(lines)


def test_into_a_file(mod, tmp_path):
    relay_viz.RelayVisualizer(mod).render(tmp_path / "shown.txt")
    assert (tmp_path / "shown.txt").read_text().startswith("@main\n")


def test_a_parser_and_a_plotter_of_ones_own(mod):
    class OnlyCalls(VizParser):
        def __init__(self):
            self.inner = TermVizParser()

        def get_node_edges(self, node, relay_param, node_to_id):
            if isinstance(node, relay.Call) and isinstance(node.op, tvm.ir.Op):
                return VizNode(node_to_id[node], "Call", node.op.name), [VizEdge(node_to_id[each], node_to_id[node]) for each in node.args]
            return None, []

    class Collected(VizGraph):
        def __init__(self):
            self.nodes, self.edges = [], []

        def node(self, viz_node):
            self.nodes.append(viz_node)

        def edge(self, viz_edge):
            self.edges.append(viz_edge)

    class Collector(Plotter):
        def __init__(self):
            self.graphs, self.rendered = {}, None

        def create_graph(self, name):
            return self.graphs.setdefault(name, Collected())

        def render(self, filename=None):
            self.rendered = filename

    plotter = Collector()
    shown = relay_viz.RelayVisualizer(mod, plotter=plotter, parser=OnlyCalls())
    shown.render("here")
    assert plotter.rendered == "here" and list(plotter.graphs) == ["main", "twice"]
    names = [each.detail for each in plotter.graphs["main"].nodes]
    assert names == ["nn.conv2d", "nn.relu", "add"]
    relu = plotter.graphs["main"].nodes[1]
    assert relu.identity in [each.end for each in plotter.graphs["main"].edges]
    assert repr(relu) == f"VizNode(identity: {relu.identity}, type_name: Call, detail: nn.relu)"
    with pytest.raises(TypeError):
        VizParser()


def test_nodes_without_a_description_leave_no_edges():
    graph = TermGraph("f")
    graph.node(VizNode("a", "Call", "relu"))
    graph.edge(VizEdge("gone", "a"))
    assert graph.render() == "@f\n`--Call relu\n"


def test_every_kind_of_expression_is_described(capsys):
    module = tvm.IRModule()
    relay.prelude.Prelude(module)
    relay_viz.RelayVisualizer(module).render()
    text = capsys.readouterr().out
    assert "@map" in text and "Match clauses: 2" in text and "Call Cons" in text and "is not described" not in text
    cell = relay.RefCreate(relay.const(1))
    expr = relay.Let(relay.var("r"), cell, relay.If(relay.const(True), relay.RefRead(cell), relay.Tuple([relay.RefWrite(cell, relay.const(2))])))
    relay_viz.RelayVisualizer(tvm.IRModule.from_expr(expr)).render()
    text = capsys.readouterr().out
    assert all(each in text for each in ("Let var: r", "If", "RefRead", "RefWrite", "RefCreate", "Tuple fields: 1"))


def test_a_deep_network(capsys):
    expr = relay.var("x", shape=(2,))
    for _ in range(3000):
        expr = relay.exp(expr)
    relay_viz.RelayVisualizer(tvm.IRModule.from_expr(expr)).render()
    assert capsys.readouterr().out.count("exp") == 3000


def test_dot(mod, tmp_path, monkeypatch):
    if importlib.util.find_spec("graphviz") is None:
        with pytest.raises(ImportError, match="pip install graphviz"):
            relay_viz.DotPlotter()
        return
    graph = relay_viz.DotPlotter(get_node_attr=lambda node: {"color": "red"} if node.type_name == "nn.relu" else {}).create_graph("main")
    graph.node(VizNode(0, "nn.relu", "shape: (1)"))
    graph.node(VizNode(1, "add", ""))
    graph.edge(VizEdge(0, 1))
    graph.edge(VizEdge(7, 1))
    assert "color=red" in graph.source and "0 -> 1" in graph.source and "7" not in graph.source
    monkeypatch.chdir(tmp_path)
    if __import__("shutil").which("dot"):
        relay_viz.RelayVisualizer(mod, plotter=relay_viz.DotPlotter(), parser=DefaultVizParser()).render("net")
        assert sorted(each.name for each in tmp_path.iterdir() if each.suffix == ".pdf") == ["net_main.gv.pdf", "net_twice.gv.pdf"]


def test_dot_by_a_stand_in_for_graphviz(monkeypatch):
    import sys
    import types

    class Digraph:
        def __init__(self, name, graph_attr, node_attr, edge_attr):
            self.lines, self.name = [], name

        def node(self, name, label, **attrs):
            self.lines.append((name, label, attrs))

        def edge(self, start, end):
            self.lines.append((start, end))

        def render(self, filename):
            return filename + ".pdf"

        source = property(lambda self: str(self.lines))

    monkeypatch.setitem(sys.modules, "graphviz", types.SimpleNamespace(Digraph=Digraph, escape=lambda text: text))
    monkeypatch.delitem(sys.modules, "baton.contrib.relay_viz.dot", raising=False)
    dot = importlib.import_module("baton.contrib.relay_viz.dot")
    graph = dot.DotGraph("main", get_node_attr=lambda node: {"color": "red"})
    graph.node(VizNode(0, "nn.relu", "shape: (1)"))
    graph.edge(VizEdge(0, 1))
    assert graph.render() == "main.gv.pdf" and graph.digraph.lines == [("0", "nn.relu\\lshape: (1)\\l", {"color": "red"})]
    monkeypatch.delitem(sys.modules, "baton.contrib.relay_viz.dot")


def test_the_default_is_text():
    assert isinstance(relay_viz.RelayVisualizer(tvm.IRModule())._plotter, TermPlotter)
