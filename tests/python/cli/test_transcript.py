"""Every message of the command line that a user may meet, character for character: transcript.txt."""
import os
import pathlib
import re
import shlex
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
TRANSCRIPT = HERE / "transcript.txt"


def run(command):
    """Output (standard output, then standard error) and exit status, as text."""
    done = subprocess.run([os.environ["BATON_PROGRAM"], *shlex.split(command)[1:]], cwd=HERE / "models", text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)
    output = re.sub(r"\d+\.\d\d\d? (m?s)", r"N \1", done.stdout + done.stderr)
    return output.rstrip("\n") + f"\n[{done.returncode}]\n"


def entries():
    """Command -> what stands below it."""
    blocks = re.split(r"^\$ ", TRANSCRIPT.read_text(encoding="utf-8"), flags=re.M)[1:]
    return dict(block.split("\n", 1) for block in blocks)


@pytest.mark.parametrize("command", entries())
def test_command(command):
    assert run(command) == entries()[command]


def update():
    head = TRANSCRIPT.read_text(encoding="utf-8").split("\n$ ", 1)[0]
    text = head + "\n" + "".join(f"$ {command}\n{run(command)}" for command in entries())
    TRANSCRIPT.write_text(text, encoding="utf-8")


if os.environ.get("BATON_UPDATE_TRANSCRIPT"):
    update()
