"""The mapping between operators of the source program and kernels, and the modules that operators belong to."""
import contextlib

from ._built import built_of
from ._load import core


class Origins(list):
    """The operators of the program passed to relay.build, in program order, a dict each.

    `id` (the index here), `op`, `name` ("%12"), `line`, `column`, `text` (the line), `source`, `attrs` (those not at their
    default), `type`, `inputs` (ids of the operators whose results it reads), `input_types`, `nodes` (of graph.json, that
    compute it), `folded_into` (nodes that read a constant it went into), `fused_with` (ids of the other operators of its
    nodes), `fused` and `not_fused` (why it is or is not fused with its users), `retired` (pass and
    reason, or None).
    """

    def __init__(self, built):
        self._built, self._map = built, core.operator_map(built)
        super().__init__(self._map.rows())

    def _id(self, operator):
        if isinstance(operator, dict):
            return operator["id"]
        if isinstance(operator, int):
            return operator
        ids = core.operator_ids(self._built, operator)
        if len(ids) > 1:
            raise ValueError(f"it stands for the operators {ids}: ask for one of them")
        return ids[0]

    def of(self, expr):
        """The origins of an expression: a single one for a call of the source program.

        Raises TVMError for an expression that is not an operator of this program.
        """
        return [self[each] for each in core.operator_ids(self._built, expr)]

    def of_kernel(self, name):
        """The operators that the kernel of that func_name computes, over all nodes that call it; without such a kernel, those
        of the node of that name. Raises UsageError, a ValueError, for an unknown name."""
        return [self[each] for each in self._map.of_kernel(name)]

    def of_node(self, node):
        """The operators that a node of graph.json computes, by its number or name. Raises UsageError, a ValueError."""
        return [self[each] for each in self._map.of_node(str(node))]

    def nodes_of(self, operator):
        """Numbers of the nodes of graph.json that compute `operator`: an id, a dict of this list, or a call."""
        return self._map.nodes_of(self._id(operator))

    def kernels_of(self, operator):
        """Names of the nodes of graph.json that compute `operator`: an id, a dict of this list, or a call."""
        return self._map.kernels_of(self._id(operator))


def origins(lib):
    """The operators of the program that relay.build was given for `lib`, an Origins list: see `lib.origins`."""
    built = built_of(lib)
    if built is None:
        raise TypeError(f"origins: what relay.build returned is expected, not a {type(lib).__name__}")
    return Origins(built)


class module(contextlib.ContextDecorator):  # pylint: disable=invalid-name
    """Operators that are called inside belong to the module `name`, within the modules around it:

        with baton.module("encoder"):
            for i in range(12):
                with baton.module(f"layer{i}"):
                    x = layer(x)

    `baton.profile(...).table(by="module")` and `baton profile --by module` show a tree of them with their times. A decorator of
    functions, too. `name` may hold several names between slashes, "encoder/layer0". Of this thread only.

    Raises TypeError for a name that is not a str, ValueError for an empty one.
    """

    def __init__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"module: a name is a str, not {type(name).__name__}")
        self._name = "/".join(part for part in name.split("/") if part)
        if not self._name:
            raise ValueError(f"module: a name, not {name!r}")
        self._outer = []

    def __enter__(self):
        self._outer.append(core.enter_module(self._name))
        return self

    def __exit__(self, *error):
        core.leave_module(self._outer.pop())
        return False
