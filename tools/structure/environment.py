"""The environment is read at one place: everything else asks for its value (src/baton/support/base/environment.h)."""
import re

READER = "baton/support/base/environment.cc"
# These hand all variables on to a child process, or look for misspelt names among them.
TAKES_ALL = {"baton/support/environment_complaints.cc", "baton/support/line_process.cc", "baton/support/subprocess.cc"}
READS = re.compile(r"\b(?:secure_)?getenv\b")
ALL = re.compile(r"\benviron\b")
COMMENT = re.compile(r"//.*")


def check(files):
    """Yields (file, line, message) for each other look at the environment; `files`: path below src/ -> text."""
    for name, text in files.items():
        if name == READER or not name.endswith((".h", ".cc", ".c", ".inc")):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            code = COMMENT.sub("", line)
            if READS.search(code) or (ALL.search(code) and name not in TAKES_ALL):
                yield f"src/{name}", number, f"reads the environment: add a setting to {READER[:-3]}.def and ask environment()"
