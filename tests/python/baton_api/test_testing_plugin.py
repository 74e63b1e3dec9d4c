"""The plug-in of pytest: parameters of one group vary together, without skipped combinations, also in classes."""
import os
import subprocess
import sys

TESTS = '''
import baton as tvm, baton.testing
a, b = tvm.testing.parameters((1, "x"), (2, "y"))
c = tvm.testing.parameter(5, 6)

def test_together(a, b, c):
    assert (a, b) in ((1, "x"), (2, "y"))

class TestInside:
    p, q = tvm.testing.parameters((1, 10), (2, 20), ids=["one", "two"])

    def test_both(self, p, q):
        assert q == 10 * p

    def test_one(self, p):
        assert p in (1, 2)

class TestMethods:
    n = tvm.testing.parameter(1, 2)
    kind = tvm.testing.parameter(by_dict={"small": 3, "large": 4})

    @tvm.testing.fixture(cache_return_value=True)
    def product(self, n, kind):
        return [n * kind]

    def test_fixture(self, n, kind, product):
        assert product == [n * kind]

    @tvm.testing.requires_llvm
    @tvm.testing.skip_if_wheel_test
    @tvm.testing.slow
    @tvm.testing.parametrize_targets("llvm")
    def test_marks(self, target, dev, n):
        assert target == "llvm" and n in (1, 2, 7)

class TestInherited(TestMethods):
    n = tvm.testing.parameter(7)

def test_target(target, dev):
    assert target == "llvm" and dev == tvm.cpu(0)

@tvm.testing.exclude_targets("llvm")
def test_excluded(target, dev):
    assert False

@tvm.testing.known_failing_targets("llvm")
def test_known_to_fail(target, dev):
    assert False

if __name__ == "__main__":
    tvm.testing.main()
'''


def test_plugin_and_main(tmp_path):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["baton.testing.plugin"]\n')
    (tmp_path / "test_it.py").write_text(TESTS)
    path = os.pathsep.join(each for each in sys.path if each)
    run = subprocess.run([sys.executable, "test_it.py", "-q", "-p", "no:cacheprovider"], cwd=tmp_path, capture_output=True, text=True,
                         check=False, timeout=120, env={**os.environ, "PYTHONPATH": path})
    assert run.returncode == 0 and "18 passed, 1 skipped, 1 xfailed" in run.stdout, run.stdout
