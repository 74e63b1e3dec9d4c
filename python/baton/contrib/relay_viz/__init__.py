"""Shows modules as graphs: a parser describes the expressions, a plotter draws them.

    relay_viz.RelayVisualizer(mod).render()                       # a tree, on standard output
    relay_viz.RelayVisualizer(mod, plotter=relay_viz.DotPlotter()).render("net")   # pictures, by Graphviz
"""
from ...relay import analysis as _analysis
from . import interface, terminal
from .interface import DefaultVizParser, Plotter, VizEdge, VizGraph, VizNode, VizParser
from .terminal import TermGraph, TermPlotter, TermVizParser


class RelayVisualizer:
    """The functions of `relay_mod`, one graph each, main first.

    relay_param: {name: NDArray}, parameters that have values; plotter: TermPlotter() without one; parser: one that suits the plotter.
    """

    def __init__(self, relay_mod, relay_param=None, plotter=None, parser=None):
        self._plotter = TermPlotter() if plotter is None else plotter
        if parser is None:
            parser = TermVizParser() if isinstance(self._plotter, TermPlotter) else DefaultVizParser()
        names = sorted((each.name_hint for each in relay_mod.get_global_vars()), key=lambda name: name != "main")
        for name in names:
            node_to_id = {}
            _analysis.post_order_visit(relay_mod[name], lambda node: node_to_id.setdefault(node, str(len(node_to_id))))
            graph = self._plotter.create_graph(name)
            for node in node_to_id:
                found, edges = parser.get_node_edges(node, relay_param or {}, node_to_id)
                if found is not None:
                    graph.node(found)
                for edge in edges:
                    graph.edge(edge)

    def render(self, filename=None):
        """Has the plotter draw: the graphs on standard output or in windows, or in files that are named after `filename`."""
        self._plotter.render(filename=filename)


def __getattr__(name):
    if name in ("dot", "DotPlotter", "DotGraph"):  # needs a package that not everyone has
        import importlib

        found = importlib.import_module(__name__ + ".dot")
        return found if name == "dot" else getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
