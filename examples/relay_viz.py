"""A module as a tree: the default text, a parser and a plotter of one's own. Pictures need the package graphviz (DotPlotter).

    python -m baton.tvm examples/relay_viz.py
"""
import tvm
from tvm import relay
from tvm.contrib import relay_viz
from tvm.contrib.relay_viz.interface import Plotter, VizEdge, VizGraph, VizNode, VizParser
from tvm.contrib.relay_viz.terminal import TermPlotter, TermVizParser

# Two functions: main calls @shift, then joins its result with a convolution.
x, bias = relay.var("x", shape=(1, 4, 16, 16)), relay.var("bias", shape=(1, 4, 16, 16))
mod = tvm.IRModule()
shift = relay.GlobalVar("shift")
mod[shift] = relay.Function([x, bias], relay.add(x, bias), relay.TensorType((1, 4, 16, 16)))
data, weight, offset = relay.var("data", shape=(1, 4, 16, 16)), relay.var("weight", shape=(4, 4, 3, 3)), relay.var("offset", shape=(1, 4, 16, 16))
conv = relay.nn.relu(relay.nn.conv2d(data, weight, padding=(1, 1)))
mod["main"] = relay.Function([data, weight, offset], relay.multiply(relay.Call(shift, [conv, offset]), conv))

print("the default:")
relay_viz.RelayVisualizer(mod, relay_param={"weight": None}).render()


class ShortParser(VizParser):
    """Operators by their name alone, highlighted when they are convolutions; the rest as TermVizParser has it."""

    def __init__(self):
        self.delegate = TermVizParser()

    def get_node_edges(self, node, relay_param, node_to_id):
        if isinstance(node, relay.Call) and isinstance(node.op, tvm.ir.Op):
            mark = "<-- heavy" if "conv" in node.op.name else ""
            return (VizNode(node_to_id[node], node.op.name, mark),
                    [VizEdge(node_to_id[each], node_to_id[node]) for each in node.args])
        return self.delegate.get_node_edges(node, relay_param, node_to_id)


print("a parser of one's own, after InferType:")
relay_viz.RelayVisualizer(relay.transform.InferType()(mod), plotter=TermPlotter(), parser=ShortParser()).render()


class Table(VizGraph):
    """Counts nodes and edges."""

    def __init__(self, name):
        self.name, self.nodes, self.edges = name, 0, 0

    def node(self, viz_node):
        self.nodes += 1

    def edge(self, viz_edge):
        self.edges += 1


class TablePlotter(Plotter):
    """One line for each function."""

    def __init__(self):
        self.tables = []

    def create_graph(self, name):
        self.tables.append(Table(name))
        return self.tables[-1]

    def render(self, filename=None):
        for each in self.tables:
            print(f"@{each.name}: {each.nodes} nodes, {each.edges} edges")


print("a plotter of one's own:")
relay_viz.RelayVisualizer(mod, plotter=TablePlotter(), parser=ShortParser()).render()
