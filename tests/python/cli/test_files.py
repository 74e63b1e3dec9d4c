"""Options that name a file, with what is none: every message names the file, and nothing is measured first."""
import os
import subprocess

import numpy as np
import pytest

NET = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(3, 4), float32]) {
  nn.relu(nn.dense(%x, %w, units=3))
}
"""

# {} is the file. Options of one verb each; what reads a format that several verbs share is here once.
READ = {
    "model": "print {}.relay",
    "artifact": "run {}.baton",
    "artifact of explain": "explain {}.baton",
    "weights": "run net.relay --params {}",
    "inputs": "run net.relay --inputs {}",
    "inputs of a cut": "extract net.relay --operators nn.relu --inputs {} -o cut",
    "mapping": "explain net.relay --mapping {}",
    "mapping to partition": "partition net.relay --mapping {}",
    "mapping beside others": "map net.relay --targets dnnl --also {}",
    "backend": "run net.relay --backend {}",
    "sheet": "targets --quick --target sim\\ -sheet={}.json",
    "profile": "report {}",
    "profile to compare": "diff {} {}",
    "table of schedules": "tune net.relay --export {} --seconds 0",
    "measurements": "store import {} --store s.db",
    "profile as measurements": "store import {}.json --store s.db",
    "store": "store stats --store {}",
    "store to merge": "store merge {} --store s.db",
    "store of a training": "train --store {} -o p.predictor",
    "predictor": "predict net.relay --predictor {}",
    "prices": "map net.relay --targets dnnl --prices {}",
    "design": "measure --design {} --store s.db --campaign x",
    "folder of inputs": "bench net.relay --input {}",
}
WRITTEN = {
    "artifact": "build net.relay -o {}",
    "outputs": "run net.relay -o {}",
    "profile": "profile net.relay -o {}.json",
    "cut": "extract net.relay --operators nn.relu -o {}.relay",
    "module": "partition net.relay --operators nn.relu --compiler c -o {}.relay",
    "table of schedules": "tune net.relay --export {} --seconds 30",
    "store": "profile net.relay --store {} --max-seconds 30",
    "measurements": "store export --store good.db -o {}.jsonl",
    "mapping": "map net.relay --targets dnnl -o {}.json",
    "predictor": "train --store good.db -o {}",
    "folder of outputs": "bench net.relay --output {}",
}


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "net.relay").write_text(NET, encoding="utf-8")
    done = baton(folder, "profile net.relay --store good.db --max-seconds 1 --repeat 1 --no-inside --no-unfused --no-peaks")
    assert done.returncode == 0, done.stderr
    np.savez(folder / "whole.npz", x=np.ones((2, 4), "float32"))
    return folder


def baton(folder, line, timeout=120):
    return subprocess.run(f'"$BATON_PROGRAM" {line}', shell=True, cwd=folder, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=timeout, env={**os.environ, "BATON_CACHE_DIR": str(folder / "cache")})


def make(folder, kind, line):
    """The file of that kind; its ending is in the line."""
    name = f"a_{kind}"
    ending = next((end for end in (".relay", ".baton", ".jsonl", ".json") if "{}" + end in line), "")
    path = folder / (name + ending)
    if kind == "folder":
        path.mkdir(exist_ok=True)
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "other":
        path.write_bytes(b"\x00\x01\x02 something else\n" * 40)
    elif kind == "truncated":
        path.write_bytes((folder / "whole.npz").read_bytes()[:60])
    return name, path


@pytest.mark.parametrize("kind", ["folder", "missing", "empty", "other", "truncated"])
@pytest.mark.parametrize("what", READ)
def test_what_cannot_be_read_is_named(folder, what, kind):
    line = READ[what]
    name, path = make(folder, kind, line)
    done = baton(folder, line.replace("{}", name))
    if (what, kind) == ("table of schedules", "missing"):
        assert done.returncode == 0, done.stderr  # it is made
        path.unlink()
        return
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert name in done.stderr and "bug" not in done.stderr and "terminate" not in done.stderr
    assert "json.exception" not in done.stderr


@pytest.mark.parametrize("kind", ["folder", "nowhere"])
@pytest.mark.parametrize("what", WRITTEN)
def test_what_cannot_be_written_is_named(folder, what, kind):
    line = WRITTEN[what]
    name, path = make(folder, kind, line)
    if kind == "nowhere":
        name = "nowhere/file"
    if what == "folder of outputs":
        (folder / "plain").write_text("")
        name = "plain/outputs"
    done = baton(folder, line.replace("{}", name))
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert name in done.stderr and "bug" not in done.stderr, done.stderr
    assert "/" in name or path.is_dir()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads and writes everything")
@pytest.mark.parametrize("what", READ)
def test_what_may_not_be_read_is_named(folder, what):
    line = READ[what]
    name, path = make(folder, "other", line)
    path.chmod(0)
    try:
        done = baton(folder, line.replace("{}", name))
    finally:
        path.chmod(0o600)
    assert done.returncode in (1, 2) and name in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads and writes everything")
def test_a_store_in_a_folder_that_may_not_be_written_to(folder, tmp_path):
    (tmp_path / "s.db").write_bytes((folder / "good.db").read_bytes())
    tmp_path.chmod(0o500)
    try:
        for line in (f"store stats --store {tmp_path}/s.db", f"store import x.jsonl --store {tmp_path}/s.db"):
            done = baton(folder, line)
            assert done.returncode == 0 or f"{tmp_path}/s.db" in done.stderr
    finally:
        tmp_path.chmod(0o700)
