"""Files of examples/ are what the program prints, and what it reads."""
import json
import os
import pathlib
import subprocess

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"


def baton(*arguments):
    done = subprocess.run([os.environ["BATON_PROGRAM"], *arguments], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_resnet18_is_what_print_prints():
    assert (EXAMPLES / "resnet18.relay").read_text(encoding="utf-8") == baton("print", "resnet-18")


def test_resnet18_profiles_like_the_workload():
    from_file, by_name = (json.loads(baton("profile", model, "--json", "--no-inside", "--no-unfused", "--no-peaks", "--repeat", "1"))
                          for model in (str(EXAMPLES / "resnet18.relay"), "resnet-18"))
    assert [row["name"] for row in from_file["kernels"]] == [row["name"] for row in by_name["kernels"]]
    assert [row["origins"] for row in from_file["kernels"]] == [row["origins"] for row in by_name["kernels"]]
    assert [(row["op"], row["line"]) for row in from_file["operators"]] == [(row["op"], row["line"]) for row in by_name["operators"]]


def test_every_workload_prints_as_what_it_reads():
    known = subprocess.run([os.environ["BATON_PROGRAM"], "print", "?"], capture_output=True, text=True, check=False).stderr
    names = next(line for line in known.splitlines() if "known workloads:" in line).split(": ", 1)[1].split(", ")
    assert len(names) > 10
    for name in names:
        assert baton("print", name).startswith('#[version = "0.0.5"]\ndef @main(%data: ')
