"""Callers: a function declared in a header at namespace scope must be used elsewhere.

Compares names only, for speed: overloads count as one, and any other use of the name counts as a call.
clang-format keeps declarations and definitions at the left margin and indents everything that can be a call.
"""
import collections
import re

TOPS = ("src", "tests", "bench", "tools", "examples")
SOURCES = {".h", ".cc", ".c", ".def", ".inc"}
ABI = "baton_"  # called by name from Python and C programs
HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S)  # comments and strings
WORD = re.compile(r"[A-Za-z_]\w*")
AT_MARGIN = re.compile(r"^(?![#}\s]|using\b|typedef\b|static_assert\b|template\b[^(]*$)[^\n(;={]*?([A-Za-z_]\w*)\(", re.M)


def check(root):
    """Yields (file, line, message) for each function that is declared in a header of src/ and called nowhere."""
    uses, declared = collections.Counter(), {}
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix == ".py":
                uses.update(word for word in WORD.findall(_read(path)) if word.startswith(ABI))
            if path.suffix not in SOURCES:
                continue
            text = HIDDEN.sub(lambda match: '""' + "\n" * match[0].count("\n"), _read(path))
            uses.update(WORD.findall(text))
            for match in AT_MARGIN.finditer(text):
                uses[match[1]] -= 1
                if top == "src" and path.suffix == ".h":
                    line = text.count("\n", 0, match.start()) + 1
                    declared.setdefault(match[1], (path.relative_to(root).as_posix(), line))
    for name, (file, line) in sorted(declared.items(), key=lambda item: item[1]):
        if uses[name] <= 0:
            yield file, line, f"nobody calls {name}"


def _read(path):
    return path.read_text(encoding="utf-8", errors="replace")
