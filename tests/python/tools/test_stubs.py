"""The types of the compiled module are those that python/baton/_baton.pyi says."""
import ast
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_stubs_are_current():
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "make_stubs"), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr + "\ndo: run tools/make_stubs"


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "python" / "baton" / "py.typed").exists()


def test_every_supported_python_reads_every_file():
    """The package says >= 3.10 in pyproject.toml; what is run here may be newer."""
    files = [*(ROOT / "python").rglob("*.py"), *(ROOT / "python").rglob("*.pyi"), *(ROOT / "examples").rglob("*.py")]
    assert len(files) > 50
    for path in files:
        ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 10))
