"""Operators: each one, or each small family, is one file below src/baton/ops/.

Attributes, type relation, compute and rules of an operator are in the file of its block; a header is only for code that several
files share. ops.def and the blocks name the same operators.
"""
import collections
import re

OPS = "baton/ops/"
LIST = "baton/ops/ops.def"
BLOCK = re.compile(r"^const OpDef& (op_\w+)\(\) \{", re.M)
LISTED = re.compile(r"^BATON_OP\((\w+)\)", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
STRUCT = re.compile(r"^struct (\w+Attrs)\b[^;{]*\{", re.M)
ALIAS = re.compile(r"^using (\w+) = (\w+)<", re.M)


def check(files):
    """Yields (file, line, message); `files` maps the path of each source below src/ to its text."""
    if LIST not in files:
        return
    yield from _blocks(files)
    yield from _headers(files)
    yield from _attributes(files)


def _line(text, match):
    return text.count("\n", 0, match.start()) + 1


def _blocks(files):
    listed = {match[1]: _line(files[LIST], match) for match in LISTED.finditer(files[LIST])}
    defined = collections.defaultdict(list)
    for name, text in files.items():
        if name.startswith(OPS):
            for match in BLOCK.finditer(text):
                defined[match[1]].append((name, _line(text, match)))
    for function, places in defined.items():
        for name, line in places[1:]:
            yield f"src/{name}", line, f"{function} has a block in {places[0][0].removeprefix(OPS)} already"
        if function not in listed:
            yield f"src/{places[0][0]}", places[0][1], f"{function} is not in ops.def"
    for function, line in listed.items():
        if function not in defined:
            yield f"src/{LIST}", line, f"no file has the block of {function}"


def _shared_headers(files):
    return [name for name in files if name.startswith(OPS) and name.endswith(".h")]


def _headers(files):
    """A header included by only one file, inside or outside ops/. The .cc of the same name counts where it has operators of its own."""
    users = collections.defaultdict(set)
    for name, text in files.items():
        for match in INCLUDE.finditer(text):
            own = name.rpartition(".")[0] == match[1].rpartition(".")[0]
            if not own or BLOCK.search(text):
                users[match[1]].add(name)
    for name in _shared_headers(files):
        user = next(iter(users[name])).removeprefix(OPS) if len(users[name]) == 1 else None
        if user and f"{OPS}{user}" in files:
            yield f"src/{name}", 0, f"only {user} includes it: what one operator has stands in its file"


def _attributes(files):
    """Attributes in a header used by only one file, by their name or an alias."""
    words = {name: set(re.findall(r"\w+", text)) for name, text in files.items() if name.startswith("baton/")}
    for name in _shared_headers(files):
        for match in STRUCT.finditer(files[name]):
            called = {match[1]} | {alias[1] for alias in ALIAS.finditer(files[name]) if alias[2] == match[1]}
            users = [other for other in words if other != name and words[other] & called]
            if len(users) == 1:
                user = users[0].removeprefix(OPS)
                yield f"src/{name}", _line(files[name], match), f"only {user} uses {match[1]}: it belongs there"
