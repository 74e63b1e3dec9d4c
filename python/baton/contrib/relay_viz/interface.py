"""What the parts of a visualisation promise each other: nodes, edges, the parser that makes them, and the plotter that draws them."""
import abc

from ...ir import Op
from ...relay import expr as _expr
from ...relay.adt import Constructor, Match
from ...relay.function import Function

UNKNOWN_TYPE = "unknown"


class VizNode:
    """A node of a graph: its id, the kind that it is shown as, and text about it."""

    def __init__(self, node_id, node_type, node_detail):
        self._id, self._type, self._detail = str(node_id), node_type, node_detail

    @property
    def identity(self):
        """A str, unique in its graph."""
        return self._id

    @property
    def type_name(self):
        """The kind, such as "Call"."""
        return self._type

    @property
    def detail(self):
        """Text of any number of lines."""
        return self._detail

    def __repr__(self):
        return f"VizNode(identity: {self._id}, type_name: {self._type}, detail: {self._detail})"


class VizEdge:
    """An edge from the node with the id `start_node`, whose value is used, to `end_node`, which uses it."""

    def __init__(self, start_node, end_node):
        self._start, self._end = str(start_node), str(end_node)

    @property
    def start(self):
        """The id of the node whose value is used."""
        return self._start

    @property
    def end(self):
        """The id of the node that uses it."""
        return self._end

    def __repr__(self):
        return f"VizEdge(start: {self._start}, end: {self._end})"


class VizParser(abc.ABC):
    """Describes Relay nodes."""

    @abc.abstractmethod
    def get_node_edges(self, node, relay_param, node_to_id):
        """(VizNode, [VizEdge]) of an expression; None in the place of the VizNode leaves it out.

        relay_param: {name: NDArray}, the parameters that have values; node_to_id: ids by expression.
        """


class VizGraph(abc.ABC):
    """The graph of one function."""

    @abc.abstractmethod
    def node(self, viz_node):
        """Adds a node."""

    @abc.abstractmethod
    def edge(self, viz_edge):
        """Adds an edge; its nodes are added before the drawing begins."""


class Plotter(abc.ABC):
    """Draws graphs."""

    @abc.abstractmethod
    def create_graph(self, name):
        """A new VizGraph; `name` is that of a function."""

    @abc.abstractmethod
    def render(self, filename):
        """Draws all graphs, into files that are named after `filename` where it is given."""


def _type_lines(node):
    """The shape and the data type of what a node computes; nothing where they are not known."""
    try:
        found = node.checked_type
    except ValueError:  # types are not inferred
        found = getattr(node, "type_annotation", None)
    if not hasattr(found, "dtype"):
        return []
    return [f"shape: ({', '.join(map(str, found.shape))})", f"dtype: {found.dtype}"]


def _attribute_lines(node):
    given = [(key, node.attrs[key]) for key in node.attrs.keys()] if node.attrs is not None else []
    return [f"{key}: {value}" for key, value in given if value is not None and value != ""]


class DefaultVizParser(VizParser):
    """Describes every kind of expression: operators by their name and attributes, tensors by shape and data type."""

    def get_node_edges(self, node, relay_param, node_to_id):
        """See VizParser. Operators are part of the calls that name them and have no nodes of their own."""
        for kind, describe in self._KINDS.items():
            if isinstance(node, kind):
                found = describe(self, node, relay_param)
                if found is None:
                    return None, []
                name, lines, used = found
                mine = node_to_id[node]
                return (VizNode(mine, name, "\n".join(each for each in lines if each)),
                        [VizEdge(node_to_id[each], mine) for each in used])
        return VizNode(node_to_id[node], UNKNOWN_TYPE, f"{type(node).__name__} is not described"), []

    def _function(self, node, _):
        attributes = [f"{key}: {value}" for key, value in (node.attrs.items() if node.attrs is not None else ())]
        return "Function", [f"params: {', '.join(each.name_hint for each in node.params)}", *attributes], [node.body]

    def _variable(self, node, relay_param):
        return ("Param" if node.name_hint in relay_param else "Var"), [f"name_hint: {node.name_hint}", *_type_lines(node)], []

    def _constant(self, node, _):
        array = node.data
        return "Const", [f"value: {array.numpy()}" if array.shape == () else "", f"shape: {tuple(array.shape)}",
                         f"dtype: {array.dtype}"], []

    def _call(self, node, _):
        if isinstance(node.op, Op):
            return node.op.name, [*_attribute_lines(node), *_type_lines(node)], node.args
        if isinstance(node.op, _expr.GlobalVar):
            return f"Call {node.op.name_hint}", _type_lines(node), node.args
        if isinstance(node.op, Constructor):
            return f"Call {node.op.name_hint}", [], node.args
        return "Call", _type_lines(node), [node.op, *node.args]

    def _of_name(self, node, _):
        return type(node).__name__, [f"name_hint: {node.name_hint}"], []

    def _match(self, node, _):
        return "Match", [f"clauses: {len(node.clauses)}"], [node.data, *(each.rhs for each in node.clauses)]

    _KINDS = {
        Function: _function,
        _expr.Var: _variable,
        _expr.Constant: _constant,
        _expr.Call: _call,
        _expr.Tuple: lambda self, node, _: ("Tuple", [f"fields: {len(node.fields)}"], node.fields),
        _expr.TupleGetItem: lambda self, node, _: ("TupleGetItem", [f"index: {node.index}"], [node.tuple_value]),
        _expr.Let: lambda self, node, _: ("Let", [f"var: {node.var.name_hint}"], [node.var, node.value, node.body]),
        _expr.If: lambda self, node, _: ("If", [], [node.cond, node.true_branch, node.false_branch]),
        _expr.RefCreate: lambda self, node, _: ("RefCreate", [], [node.value]),
        _expr.RefRead: lambda self, node, _: ("RefRead", [], [node.ref]),
        _expr.RefWrite: lambda self, node, _: ("RefWrite", [], [node.ref, node.value]),
        Match: _match,
        _expr.GlobalVar: lambda self, node, _: None,
        Constructor: lambda self, node, _: None,
        Op: lambda self, node, _: None,
    }
