"""Operators: each one, or each small family, is one file below src/baton/ops/.

Attributes, type relation, compute and rules of an operator are in the file of its block; a header is only for code that
several files share. ops.def and the blocks name the same operators. What others do with an operator is in its block, too:
in the folders of ASKING a name may build a call, or be the pattern that a pass is about, but not stand in a table or chain
of names. Nor may names of schedule templates stand in those of ASKING_TEMPLATES.
"""
import collections
import re

OPS = "baton/ops/"
LIST = "baton/ops/ops.def"
BLOCK = re.compile(r"^const OpDef& (op_\w+)\(\) \{", re.M)
LISTED = re.compile(r"^BATON_OP\((\w+)\)", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
STRUCT = re.compile(r"^struct (\w+Attrs)\b[^;{]*\{", re.M)
PASSES = "baton/transform/"
# Code that is about all operators: it asks for rules in their blocks.
ASKING = (PASSES, "baton/predict/", "baton/profile/", "baton/campaign/", "baton/codegen/")
NAMING = {
    "baton/codegen/dnnl/": "lowers single operators to oneDNN's primitives: its tables are what the library has",
    "baton/codegen/openblas/": "lowers single operators to OpenBLAS's products",
    "baton/codegen/evaluate/": "names the functions of C that Halide calls: exp, sqrt",
}
# Code that is about all schedule templates: what it reads of one is a field of the template.
ASKING_TEMPLATES = ("baton/predict/", "baton/profile/", "baton/campaign/", "baton/codegen/")
TEMPLATES = "baton/schedule/"
TEMPLATE = re.compile(r'\.name = "(\w+_\w+)"')
NAME = re.compile(r'"([a-zA-Z_][\w.]*)"|op_names::k(\w+)')
BUILDS = {"call_op", "call", "find_op", "computed"}
MATCHES = {"call_of", "is_call", "is_op"}
GIVEN = {"texts"}  # operators that the user names, and which when he does not
SETTINGS = {"max", "sign"}  # names of settings and attributes, too
# Words that are not only operators' names outside of passes: there only comparisons with a name of an operator are found.
WORDS = {"all", "any", "copy", "equal", "min", "repeat", "split", "sum"}
MOST_MATCHED = 3
# The identities of SimplifyExpr, between operators that each of them names.
IDENTITIES = {f"{PASSES}simplify/simplify_{of}_rules.cc" for of in ("arithmetic", "shape")}
ALIAS = re.compile(r"^using (\w+) = (\w+)<", re.M)


def check(files):
    """Yields (file, line, message); `files` maps the path of each source below src/ to its text."""
    if LIST not in files:
        return
    yield from _blocks(files)
    yield from _headers(files)
    yield from _attributes(files)
    yield from _names(files)
    yield from _template_names(files)


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


def _caller(text, at):
    """What is called by the innermost call that position `at` is an argument of; '' outside of calls."""
    depth = 0
    for i in range(at - 1, -1, -1):
        if text[i] in ")]}":
            depth += 1
        elif text[i] in "([{":
            if depth == 0 and text[i] == "(":
                return re.search(r"\w*$", text[:i])[0]
            depth = max(depth - 1, 0)
        elif text[i] == ";" and depth == 0:
            return ""
    return ""


def _without_comments(text):
    return re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), text)


def _names(files):
    """Names of operators where all are meant, other than to build a call or to match the few that a pass is about."""
    listed = {match[1] for match in LISTED.finditer(files[LIST])}
    for name, text in files.items():
        if not name.startswith(ASKING) or name.startswith(tuple(NAMING)):
            continue
        code = _without_comments(text)
        matched = set()
        for match in NAME.finditer(code):
            if match[1] and "op_" + match[1].replace(".", "_") not in listed:
                continue
            before, caller = code[max(match.start() - 80, 0):match.start()], _caller(code, match.start())
            if caller in MATCHES:
                matched.add(match[0])
            if match[1] in WORDS and not name.startswith(PASSES):
                wrong = re.search(r"->name [=!]= $", before)
            elif match[1] in SETTINGS:
                wrong = re.search(r"name [=!]= $", before)
            else:
                other = caller not in BUILDS | MATCHES | GIVEN and (match[1] or before.endswith("{"))
                wrong = other or re.search(r"[=!]=\s*$", before)
            if wrong:
                yield f"src/{name}", _line(text, match), f"asks for {match[0]} by name: ask a rule in its block"
        if len(matched) > MOST_MATCHED and name not in IDENTITIES:
            yield f"src/{name}", 0, f"matches {', '.join(sorted(matched))}: ask a rule in their blocks"


def _template_names(files):
    """Names of schedule templates where all are meant: those of two words, as others are names of much else, too."""
    templates = {match[1] for name, text in files.items() if name.startswith(TEMPLATES) for match in TEMPLATE.finditer(text)}
    for name, text in files.items():
        if not name.startswith(ASKING_TEMPLATES):
            continue
        for match in re.finditer(r'"(\w+)"', _without_comments(text)):
            if match[1] in templates:
                yield f"src/{name}", _line(text, match), f"asks for template {match[0]} by name: it says so itself, in its file"
