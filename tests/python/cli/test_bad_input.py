"""Wrong use of the command line, each found by using it: what it says, and what it leaves behind."""
import json
import os
import pathlib
import random
import subprocess

import numpy as np
import pytest

MODELS = pathlib.Path(__file__).parent / "models"
HEAD = '#[version = "0.0.5"]\n'


def baton(*arguments, **more):
    return subprocess.run([os.environ["BATON_PROGRAM"], *map(str, arguments)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=120, **more)


@pytest.fixture
def model(tmp_path):
    """Makes a file of Relay text."""

    def make(parameters, *lines, name="m.relay"):
        path = tmp_path / name
        path.write_text(HEAD + f"def @main({parameters}) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n")
        return path

    return make


@pytest.mark.parametrize("parameters, line", [
    ("%x: Tensor[(4), float32]", "sum(broadcast_to(%x, shape=[1000000, 250000, 4]))"),
    ("%x: Tensor[(4), float32]", 'add(%x, sum(ones(shape=[1000000, 1000000], dtype="float32")))'),
    ("%x: Tensor[(1000000, 4), float32], %w: Tensor[(1000000, 4), float32]", "nn.dense(%x, %w, units=1000000)"),
])
def test_a_million_millions_of_elements_are_no_bug(model, parameters, line):
    done = baton("run", model(parameters, line))
    assert done.returncode == 1
    assert "which is too large for a kernel" in done.stderr and "bug" not in done.stderr


def test_an_element_type_that_no_kernel_computes(model):
    done = baton("run", model("%x: Tensor[(4, 4), float99]", "exp(%x)"))
    assert done.returncode == 1
    assert 'element type "float99" has no kernel type' in done.stderr and "bug" not in done.stderr


@pytest.mark.parametrize("stream, why", [("> /dev/full", "No space left on device"), (">&-", "it is closed")])
def test_output_that_cannot_be_written(model, stream, why):
    path = model("%x: Tensor[(4), float32]", "exp(%x)")
    done = subprocess.run(["sh", "-c", f'"$BATON_PROGRAM" print {path} {stream}'], capture_output=True, text=True, check=False,
                          timeout=120)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"baton: not all was written to standard output: {why}\n"


def test_a_closed_stream_is_not_a_file_of_ours(model, tmp_path):
    path, out = model("%x: Tensor[(4), float32]", "exp(%x)"), tmp_path / "out.npz"
    subprocess.run(["sh", "-c", f'"$BATON_PROGRAM" run {path} -o {out} >&- 2>&-'], check=False, timeout=120)
    assert list(np.load(out)) == ["output0"]


@pytest.mark.parametrize("verb, flag, value, said", [
    ("run", "--threads", "-1", "--threads: Value -1 not in range"), ("run", "--threads", "999", "--threads: Value 999 not in range"),
    ("bench", "--threads", "999", "--threads: Value 999 not in range"), ("bench", "--min-ms", "nan", "--min-ms: nan is not a number"),
    ("bench", "--min-ms", "-3", "--min-ms: Value -3 not in range"), ("profile", "--inside-ms", "nan", "--inside-ms: nan is not a number"),
    ("profile", "--wait=nan", "", "nan is not a number"),
])
def test_numbers_that_mean_nothing(model, verb, flag, value, said):
    done = baton(verb, model("%x: Tensor[(4), float32]", "exp(%x)"), flag, *filter(None, [value]))
    assert done.returncode == 2
    assert said in done.stderr


def test_an_empty_profile(tmp_path):
    (tmp_path / "empty.json").write_text("")
    for verb, *more in (("report",), ("diff", tmp_path / "empty.json")):
        done = baton(verb, tmp_path / "empty.json", *more)
        assert done.returncode == 1
        assert "is no profile" in done.stderr and "ioctl" not in done.stderr


def test_a_byte_order_mark_is_named(model):
    path = model("%x: Tensor[(4), float32]", "exp(%x)")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    done = baton("print", path)
    assert done.returncode == 1
    assert "unexpected character U+FEFF, a byte order mark: save the file without it" in done.stderr


def test_extract_takes_its_empty_folders_away(model, tmp_path):
    path = model("%x: Tensor[(4), float32]", "exp(%x)")
    assert baton("extract", path, "--operators", "%7", "-o", tmp_path / "a" / "b").returncode != 0
    assert not (tmp_path / "a").exists()
    (tmp_path / "mine").mkdir()
    assert baton("extract", path, "--operators", "%7", "-o", tmp_path / "mine").returncode != 0
    assert (tmp_path / "mine").exists()
    assert baton("extract", path, "--operators", "exp", "-o", tmp_path / "a" / "b").returncode == 0
    assert (tmp_path / "a" / "b" / "cut.relay").exists()


def test_weights_by_rule_are_noted_where_a_file_lacks_them(model, tmp_path):
    path = model("%data: Tensor[(2, 4), float32], %w: Tensor[(3, 4), float32], %b: Tensor[(3), float32]",
                 "nn.bias_add(nn.dense(%data, %w, units=3), %b)")
    np.savez(tmp_path / "w.npz", w=np.ones((3, 4), "float32"))
    done = baton("run", path, "--params", tmp_path / "w.npz")
    assert done.returncode == 0
    assert done.stderr == f"note: {tmp_path / 'w.npz'} has no value for %b: filled in by the tensor rule (docs/guide.md)\n"
    np.savez(tmp_path / "all.npz", w=np.ones((3, 4), "float32"), b=np.ones(3, "float32"))
    assert baton("run", path, "--params", tmp_path / "all.npz").stderr == ""


def test_float32_attributes_are_written_as_they_are_meant(model):
    path = model("%data: Tensor[(1, 4, 8, 8), float32], %g: Tensor[(4), float32], %b: Tensor[(4), float32], "
                 "%m: Tensor[(4), float32], %v: Tensor[(4), float32]",
                 "%0 = nn.batch_norm(%data, %g, %b, %m, %v, epsilon=2e-05f);", "nn.relu(%0.0)")
    operators = json.loads(baton("explain", path, "--json").stdout)["operators"]
    assert operators[0]["attrs"] == {"epsilon": 2e-05}


def test_explain_has_one_block_for_a_pass_that_changes_an_operator_twice():
    lines = baton("explain", "resnet-18", "--operator", "%3").stdout.splitlines()
    passes = [line for line in lines if line.startswith("  ") and not line.startswith("   ") and " " not in line[2:]]
    assert "  AlterOpLayout" in passes
    assert all(a != b for a, b in zip(passes, passes[1:]))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_flipped_bit_of_an_npz_is_refused_or_means_nothing(model, tmp_path, save):
    path = model("%x: Tensor[(3, 5), float32]", "negative(%x)")
    whole, file = tmp_path / "x.npz", tmp_path / "flipped.npz"
    save(whole, x=np.random.default_rng(1).random((3, 5)).astype("float32"))
    expected, data, random_bits = baton("run", path, "--inputs", whole).stdout, whole.read_bytes(), random.Random(17)
    assert "output0" in expected
    refused = 0
    for bit in random_bits.sample(range(8 * len(data)), 60):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        done = baton("run", path, "--inputs", file)
        refused += done.returncode == 1
        assert done.returncode == 1 or (done.returncode, done.stdout) == (0, expected), bit
    assert refused > 20


def test_artifacts_are_verified_unless_told_otherwise(model, tmp_path):
    path = model("%data: Tensor[(2, 40), float32], %w: Tensor[(30, 40), float32]", "nn.dense(%data, %w, units=30)")
    file = tmp_path / "m.baton"
    assert baton("build", path, "-o", file).returncode == 0
    damaged = bytearray(file.read_bytes())
    damaged[-1000] ^= 16
    file.write_bytes(damaged)
    for verb in ("run", "profile"):
        done = baton(verb, file)
        assert (done.returncode, done.stdout) == (1, "")
        assert "is damaged in its constants; build it again with `baton build`" in done.stderr
    assert baton("run", file, "--no-verify").returncode == 0


def test_programs_that_differ_in_sharing_have_reports_of_their_own(model, tmp_path):
    shared = model("%x: Tensor[(1, 64), float32]", "%0 = exp(%x);", "maximum(%0, %0)", name="shared.relay")
    apart = model("%x: Tensor[(1, 64), float32]", "maximum(exp(%x), exp(%x))", name="apart.relay")
    for i, order in enumerate(([shared, apart], [apart, shared])):
        for path in order:
            done = baton("profile", path, "--opt-level", "2", "--no-peaks", "--no-unfused", "--json",
                         env={**os.environ, "BATON_CACHE_DIR": str(tmp_path / f"cache{i}")})
            assert done.returncode == 0, done.stderr
            kernels = json.loads(done.stdout)["kernels"]
            assert [len(kernel["origins"]) for kernel in kernels] == [2 if path == shared else 3]
