"""Pattern tables by compiler."""
from ...._load import core

_tables = {}


def register_pattern_table(compiler, table=None):
    """Registers the composite patterns of `compiler`; as a decorator of the function `table` when that is not given.

    `table()` returns a list of (name, pattern) or (name, pattern, check): see relay.transform.MergeComposite.
    """
    def register(make):
        entries = list(make())
        core.register_pattern_table(compiler, entries)
        _tables[compiler] = entries
        return make

    return register if table is None else register(table)


def get_pattern_table(compiler):
    """The table, or None when there is none."""
    return _tables.get(compiler)
