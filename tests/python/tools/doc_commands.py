"""The commands of README.md and docs/guide.md, as a reader finds them: in code blocks, and in the cells of tables."""
import dataclasses
import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCUMENTS = ("README.md", "docs/guide.md")
PROGRAM = re.compile(r"(?:\./)?baton (?=[a-z])")
# Where a column of a code block ends and its comment begins: two blanks, then words.
COMMENT = re.compile(r"\s{2,}(?![-\\]).*$|\s+#\s.*$")


@dataclasses.dataclass(frozen=True)
class Command:
    document: str
    line: int
    words: tuple  # as the shell splits them, with environment variables in front

    @property
    def text(self):
        return shlex.join(self.words)

    @property
    def verb(self):
        return self.words[1] if self.words[0] in ("baton", "./baton") else ""

    def __str__(self):
        return f"{self.document}:{self.line}: {self.text}"


@dataclasses.dataclass(frozen=True)
class Snippet:
    """Lines of Python."""
    document: str
    line: int
    text: str


def blocks(text):
    """(first line, language, lines) of each block of code: fenced, or indented by four blanks."""
    found, lines, at = [], text.splitlines(), 0
    while at < len(lines):
        fence = re.match(r"```(\w*)", lines[at])
        begin = at = at + 1 if fence else at
        if fence:
            while at < len(lines) and not lines[at].startswith("```"):
                at += 1
            found.append((begin + 1, fence[1], lines[begin:at]))
        elif lines[at].startswith("    ") and not lines[at].lstrip().startswith(("-", "|")):
            while at < len(lines) and lines[at].startswith("    "):
                at += 1
            found.append((begin + 1, "", [line[4:] for line in lines[begin:at]]))
            continue
        at += 1
    return found


def is_python(language, lines):
    return language == "python" or any(re.match(r"(from|import|@|lib =|def )", line) for line in lines)


def is_command(line):
    return re.match(r"(?:[A-Z_]+=\S+ )*(?:(?:\./)?baton |tools/|cc |pip |qemu|build/venv|dask )", line)


def commands(document):
    """All commands of a document in their order, those in tables last."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = []
    for first, language, lines in blocks(text):
        if is_python(language, lines):
            continue
        joined = []
        for offset, line in enumerate(lines):
            if joined and joined[-1][1].endswith("\\"):
                joined[-1][1] = joined[-1][1][:-1].rstrip() + " " + line.strip()
            else:
                joined.append([first + offset, line.rstrip()])
        for number, line in joined:
            if is_command(line):
                found.append(Command(document, number, tuple(shlex.split(COMMENT.sub("", line)))))
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            continue
        for span in re.findall(r"(?<!`)`([^`]+)`", line):
            if PROGRAM.match(span):
                found.append(Command(document, number, tuple(shlex.split(span))))
    return found


def snippets(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    return [Snippet(document, first, "\n".join(lines) + "\n") for first, language, lines in blocks(text) if is_python(language, lines)]
