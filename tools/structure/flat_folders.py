"""Size of folders: limits the files directly in a folder."""
import collections
import pathlib

TOPS = ("src", "tests", "python", "tools")
MOST_FILES = 40


def check(root):
    """Yields (folder, 0, message) for each folder with too many files directly in it."""
    counts = collections.Counter()
    for top in TOPS:
        for path in (root / top).rglob("*"):
            inner = path.relative_to(root)
            if path.is_file() and not any(part == "__pycache__" or part.startswith(".") for part in inner.parts):
                counts[inner.parent] += 1
    for folder in sorted(counts):
        if counts[folder] > MOST_FILES:
            yield (pathlib.PurePosixPath(folder).as_posix(), 0,
                   f"{counts[folder]} files in one folder, at most {MOST_FILES}: give its subjects folders of their own")
