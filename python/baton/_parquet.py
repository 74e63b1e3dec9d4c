"""Tables as Parquet, through pyarrow. Imports nothing of Baton: the command line runs this file with any Python that has
pyarrow; then each line of standard input is {"path": ..., "table": {...}}, and each answer one line of JSON."""
import json
import os
import sys

MISSING = ("Parquet is written by pyarrow, which this Python lacks ({python}): pip install 'baton-compiler[profile]', "
           "or pip install pyarrow")


def arrow(table):
    """A pyarrow.Table. `table`: {"columns": [{"name", "kind"}], "values": [one list per column]}."""
    import pyarrow

    kinds = {"flag": pyarrow.bool_(), "integer": pyarrow.int64(), "number": pyarrow.float64(), "text": pyarrow.string(),
             "ids": pyarrow.list_(pyarrow.uint32())}
    schema = pyarrow.schema([(column["name"], kinds[column["kind"]]) for column in table["columns"]])
    arrays = [pyarrow.array(values, kinds[column["kind"]]) for column, values in zip(table["columns"], table["values"])]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def write(table, path):
    """Writes one table to one file, atomically. Raises ImportError, with what to install, and OSError."""
    try:
        from pyarrow import parquet
    except ImportError as why:
        raise ImportError(MISSING.format(python=sys.executable)) from why
    beside = f"{path}.{os.getpid()}"
    try:
        parquet.write_table(arrow(table), beside)
        os.replace(beside, path)
    finally:
        if os.path.exists(beside):
            os.remove(beside)


def main():
    """Answers requests until standard input ends."""
    try:
        import pyarrow
        from pyarrow import parquet  # noqa: F401  pylint: disable=unused-import
    except ImportError:
        print(json.dumps({"error": MISSING.format(python=sys.executable)}), flush=True)
        return
    print(json.dumps({"version": pyarrow.__version__}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            write(request["table"], request["path"])
            print("{}", flush=True)
        except (OSError, pyarrow.ArrowException) as why:
            print(json.dumps({"error": f"cannot write `{request['path']}`: {why}"}), flush=True)


if __name__ == "__main__":
    main()
