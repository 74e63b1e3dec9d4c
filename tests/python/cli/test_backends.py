"""profile --compare, explain --backends, --strict and the source of device kernels, from the command line."""
import json
import os
import subprocess

import pytest

NET = """#[version = "0.0.5"]
def @main(%data: Tensor[(1, 3, 12, 12), float32], %w: Tensor[(8, 3, 3, 3), float32]) {
  %0 = nn.conv2d(%data, %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %1 = nn.relu(%0);
  %2 = erf(%1);
  nn.softmax(%2)
}
"""

REGION = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  @region(%x)
}
def @region(%a: Tensor[(2, 3), float32], Compiler="dnnl", Primitive=1, Inline=1, global_symbol="region") -> Tensor[(2, 3), float32] {
  %1 = tanh(%a);
  BODY
}
"""


@pytest.fixture
def baton(tmp_path):
    (tmp_path / "net.relay").write_text(NET, encoding="utf-8")

    def run(*args, status=0):
        done = subprocess.run([os.environ["BATON_PROGRAM"], *args], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return run


def test_compare(baton, tmp_path):
    done = baton("profile", "net.relay", "--compare", "llvm,dnnl,mirror", "--max-seconds", "6", "-o", "p.csv", "-o", "p.json", "-o", "p.html")
    assert "kernels + copies + layouts = total" in done.stdout and "not taken: `erf` is not mapped" in done.stdout
    saved = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    assert saved["comparison"]["others"] == ["dnnl", "mirror"]
    assert (tmp_path / "p.comparison.csv").read_text(encoding="utf-8").startswith("model,target,machine,threads,opt_level,precision,version,node,calls,")
    assert '"comparison":{"base":"llvm"' in (tmp_path / "p.html").read_text(encoding="utf-8")
    again = baton("report", "p.json", "-o", "again.comparison.csv")
    assert "all kernels on llvm: " in again.stdout and (tmp_path / "again.comparison.csv").exists()


def test_compare_is_told_what_cannot_be(baton):
    assert "there is no backend `lvm`; did you mean `llvm`?" in baton("profile", "net.relay", "--compare", "lvm,dnnl", status=2).stderr
    assert "two backends at least" in baton("profile", "net.relay", "--compare", "llvm", status=2).stderr
    assert "leave --target out" in baton("profile", "net.relay", "--compare", "llvm,dnnl", "--target", "llvm", status=2).stderr
    baton("build", "net.relay", "-o", "net.baton")
    assert "is an artifact" in baton("profile", "net.baton", "--compare", "llvm,dnnl", status=2).stderr


def test_explain_backends(baton):
    text = baton("explain", "net.relay", "--backends", "dnnl,opencl").stdout
    assert "dnnl: taken, in the composite dnnl.conv2d_relu" in text
    assert "dnnl: not taken: `erf` is not mapped to dnnl" in text
    assert text.count("opencl: taken") == 4
    [erf] = [row for row in json.loads(baton("explain", "net.relay", "--backends", "dnnl", "--json").stdout)["operators"] if row["op"] == "erf"]
    assert erf["backends"] == {"dnnl": {"taken": False, "how": "`erf` is not mapped to dnnl"}}
    assert "did you mean `dnnl`" in baton("explain", "net.relay", "--backends", "dnn", status=2).stderr


def test_source_of_a_device_kernel(baton):
    text = baton("explain", "net.relay", "--target", "opencl", "--kernel", "fused_nn_softmax", "--asm").stdout
    assert text.startswith("tvmgen_default_fused_nn_softmax, for opencl\n") and "__kernel void" in text
    held = json.loads(baton("explain", "net.relay", "--target", "opencl", "--kernel", "fused_nn_softmax", "--asm", "--json").stdout)
    assert held["target"] == "opencl" and "get_group_id" in held["source"]
    assert "samples kernels of the processor" in baton("explain", "net.relay", "--target", "opencl", "--kernel", "fused_nn_softmax", "--asm", "--time", status=2).stderr


def test_explain_names_the_primitives_of_a_region(baton, tmp_path):
    (tmp_path / "region.relay").write_text(REGION.replace("BODY", "nn.softmax(%1)"), encoding="utf-8")
    text = baton("explain", "region.relay", "--operator", "tanh").stdout
    assert "  computed as eltwise by " in text and ", step 0 of region_" in text and "ab -> ab" in text


def test_strict(baton, tmp_path):
    (tmp_path / "region.relay").write_text(REGION.replace("BODY", "erf(%1)"), encoding="utf-8")
    assert "baton: warning: oneDNN does not compile region" in baton("run", "region.relay").stderr
    done = subprocess.run([os.environ["BATON_PROGRAM"], "run", "region.relay", "--strict"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode != 0 and "`erf` is not mapped to a primitive of oneDNN" in done.stderr and "warning" not in done.stderr
