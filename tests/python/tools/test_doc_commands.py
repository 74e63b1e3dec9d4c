"""Every command of README.md and the guide: that its options exist (quick), and that it works in a clone in which nobody has
run anything but the first one (slow)."""
import functools
import json
import os
import re
import shlex
import shutil
import subprocess

import doc_commands
import pytest

ROOT = doc_commands.ROOT
ALL = [command for document in doc_commands.DOCUMENTS for command in doc_commands.commands(document)]
VERBS = {"test", "setup", "python"}  # of the launcher

# ---- quick


@functools.cache
def help_of(verb):
    done = subprocess.run([os.environ["BATON_PROGRAM"], verb, "--help"], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def test_the_documents_have_commands():
    assert len(ALL) > 40 and {command.document for command in ALL} == set(doc_commands.DOCUMENTS)
    assert {"profile", "map", "store", "measure", "explain", "extract", "diff", "opt", "targets"} <= {command.verb for command in ALL}


@pytest.mark.parametrize("command", ALL, ids=str)
def test_verbs_and_options_exist(command):
    if command.verb in VERBS or not command.verb:
        return
    known = help_of(command.verb)
    assert known, f"{command}: there is no verb {command.verb}"
    for word in command.words[2:]:
        if re.fullmatch(r"--?[a-z][\w-]*(=.*)?", word):
            assert re.search(re.escape(word.split("=")[0]) + r"\b", known), f"{command}: no option {word}"


@pytest.mark.parametrize("snippet", [each for document in doc_commands.DOCUMENTS for each in doc_commands.snippets(document)],
                         ids=lambda each: f"{each.document}:{each.line}")
def test_snippets_are_python(snippet):
    compile(snippet.text, f"{snippet.document}:{snippet.line}", "exec")


# ---- slow: a clone of its own

# What is not run, and why.
ELSEWHERE = {
    r"baton test": "this is one of its tests",
    r"\bssh://|slurm\?|dask://|^dask |^DASK": "needs other machines",
    r"aarch64": "needs compilers for another processor (test_cross.py)",
    r"^pip ": "test_wheel.py",
    r"--predictor": "needs a predictor (test_predict.py)",
}
# What a reader puts in the place of a word. ResNet-50 takes minutes to map and needs nothing that a small network does not.
INSTEAD = {"resnet-50": "mlp", "%12": "%2", "NAME": "openblas", "/path/mine.json": "mine.json", "sim -sheet=/path/mine.json": "sim -sheet=mine.json",
           "SELECT ...": "SELECT brief, median_us FROM rows", "2000": "4", "40": "1"}
FASTER = {"measure": ["--max-hours", "0.002"], "profile": ["--max-seconds", "2", "--repeat", "2"], "map": ["--max-seconds", "20"],
          "bench": ["resnet-18", "--min-ms", "1", "--bursts", "3"]}
SHEET = "src/baton/codegen/sim/sheets/fast_gpu.json"
PREAMBLE = """
import numpy as np
import baton as tvm
import baton
from baton import relay
mod, params = relay.testing.mlp.get_workload(batch_size=1)
x = np.ones((1, 1, 28, 28), "float32")
data = [x, x]
result = type("Result", (), {"mod": mod})
"""


def launched(clone, words, timeout=3000):
    return subprocess.run(words, cwd=clone, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=timeout,
                          env={name: value for name, value in os.environ.items() if not name.startswith("BATON_") or name == "BATON_CACHE_DIR"})


@pytest.fixture(scope="module", name="clone")
def _clone(tmp_path_factory):
    """What git knows of this tree, without anything that was built, after the first command of README."""
    clone = tmp_path_factory.mktemp("fresh") / "clone"
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).exists():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    first = launched(clone, ["./baton", "profile", "resnet-18", "--max-seconds", "5"])
    assert first.returncode == 0, first.stderr
    return clone


def adapted(command):
    words = [INSTEAD.get(word, word) for word in command.words]
    if command.words[0] == "baton":
        words[0] = "./baton"
    if "--max-hours" in words:
        words[words.index("--max-hours") + 1] = "0.002"
    if command.verb == "explain" and "--kernel" in words:
        words[words.index("--kernel") + 1] = "fused_nn_softmax"
    extra = FASTER.get(command.verb, [])
    measures = not {"--predictor", "--no-measure"} & set(words)
    return words if set(words) & set(extra) or not measures else words + extra


def prepare(clone):
    """What the reader has: files of a model, of a design, of a sheet; another store; what another engine wrote."""
    for name in ("model.onnx", "optimized.onnx"):
        shutil.copyfile(ROOT / "tests/fuzz/corpus/onnx/gemm", clone / name)
    event = {"cat": "Node", "tid": 1, "ts": 0, "dur": 5, "name": "Gemm_0_kernel_time", "args": {"op_name": "Gemm", "provider": "CPU"}}
    (clone / "onnxruntime_profile.json").write_text(json.dumps([event]), encoding="utf-8")
    (clone / "net.relay").write_text((ROOT / "tests/python/cli/models/small.relay").read_text(encoding="utf-8"), encoding="utf-8")
    sheet = json.loads((ROOT / SHEET).read_text(encoding="utf-8"))
    (clone / "mine.json").write_text(json.dumps({**sheet, "name": "mine"}), encoding="utf-8")
    (clone / "design.json").write_text(json.dumps({"models": ["mlp"]}), encoding="utf-8")
    for words in (["profile", "mlp", "--store", "OTHER.db", "-o", "p.json", "--max-seconds", "2"],
                  ["profile", "mlp", "--store", "m.db", "--max-seconds", "2"]):
        done = launched(clone, ["./baton", *words])
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_every_command_works_in_a_clone_that_only_ran_the_first(clone):
    """README's `--compare llvm,dnnl,opencl` and `map` ended with "there is no plug-in `dnnl` here"."""
    failed = []
    prepare_done = False
    for command in ALL:
        if any(re.search(pattern, command.text) for pattern in ELSEWHERE):
            continue
        if not prepare_done and command.document != "README.md":
            prepare(clone)
            prepare_done = True
        words = adapted(command)
        done = launched(clone, ["bash", "-c", command_line(command, words)])
        if done.returncode != 0:
            failed.append(f"{command}\n  {' '.join(words)}\n  {done.stderr[-600:]}")
    assert not failed, "\n".join(failed)


def command_line(command, words):
    if command.words[0] == "cc":  # with a substitution of the shell
        return (ROOT / command.document).read_text(encoding="utf-8").splitlines()[command.line - 1]
    return shlex.join(words)


@pytest.mark.slow
@pytest.mark.parametrize("snippet", [each for document in doc_commands.DOCUMENTS for each in doc_commands.snippets(document)],
                         ids=lambda each: f"{each.document}:{each.line}")
def test_every_snippet_works_there(clone, snippet):
    text = snippet.text.replace("    ...\n", "    pass\n")
    (clone / "snippet.py").write_text(PREAMBLE + text, encoding="utf-8")
    done = launched(clone, ["./baton", "python", "snippet.py"])
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_wheel_can_be_made_there(clone):
    """Its plug-ins had not been built."""
    done = launched(clone, ["build/venv/bin/python", "tools/make_wheel", "wheels"])
    assert done.returncode == 0, done.stderr
    assert list((clone / "wheels").glob("*.whl"))
