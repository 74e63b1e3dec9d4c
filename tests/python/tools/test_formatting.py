"""The check of layout finds C++ that clang-format would change and prose that runs too far, and says how to mend it."""
import importlib.util
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
from house import formatting  # noqa: E402

WRAP = ROOT / "tools" / "wrap_docs"
CLANG_FORMAT = ROOT / "build" / "venv" / "bin" / "clang-format"


@pytest.fixture(name="wrapped")
def fixture_wrapped():
    spec = importlib.util.spec_from_loader("wrap_docs", importlib.machinery.SourceFileLoader("wrap_docs", str(WRAP)))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda text: module.wrapped(text, columns=20)


def test_a_long_paragraph_is_filled_and_a_short_one_stays(wrapped):
    assert wrapped("one\ntwo\n\none two three four five six\nseven\n") == "one\ntwo\n\none two three four\nfive six seven\n"


def test_items_hang(wrapped):
    assert wrapped("- one two three four five\n  six\n- seven\n1. one two three four five\n") == \
        "- one two three four\n  five six\n- seven\n1. one two three\n   four five\n"
    assert wrapped("- a\n  - one two three four\n") == "- a\n  - one two three\n    four\n"


def test_quotes_stay_quotes(wrapped):
    assert wrapped("> one two three four\n> five\n") == "> one two three four\n> five\n"
    assert wrapped("> one two three four five\n") == "> one two three four\n> five\n"


@pytest.mark.parametrize("text", [
    "| one | two | three | four |\n|---|---|---|---|\n",
    "# one two three four five\n",
    "```\none two three four five six\n\n    seven\n```\n",
    "~~~ sh\n``` one two three four five\n~~~\n",
    "\n    one two three four five six\n",
    "<a href=\"one\">two three four</a>\n",
    "[one]: https://example.org/two/three\n",
    "https://example.org/one/two/three/four\n",
])
def test_what_is_no_prose_stays(wrapped, text):
    assert wrapped(text) == text


def test_spans_of_code_are_not_broken(wrapped):
    assert wrapped("one two three `four five` six\n") == "one two three\n`four five` six\n"
    assert wrapped("one two three (`four five`).\n") == "one two three\n(`four five`).\n"


def test_no_line_begins_with_what_would_be_markup(wrapped):
    assert wrapped("one two three four - five\n") == "one two three four -\nfive\n"
    assert wrapped("one two three four 1. five\n") == "one two three four 1.\nfive\n"


def test_hard_breaks_stay(wrapped):
    assert wrapped("one two three four five  \nsix\n") == "one two three four\nfive  \nsix\n"


def test_wrapping_twice_changes_nothing():
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = document.read_text(encoding="utf-8")
        once = subprocess.run([sys.executable, "-c", "import sys, importlib.machinery as m; "
                               f"w = m.SourceFileLoader('w', {str(WRAP)!r}).load_module(); t = sys.stdin.read(); "
                               "o = w.wrapped(t); assert w.wrapped(o) == o; assert o.split() == t.split()"],
                              input=text, capture_output=True, text=True, check=False)
        assert once.returncode == 0, f"{document}: {once.stderr}"


@pytest.mark.skipif(not CLANG_FORMAT.exists(), reason="no clang-format in build/venv")
def test_files_that_clang_format_would_change_are_named_with_the_command_that_mends_them(tmp_path):
    (tmp_path / "build" / "venv").mkdir(parents=True)
    (tmp_path / "build" / "venv" / "bin").symlink_to(CLANG_FORMAT.parent)
    (tmp_path / "tools").mkdir()
    shutil.copy(WRAP, tmp_path / "tools")
    shutil.copy(ROOT / ".clang-format", tmp_path)
    (tmp_path / "good.cc").write_text("int main() { return 0; }\n")
    (tmp_path / "bad.cc").write_text("int main( ) {return 0;}\n")
    (tmp_path / "unknown.cc").write_text("int  f( );\n")
    (tmp_path / "README.md").write_text("word " * 30 + "\n")
    subprocess.run("git init -q . && git add *.cc README.md && git rm -q --cached unknown.cc", shell=True, cwd=tmp_path, check=True)
    said = []

    def say(what, details=""):
        said.extend((what, details))
    assert formatting.check(str(tmp_path), say) == (0, 2)
    assert said == ["not laid out as .clang-format says: bad.cc", "mend it: build/venv/bin/clang-format -i bad.cc",
                    "tools/wrap_docs --check", "README.md has prose of more than 110 columns; mend it: tools/wrap_docs\n"]
    (tmp_path / "bad.cc").write_text("int main() { return 0; }\n")
    (tmp_path / "README.md").write_text("word\n")
    assert formatting.check(str(tmp_path), say) == (2, 0)


def test_without_a_clone_nothing_is_checked(tmp_path):
    assert formatting.check(str(tmp_path), print) is None
