"""PassContext's `baton.debug_lines`: what gdb and perf need of a process that runs Python."""
import pathlib

import pytest

import baton as tvm
from baton import relay


def relu_module():
    x = relay.var("x", shape=(64, 64), dtype="float32")
    return tvm.IRModule.from_expr(relay.Function([x], relay.nn.relu(relay.exp(x))))


def mapped_libraries():
    return {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "/kernels-" in line}


def test_the_library_is_a_file_with_lines(tmp_path):
    before = mapped_libraries()
    with tvm.transform.PassContext(opt_level=3, config={"baton.debug_dir": str(tmp_path)}):
        lib = relay.build(relu_module(), "llvm")
    (source,) = tmp_path.glob("*.relay")
    assert "nn.relu(" in source.read_text()
    assert mapped_libraries() - before == {str(path) for path in tmp_path.glob("kernels-*.so")}
    assert lib is not None


def test_off_by_default_and_where_lines_are_turned_off(tmp_path):
    before = mapped_libraries()
    with tvm.transform.PassContext(config={"baton.debug_dir": str(tmp_path), "baton.debug_lines": False}):
        relay.build(relu_module(), "llvm")
    relay.build(relu_module(), "llvm")
    assert mapped_libraries() == before
    assert not list(tmp_path.iterdir())


def test_wrong_values_are_told(tmp_path):
    with pytest.raises(AttributeError, match="baton.debug_dir"):
        with tvm.transform.PassContext(config={"baton.debug_dir": 3}):
            relay.build(relu_module(), "llvm")
    (tmp_path / "file").write_text("")
    with pytest.raises(tvm.TVMError, match="cannot write the source of a kernel"):
        with tvm.transform.PassContext(config={"baton.debug_dir": str(tmp_path / "file" / "x")}):
            relay.build(relu_module(), "llvm")
