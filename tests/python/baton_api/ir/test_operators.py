"""Builders of operators: every one can be made; those that do more than make one call give what they promise."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.relay.testing import run_infer_type


def typed(expr):
    """The type of an expression, as text."""
    return str(run_infer_type(expr.astuple() if hasattr(expr, "astuple") else expr).checked_type)


def v(*shape, dtype="float32", name="v"):
    return relay.var(name, shape=shape, dtype=dtype)


def key():
    return relay.random.threefry_key(3)


def test_every_operator_has_a_builder():
    for name in tvm.ir.Op.list_op_names():
        build = relay.op.builder(name)
        assert build.__name__ == name.rsplit(".", 1)[-1]
    for owner in (relay.op.tensor, relay.op.transform, relay.op.reduce, relay.op.algorithm, relay.nn, relay.image, relay.vision,
                  relay.random, relay.annotation, relay.op.memory, relay.op.vm):
        for name in dir(owner):
            assert name.startswith("_") or getattr(owner, name) is not None


X, IDS, SHAPE = v(2, 3, name="x"), v(2, dtype="int64", name="ids"), v(2, dtype="int64", name="shape")

TYPES = {
    "arange": (lambda: relay.arange(5), "Tensor[(5), float32]"),
    "arange of expressions": (lambda: relay.arange(relay.const(1), relay.const(9), relay.const(2), "int32"), "Tensor[(4), int32]"),
    "std": (lambda: relay.std(X, 1), "Tensor[(2), float32]"),
    "logsumexp": (lambda: relay.logsumexp(X, axis=1), "Tensor[(2), float32]"),
    "mean_variance": (lambda: relay.mean_variance(X, axis=0), "(Tensor[(3), float32], Tensor[(3), float32])"),
    "mean_std": (lambda: relay.mean_std(X), "(float32, float32)"),
    "reverse_reshape": (lambda: relay.reverse_reshape(X, (-1, 3)), "Tensor[(2, 3), float32]"),
    "collapse_sum_to": (lambda: relay.collapse_sum_to(X, (3,)), "Tensor[(3), float32]"),
    "collapse_sum_to of a constant": (lambda: relay.collapse_sum_to(X, relay.const([3])), "Tensor[(3), float32]"),
    "uniform": (lambda: relay.random.uniform(key(), (2, 3)), "(Tensor[(10), uint64], Tensor[(2, 3), float32])"),
    "normal": (lambda: relay.random.normal(key(), (2, 3)), "(Tensor[(10), uint64], Tensor[(2, 3), float32])"),
    "threefry_split": (lambda: relay.random.threefry_split(key()), "(Tensor[(10), uint64], Tensor[(10), uint64])"),
    "multinomial": (lambda: relay.random.multinomial(key(), v(3), 5), "(Tensor[(10), uint64], Tensor[(5), int32])"),
    "get_valid_counts": (lambda: relay.vision.get_valid_counts(v(1, 5, 6), 0.5),
                         "(Tensor[(1), int32], Tensor[(1, 5, 6), float32], Tensor[(1, 5), int32])"),
    "non_max_suppression": (lambda: relay.vision.non_max_suppression(v(1, 5, 6), v(1, dtype="int32"), v(1, 5, dtype="int32")),
                            "(Tensor[(1, 5), int32], Tensor[(1, 1), int32])"),
    "global_avg_pool1d": (lambda: relay.nn.global_avg_pool1d(v(1, 2, 3)), "Tensor[(1, 2, 1), float32]"),
    "global_max_pool3d": (lambda: relay.nn.global_max_pool3d(v(1, 2, 3, 4, 5)), "Tensor[(1, 2, 1, 1, 1), float32]"),
    "dropout": (lambda: relay.nn.dropout(X), "Tensor[(2, 3), float32]"),
    "dropout_raw": (lambda: relay.nn.dropout_raw(X), "(Tensor[(2, 3), float32], Tensor[(2, 3), float32])"),
    "pad": (lambda: relay.nn.pad(X, ((1, 1), (2, 2)), 0.0), "Tensor[(4, 7), float32]"),
    "pad by an expression": (lambda: relay.nn.pad(X, v(2, 2, dtype="int64")), "Tensor[(?, ?), float32]"),
    "upsampling": (lambda: relay.nn.upsampling(v(1, 2, 3, 4), 2, 2), "Tensor[(1, 2, 6, 8), float32]"),
    "upsampling by an expression": (lambda: relay.nn.upsampling(v(1, 2, 3, 4), v(), 2), "Tensor[(1, 2, ?, ?), float32]"),
    "resize2d": (lambda: relay.image.resize2d(v(1, 2, 3, 4), (6, 8)), "Tensor[(1, 2, 6, 8), float32]"),
    "resize2d to an expression": (lambda: relay.image.resize2d(v(1, 2, 3, 4), SHAPE), "Tensor[(1, 2, ?, ?), float32]"),
    "matrix_set_diag": (lambda: relay.matrix_set_diag(v(3, 3), v(2, 3), (0, 1), "LEFT_LEFT"), "Tensor[(3, 3), float32]"),
    "unique": (lambda: relay.unique(v(5, dtype="int32"))[3], "Tensor[(1), int32]"),
    "unique with counts": (lambda: relay.unique(v(5, dtype="int32"), return_counts=True)[4], "Tensor[(5), int32]"),
    "sparse_to_dense": (lambda: relay.sparse_to_dense(v(3, dtype="int32"), (5,), v(3), relay.const(0.0)), "Tensor[(5), float32]"),
    "strided_slice by an expression": (lambda: relay.strided_slice(X, [0, 0], SHAPE), "Tensor[(?, ?), float32]"),
    "full": (lambda: relay.full(relay.const(1.0), (2, 2)), "Tensor[(2, 2), float32]"),
    "zeros of an expression": (lambda: relay.zeros(SHAPE, "float32"), "Tensor[(?, ?), float32]"),
    "one_hot": (lambda: relay.one_hot(IDS, relay.const(1.0), relay.const(0.0), 4, -1, "float32"), "Tensor[(2, 4), float32]"),
    "topk": (lambda: relay.topk(X, 2), "(Tensor[(2, 2), float32], Tensor[(2, 2), int32])"),
    "topk, values": (lambda: relay.topk(X, relay.const(2), ret_type="values"), "Tensor[(2, 2), float32]"),
    "tile by an expression": (lambda: relay.tile(X, SHAPE), "Tensor[(?, ?), float32]"),
    "reshape to one extent": (lambda: relay.reshape(X, 6), "Tensor[(6), float32]"),
    "reshape to a constant": (lambda: relay.reshape(X, relay.const([3, 2])), "Tensor[(3, 2), float32]"),
    "reshape to an expression": (lambda: relay.reshape(X, SHAPE), "Tensor[(?, ?), float32]"),
    "squeeze of one axis": (lambda: relay.squeeze(v(1, 2, 1), 0), "Tensor[(2, 1), float32]"),
    "broadcast_to": (lambda: relay.broadcast_to(X, (4, 2, 3)), "Tensor[(4, 2, 3), float32]"),
    "conv1d": (lambda: relay.nn.conv1d(v(1, 2, 8), v(4, 2, 3)), "Tensor[(1, 4, 6), float32]"),
    "conv3d": (lambda: relay.nn.conv3d(v(1, 2, 8, 8, 8), v(4, 2, 3, 3, 3), padding=1, kernel_size=3, channels=4),
               "Tensor[(1, 4, 8, 8, 8), float32]"),
    "conv2d_transpose": (lambda: relay.nn.conv2d_transpose(v(1, 2, 8, 8), v(2, 4, 3, 3), channels=4, kernel_size=3),
                         "Tensor[(1, 4, 10, 10), float32]"),
    "conv2d_backward_weight": (lambda: relay.nn.conv2d_backward_weight(v(1, 4, 6, 6), v(1, 2, 8, 8), channels=4, kernel_size=(3, 3)),
                               "Tensor[(4, 2, 3, 3), float32]"),
    "bitpack": (lambda: relay.nn.bitpack(v(1, 64, 2, dtype="uint32"), 2, 1, 2, "uint32"), "Tensor[(1, 2, 2, 2), uint32]"),
    "meshgrid": (lambda: relay.meshgrid([v(3), v(4)])[1], "Tensor[(3, 4), float32]"),
    "einsum": (lambda: relay.einsum([X, v(3, 4)], "ij,jk->ik"), "Tensor[(2, 4), float32]"),
    "adaptive_avg_pool2d": (lambda: relay.nn.adaptive_avg_pool2d(v(1, 2, 4, 4)), "Tensor[(1, 2, 4, 4), float32]"),
    "sparse_dense": (lambda: relay.nn.sparse_dense(v(2, 4), (v(3), v(3, dtype="int32"), v(6, dtype="int32"))), "Tensor[(2, 5), float32]"),
    "debug": (lambda: relay.op.debug(X), "Tensor[(2, 3), float32]"),
    "reshape_tensor": (lambda: relay.op.vm.reshape_tensor(X, SHAPE, (3, 2)), "Tensor[(3, 2), float32]"),
    "split": (lambda: relay.split(X, [1], axis=1)[1], "Tensor[(2, 2), float32]"),
}


@pytest.mark.parametrize("case", TYPES)
def test_types(case):
    make, expected = TYPES[case]
    assert typed(make()) == expected


def test_values():
    data = np.random.RandomState(0).rand(4, 3).astype("float32")
    ids = np.array([0, 1, 0, 2], "int32")

    def run(expr):
        module = relay.transform.FoldConstant()(relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([], expr))))
        return module["main"].body.data.numpy()

    x = relay.const(data)
    np.testing.assert_allclose(run(relay.logsumexp(x, 1)), np.log(np.exp(data).sum(1)), rtol=1e-5)
    np.testing.assert_allclose(run(relay.std(x, 0)), data.std(0), rtol=1e-5)
    np.testing.assert_allclose(run(relay.variance(x, 1, unbiased=True)), data.var(1, ddof=1), rtol=1e-5)
    np.testing.assert_allclose(run(relay.arange(1, 7, 2)), [1, 3, 5])
    module = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([], relay.segment_sum(x, relay.const(ids), 3))))
    for _ in range(2):
        module = relay.transform.InferType()(relay.transform.DynamicToStatic()(relay.transform.FoldConstant()(module)))
    summed = relay.transform.FoldConstant()(module)["main"].body.data.numpy()
    np.testing.assert_allclose(summed, [data[0] + data[2], data[1], data[3]], rtol=1e-6)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="padding"):
        relay.nn.conv2d(X, X, padding=(1, 2, 3))
    with pytest.raises(ValueError, match="axis"):
        relay.concatenate([X, X], axis=None)
    with pytest.raises(ValueError, match="axes"):
        relay.strided_slice(X, SHAPE, [1, 1], axes=[0])
    with pytest.raises(ValueError, match="2\\*\\*256"):
        relay.random.threefry_key(-1)
    with pytest.raises(AttributeError, match="no_such"):
        relay.nn.no_such


def test_wrong_arguments_are_named():
    x = relay.var("x", shape=(1, 3, 8, 8))
    for call, text in ((lambda: relay.nn.conv2d(x, object(), kernel_size=3), "nn.conv2d: weight"),
                       (lambda: relay.nn.conv2d(x, x, padding="same"), "padding"), (lambda: relay.nn.conv2d(x, x, padding=x), "padding"),
                       (lambda: relay.nn.conv2d(x, x, strides=object()), "strides"), (lambda: relay.add(x, "text"), "add: rhs"),
                       (lambda: relay.add(None, x), "add: lhs"), (lambda: relay.nn.softmax(x, axis=[[]]), "axis"),
                       (lambda: relay.split(x, x), "split"), (lambda: relay.nn.sparse_dense(x, 1), "sparse matrix"),
                       (lambda: relay.matrix_set_diag(x, x, align=3), "align"), (lambda: relay.Function([x], x, attrs={"a": object()}), "a"),
                       (lambda: relay.transform.FoldConstant(object()), "fold_qnn"), (lambda: relay.transform.FuseOps([object()]), "fuse_opt_level"),
                       (lambda: relay.device_copy(x, 3, "cpu"), "device"), (lambda: relay.analysis.well_formed(3), "the program")):
        with pytest.raises((TypeError, ValueError, tvm.TVMError), match=text):
            call()
    loop = []
    loop.append(loop)
    for nested in (loop, {"a": loop}, "\udc80"):  # what has no end, and what is no text
        with pytest.raises(TypeError):
            relay.Function([x], x, attrs={"a": nested})
