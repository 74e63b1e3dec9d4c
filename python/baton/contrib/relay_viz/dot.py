"""Graphs as pictures, drawn by Graphviz. Needs the package graphviz, and Graphviz's program `dot` for render()."""
try:
    import graphviz
except ImportError:
    raise ImportError("relay_viz.dot needs the package graphviz\n  do:      pip install graphviz", name="graphviz") from None

from .interface import Plotter, VizGraph


class DotGraph(VizGraph):
    """A picture of one function. graph_attr, node_attr, edge_attr: attributes of Graphviz; get_node_attr: those of a VizNode."""

    def __init__(self, name, graph_attr=None, node_attr=None, edge_attr=None, get_node_attr=None):
        self._name, self._get_node_attr = name, get_node_attr or (lambda viz_node: {})
        self._nodes, self._edges = set(), []
        self.digraph = graphviz.Digraph(name=name, graph_attr=dict(graph_attr or {}), node_attr={"shape": "box", **(node_attr or {})},
                                        edge_attr=dict(edge_attr or {}))

    def node(self, viz_node):
        """Adds a node: its kind above its text."""
        self._nodes.add(viz_node.identity)
        label = graphviz.escape(f"{viz_node.type_name}\n{viz_node.detail}".rstrip("\n"))
        self.digraph.node(viz_node.identity, label.replace("\n", "\\l") + "\\l", **dict(self._get_node_attr(viz_node) or {}))

    def edge(self, viz_edge):
        """Adds an edge. Edges of nodes that a parser left out are not drawn."""
        self._edges.append(viz_edge)

    @property
    def source(self):
        """The text of the graph in Graphviz's language."""
        for each in self._edges:
            if each.start in self._nodes and each.end in self._nodes:
                self.digraph.edge(each.start, each.end)
        self._edges = []
        return self.digraph.source

    def render(self, filename=None):
        """Writes `filename`.gv and draws it as `filename`.gv.pdf; the graph's name stands for no name. Returns the picture's path."""
        filename = filename or self._name
        self.source  # edges wait until all nodes are known
        return self.digraph.render(filename=f"{filename}.gv")


class DotPlotter(Plotter):
    """Draws every function into a file of its own. Parameters as DotGraph's."""

    def __init__(self, graph_attr=None, node_attr=None, edge_attr=None, get_node_attr=None):
        self._options = (graph_attr, node_attr, edge_attr, get_node_attr)
        self._name_to_graph = {}

    def create_graph(self, name):
        """A new DotGraph."""
        self._name_to_graph[name] = DotGraph(name, *self._options)
        return self._name_to_graph[name]

    def render(self, filename=None):
        """Draws each graph into the file of its name, after "FILENAME_" where that is given."""
        for name, graph in self._name_to_graph.items():
            graph.render(f"{filename}_{name}" if filename else name)
