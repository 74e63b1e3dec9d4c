"""Arrays in and out."""
import numpy as np
import pytest

import baton as tvm


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint8", "bool"])
def test_round_trip(dtype):
    given = (np.arange(6).reshape(2, 3) % 5).astype(dtype)
    array = tvm.nd.array(given)
    assert array.dtype == dtype and array.shape == (2, 3) and array.numpy().dtype == given.dtype
    np.testing.assert_array_equal(array.numpy(), given)
    np.testing.assert_array_equal(np.asarray(array), given)


def test_order_and_scalars():
    base = np.arange(24, dtype="float32").reshape(4, 6)
    for given in (base.T, base[::2, ::-1], np.asfortranarray(base), np.float32(3), np.zeros((0, 3), "int32")):
        np.testing.assert_array_equal(tvm.nd.array(given).numpy(), given)
    assert tvm.nd.array(np.float32(3)).shape == ()
    assert tvm.nd.array([[1, 2], [3, 4]]).shape == (2, 2)


def test_a_copy_is_a_copy():
    given = np.zeros(3, "float32")
    array = tvm.nd.array(given)
    given[0] = 1
    array.numpy()[1] = 1
    assert array.numpy().sum() == 0
    array.view()[2] = 5  # this is the memory itself
    assert array.numpy()[2] == 5
    other = tvm.nd.empty((3,), "float32").copyfrom(array)
    assert other.numpy()[2] == 5 and not other.same_as(array) and array.copyto(tvm.cpu()).numpy()[2] == 5


def test_dlpack():
    array = tvm.nd.array(np.arange(3, dtype="int64"))
    shared = np.from_dlpack(array)
    array.view()[0] = 7
    assert shared[0] == 7


def test_refusals():
    with pytest.raises(TypeError, match="object"):
        tvm.nd.array(np.array([object()]))
    with pytest.raises(ValueError, match="shape"):
        tvm.nd.empty((3,)).copyfrom(np.zeros(4))
    with pytest.raises(tvm.TVMError, match="cuda"):
        tvm.nd.array([1], tvm.cuda())


def test_params_file():
    params = {"w": tvm.nd.array(np.arange(4, dtype="float32"))}
    back = tvm.relay.load_param_dict(tvm.relay.save_param_dict(params))
    np.testing.assert_array_equal(back["w"].numpy(), params["w"].numpy())
    with pytest.raises(tvm.TVMError):
        tvm.relay.load_param_dict(b"not a file of parameters")
