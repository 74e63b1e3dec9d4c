"""Includes: a folder may use the folders listed in its row of the table in ARCHITECTURE.md, and transitively theirs."""
import re

TABLE = "ARCHITECTURE.md"
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
OUTSIDE = {"standard library", "Halide"}  # what a row may name that is not a folder


class TableError(Exception):
    pass


def read_table(text):
    """Folder (as in includes: "baton/ir", or "python") -> the words of its "may use" column."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or not cells[0].startswith("`src/"):
            continue
        for folder in re.findall(r"`src/([^`]+?)/?`", cells[0]):
            if folder in rows:
                raise TableError(f"two rows for {folder} in {TABLE}")
            rows[folder] = [word.strip() for word in cells[2].split(",")]
    if not rows:
        raise TableError(f"no row with a `src/...` folder in {TABLE}")
    return rows


def closures(rows):
    """Folder -> all folders it may include. A word is one folder: "ir" does not include "ir/rules"."""
    direct = {}
    for folder, words in rows.items():
        direct[folder] = set()
        for word in words:
            if word == "all":
                direct[folder].update(rows)
            elif f"baton/{word}" in rows:
                direct[folder].add(f"baton/{word}")
            elif word not in OUTSIDE:
                raise TableError(f'the row of {folder} names "{word}", which has no row')
    allowed = {}
    for folder in rows:
        reached, todo = {folder}, [folder]
        while todo:
            for used in direct[todo.pop()] - reached:
                reached.add(used)
                todo.append(used)
        allowed[folder] = reached
    return allowed


LABORATORY = re.compile(r'set\(baton_lab_folders "([^"]*)"\)')


def lab_folders(root, rows):
    """The rows that CMakeLists.txt puts into the laboratory's library, with their sub-folders."""
    match = LABORATORY.search((root / "CMakeLists.txt").read_text(encoding="utf-8"))
    if not match:
        raise TableError("CMakeLists.txt does not set baton_lab_folders")
    listed = [f"baton/{name}" for name in match[1].split("|")]
    return {folder for folder in rows if any(folder == name or folder.startswith(name + "/") for name in listed)}


# They link the laboratory, or are compiled with parts of it.
USE_THE_LABORATORY = ("baton/cli/lab", "baton/runner", "python")


def check_laboratory(rows, allowed, lab):
    """Yields a message for every row that may include the laboratory and is not part of it."""
    for folder in sorted(set(rows) - lab - set(USE_THE_LABORATORY)):
        for used in sorted(allowed[folder] & lab):
            yield f"{folder} may use {used}, which is in the laboratory's library: that links {folder}'s"


def folder_of(path, rows):
    """The row a file or include belongs to: the longest folder that is a prefix of it."""
    owners = [folder for folder in rows if path.startswith(folder + "/")]
    return max(owners, key=len, default=None)


def check_file(name, text, rows, allowed):
    """Yields (line, message) for every include of file `name` (relative to src/) that is not allowed."""
    owner = folder_of(name, rows)
    if owner is None:
        yield 1, f"its folder has no row in {TABLE}"
        return
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, angled = match.groups()
        included = quoted or angled
        if included == "Halide.h":
            if "Halide" not in rows[owner]:
                yield number, f"{owner} includes Halide.h; its row does not say Halide"
        elif quoted and not quoted.startswith(("baton/", "python/")):
            yield number, f'includes "{quoted}"; our headers are named from the root: "baton/..."'
        elif included.startswith("baton/"):
            used = folder_of(included, rows)
            if used is None:
                yield number, f"includes {included}, whose folder has no row in {TABLE}"
            elif used not in allowed[owner]:
                may = ", ".join(sorted(f.removeprefix("baton/") for f in allowed[owner] - {owner}))
                yield number, f"{owner} includes {included}; it may use: {may or 'the standard library'}"


def check(root, files):
    """Yields (file, line, message); `files` maps the path of each source below src/ to its text."""
    rows = read_table((root / TABLE).read_text(encoding="utf-8"))
    allowed = closures(rows)
    for folder in sorted(folder for folder in rows if "all" not in rows[folder]):
        for other in sorted(allowed[folder] - {folder}):
            if folder < other and folder in allowed[other]:
                yield TABLE, 0, f"a circle of folders: {folder} may use {other}, and {other} may use {folder}"
    for message in check_laboratory(rows, allowed, lab_folders(root, rows)):
        yield TABLE, 0, message
    for name, text in files.items():
        for line, message in check_file(name, text, rows, allowed):
            yield f"src/{name}", line, message
