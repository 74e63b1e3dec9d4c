"""Size of classes: limits the lines between the braces of a class or struct of src/.

Functions defined below the class do not count: such a class reads as its interface. Clang-format closes a class in the
column where it opens it.
"""
import re

MOST_LINES = 300
# What is longer, and why.
LONGER = {
    ("baton/text/json/json_reader.cc", "JsonReader"): "a function for each kind of node",
    ("baton/text/json/program_writer.cc", "ProgramWriter"): "a function for each kind of node",
    ("baton/text/json/tvm_json.cc", "TvmReader"): "a function for each kind of node",
}
OPENS = re.compile(r"^( *)(?:template <.*> )?(?:class|struct) (?:\[\[\w+\]\] )?(\w+)[^;(){}]*\{$", re.M)


def check(files):
    """Yields (file, line, message) for each class that is too long; `files`: path below src/ -> text."""
    long = {}
    for name, text in files.items():
        for match in OPENS.finditer(text) if name.endswith((".h", ".cc")) else ():
            lines = _lines(text, match)
            if lines > MOST_LINES:
                long[name, match[2]] = (text.count("\n", 0, match.start()) + 1, lines)
    for (name, which), (line, lines) in long.items():
        if (name, which) not in LONGER:
            yield f"src/{name}", line, f"the class {which} has {lines} lines, at most {MOST_LINES}: split what it does"
    for name, which in sorted(LONGER.keys() - long.keys()):
        if name in files:
            yield f"src/{name}", 0, f"the class {which} is no longer too long: take it from the exceptions"


def _lines(text, match):
    return max(0, text.count("\n", match.end(), text.find(f"\n{match[1]}}}", match.end())))
