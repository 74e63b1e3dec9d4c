"""What a second target takes: its two folders and one line. `mirror` is the measure."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDERS = ["src/baton/codegen/mirror", "src/baton/runtime/plugins/mirror"]
LINE = "src/baton/codegen/backends.def"
# As a name of a backend, a function or a folder; pictures and package servers have mirrors too.
NAME = re.compile(r""""mirror"|'mirror'|/mirror\b|\(mirror\)$|\bmirror\(\)""")


def test_mirror_is_two_folders_and_one_line():
    for folder in FOLDERS:
        assert list((ROOT / folder).glob("*.cc")), folder
    found = []
    for base in ("src", "python", "cmake", "CMakeLists.txt", "tools"):
        paths = [ROOT / base] if (ROOT / base).is_file() else (ROOT / base).rglob("*")
        for path in paths:
            name = path.relative_to(ROOT).as_posix()
            if not path.is_file() or path.suffix in (".pyc", ".so") or any(name.startswith(f + "/") for f in FOLDERS):
                continue
            lines = path.read_text(errors="ignore").splitlines()
            found += [(name, line.strip()) for line in lines if NAME.search(line) and not is_comment(line)]
    assert found == [(LINE, "BATON_BACKEND(mirror)")]


def is_comment(line):
    return line.lstrip().startswith(("//", "/*", "*", "#"))
