"""The C interface of the runtime with programs of the virtual machine: from C, and function by function."""
import ctypes
import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIBRARY = pathlib.Path(os.environ["BATON_PROGRAM"]).resolve().parent / "lib" / "libbaton_runtime.so"

LOOP = """
def @loop(%i: int32, %x: Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] {
  if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), add(%x, 1f)) }
}
def @main(%n: int32, %x: Tensor[(?, 4), float32]) { (@loop(%n, %x), sum(%x), %x) }
"""
PAIR = """
def @main(%p: (Tensor[(?, 3), float64], (int64, Tensor[(?), int8])), %w: Tensor[(?, 3), float64]) {
  let %q = %p.1;
  ((add(%p.0, %w), cast(%q.1, dtype="int16")), %q.0)
}
"""
PLAN = "def @main(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }"
DENSE = "def @main(%x: Tensor[(2, ?), float32], %w: Tensor[(3, ?), float32]) { nn.dense(%x, %w, units=3) }"
LIST = """
type List[A] { Cons(A, List[A]), Nil, }
def @main(%x: Tensor[(?), float32]) -> List[Tensor[(?), float32]] { Cons(%x, Nil) }
"""


def baton(folder, *args):
    done = subprocess.run([os.environ["BATON_PROGRAM"], *args], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.fixture(name="files", scope="module")
def _files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c_api")
    for name, text in (("loop", LOOP), ("pair", PAIR), ("plan", PLAN), ("list", LIST), ("dense", DENSE)):
        (folder / f"{name}.relay").write_text('#[version = "0.0.5"]\n' + text, encoding="utf-8")
        baton(folder, "build", f"{name}.relay", "-o", f"{name}.baton")
    return folder


class Model:
    """A model of the C interface; functions that fail raise RuntimeError with the code and the message."""

    library = ctypes.CDLL(str(LIBRARY))
    for name in ("baton_last_error", "baton_input_name", "baton_input_dtype", "baton_output_dtype", "baton_profile_node_name",
                 "baton_profile_kernel_name"):
        getattr(library, name).restype = ctypes.c_char_p
    for name in ("baton_model_load", "baton_model_load_memory", "baton_output_data", "baton_stream_create"):
        getattr(library, name).restype = ctypes.c_void_p
    for name in ("baton_profile_ns", "baton_profile_total_ns"):
        getattr(library, name).restype = ctypes.c_double

    def __init__(self, path):
        self.handle = ctypes.c_void_p(self.library.baton_model_load(str(path).encode()))
        if not self.handle:
            raise RuntimeError(self.library.baton_last_error().decode())

    def __getattr__(self, name):
        def call(*args):
            return getattr(self.library, "baton_" + name)(self.handle, *args)

        return call

    def check(self, code):
        if code:
            raise RuntimeError(f"{code}: {self.library.baton_last_error().decode()}")

    def shape(self, which, index):
        extents = ctypes.POINTER(ctypes.c_int64)()
        return extents[:getattr(self, which + "_shape")(index, ctypes.byref(extents))]

    def set_shape(self, index, shape):
        self.check(self.set_input_shape(index, (ctypes.c_int64 * len(shape))(*shape), len(shape)))

    def give(self, index, value):
        self.set_shape(index, value.shape)
        self.check(self.set_input(index, value.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(value.nbytes)))

    def outputs(self):
        self.check(self.run())
        values = []
        for i in range(self.num_outputs()):
            values.append(np.empty(self.shape("output", i), self.output_dtype(i).decode()))
            self.check(self.get_output(i, values[-1].ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values[-1].nbytes)))
        return values


def refused(do, *args):
    with pytest.raises(RuntimeError) as caught:
        do(*args)
    return str(caught.value)


def test_a_loop_at_several_shapes(files):
    model = Model(files / "loop.baton")
    assert [model.input_name(i) for i in range(model.num_inputs())] == [b"n", b"x"]
    assert model.shape("input", 1) == [-1, 4] and model.shape("input", 0) == [] and model.input_dtype(0) == b"int32"
    assert [model.shape("output", i) for i in range(model.num_outputs())] == [[-1, 4], [], [-1, 4]]
    assert model.input_index(b"x") == 1 and model.input_index(b"y") == -1
    for rows in (3, 1, 0, 500):
        x = np.random.default_rng(rows).standard_normal((rows, 4)).astype("float32")
        model.give(0, np.array(5, "int32"))
        model.give(1, x)
        shifted, total, same = model.outputs()
        np.testing.assert_allclose(shifted, x + 5, rtol=1e-6)
        np.testing.assert_allclose(total, x.sum(), rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(same, x)
    # An output may be the very memory of an input; neither is overwritten by setting the other one anew.
    before = ctypes.string_at(model.output_data(2, None), 16)
    model.give(1, np.zeros((500, 4), "float32"))
    assert ctypes.string_at(model.output_data(2, None), 16) == before
    assert np.all(model.outputs()[0] == 5)
    assert model.shape("input", 1) == [-1, 4] and model.shape("output", 0) == [500, 4]
    model.model_free()


def test_errors(files):
    model = Model(files / "loop.baton")
    x = np.ones((3, 4), "float32")
    assert refused(model.outputs) == "1: input `x` is float32[?, 4], and has no shape yet: baton_set_input_shape() says which"
    assert refused(model.check, model.set_input(1, None, ctypes.c_size_t(48))) \
        == "1: input `x` is float32[?, 4]: say which shape by baton_set_input_shape()"
    assert refused(model.set_shape, 1, (3, 5)) == "1: input `x` is float32[?, 4], not float32[3, 5]"
    assert refused(model.set_shape, 1, (3,)) == "1: input `x` is float32[?, 4], not float32[3]"
    assert refused(model.set_shape, 1, (-3, 4)) == "1: input `x` is float32[?, 4], not float32[?, 4]"
    assert refused(model.set_shape, 1, (2**62, 4)).startswith("1: input `x` is float32[?, 4], not float32[4611686018427387904, 4]")
    assert refused(model.set_shape, 7, (3, 4)) == "1: there is no input 7: the model has 2"
    model.set_shape(1, (3, 4))
    assert refused(model.check, model.set_input(1, x.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(40))) \
        == "1: input `x` is float32[3, 4] of 48 bytes, not 40"
    out = np.empty((3, 4), "float32")
    assert refused(model.check, model.get_output(0, out.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(48))) \
        == "1: there is no output 0 before a run that succeeds"
    assert not model.output_data(0, None) and model.get_output(3, None, ctypes.c_size_t(0)) == 1
    assert np.all(model.outputs()[0] == 0)  # a known shape without a value: zeros
    assert not model.stream_create(0)
    assert b"has no stream" in model.library.baton_last_error()
    model.model_free()


def test_inputs_that_do_not_fit_to_each_other(files):
    model = Model(files / "pair.baton")
    assert [model.input_name(i) for i in range(model.num_inputs())] == [b"p.0", b"p.1.0", b"p.1.1", b"w"]
    assert [model.output_dtype(i) for i in range(model.num_outputs())] == [b"float64", b"int16", b"int64"]
    given = [np.ones((2, 3)), np.array(7), np.arange(5, dtype="int8"), np.ones((2, 3))]
    for i, value in enumerate(given):
        model.give(i, value)
    total, numbers, seven = model.outputs()
    assert np.all(total == 2) and list(numbers) == [0, 1, 2, 3, 4] and seven == 7
    model.give(3, np.ones((1, 3)))
    assert refused(model.outputs).endswith("must be equal, and are 2 and 1; where they are not, the operator add needs the compiler, "
                                           "which is not here")
    assert model.shape("output", 0) == [-1, 3]  # no run to speak of
    model.give(3, np.ones((2, 3)))
    assert model.outputs()[0].shape == (2, 3)
    model.model_free()
    model = Model(files / "dense.baton")
    model.give(0, np.ones((2, 8), "float32"))
    model.give(1, np.ones((3, 7), "float32"))
    assert refused(model.outputs).startswith("6: axis 1 of %x and axis 1 of %w (d1) must be equal, and are 8 and 7; where they are not, ")
    model.give(1, np.ones((3, 8), "float32"))
    assert model.outputs()[0].shape == (2, 3)
    model.model_free()


def test_bound_memory_threads_and_two_models(files):
    one, two = Model(files / "loop.baton"), Model(files / "loop.baton")
    memory = np.zeros(16 * 4 + 16, "float32")
    x = memory[(-memory.ctypes.data % 64) // 4:][:16].reshape(4, 4)
    for model in (one, two):
        model.check(model.set_threads(1))
        model.set_shape(1, (4, 4))
        model.check(model.bind_input(1, ctypes.c_void_p(x.ctypes.data), ctypes.c_size_t(64)))
    assert refused(one.check, one.bind_input(1, ctypes.c_void_p(x.ctypes.data + 4), ctypes.c_size_t(64))) \
        == "1: input `x` cannot be bound to memory that is not aligned to 64 bytes"
    x[:] = 3
    assert np.all(one.outputs()[0] == 3) and np.all(two.outputs()[0] == 3)
    one.model_free()
    assert two.outputs()[1] == 48 and np.all(x == 3)
    two.model_free()


def test_profiles(files):
    model = Model(files / "loop.baton")
    model.give(0, np.array(6, "int32"))
    model.give(1, np.ones((3, 4), "float32"))
    assert model.profile_calls() == 0
    assert refused(model.check, model.profile(0)) == "1: a profile needs at least one run, not 0"
    model.check(model.profile(4))
    names = [model.profile_node_name(i).decode() for i in range(model.profile_calls())]
    assert any("add" in name for name in names) and len(names) == len(set(names))
    total = model.profile_total_ns(3)
    assert 0 < sum(model.profile_ns(i, 3) for i in range(len(names))) < total
    assert model.profile_ns(0, 4) < 0 and model.profile_kernel_name(len(names)) is None
    assert np.all(model.outputs()[0] == 7)
    model.model_free()


def test_a_plan_has_the_same_functions(files):
    model = Model(files / "plan.baton")
    assert refused(model.set_shape, 0, (3, 3)) == "1: input `x` is float32[2, 3], not float32[3, 3]"
    model.give(0, np.array([[-1, 2, 3], [4, -5, 6]], "float32"))
    assert model.outputs()[0].tolist() == [[0, 2, 3], [4, 0, 6]]
    model.model_free()


def test_what_is_not_loaded(files, tmp_path):
    assert "what main returns is no tensor; the C interface has tensors" in refused(Model, files / "list.baton")
    whole = (files / "loop.baton").read_bytes()
    rng = np.random.default_rng(3)
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[rng.integers(len(damaged))] ^= 1 << rng.integers(8)
        (tmp_path / "damaged.baton").write_bytes(damaged)
        if damaged != whole:
            try:
                model = Model(tmp_path / "damaged.baton")
            except RuntimeError:
                continue
            model.model_free()  # padding between sections
    (tmp_path / "cut.baton").write_bytes(whole[:-100])
    assert refused(Model, tmp_path / "cut.baton")


def test_the_example_as_c99(files, tmp_path):
    program = tmp_path / "run_artifact"
    subprocess.run(["cc", "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "src",
                    ROOT / "examples/run_artifact.c", "-o", program, "-L", LIBRARY.parent, "-lbaton_runtime",
                    f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
    np.save(tmp_path / "n.npy", np.array(2, "int32"))
    np.save(tmp_path / "x.npy", np.ones((7, 4), "float32"))
    subprocess.run([program, files / "loop.baton", "--runs", "3", "n=n.npy", "x=x.npy"], cwd=tmp_path, check=True)
    assert np.all(np.load(tmp_path / "output0.npy") == 3) and np.load(tmp_path / "output1.npy") == 28
    np.save(tmp_path / "x.npy", np.ones((7, 5), "float32"))
    done = subprocess.run([program, files / "loop.baton", "n=n.npy", "x=x.npy"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "run_artifact: x.npy: input `x` is float32[?, 4], not float32[7, 5]\n"
