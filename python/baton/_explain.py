"""What an operator of a program was compiled to, and what a kernel computes, as text."""
from ._origins import origins


class Explanation(str):
    """Text that a console shows as it is."""

    __repr__ = str.__str__


def _place(row):
    if row.get("file"):
        return f"{row['file']}:{row['line']}"
    return f"line {row['line']}" if row["line"] else row["source"] or f"operator {row['id']}"


def _fate(row):
    if row["retired"]:
        return f"retired by {row['retired']['pass']}: {row['retired']['reason']}"
    if row["nodes"]:
        return "in node " + ", ".join(map(str, row["nodes"]))
    return "computed at compile time, for node " + ", ".join(map(str, row["folded_into"]))


def _line(row):
    return f"{row['brief']}, {_place(row)}: {_fate(row)}"


def _section(table, row):
    lines = [f"{row['brief']}  ({row['op']}, {_place(row)})", f"  type         {row['type']}", f"  became       {_fate(row)}"]
    lines += [f"  reads        {table[each]['brief']}, {_place(table[each])}" for each in row["inputs"]]
    lines += [f"  fused with   {table[each]['brief']}, {_place(table[each])}" for each in row["fused_with"]]
    lines += [f"  {what:<12} {row[key]}" for what, key in (("fused", "fused"), ("not fused", "not_fused")) if row[key]]
    lines += [f"  kernel       {name}" for name in table.kernels_of(row)]
    return "\n".join(lines)


def explain(lib, operator=None, *, kernel=None, node=None):
    """Follows an operator to its kernels, or a kernel back to its operators; without either one line for each operator.

    Parameters
    ----------
    lib : what relay.build returned
    operator : an id, a dict of baton.origins(lib), or a call of the program
    kernel : instead, a func_name of graph.json
    node : instead, a node of graph.json, by its number or name

    Returns text. Raises TVMError or UsageError for what the program does not have. `baton explain` on the command line says
    more: the effect of every pass, the schedule, and the assembly.
    """
    if sum(each is not None for each in (operator, kernel, node)) > 1:
        raise ValueError("explain: one of operator, kernel= and node= says what is meant")
    table = origins(lib)
    if operator is not None:
        return Explanation(_section(table, table[table._id(operator)]))  # pylint: disable=protected-access
    if kernel is None and node is None:
        return Explanation("\n".join(map(_line, table)))
    rows = table.of_kernel(kernel) if kernel is not None else table.of_node(node)
    return Explanation("\n".join(_section(table, row) for row in rows) or "no operator of the program: the compiler added it")
