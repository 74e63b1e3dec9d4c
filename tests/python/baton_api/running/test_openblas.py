"""Regions for OpenBLAS: every operator that the backend claims, against Baton's own kernels."""
import subprocess
import sys

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from baton.relay.op.contrib import openblas, partition

nn = relay.nn


def var(name, *shape, dtype="float32"):
    return relay.var(name, shape=shape, dtype=dtype)


def const(*shape, dtype="float32", seed=0):
    return relay.const(np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype))


def products(op, a, b, dtype):
    """The operator with each operand as it is and transposed: `a` and `b` are its shapes for an (m, k) by (k, n)."""
    turned = lambda shape, yes: (*shape[:-2], shape[-1], shape[-2]) if yes else shape  # noqa: E731
    for ta in (False, True):
        for tb in (False, True):
            yield op(var("a", *turned(a, ta), dtype=dtype), var("b", *turned(b, tb), dtype=dtype), transpose_a=ta, transpose_b=tb)


def cases(op, dtype):
    if op == "nn.dense":
        yield nn.dense(var("x", 3, 5, dtype=dtype), const(7, 5, dtype=dtype))
        yield nn.dense(var("x", 1, 1, dtype=dtype), var("w", 1, 1, dtype=dtype))
        yield nn.dense(var("x", 2, 3, 4, 5, dtype=dtype), var("w", 6, 5, dtype=dtype), units=6)
        yield (lambda x: nn.dense(x, x))(var("x", 4, 9, dtype=dtype))
    elif op == "nn.matmul":
        yield from products(nn.matmul, (3, 4), (4, 7), dtype)
        yield (lambda x: nn.matmul(x, x, transpose_a=True))(var("x", 6, 3, dtype=dtype))
    else:
        yield from products(nn.batch_matmul, (5, 3, 4), (5, 4, 7), dtype)
        yield from products(nn.batch_matmul, (5, 3, 4), (1, 4, 7), dtype)
        yield from products(nn.batch_matmul, (1, 3, 1), (2, 1, 7), dtype)


def outputs_of(lib, inputs):
    model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    model.run(**inputs)
    return [model.get_output(i).numpy() for i in range(model.get_num_outputs())]


def check(body):
    mod = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(body), body)))
    split = openblas.partition_for_openblas(mod)
    random = np.random.default_rng(1)
    inputs = {p.name_hint: random.uniform(-1, 1, [int(n) for n in p.checked_type.shape]).astype(p.checked_type.dtype) for p in mod["main"].params}
    lib = relay.build(split, "llvm")
    for got, want in zip(outputs_of(lib, inputs), outputs_of(relay.build(mod, "llvm"), inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5 if got.dtype == "float32" else 1e-12, atol=1e-5 if got.dtype == "float32" else 1e-12)
    for row in tvm.origins(lib):
        assert row["nodes"] or row["folded_into"] or row["retired"]
    kernels = tvm.profile(lib, repeat=1, seconds=0, inside=False, unfused=False, peaks=False).kernels
    return lib, inputs, [kernel for kernel in kernels if kernel["target"] == "openblas"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", partition.operators("openblas"))
def test_operator(op, dtype):
    met = 0
    for body in cases(op, dtype):
        _, _, kernels = check(body)
        assert [len(kernel["origins"]) for kernel in kernels] == [1]
        met += 1
    assert met, f"no case for {op}"


def test_several_products_are_a_kernel_each():
    x = var("x", 6, 8)
    _, _, kernels = check(nn.relu(nn.dense(nn.dense(x, const(16, 8)), const(4, 16, seed=1))))
    assert len(kernels) == 2 and kernels[0]["region"] == kernels[1]["region"]


def test_says_why_not():
    x, y = var("x", 2, 3, dtype="int8"), var("y", 0, 3)
    body = relay.Tuple([nn.dense(x, x, out_dtype="int32"), nn.dense(y, const(4, 3)), nn.relu(y)])
    whys = [why for _, why in partition.refusals(tvm.IRModule.from_expr(relay.Function([x, y], body)), "openblas")]
    assert whys == ["`nn.dense` has a result of Tensor[(2, 2), int32], not of float32 or float64", "`nn.dense` has an axis of 0 elements",
                    "`nn.relu` is not mapped to openblas"]


def test_the_given_module_stays_as_it_is():
    mod, params = relay.testing.mlp.get_workload(batch_size=1)
    before = str(mod)
    openblas.partition_for_openblas(mod, params)
    assert str(mod) == before


def test_another_process_and_a_damaged_file(tmp_path):
    lib, inputs, _ = check(nn.dense(var("x", 3, 5), const(7, 5)))
    path = str(tmp_path / "model.baton")
    lib.export_library(path)
    np.savez(tmp_path / "inputs.npz", **inputs)
    code = ("import sys, numpy as np, baton as tvm; from baton.contrib import graph_executor as g\n"
            "m = g.GraphModule(tvm.runtime.load_module(sys.argv[1])['default'](tvm.cpu())); m.run(**np.load(sys.argv[2]))\n"
            "np.save(sys.argv[3], m.get_output(0).numpy())")
    subprocess.run([sys.executable, "-c", code, path, str(tmp_path / "inputs.npz"), str(tmp_path / "out.npy")], check=True, timeout=120)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), outputs_of(lib, inputs)[0])
    damaged = bytearray((tmp_path / "model.baton").read_bytes())
    at = damaged.index(b"BATONBLA")
    damaged[at + 24] ^= 0xFF
    (tmp_path / "damaged.baton").write_bytes(damaged)
    with pytest.raises(tvm.TVMError):
        tvm.runtime.load_module(str(tmp_path / "damaged.baton"))["default"](tvm.cpu())
