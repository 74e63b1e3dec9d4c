"""What had no effect without a word: options, variables of the environment, arrays in files, names of processors and features."""
import os
import subprocess
import sys

import numpy as np
import pytest

TWO = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 4), float32], %y: Tensor[(2, 4), float32]) {
  nn.relu(add(%x, %y))
}
"""
OPEN = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 4), float32], %w: Tensor[(3, 4), float32]) {
  nn.dense(%x, %w)
}
"""
CALLS = """#[version = "0.0.5"]
def @f(%n: int32) -> int32 { if (less(%n, 1)) { 1 } else { multiply(%n, @f(subtract(%n, 1))) } }
def @main(%n: int32) -> int32 { @f(%n) }
"""
BRANCH = """#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32], %c: Tensor[(), bool]) {
  if (%c) { nn.relu(%x) } else { (negative(%x)) }
}
"""


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ignored")
    for name, text in (("two", TWO), ("open", OPEN), ("branch", BRANCH)):
        (folder / f"{name}.relay").write_text(text, encoding="utf-8")
    ones = np.ones((2, 4), "float32")
    np.savez(folder / "x.npz", x=ones)
    np.savez(folder / "both.npz", x=ones, y=-3 * ones)
    np.savez(folder / "other.npz", x=ones, z=ones)
    np.savez(folder / "doubles.npz", x=ones.astype("float64"))
    np.savez(folder / "turned.npz", x=ones.T)
    np.savez(folder / "flag.npz", x=np.array([1, -1], "float32"), c=np.array(False))
    (folder / "arrays").mkdir()
    np.save(folder / "arrays" / "x.npy", ones)
    assert baton(folder, "build two.relay -o two.baton").returncode == 0
    return folder


def baton(folder, line, **environment):
    return subprocess.run(f'"$BATON_PROGRAM" {line}', shell=True, cwd=folder, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=120,
                          env={**os.environ, "BATON_CACHE_DIR": str(folder / "cache"), **environment})


@pytest.mark.parametrize("line, option, why", [
    ("run two.baton --target opencl", "target", "artifact"),
    ("run two.baton --target llvm", "target", "artifact"),
    ("run two.baton --opt-level 3", "opt-level", "artifact"),  # although that is the default
    ("run two.baton --precision strict", "precision", "artifact"),
    ("run two.baton --params x.npz", "params", "artifact"),
    ("run two.baton --shape x=1,4", "shape", "artifact"),
    ("run two.baton --input-name x", "input-name", "artifact"),
    ("run two.baton --strict", "strict", "artifact"),
    ("run two.baton --debug-lines", "debug-lines", "artifact"),
    ("run two.baton --executor interpreter", "executor", "artifact"),
    ("profile two.baton --target opencl", "target", "artifact"),
    ("profile two.relay two.baton --precision bf16", "precision", "artifact"),
    ("explain two.baton --opt-level 0", "opt-level", "artifact"),
    ("explain two.baton --debug-dir lines", "debug-dir", "artifact"),
    ("run two.relay --executor interpreter --target opencl", "target", "operator by operator"),
    ("run two.relay --executor interpreter --precision strict", "precision", "operator by operator"),
    ("profile two.relay --sample --store s.db", "store", "--sample"),
    ("profile two.relay --sample --compare llvm,dnnl", "compare", "--sample"),
    ("profile two.relay --sample --max-seconds 3", "max-seconds", "--sample"),
    ("profile two.relay --hz 100", "hz", "--sample"),
    ("profile two.relay --family mine", "family", "--store"),
    ("profile two.relay --compare llvm,dnnl --inside-ms 20", "inside-ms", "--compare"),
    ("print two.relay --opt-level 0", "opt-level", "as it was read"),
    ("print two.relay --params x.npz", "params", "as it was read"),
    ("targets --quick --again", "again", "--quick"),
    ("tune two.relay --forget --seconds 3", "seconds", "--forget"),
    ("store stats --op nn.relu", "op", "stats"),
    ("store merge a.db --csv", "csv", "merge"),
    ("store query --check", "check", "query"),
    ("profile two.relay --json --top 3", "top", "--json"),
    ("profile two.relay --trace-runs 3 -o p.html", "trace-runs", ".trace.json"),
    ("report p.json --json --all", "all", "--json"),
    ("report p.json --trace-runs 3", "trace-runs", ".trace.json"),
    ("predict two.relay --json --sort node", "sort", "--json"),
    ("predict two.relay --trace-runs 3 -o p.trace.json", "trace-runs", "prediction"),
    ("map two.relay --targets llvm --predictor p --max-seconds 3", "max-seconds", "--predictor"),
    ("map two.relay --targets llvm --store s.db --no-measure --wait=3", "wait", "--no-measure"),
    ("map two.relay --targets llvm --store s.db --no-measure --also m.json", "also", "--no-measure"),
    ("train --store s.db --features f.csv --depth 3", "depth", "--features"),
    ("train --store s.db -o p --search --depth 3", "depth", "--search"),
    ("measure mlp --variations 3", "variations", "--families"),
    ("measure mlp --uncertainty x.npz", "uncertainty", "--patterns"),
    ("measure mlp --worker-wait 3", "worker-wait", "--on"),
    ("measure mlp --tls-key k", "tls-key", "--on"),
    ("store query --sql 'SELECT 1' --op nn.relu", "op", "query"),
    ("store export --json", "json", "export"),
])
def test_an_option_without_effect_is_refused(folder, line, option, why):
    done = baton(folder, line)
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"--{option} has no effect" in done.stderr and why in done.stderr


def test_options_that_have_an_effect_on_a_built_file(folder):
    for line in ("run two.baton --inputs x.npz --threads 1 --no-verify", "profile two.baton --repeat 1 --no-peaks --threads 1",
                 "run two.baton --debug-dir kernels"):
        done = baton(folder, line)
        assert done.returncode == 0, done.stderr


def test_an_input_that_the_file_lacks_is_said_to_be_made_up(folder):
    done = baton(folder, "run two.relay --input-name x y --inputs x.npz")
    assert done.returncode == 0
    assert done.stderr == "note: x.npz has no value for %y: filled in by the tensor rule (docs/guide.md)\n"
    done = baton(folder, "run two.relay --input-name x y --inputs both.npz")
    assert (done.returncode, done.stderr) == (0, "") and "[0, 0," in done.stdout
    done = baton(folder, "bench two.relay --input-name x y --input arrays --min-ms 1 --bursts 3")
    assert done.returncode == 0 and "note: arrays has no value for %y" in done.stderr


@pytest.mark.parametrize("line, said", [
    ("run two.relay --inputs other.npz", 'other.npz: array "z" is no input of the model (the inputs are %x)'),
    ("run two.baton --inputs other.npz", 'other.npz: array "z" is no input of the model (the inputs are %x)'),
    ("run two.relay --inputs both.npz", 'both.npz: array "y" is a weight of the model: give it by --params, or make it an input by --input-name y'),
    ("run two.relay --inputs doubles.npz", 'doubles.npz: array "x" is float64[2, 4], the input %x is float32[2, 4]'),
    ("run two.relay --inputs turned.npz", 'turned.npz: array "x" is float32[4, 2], the input %x is float32[2, 4]'),
    ("run two.relay --params other.npz --input-name y", 'other.npz: array "z" is no parameter of main that takes a weight; its parameters are %x, %y'),
    ("run two.relay --params x.npz", 'x.npz: array "x" is no parameter of main that takes a weight: it is an input, whose value --inputs gives'),
    ("run two.relay --input-name q", 'two.relay: main has no parameter "q" to be an input; its parameters are %x, %y'),
])
def test_arrays_that_fit_nowhere(folder, line, said):
    done = baton(folder, line)
    assert done.returncode in (1, 2) and said in done.stderr, done.stderr


def test_an_input_may_be_named_twice(folder):
    """`--input-name x x` ended with "main has no parameter x"."""
    done = baton(folder, "run two.relay --input-name x x")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name, value, said", [
    ("TVM_NUM_THREADS", "-5", "is no number of threads from 1 to 256"), ("TVM_NUM_THREADS", "abc", "is no number of threads"),
    ("BATON_NUM_THREADS", "4 ", "is no number of threads"), ("BATON_NUM_THREADS", "257", "is no number of threads"),
    ("BATON_NUM_THREADS", "1e2", "is no number of threads"), ("TVM_NUM_THREADS", "99999999999999999999", "is no number of threads"),
    ("BATON_CLOCK", "sundial", "is no clock"), ("BATON_CACHE_MB", "-1", "is no number of megabytes"), ("BATON_CACHE_MB", "10G", "is no number"),
])
def test_variables_that_mean_nothing(folder, name, value, said):
    done = baton(folder, "print two.relay", **{name: value})
    assert done.returncode == 2 and f"{name}={value} {said}" in done.stderr


@pytest.mark.parametrize("name, value, said", [
    ("BATON_LINKER", "/nowhere/ld", "is no program"), ("BATON_RUNNER", "/nowhere/runner", "is no program"),
    ("BATON_PLUGINS", "/tmp:/nowhere/plugins", "names a folder that is not there"), ("BATON_POWERCAP", "/nowhere", "is not there"),
    ("BATON_NUM_TREADS", "4", "did you mean BATON_NUM_THREADS?"), ("BATON_CACHE_DIRS", "/tmp", "did you mean BATON_CACHE_DIR?"),
])
def test_variables_that_lead_nowhere_are_warned_of(folder, name, value, said):
    done = baton(folder, "print two.relay", **{name: value})
    assert done.returncode == 0 and done.stderr.startswith("baton: warning: ") and name in done.stderr and said in done.stderr


def test_variables_with_a_meaning(folder):
    for name, value in (("TVM_NUM_THREADS", "1"), ("TVM_NUM_THREADS", "0"), ("BATON_CLOCK", "system"), ("BATON_NUM_THREADS", ""),
                        ("BATON_SOMETHING_ELSE_ENTIRELY", "1"), ("TVM_LOG_DEBUG", "1"), ("BATON_CACHE_MB", "100")):
        done = baton(folder, "run two.relay", **{name: value})
        assert (done.returncode, done.stderr) == (0, ""), (name, value)


@pytest.mark.parametrize("target, said", [
    ("llvm -mattr=+bogus", "there is no feature `bogus`"), ("llvm -mattr=+avx2,-fmaa", "did you mean `fma`?"),
    ("llvm -mcpu=bogus", "no processor is known as `bogus`"), ("llvm -mcpu=znver33", "did you mean `znver3`?"),
    ("llvm -mtriple=aarch64-linux-gnu -mattr=+avx2", "there is no feature `avx2`"),
    ("llvm -mtriple=x86_64-linux-gnu -mcpu=nonsense", "no processor is known as `nonsense`"),
    ("llvm -mtriple=bogus", "no code generator for the architecture `bogus`"), ("llvm -bogus=1", "llvm has no option -bogus"),
    ("llvm -mcp=haswell", "did you mean -mcpu?"), ("opencl -mcpu=znver3", "opencl has no option -mcpu"),
    ("cuda -aarch=sm_80", "did you mean -arch?"), ("sim -sheet=npu -bogus", "sim has no option -bogus"),
])
def test_targets_with_words_that_mean_nothing(folder, target, said):
    done = baton(folder, f"build two.relay -o t.baton --target '{target}'")
    assert done.returncode == 2 and said in done.stderr, done.stderr


@pytest.mark.parametrize("target", ["llvm -mcpu=skylake-avx512 -mattr=+avx512vnni,-avx512bf16", "llvm -mattr=+avx2,+bmi2,+popcnt",
                                    "llvm -device=x -model=y -libs=cblas -num-cores=2 -opt-level=3", "llvm -mcpu=core2", "llvm -keys=cpu"])
def test_targets_as_scripts_write_them(folder, target):
    done = baton(folder, f"build two.relay -o t.baton --target '{target}'")
    assert done.returncode == 0, done.stderr


def test_programs_that_are_no_plans_run_on_the_virtual_machine(folder):
    done = baton(folder, "run open.relay --executor graph")
    assert done.returncode == 1 and "relay.vm.compile" in done.stderr
    for executor in ("", "--executor vm", "--executor interpreter"):
        done = baton(folder, f"run open.relay {executor}")
        assert done.returncode == 1 and "parameter %x is Tensor[(?, 4), float32]" in done.stderr and "--inputs" in done.stderr
        done = baton(folder, f"run open.relay {executor} --inputs x.npz -o out.npz")
        assert (done.returncode, done.stderr) == (0, "")
        assert np.load(folder / "out.npz")["output0"].shape == (2, 3)
        done = baton(folder, f"run branch.relay {executor} --inputs flag.npz")
        assert (done.returncode, done.stdout) == (0, "output0: float32[2] = [-1, 1]\n")
        done = baton(folder, f"run branch.relay {executor} --inputs x.npz")
        assert done.returncode == 1 and "x.npz: " in done.stderr
    (folder / "calls.relay").write_text(CALLS, encoding="utf-8")  # whose main only calls a function
    np.savez(folder / "n.npz", n=np.array(5, "int32"))
    assert baton(folder, "run calls.relay --inputs n.npz").stdout == "output0: int32[] = [120]\n"
    results = [baton(folder, f"run two.relay --executor {name} --inputs x.npz").stdout for name in ("graph", "vm", "interpreter")]
    assert results[0] == results[1] == results[2]


def test_programs_are_built_into_files(folder):
    done = baton(folder, "build open.relay -o open.baton")
    assert done.returncode == 0, done.stderr
    done = baton(folder, "run open.baton --inputs x.npz -o out.npz")
    assert done.returncode == 0 and np.load(folder / "out.npz")["output0"].shape == (2, 3), done.stderr
    assert baton(folder, "build branch.relay -o branch.baton").returncode == 0
    assert baton(folder, "run branch.baton --inputs flag.npz").stdout == "output0: float32[2] = [-1, 1]\n"
    done = baton(folder, "run open.baton")
    assert done.returncode == 1 and "parameter %x has no value" in done.stderr
    assert baton(folder, "explain open.baton").stdout.strip()
    content = (folder / "open.baton").read_bytes()
    (folder / "cut.baton").write_bytes(content[:len(content) // 2])
    done = baton(folder, "run cut.baton --inputs x.npz")
    assert done.returncode == 1 and "cut.baton" in done.stderr, done.stderr


def test_python_warns_of_variables_once(folder):
    script = "import warnings\nwith warnings.catch_warnings(record=True) as seen:\n    warnings.simplefilter('always')\n    import baton\nprint([str(each.message) for each in seen])"
    done = subprocess.run([sys.executable, "-c", script], cwd=folder,
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "TVM_NUM_THREADS": "many", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)})
    assert "TVM_NUM_THREADS=many is no number of threads" in done.stdout, done.stderr
