"""Graphs as text: a tree, from what a function returns to what that is made of."""
import sys

from .interface import DefaultVizParser, Plotter, VizGraph, VizNode, VizParser


class TermVizParser(VizParser):
    """DefaultVizParser's nodes with their text in one line."""

    def __init__(self):
        self._default = DefaultVizParser()

    def get_node_edges(self, node, relay_param, node_to_id):
        """See VizParser."""
        found, edges = self._default.get_node_edges(node, relay_param, node_to_id)
        if found is not None:
            found = VizNode(found.identity, found.type_name, ", ".join(found.detail.splitlines()))
        return found, edges


class TermNode:
    """A node of the tree; `other_info` is its text, and `viz_node` what it was made of."""

    def __init__(self, viz_node):
        self.type, self.other_info = viz_node.type_name, viz_node.detail.replace("\n", ", ")
        self.viz_node, self.children = viz_node, []


class TermGraph(VizGraph):
    """The tree of one function. A node with several users is written out once, with a number that the others refer to."""

    def __init__(self, name):
        self._name, self._nodes, self._edges = name, {}, []

    def node(self, viz_node):
        """Adds a node; one of an id that is there replaces it."""
        self._nodes[viz_node.identity] = TermNode(viz_node)

    def edge(self, viz_edge):
        """Adds an edge. Edges of nodes that a parser left out are not drawn."""
        self._edges.append(viz_edge)

    def render(self):
        """The text, whose lines end in line feeds."""
        users = dict.fromkeys(self._nodes, 0)
        for each in self._nodes.values():
            each.children = []
        for each in self._edges:
            if each.start in self._nodes and each.end in self._nodes:
                self._nodes[each.end].children.append(each.start)
                users[each.start] += 1
        lines, numbers = [f"@{self._name}"], {}
        roots = [each for each, count in users.items() if count == 0]
        # (id, what stands before the children's branches, whether it is the last child); a stack: networks are deep.
        waiting = [(each, "", i == 0) for i, each in enumerate(reversed(roots))]
        while waiting:
            identity, before, last = waiting.pop()
            node = self._nodes[identity]
            text = " ".join(filter(None, (node.type, node.other_info)))
            known = identity in numbers
            if known:
                text = f"(see {numbers[identity]}) {node.type}"
            elif users[identity] > 1 and node.children:
                numbers[identity] = len(numbers) + 1
                text = f"({numbers[identity]}) {text}"
            lines.append(f"{before}{'`' if last else '|'}--{text}")
            if not known:
                inside = before + ("   " if last else "|  ")
                waiting += [(each, inside, i == 0) for i, each in enumerate(reversed(node.children))]
        return "\n".join(lines) + "\n"


class TermPlotter(Plotter):
    """Writes graphs as text, to standard output or into one file."""

    def __init__(self):
        self._name_to_graph = {}

    def create_graph(self, name):
        """A new TermGraph."""
        self._name_to_graph[name] = TermGraph(name)
        return self._name_to_graph[name]

    def render(self, filename=None):
        """Writes all graphs: to standard output, or into the file `filename` (a str or a path)."""
        text = "\n".join(each.render() for each in self._name_to_graph.values())
        if filename is None:
            sys.stdout.write(text)
        else:
            with open(filename, "w", encoding="utf-8") as out:
                out.write(text)
