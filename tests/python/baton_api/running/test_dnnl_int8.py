"""Sums of products of bytes in oneDNN: those of integers to the last bit, on every processor, or left with a reason."""
import os
import subprocess
import sys

import numpy as np
import pytest
from test_dnnl import check_equal, nodes_of, outputs_of, regions_of, wide_products
from test_int8 import random, residual_network

import baton as tvm
from baton import relay
from baton.relay.op.contrib import dnnl

nn = relay.nn
PAIRS = [("uint8", "int8"), ("int8", "int8")]


def filled(shape, dtype, extreme, seed=0):
    if not extreme:
        return random(shape, dtype, seed)
    array = np.full(shape, np.iinfo(dtype).max, dtype)
    array.ravel()[:: max(1, array.size // 7)] -= 1  # so that sums are odd and even ones
    return array


def windows(data, weight, strides, padding, dilation, groups):
    """A convolution by numpy, in int64. data: N C H W; weight: O C/groups R S."""
    data = np.pad(data.astype("int64"), [(0, 0), (0, 0), (padding[0], padding[2]), (padding[1], padding[3])])
    reach = [(extent - 1) * step + 1 for extent, step in zip(weight.shape[2:], dilation)]
    seen = np.lib.stride_tricks.sliding_window_view(data, reach, (2, 3))[:, :, ::strides[0], ::strides[1], ::dilation[0], ::dilation[1]]
    parts = [np.einsum("nchwrs,ocrs->nohw", part, kernel) for part, kernel in
             zip(np.split(seen, groups, 1), np.split(weight.astype("int64"), groups, 0))]
    return np.concatenate(parts, 1)


CONVOLUTIONS = [
    ((1, 3, 9, 11), (8, 3, 3, 3), {"padding": (1, 1)}), ((2, 5, 9, 8), (7, 5, 3, 2), {"padding": (0, 1, 2, 1), "strides": (2, 3)}),
    ((1, 16, 7, 7), (32, 16, 1, 1), {}), ((1, 1, 1, 1), (1, 1, 1, 1), {}), ((1, 64, 6, 6), (64, 1, 3, 3), {"groups": 64, "padding": (1, 1)}),
    ((1, 12, 8, 9), (18, 4, 3, 3), {"groups": 3, "dilation": (2, 2), "padding": (2, 2)}), ((1, 600, 4, 4), (32, 600, 3, 3), {"padding": (1, 1)}),
]


def convolution(shape, weight_shape, attrs, dtypes, extreme=False, constant=True):
    data, weight = filled(shape, dtypes[0], extreme, 1), filled(weight_shape, dtypes[1], extreme, 2)
    x, w = relay.var("x", shape=shape, dtype=dtypes[0]), relay.var("w", shape=weight_shape, dtype=dtypes[1])
    made = nn.conv2d(x, relay.const(weight) if constant else w, channels=weight_shape[0], kernel_size=weight_shape[2:], out_dtype="int32", **attrs)
    padding = attrs.get("padding", (0, 0))
    sums = windows(data, weight, attrs.get("strides", (1, 1)), padding if len(padding) == 4 else padding * 2, attrs.get("dilation", (1, 1)), attrs.get("groups", 1))
    return relay.Function([x] if constant else [x, w], made), {"x": data} if constant else {"x": data, "w": weight}, sums


def dense(rows, depth, units, dtypes, extreme=False, constant=True):
    data, weight = filled((rows, depth), dtypes[0], extreme, 1), filled((units, depth), dtypes[1], extreme, 2)
    x, w = relay.var("x", shape=data.shape, dtype=dtypes[0]), relay.var("w", shape=weight.shape, dtype=dtypes[1])
    made = nn.dense(x, relay.const(weight) if constant else w, units=units, out_dtype="int32")
    return relay.Function([x] if constant else [x, w], made), {"x": data} if constant else {"x": data, "w": weight}, data.astype("int64") @ weight.T.astype("int64")


def batch_matmul(shape, other, dtypes, extreme=False):
    a, b = filled(shape, dtypes[0], extreme, 1), filled(other, dtypes[1], extreme, 2)
    x, y = relay.var("x", shape=shape, dtype=dtypes[0]), relay.var("y", shape=other, dtype=dtypes[1])
    return relay.Function([x, y], nn.batch_matmul(x, y, out_dtype="int32")), {"x": a, "y": b}, a.astype("int64") @ b.astype("int64").transpose(0, 2, 1)


def cases(extreme):
    for dtypes in PAIRS:
        for shape, weight, attrs in CONVOLUTIONS:
            yield convolution(shape, weight, attrs, dtypes, extreme)
        yield convolution(*CONVOLUTIONS[0], dtypes, extreme, constant=False)
        for rows, depth, units in ((3, 5, 7), (1, 1, 1), (16, 4097, 33), (1, 300, 10)):
            yield dense(rows, depth, units, dtypes, extreme)
        yield dense(4, 31, 6, dtypes, extreme, constant=False)
        yield batch_matmul((2, 3, 40), (2, 5, 40), dtypes, extreme)
        yield batch_matmul((4, 3, 8), (1, 7, 8), dtypes, extreme)


def check_sums(function, inputs, sums):
    """Whether oneDNN takes it; what it computes then is exact."""
    mod = tvm.IRModule.from_expr(function)
    split = dnnl.partition_for_dnnl(mod)
    reasons = [why for _, why in dnnl.refusals(mod)]
    assert bool(regions_of(split)) == (not reasons)
    assert all("exact on this processor" in why for why in reasons), reasons
    if reasons:
        return False
    with tvm.transform.PassContext(config={"baton.strict_regions": True}):
        lib = relay.build(split, "llvm")
    assert len(nodes_of(lib)[0]) == nodes_of(lib)[1] == 1
    np.testing.assert_array_equal(outputs_of(lib, inputs)[0], sums)
    return True


@pytest.mark.parametrize("extreme", [False, True])
def test_sums_are_exact(extreme):
    taken = [check_sums(*case) for case in cases(extreme)]
    with open("/proc/cpuinfo", encoding="ascii") as info:
        if "avx512_vnni" in info.read() and not os.environ.get("ONEDNN_MAX_CPU_ISA"):
            assert np.mean(taken) > 0.8, taken


# The ids must not be what -k selects: the process below would start itself.
@pytest.mark.parametrize("tests", ["test_sums_are_exact", "test_quantised"], ids=["sums", "networks"])
@pytest.mark.parametrize("processor", ["AVX2", "AVX512_CORE"])
def test_without_vnni_sums_are_exact_or_left(processor, tests):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", f"{tests} and not vnni"], check=False, capture_output=True, text=True,
                          env={**os.environ, "ONEDNN_MAX_CPU_ISA": processor})
    assert done.returncode == 0, done.stdout[-3000:]


def test_without_vnni_a_convolution_is_left_with_a_reason():
    script = f"""
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import test_dnnl_int8 as own
function, _, _ = own.convolution((1, 64, 8, 8), (64, 64, 3, 3), dict(padding=(1, 1)), ("int8", "int8"))
print(own.dnnl.refusals(own.tvm.IRModule.from_expr(function))[0][1])
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, env={**os.environ, "ONEDNN_MAX_CPU_ISA": "SSE41"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("`nn.conv2d`: ") and "oneDNN has no convolution of 1x64x8x8 to 1x64x8x8 whose sums, of up to " in done.stdout
    assert "inexact: jit_uni_int8:sse41" in done.stdout


def test_says_why_not():
    for dtypes, out, why in ((("uint8", "uint8"), "int32", "`nn.dense` has weights of type uint8, and oneDNN multiplies bytes by int8 only"),
                             (("int8", "int8"), "int16", "`nn.dense` has sums of type int16, and oneDNN adds products of bytes in int32"),
                             (("int16", "int16"), "int32", "`nn.dense` has elements of type int16, not float32")):
        x, w = (relay.var(name, shape=(4, 4), dtype=dtype) for name, dtype in zip("xw", dtypes))
        assert [reason for _, reason in dnnl.refusals(tvm.IRModule.from_expr(relay.Function([x, w], nn.dense(x, w, out_dtype=out))))] == [why]
    x = relay.var("x", shape=(2, 3), dtype="int32")
    assert [reason for _, reason in dnnl.refusals(tvm.IRModule.from_expr(relay.Function([x], relay.add(x, x))))] == ["`add` has elements of type int32, not float32"]


def test_what_moves_bytes_is_taken_with_their_products():
    x = relay.var("x", shape=(1, 8, 6, 6), dtype="uint8")
    weight = relay.const(random((8, 16, 3, 3), "int8"))
    y = relay.transpose(nn.max_pool2d(relay.concatenate([x, x], 1), (3, 3), padding=(1, 1)), (0, 1, 3, 2))
    sums = relay.reshape(nn.conv2d(y, weight, channels=8, kernel_size=(3, 3), out_dtype="int32"), (8, 16))
    mod = tvm.IRModule.from_expr(relay.Function([x], sums))
    split = dnnl.partition_for_dnnl(mod)
    inputs = {"x": random((1, 8, 6, 6), "uint8", 3)}
    lib = relay.build(split, "llvm")
    if wide_products():  # else the convolution may be left, and with it what moves its bytes
        assert len(nodes_of(lib)[0]) == nodes_of(lib)[1] == 1
    np.testing.assert_array_equal(outputs_of(lib, inputs)[0], outputs_of(relay.build(mod, "llvm"), inputs)[0])


def test_quantised_network(tmp_path):
    """Sums in oneDNN, the rounding between them in Baton's own kernels: nothing differs."""
    mod = relay.transform.InferType()(tvm.IRModule.from_expr(residual_network()))
    image = {"data": np.random.default_rng(3).normal(0, 1, (1, 3, 12, 10)).astype("float32")}
    expected = outputs_of(relay.build(mod, "llvm"), image)[0]
    assert len(np.unique(expected)) > 10
    split = dnnl.partition_for_dnnl(mod, lower_qnn=True)
    lib = relay.build(split, "llvm")
    np.testing.assert_array_equal(outputs_of(lib, image)[0], expected)
    rows = tvm.origins(lib)
    assert all(row["nodes"] or row["folded_into"] or row["retired"] for row in rows)
    convolutions = sum(str(region).count("nn.conv2d(") for region in regions_of(split))
    refused = [why for call, why in dnnl.refusals(relay.qnn.transform.CanonicalizeOps()(mod)) if call.op.name == "nn.conv2d"]
    assert convolutions + len(refused) == 5
    lib.export_library(str(tmp_path / "model.baton"))
    loaded = tvm.runtime.load_module(str(tmp_path / "model.baton"))
    np.testing.assert_array_equal(outputs_of(loaded, image)[0], expected)


def test_float_products_beside_products_of_bytes():
    x, y = relay.var("x", shape=(3, 8), dtype="uint8"), relay.var("y", shape=(3, 8), dtype="float32")
    mod = tvm.IRModule.from_expr(relay.Function([y], nn.dense(y, relay.const(random((8, 8), "int8").astype("float32")))))
    check_equal(mod)
    both = relay.Function([x, y], relay.Tuple([nn.dense(x, relay.const(random((8, 8), "int8")), out_dtype="int32"), nn.dense(y, relay.const(random((8, 8), "int8").astype("float32")))]))
    mod = tvm.IRModule.from_expr(both)
    inputs = {"x": random((3, 8), "uint8", 1), "y": np.linspace(-1, 1, 24, dtype="float32").reshape(3, 8)}
    for got, expected in zip(outputs_of(relay.build(dnnl.partition_for_dnnl(mod), "llvm"), inputs), outputs_of(relay.build(mod, "llvm"), inputs), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


# ---- Quantised layers as composites: rounded from float32.

def quantised_layer(name, dtypes, seed, zeros=(3, 5), scale=0.013, clip=False):
    """x -> layer -> bias -> requantize (-> qnn.add with y): (function, inputs)."""
    qnn, scalar = relay.qnn.op, lambda value, dtype="float32": relay.const(np.asarray(value, dtype))
    data_type, out_type = dtypes
    layer = "conv2d" if "conv2d" in name else "dense"
    channels = 24
    shape = (1, 20, 9, 10) if layer == "conv2d" else (16, 70)
    x = relay.var("x", shape=shape, dtype=data_type)
    scales = np.random.default_rng(seed).uniform(0.5, 1.5, channels).astype("float32") * np.float32(scale)
    if layer == "conv2d":
        made = qnn.conv2d(x, relay.const(random((channels, 20, 3, 3), "int8", seed)), scalar(zeros[0], "int32"), scalar(0, "int32"), scalar(0.1), relay.const(scales),
                          channels=channels, kernel_size=(3, 3), padding=(1, 1), out_dtype="int32")
        made, axis, result = nn.bias_add(made, relay.const(random((channels,), "int32", seed, largest=3000))), 1, (1, channels, 9, 10)
    else:
        made = qnn.dense(x, relay.const(random((channels, 70), "int8", seed)), scalar(zeros[0], "int32"), scalar(0, "int32"), scalar(0.1), relay.const(scales), units=channels, out_dtype="int32")
        made, axis, result = relay.add(made, relay.const(random((channels,), "int32", seed, largest=3000))), 1, (16, channels)
    made = qnn.requantize(made, relay.const(scales * np.float32(0.1)), scalar(0, "int32"), scalar(1.7), scalar(zeros[1], "int32"), axis=axis, out_dtype=out_type)
    params, inputs = [x], {"x": random(shape, data_type, seed + 1)}
    if name.endswith("_sum"):
        y = relay.var("y", shape=result, dtype=out_type)
        made = qnn.add(made, y, scalar(1.7), scalar(zeros[1], "int32"), scalar(0.9), scalar(2, "int32"), scalar(2.1), scalar(4, "int32"))
        params, inputs = [x, y], {**inputs, "y": random(result, out_type, seed + 2)}
    if clip:
        made = relay.clip(made, 10, 90)
    return relay.Function(params, made), inputs


def differences(function, inputs):
    mod = relay.transform.InferType()(tvm.IRModule.from_expr(function))
    split = dnnl.partition_for_dnnl(mod)
    lib = relay.build(split, "llvm")
    expected = outputs_of(relay.build(mod, "llvm"), inputs)[0].astype("int64")
    assert len(np.unique(expected)) > 20, "outputs that tell nothing"
    return split, lib, np.abs(outputs_of(lib, inputs)[0] - expected)


QUANTISED = [entry[0] for entry in dnnl.pattern_table() if entry[0].startswith("dnnl.qnn.")]


@pytest.mark.parametrize("dtypes", [("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")], ids="x".join)
@pytest.mark.parametrize("name", QUANTISED)
def test_quantised_composite(name, dtypes):
    found = []
    for seed in range(3):
        for zeros, clip in (((3, 5), False), ((0, 0), False), ((-7 if dtypes[0] == "int8" else 9, 0), True)):
            split, lib, apart = differences(*quantised_layer(name, dtypes, seed, zeros=zeros, clip=clip))
            if not wide_products():
                assert not regions_of(split) and not apart.any()
                continue
            assert f'Composite="{name}"' in str(split)
            assert len(nodes_of(lib)[0]) == nodes_of(lib)[1] == 1
            assert all(row["nodes"] or row["folded_into"] or row["retired"] for row in tvm.origins(lib))
            assert apart.max() <= 1
            found.append(np.mean(apart != 0))
    assert np.mean(found or 0) <= 0.001


def test_quantised_network_in_composites():
    mod = relay.transform.InferType()(tvm.IRModule.from_expr(residual_network()))
    image = {"data": np.random.default_rng(3).normal(0, 1, (1, 3, 12, 10)).astype("float32")}
    split = dnnl.partition_for_dnnl(mod)
    lib = relay.build(split, "llvm")
    apart = np.abs(outputs_of(lib, image)[0] - outputs_of(relay.build(mod, "llvm"), image)[0])
    assert sum(str(region).count("Composite=") for region in regions_of(split)) == (5 if wide_products() else 0)
    assert apart.max() <= 3 * 0.07 + 1e-6
    assert all(row["nodes"] or row["folded_into"] or row["retired"] for row in tvm.origins(lib))


def test_quantised_layer_as_importers_leave_it():
    """A bias that is a quantised constant, zero points by channel, a dense layer behind a reshape."""
    qnn, scalar = relay.qnn.op, lambda value, dtype="float32": relay.const(np.asarray(value, dtype))
    scales, zeros = relay.const(np.linspace(0.01, 0.02, 8, dtype="float32")), relay.const(np.zeros(8, "int32"))
    x = relay.var("x", shape=(1, 8, 2, 2), dtype="uint8")
    made = qnn.dense(relay.reshape(x, (1, 32)), relay.const(random((8, 32), "int8")), scalar(0, "int32"), scalar(0, "int32"), scalar(0.1), scales, units=8, out_dtype="int32")
    bias = qnn.quantize(relay.const(np.linspace(-5, 9, 8, dtype="float32")), scales, zeros, axis=0, out_dtype="int32")
    made = qnn.requantize(nn.bias_add(made, bias, axis=-1), scales, zeros, scalar(2.5), scalar(100, "int32"), axis=1, out_dtype="uint8")
    mod = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([x], made)))
    split = dnnl.partition_for_dnnl(mod)
    assert ('Composite="dnnl.qnn.dense"' in str(split)) == wide_products()
    inputs = {"x": random((1, 8, 2, 2), "uint8", 4)}
    assert np.abs(outputs_of(relay.build(split, "llvm"), inputs)[0].astype("int64") - outputs_of(relay.build(mod, "llvm"), inputs)[0]).max() <= 1


@pytest.mark.parametrize("factor", [0.5, 0.25, 0.02])
def test_halves_are_at_most_one_unit_apart(factor):
    """oneDNN rounds them to even units, Baton and TVM upwards."""
    qnn, scalar = relay.qnn.op, lambda value, dtype="float32": relay.const(np.asarray(value, dtype))
    x = relay.var("x", shape=(1, 16, 32, 32), dtype="uint8")
    made = qnn.conv2d(x, relay.const(random((16, 16, 3, 3), "int8", 1, largest=9)), scalar(0, "int32"), scalar(0, "int32"), scalar(1), scalar(1), channels=16, kernel_size=(3, 3), out_dtype="int32")
    made = qnn.requantize(made, scalar(factor), scalar(0, "int32"), scalar(1), scalar(0, "int32"), axis=1, out_dtype="int8")
    _, _, apart = differences(relay.Function([x], made), {"x": random((1, 16, 32, 32), "uint8", 2)})
    assert apart.max() <= 1 and np.mean(apart != 0) <= 0.02
