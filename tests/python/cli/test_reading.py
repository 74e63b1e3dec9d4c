"""What a reader of a profile sees first: names, widths, colours, several models, standard input, workloads."""
import csv
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios

import pytest

import baton as tvm
from baton import parser, relay
from baton.relay import testing

HERE = pathlib.Path(__file__).parent
SMALL = HERE / "models" / "small.relay"
QUICK = ["--repeat", "5", "--no-inside", "--no-unfused", "--no-peaks"]


def baton(*arguments, text=None, cwd=None, **environment):
    return subprocess.run([os.environ["BATON_PROGRAM"], *arguments], input=text, cwd=cwd, capture_output=True, text=True, check=False,
                          timeout=300, env={**os.environ, **environment})


def on_terminal(columns, *arguments, **environment):
    """What the program writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**{name: value for name, value in os.environ.items() if name != "NO_COLOR"}, "TERM": "xterm", **environment}
    with subprocess.Popen([os.environ["BATON_PROGRAM"], *arguments], stdout=theirs, stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                block = os.read(ours, 1 << 16)
            except OSError:  # the terminal is closed
                break
            if not block:
                break
            text += block
        assert process.wait(timeout=300) == 0
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Two models in one call."""
    path = tmp_path_factory.mktemp("reading")
    done = baton("profile", "mlp", str(SMALL), *QUICK, "-o", "all.json", "-o", "all.csv", "-o", "all.html", cwd=path)
    assert done.returncode == 0, done.stderr
    return path


def test_several_models_in_one_call(saved):
    assert sorted(each.name for each in saved.iterdir()) == sorted(
        ["all.json", "all.kernels.csv", "all.operators.csv", "all.parts.csv", "all.mlp.html", "all.small.html"])
    reports = json.loads((saved / "all.json").read_text())
    assert [each["model"] for each in reports] == ["mlp", str(SMALL)]
    with open(saved / "all.kernels.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert {row["model"] for row in rows} == {"mlp", str(SMALL)}
    for row in rows:
        assert row["machine"] and int(row["threads"]) >= 1 and row["opt_level"] == "3" and row["version"] and row["target"] == "llvm"
    dense = rows[0]
    assert dense["title"] == "dense 784->128 + bias_add + relu, line 4"
    assert (dense["data_shape"], dense["weight_shape"], dense["result_shape"]) == ("1x784", "128x784", "1x128")
    shown = baton("report", str(saved / "all.json"))
    assert shown.stdout.count("time by operator") == 2
    assert "holds 2 profiles, and one is expected" in baton("diff", str(saved / "all.json"), str(saved / "all.json")).stderr


def test_a_model_that_fails_keeps_what_was_measured(tmp_path):
    done = baton("profile", str(SMALL), "no-such-model", *QUICK, "-o", "p.json", cwd=tmp_path)
    assert done.returncode == 1 and 'there is no model "no-such-model"' in done.stderr
    assert [each["model"] for each in json.loads((tmp_path / "p.json").read_text())] == [str(SMALL)]


def test_standard_input_is_a_model():
    done = baton("profile", "-", *QUICK, text=SMALL.read_text(encoding="utf-8"))
    assert done.returncode == 0 and done.stdout.startswith("stdin on llvm") and "lines are those of standard input" in done.stdout
    assert "standard input is empty" in baton("profile", "-", text="").stderr
    assert "`-` is given twice" in baton("profile", "-", "-", text="").stderr


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_the_table_fits_the_terminal(saved, columns):
    shown = on_terminal(columns, "report", str(saved / "all.json"))
    assert "\x1b[1m" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(map(len, plain.split("\n"))) <= columns
    assert "dense 784->128" in plain and ", line 4" in plain


def test_no_colours_when_they_are_not_wanted(saved):
    assert "\x1b" not in on_terminal(100, "report", str(saved / "all.json"), NO_COLOR="1")
    assert "\x1b" not in on_terminal(100, "report", str(saved / "all.json"), TERM="dumb")
    assert "\x1b" not in baton("report", str(saved / "all.json")).stdout


def test_top_and_sort(saved):
    few = baton("report", str(saved / "all.json"), "--top", "1", "--sort", "node").stdout
    assert "dense 784->128" in few and "dense 128->64" not in few and "3 more (--top N, --all)" in few
    assert baton("report", str(saved / "all.json"), "--sort", "size").returncode == 2


def test_models_lists_what_the_python_builders_build():
    rows = dict(line.split(None, 1) for line in baton("models").stdout.splitlines())
    assert {"dcgan", "resnet-3d", "resnet-18", "lstm"} <= set(rows)
    assert [each["name"] for each in json.loads(baton("models", "--json").stdout)] == list(rows)
    for name, made in (("dcgan", testing.dcgan.get_workload(1)[0]), ("resnet-3d", testing.resnet_3d.get_workload(1)[0]),
                       ("synthetic", testing.synthetic.get_workload()[0])):
        theirs = parser.fromtext(baton("print", name).stdout)
        ours = parser.fromtext(made.astext(show_meta_data=False))  # through text too: it rounds epsilon
        tvm.ir.assert_structural_equal(relay.transform.InferType()(theirs), relay.transform.InferType()(ours))


@pytest.mark.parametrize("variable", ["TVM_NUM_THREADS", "BATON_NUM_THREADS"])
def test_one_default_of_threads(variable):
    done = baton("profile", str(SMALL), *QUICK, "--json", **{variable: "1"})
    assert json.loads(done.stdout)["threads"] == 1
    done = baton("profile", str(SMALL), *QUICK, "--json", "--threads", "2", **{variable: "1"})
    assert json.loads(done.stdout)["threads"] == 2
