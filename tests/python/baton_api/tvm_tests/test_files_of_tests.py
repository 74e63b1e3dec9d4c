"""Files of tests that say `import tvm`, run by `python -m baton.tvm -m pytest`: fixtures, targets, and imports that only some tests need."""
import os
import re
import subprocess
import sys

import pytest

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(
    os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each)}
BY_PYTEST = ("-m", "baton.tvm", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")


def outcome(tmp_path, source, arguments=BY_PYTEST, conftest=None, **variables):
    """({"passed": 3, ..}, what was printed) of a file of tests."""
    (tmp_path / "test_it.py").write_text(source, encoding="utf-8")
    if conftest:
        (tmp_path / "conftest.py").write_text(conftest, encoding="utf-8")
    done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
                          env={**ENVIRONMENT, **variables})
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
    return {word.rstrip("s") if word.startswith("error") else word: int(count) for count, word in re.findall(r"(\d+) ([a-z]+)", last)
            if word not in ("in", "warning", "warnings")}, done.stdout + done.stderr


FIXTURES = '''
import numpy as np, pytest, tvm
import tvm.testing

shape = tvm.testing.parameter((1, 2), (3, 4))
dtype = tvm.testing.parameter("float32", "int8", ids=["wide", "narrow"])
kind, size = tvm.testing.parameters(("a", 1), ("b", 2), ("c", 3))
one, two = tvm.testing.parameters(("x", 1), pytest.param("y", 2, marks=pytest.mark.xfail))

@tvm.testing.fixture(cache_return_value=True)
def data(shape, dtype):
    return np.ones(shape, dtype)

@tvm.testing.fixture
def name_of(target):
    return target + "!"

def test_function(data, kind, size):  # 12
    assert size == "abc".index(kind) + 1 and data.shape in ((1, 2), (3, 4))

def test_marked_set(one, two):  # 1, and 1 that is expected to fail
    assert one == "x"

class TestMethods:
    inner = tvm.testing.parameter(1, 2)

    @tvm.testing.fixture
    def made(self, shape, inner, target):
        return shape, inner, target

    def test_of_the_module(self, shape, dtype, made):  # 8
        assert made[0] == shape and isinstance(self, TestMethods)

    def test_group(self, kind, size, target, dev):  # 3
        assert dev == tvm.cpu(0) and size == "abc".index(kind) + 1

    @tvm.testing.parametrize_targets("llvm", "cuda")
    def test_some_targets(self, kind, target):  # 3, and 3 skipped
        assert target == "llvm"

    @tvm.testing.parametrize_targets("llvm", "cuda")
    def test_by_a_fixture(self, made):  # 4, and 4 skipped
        assert made[2] == "llvm"

    @tvm.testing.known_failing_targets("llvm")
    def test_known(self, made):  # 4 are expected to fail
        assert False

    @tvm.testing.exclude_targets("llvm")
    def test_excluded(self, name_of):  # 1 skipped
        assert False

    @staticmethod
    @tvm.testing.uses_gpu
    def test_static(shape):  # 2
        assert len(shape) == 2

class TestDerived(TestMethods):  # 2 + 3 + 3 (3 skipped) + 1 (1 skipped) + 1 expected to fail + 1 skipped + 1
    inner = tvm.testing.parameter(7)
    shape = tvm.testing.parameter((9, 9))

@tvm.testing.parametrize_targets("llvm", "cuda")
class TestTargetsOfAClass:  # 2, and 2 skipped
    def test_direct(self, target, dev):
        assert target == "llvm" and dev == tvm.cpu(0)

    def test_by_a_fixture(self, name_of):
        assert name_of == "llvm!"

@tvm.testing.parametrize_targets
def test_all(target, dev):  # 1
    assert (target, dev) in tvm.testing.enabled_targets()

@pytest.mark.parametrize("n", [pytest.param(1, marks=tvm.testing.requires_cuda.marks()), 2])
def test_marks(n):  # 1, and 1 skipped
    assert n == 2

if __name__ == "__main__":
    tvm.testing.main()
'''
EXPECTED = {"passed": 12 + 1 + 8 + 3 + 3 + 4 + 2 + 10 + 2 + 1 + 1, "skipped": 3 + 4 + 1 + 5 + 2 + 1, "xfailed": 1 + 4 + 1}


@pytest.mark.parametrize("arguments,conftest", [
    (BY_PYTEST, None), (BY_PYTEST, 'pytest_plugins = ["tvm.testing.plugin"]\n'),
    (("-m", "baton.tvm", "test_it.py", "-q", "-p", "no:cacheprovider"), None),
    (("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"),
     'import baton.tvm\nbaton.tvm.install()\npytest_plugins = ["tvm.testing.plugin"]\n')])
def test_module_parameters_used_by_methods(tmp_path, arguments, conftest):
    counts, text = outcome(tmp_path, FIXTURES, arguments, conftest)
    assert counts == EXPECTED, text


def test_targets_of_the_environment(tmp_path):
    counts, text = outcome(tmp_path, "def test(target, dev):\n    assert target.startswith('llvm ')\n",
                           TVM_TEST_TARGETS="cuda;llvm -opt-level=2; llvm -opt-level=3")
    assert counts == {"passed": 2}, text


def test_cached_values_of_large_arrays(tmp_path):
    counts, text = outcome(tmp_path, '''
import numpy as np, tvm.testing
array = tvm.testing.parameter(np.zeros(5000), np.concatenate([np.zeros(2500), np.ones(1), np.zeros(2499)]), ids=["a", "b"])

@tvm.testing.fixture(cache_return_value=True)
def total(array):
    return array.sum()

def test_each(array, total):  # the two look alike in print
    assert total == array.sum()
''')
    assert counts == {"passed": 2}, text


IMPORTS = """
from tvm import te, topi, tir, autotvm, rpc, meta_schedule, auto_scheduler, runtime, contrib, driver, micro, arith
from tvm.contrib import utils, graph_executor, nvcc, cudnn, cutlass, cc, popen_pool, hexagon
from tvm.contrib.nvcc import have_fp16
from tvm.contrib.cuda_graph import cuda_graph_executor
from tvm.relay.testing import run_infer_type, create_workload, tf, darknet, byoc, Prelude
import tvm.relay.testing.tf as tf_testing
import tvm.topi.testing, tvm.topi.nn, tvm.topi.x86, tvm.topi.utils
from tvm.topi.nn.qnn import SQNN_DTYPE_TO_CODE
from tvm.topi.testing import conv2d_nchw_python, searchsorted_ref
from tvm.ir.instrument import PassTimingInstrument, pass_instrument
from tvm.script import tir as T, relay as R
from tvm.runtime.vm import VirtualMachine
from tvm.relay.op.contrib import tensorrt, cutlass, ethosu, cmsisnn
from tvm.relay.op.contrib.register import get_pattern_table
from tvm.relay.op.strategy import x86, generic
from tvm.relay.frontend import onnx, tflite
from tvm.relay.analysis.operations_distribution import analyze_operations_distribution
from tvm.relay import dyn, debug
from tvm.driver import tvmc
from tvm.driver.tvmc.model import TVMCModel
from tvm.micro import model_library_format, export_model_library_format
from tvm.micro.testing.aot_test_utils import AOT_DEFAULT_RUNNER, parametrize_aot_options
from tvm.testing.aot import AOTTestModel, compile_and_run
from tvm.testing.usmp import is_tvm_backendallocworkspace_calls
import tvm._ffi
from tvm._ffi.base import TVMError, string_types, py_str
from tvm._ffi.registry import register_object
from tvm._ffi.runtime_ctypes import DataType, TVMByteArray
from tvm._ffi.libinfo import find_lib_path
from tvm.autotvm.task import get_config
from tvm.autotvm.task.topi_integration import TaskExtractEnv
from tvm.meta_schedule.testing import relay_workload
from tvm.tir.usmp.utils import BufferInfo
from tvm.rpc.tracker import Tracker
from tvm.exec import rpc_server
from tvm.te.hybrid import script
"""


def test_imports(tmp_path):
    counts, text = outcome(tmp_path, "import pytest\n@pytest.mark.parametrize('line', " + repr(IMPORTS.strip().splitlines()) +
                           ")\ndef test(line):\n    exec(line, {})\n")
    assert counts == {"passed": len(IMPORTS.strip().splitlines())}, text
    counts, text = outcome(tmp_path, "import pytest\n@pytest.mark.parametrize('name', ['tvm.no_such', 'tvm.relay.no_such', 'tvm.contrib.no_such',"
                                     " 'tvm.relay.op.no_such', 'tvm.relay.frontend.no_such', 'tvm.relay.op.contrib.no_such'])\n"
                                     "def test(name):\n    with pytest.raises(ModuleNotFoundError):\n        __import__(name)\n")
    assert counts == {"passed": 6}, text


STAND_INS = '''
import pytest, tvm
from tvm import autotvm, te
from tvm.script import tir as T
from tvm.testing.aot import AOTTestModel
from tvm.micro.testing.aot_test_utils import AOT_DEFAULT_RUNNER, parametrize_aot_options

@tvm.script.ir_module
class Module:
    @T.prim_func
    def main(a: T.handle, b: T.Buffer[(16,), "float32"], c: T.Buffer((4, T.int32(2)), "int8")) -> None:
        T.func_attr({"global_symbol": "main"})

class Tuner(autotvm.tuner.Tuner):
    pass

@autotvm.register_topi_compute("conv2d.mine")
def compute(cfg, data):
    return data

A = te.placeholder((3, 4), name="A")
CASES = [AOTTestModel(module=None), te.compute((3,), lambda i: A[i])]

def test_of_relay_alone():
    assert tvm.relay.const(1).data.numpy() == 1

@parametrize_aot_options
def test_decorated():
    pass

@pytest.mark.parametrize("use", [
    lambda: Module["main"], lambda: Module.functions, lambda: Tuner(1), lambda: compute(1, 2), lambda: A.shape, lambda: A[0], lambda: CASES[0].module,
    lambda: CASES[1] + 1, lambda: bool(A), lambda: list(A), lambda: AOT_DEFAULT_RUNNER(1), lambda: te.placeholder((1,)), lambda: T.int32(2),
    lambda: autotvm.task.create("a"), lambda: tvm.IRModule({"main": A})])
def test_use(use):
    with pytest.raises((NotImplementedError, TypeError)):
        use()
'''


def test_a_file_of_which_some_tests_need_tir(tmp_path):
    counts, text = outcome(tmp_path, STAND_INS)
    assert counts == {"passed": 16, "failed": 1} and "NotImplementedError" in text, text
