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


def test_dlpack_both_ways():
    """Memory is shared with numpy in both directions, and kept while either side needs it."""
    given = np.arange(12, dtype="float32").reshape(3, 4)
    shared = tvm.nd.from_dlpack(given)
    assert shared.shape == (3, 4) and shared.dtype == "float32"
    given[1, 2] = 100
    assert shared.numpy()[1, 2] == 100
    shared[:] = np.zeros((3, 4))
    assert not given.any()
    back = np.from_dlpack(shared)
    del given
    shared.view()[0, 0] = 7
    del shared
    assert back[0, 0] == 7 and back.sum() == 7
    capsule = tvm.nd.array(np.ones(3)).to_dlpack()
    assert tvm.nd.from_dlpack(capsule).numpy().tolist() == [1, 1, 1]
    with pytest.raises(TypeError):
        tvm.nd.from_dlpack(capsule)  # a capsule is used up
    copied = np.from_dlpack(back)
    assert tvm.nd.array(copied).numpy()[0, 0] == 7


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool"])
def test_dlpack_dtypes(dtype):
    given = np.array([[0, 1, 1]], dtype)
    shared = tvm.nd.from_dlpack(given)
    assert shared.dtype == dtype and np.from_dlpack(shared).dtype == given.dtype
    assert np.shares_memory(np.from_dlpack(shared), given)


def test_dlpack_refusals():
    base = np.zeros((4, 6), "float32")
    for wrong in (base.T, base[:, ::2], base[::-1]):
        with pytest.raises(ValueError, match="strides"):
            tvm.nd.from_dlpack(wrong)
    for wrong in ([1, 2], 3, None, "text", object()):
        with pytest.raises(TypeError, match="from_dlpack"):
            tvm.nd.from_dlpack(wrong)
    assert tvm.nd.from_dlpack(base[1:3]).shape == (2, 6) and tvm.nd.from_dlpack(base[:0]).shape == (0, 6)
    with pytest.raises(BufferError, match="host"):
        tvm.nd.array(base).__dlpack__(dl_device=(2, 0))
    with pytest.raises((TypeError, BufferError, ValueError)):
        tvm.nd.from_dlpack(np.array(["a"]))


def test_torch():
    torch = pytest.importorskip("torch")
    given = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    shared = tvm.nd.from_dlpack(given)
    given[0, 0] = 9
    assert shared.numpy()[0, 0] == 9
    back = torch.utils.dlpack.from_dlpack(shared)
    back[1, 1] = 8
    assert shared.numpy()[1, 1] == 8 and (tvm.nd.array(given).numpy() == given.numpy()).all()
    with pytest.raises(ValueError, match="strides"):
        tvm.nd.from_dlpack(given.T)


def test_arrays_are_pickled():
    import copy
    import pickle

    given = tvm.nd.array(np.arange(4, dtype="int16").reshape(2, 2))
    for made in (pickle.loads(pickle.dumps(given)), copy.deepcopy(given)):
        assert made.dtype == "int16" and (made.numpy() == given.numpy()).all() and not made.same_as(given)
    bits = tvm.nd.empty((2,), "bfloat16")
    bits._copy_bits(np.array([0x3f80, 0xc000], "uint16"))  # 1 and -2
    for made in (pickle.loads(pickle.dumps(bits)), copy.copy(bits)):
        assert made.dtype == "bfloat16" and made.numpy().tolist() == [0x3f80, 0xc000]


def test_devices():
    assert tvm.cpu().exist and tvm.cpu(0) == tvm.device("llvm -mcpu=core-avx2", 0) == tvm.runtime.device("cpu") and tvm.cpu().device_type == 1
    for make, name, number in ((tvm.cuda, "cuda", 2), (tvm.opencl, "opencl", 4), (tvm.vulkan, "vulkan", 7), (tvm.metal, "metal", 8),
                               (tvm.rocm, "rocm", 10), (tvm.ext_dev, "ext_dev", 12), (tvm.hexagon, "hexagon", 14), (tvm.cl, "opencl", 4),
                               (tvm.vpi, "vpi", 9), (tvm.mtl, "metal", 8)):
        made = make(1)
        assert (repr(made), made.device_type, made.exist) == (f"{name}(1)", number, False) and made == tvm.device(name, 1)
        for used in (made.sync, lambda made=made: tvm.nd.array([1.0], made), lambda made=made: tvm.nd.empty((1,), device=made)):
            with pytest.raises(tvm.TVMError, match=rf"{name}\(1\)"):
                used()
    for wrong in ("nothing", "", "cpus"):
        with pytest.raises(ValueError, match="device"):
            tvm.device(wrong)
    with pytest.raises(TypeError, match="device"):
        tvm.nd.array([1.0], "cpu")
    with pytest.raises(NotImplementedError, match="scope"):
        tvm.nd.array([1.0], mem_scope="global.texture")


def test_runtime_values():
    runtime = tvm.runtime
    assert runtime.convert(3).dtype == "int32" and runtime.convert(True).dtype == "bool" and runtime.convert(2.5).value == 2.5
    assert runtime.convert([1, "a", (2,)]) == [1, "a", [2]] and runtime.convert({"a": 1})["a"].value == 1
    assert isinstance(runtime.convert("a"), runtime.String) and runtime.convert(None) is None
    assert runtime.const(3, "int64").dtype == "int64" and runtime.const(1.5).dtype == "float32" and runtime.const(np.int8(1)).dtype == "int8"
    assert runtime.ShapeTuple([1, 2]) == (1, 2) == [1, 2] or runtime.ShapeTuple([1, 2]) == [1, 2]
    with pytest.raises(TypeError):
        runtime.ShapeTuple([1.5])
    with pytest.raises(ValueError, match="convert"):
        runtime.convert(object())
    assert runtime.enabled("llvm") and not runtime.enabled("rocm") and not runtime.enabled("") and runtime.num_threads() >= 1
    for kind in ("cuda", "opencl", "mirror", "cuda -arch=sm_80"):  # a backend that is built in, but whose device is not there, is not enabled
        assert runtime.enabled(kind) == tvm.device(kind).exist
    kind = runtime.DataType("uint8x4")
    assert (kind.type_code, kind.bits, kind.lanes) == (1, 8, 4) and kind == "uint8x4" and str(runtime.DataType("bool")) == "bool"
    double = runtime.PackedFunc(lambda x: 2 * x)
    assert double(4) == 8 and runtime.convert(len)("abc") == 3
    with pytest.raises(ZeroDivisionError):
        runtime.PackedFunc(lambda x: x / 0)(1)
