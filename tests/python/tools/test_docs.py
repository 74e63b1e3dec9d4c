"""What the documents list is what the sources have."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_every_error_code_has_its_line():
    sources = "\n".join(path.read_text(encoding="utf-8") for folder in ("src/baton", "src/python")
                        for path in (ROOT / folder).rglob("*.[ch]*"))
    in_sources = set(re.findall(r'"(E\d{4})"', sources))
    described = re.findall(r"\bE\d{4}\b", "\n".join(line.split("|")[1] for line in
                                                     (ROOT / "docs/errors/README.md").read_text(encoding="utf-8").splitlines()
                                                     if line.startswith("| E")))
    assert sorted(in_sources) == described


def test_files_that_documents_name_exist():
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for document in documents:
        for name in re.findall(r"`((?:docs|src|tests|tools|bench|examples|cmake|python)/[\w./-]+\.\w+)`", document.read_text(encoding="utf-8")):
            if not re.search(r"NNNN|NAME|\.\.\.", name):
                assert (ROOT / name).exists() or (ROOT / "src/baton" / name).exists(), f"{document.name} names {name}"


def test_design_notes_that_sources_name_exist():
    for path in [*(ROOT / "src").rglob("*.[ch]*"), *(ROOT / "python").rglob("*.py")]:
        for number in re.findall(r"(?:design note |docs/design/)(\d{4})", path.read_text(encoding="utf-8")):
            assert list((ROOT / "docs/design").glob(number + "-*.md")), f"{path} names design note {number}"
