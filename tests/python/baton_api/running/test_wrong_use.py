"""What has no effect is said, and what is damaged is refused."""
import numpy as np
import pytest
import baton as tvm
from baton import relay


def dense():
    data, weight = relay.var("data", shape=(2, 40)), relay.var("weight", shape=(30, 40))
    return tvm.IRModule.from_expr(relay.Function([data, weight], relay.nn.dense(data, weight)))


def test_an_unknown_processor_is_warned_of():
    with pytest.warns(UserWarning, match="no processor `foo` of -mcpu is known"):
        relay.build(dense(), target="llvm -mcpu=foo")


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=znver4", "llvm -mcpu=core2", "llvm -mcpu=native"])
def test_known_processors_are_not(target, recwarn):
    relay.build(dense(), target=target)
    assert not [each for each in recwarn if "processor" in str(each.message)]


def test_params_that_main_does_not_have_are_warned_of(recwarn):
    relay.build(dense(), target="llvm", params={"weight": np.ones((30, 40), "float32")})
    assert not [each for each in recwarn if "params" in str(each.message)]
    with pytest.warns(UserWarning, match="params has `wieght`, of which main has no parameter; ignored"):
        relay.build(dense(), target="llvm", params={"wieght": np.ones((30, 40), "float32")})


def test_a_damaged_artifact_is_refused_unless_told_otherwise(tmp_path):
    path = tmp_path / "m.so"
    relay.build(dense(), target="llvm", params={"weight": np.ones((30, 40), "float32")}).export_library(str(path))
    damaged = bytearray(path.read_bytes())
    damaged[-1000] ^= 16
    path.write_bytes(damaged)
    with pytest.raises(tvm.TVMError, match="damaged in its constants"):
        tvm.runtime.load_module(str(path))
    assert tvm.runtime.load_module(str(path), verify=False)


def test_damaged_params_are_refused():
    blob = bytearray(relay.save_param_dict({"w": np.ones((3, 4), "float32")}))
    assert list(relay.load_param_dict(bytes(blob))) == ["w"]
    blob[-3] ^= 1
    with pytest.raises(tvm.TVMError, match="its checksum is another one"):
        relay.load_param_dict(bytes(blob))
