"""tvm.topi.testing: each reference in numpy gives what Baton's operator gives, which was compared with TVM's."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.topi import testing as reference


def values(*shape, dtype="float32", seed=0):
    made = np.random.default_rng(seed + len(shape)).normal(size=shape)
    return made.astype(dtype) if "float" in dtype else np.round(made * 5).astype(dtype)


def computed(build, *arrays):
    """What the operator gives that build(*variables) calls."""
    names = [relay.var(f"x{i}", shape=each.shape, dtype=str(each.dtype)) for i, each in enumerate(arrays)]
    made = build(*names)
    made = made.astuple() if isinstance(made, relay.TupleWrapper) else made
    found = relay.create_executor("debug", mod=tvm.IRModule.from_expr(relay.Function(names, made)), target="llvm").evaluate()(*arrays)
    return [each.numpy() for each in found] if isinstance(found, list) else found.numpy()


def check(build, expected, *arrays, rtol=1e-4, atol=1e-4):
    tvm.testing.assert_allclose(computed(build, *arrays), expected, rtol=rtol, atol=atol)


x2, w2 = values(2, 4, 9, 8), values(6, 4, 3, 2)
nn = relay.nn


@pytest.mark.parametrize("stride,padding", [((1, 1), (1, 0)), ((2, 3), (1, 2, 0, 1)), (2, 0), (1, "SAME"), (2, "VALID")])
@pytest.mark.parametrize("groups", [1, 2])
def test_conv2d(stride, padding, groups):
    weight = values(6, 4 // groups, 3, 2)
    pads = {"SAME": (1, 0, 1, 1), "VALID": 0}.get(padding, padding)
    given = {"strides": stride, "padding": pads, "kernel_size": (3, 2), "channels": 6}
    check(lambda x, w: nn.conv2d(x, w, groups=groups, **given), reference.conv2d_nchw_python(x2, weight, stride, padding, groups), x2, weight)
    last, hwio = np.moveaxis(x2, 1, -1), weight.transpose(2, 3, 1, 0)
    if groups == 1:
        check(lambda x, w: nn.conv2d(x, w, data_layout="NHWC", kernel_layout="HWIO", **given),
              reference.conv2d_nhwc_python(last, hwio, stride, padding), last, hwio)
        hwcn = x2.transpose(2, 3, 1, 0)
        expected = reference.conv2d_hwcn_python(hwcn, hwio, stride, padding).transpose(3, 2, 0, 1)
        check(lambda x, w: nn.conv2d(x, w, **given), expected, x2, weight)


def test_conv_of_one_and_three_axes():
    x1, w1 = values(2, 4, 11), values(6, 2, 3)
    check(lambda x, w: nn.conv1d(x, w, 2, 1, 2, groups=2, kernel_size=3, channels=6),
          reference.group_conv1d_ncw_python(x1, w1, 2, 1, 2, 2), x1, w1)
    x3, w3 = values(1, 4, 5, 6, 5), values(6, 4, 3, 1, 2)
    given = {"strides": (1, 2, 1), "padding": (1, 0, 1), "kernel_size": (3, 1, 2), "channels": 6}
    check(lambda x, w: nn.conv3d(x, w, **given), reference.conv3d_ncdhw_python(x3, w3, (1, 2, 1), (1, 0, 1)), x3, w3)
    last, dhwio = np.moveaxis(x3, 1, -1), w3.transpose(2, 3, 4, 1, 0)
    check(lambda x, w: nn.conv3d(x, w, data_layout="NDHWC", kernel_layout="DHWIO", **given),
          reference.conv3d_ndhwc_python(last, dhwio, (1, 2, 1), (1, 0, 1)), last, dhwio)


def test_depthwise():
    weight = values(4, 2, 3, 3)
    expected = reference.depthwise_conv2d_python_nchw(x2, weight, (2, 1), (1, 1))
    check(lambda x, w: nn.conv2d(x, w, (2, 1), (1, 1), groups=4, channels=8, kernel_size=(3, 3)), expected, x2, weight.reshape(8, 1, 3, 3))
    last = reference.depthwise_conv2d_python_nhwc(np.moveaxis(x2, 1, -1), weight.transpose(2, 3, 0, 1), (2, 1), (1, 1))
    np.testing.assert_allclose(np.moveaxis(last, -1, 1), expected)
    blocks = reference.depthwise_conv2d_python_nchwc(np.moveaxis(x2.reshape(2, 2, 2, 9, 8), 2, -1), weight.reshape(2, 4, 3, 3).transpose(0, 2, 3, 1)[:, None, :, :, None],
                                                     (2, 1), (1, 1))
    np.testing.assert_allclose(np.moveaxis(blocks, -1, 2).reshape(expected.shape), expected)


@pytest.mark.parametrize("groups", [1, 2])
def test_transposed(groups):
    weight = values(4, 3, 3, 2)
    given = {"strides": (2, 3), "padding": (1, 0), "output_padding": (1, 2), "kernel_size": (3, 2), "channels": 3 * groups}
    expected = reference.conv2d_transpose_nchw_python(x2, weight, (2, 3), (1, 0), (1, 2), groups)
    check(lambda x, w: nn.conv2d_transpose(x, w, groups=groups, **given), expected, x2, weight)
    if groups == 1:
        last = reference.conv2d_transpose_nhwc_python(np.moveaxis(x2, 1, -1), weight.transpose(2, 3, 1, 0), "HWOI", (2, 3), (1, 0), (1, 2))
        np.testing.assert_allclose(np.moveaxis(last, -1, 1), expected)
    x1, w1 = values(2, 4, 7), values(4, 3, 3)
    check(lambda x, w: nn.conv1d_transpose(x, w, 2, 1, kernel_size=3, channels=3 * groups, groups=groups, output_padding=1),
          reference.group_conv1d_transpose_ncw_python(x1, w1, 2, 1, 1, groups), x1, w1)
    if groups == 1:
        x3, w3 = values(1, 2, 4, 3, 4), values(2, 3, 2, 3, 2)
        check(lambda x, w: nn.conv3d_transpose(x, w, (2, 1, 2), (0, 1, 1), kernel_size=(2, 3, 2), channels=3),
              reference.conv3d_transpose_ncdhw_python(x3, w3, (2, 1, 2), (0, 1, 1), (0, 0, 0)), x3, w3)


def test_gradient_of_weights_and_correlation():
    gradient = values(2, 6, 5, 4)
    check(lambda dy, x: nn.conv2d_backward_weight(dy, x, strides=(2, 2), padding=(1, 1), kernel_size=(3, 3), channels=6),
          reference.conv2d_backward_weight_python(gradient, x2, (3, 3), (2, 2), (1, 1)), gradient, x2)
    other = values(2, 4, 9, 8, seed=1)
    for is_multiply in (True, False):
        check(lambda a, b, multiply=is_multiply: nn.correlation(a, b, 1, 2, 1, 1, 2, multiply, "NCHW"),
              reference.correlation_nchw_python(x2, other, 1, 2, 1, 1, 2, is_multiply), x2, other)


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("count", [False, True])
def test_pools(ceil_mode, count):
    for kind, pool in (("max", nn.max_pool2d), ("avg", nn.avg_pool2d)):
        extra = {"count_include_pad": count} if kind == "avg" else {}
        expected = reference.poolnd_python(x2, [3, 2], [2, 3], [1, 1], [1, 0], [1, 1], kind, count, ceil_mode)
        check(lambda x, p=pool, e=extra: p(x, (3, 2), (2, 3), padding=(1, 0, 1, 1), ceil_mode=ceil_mode, **e), expected, x2)
        last = reference.poolnd_python(np.moveaxis(x2, 1, -1), [3, 2], [2, 3], [1, 1], [1, 0], [1, 1], kind, count, ceil_mode, layout="NHWC")
        np.testing.assert_allclose(np.moveaxis(last, -1, 1), expected)
        expected = reference.poolnd_python(x2, [2, 2], [1, 2], [2, 3], [0, 1], [0, 1], kind, count, ceil_mode)
        check(lambda x, p=pool, e=extra: p(x, (2, 2), (1, 2), dilation=(2, 3), padding=(0, 1), ceil_mode=ceil_mode, **e), expected, x2)
    x1, x3 = values(1, 2, 9), values(1, 2, 5, 6, 5)
    check(lambda x: nn.max_pool1d(x, 3, 2, padding=1, ceil_mode=ceil_mode), reference.poolnd_python(x1, [3], [2], [1], [1], [1], "max", count, ceil_mode, layout="NCW"), x1)
    check(lambda x: nn.avg_pool3d(x, (2, 3, 2), (1, 2, 2), padding=(0, 1, 1), ceil_mode=ceil_mode, count_include_pad=count),
          reference.poolnd_python(x3, [2, 3, 2], [1, 2, 2], [1, 1, 1], [0, 1, 1], [0, 1, 1], "avg", count, ceil_mode, layout="NCDHW"), x3)


def test_gradients_of_pools_and_adaptive_pools():
    for kind, count in (("max", True), ("avg", True), ("avg", False)):
        gradient = values(2, 4, 4, 4)
        extra = {"count_include_pad": count} if kind == "avg" else {}
        grad = nn.max_pool2d_grad if kind == "max" else nn.avg_pool2d_grad
        check(lambda g, x, f=grad, e=extra: f(g, x, (3, 2), (2, 2), (0, 0, 0, 0), **e),
              reference.pool_grad_nchw(x2, gradient, (3, 2), (2, 2), (0, 0, 0, 0), kind, False, count), gradient, x2)
    check(lambda x: nn.adaptive_max_pool2d(x, (3, 5)), reference.adaptive_pool(x2, (3, 5), "max"), x2)
    check(lambda x: nn.adaptive_avg_pool2d(x, (4, 3), layout="NHWC"), reference.adaptive_pool(x2, (4, 3), "avg", "NHWC"), x2)
    x3 = values(1, 2, 5, 6, 5)
    check(lambda x: nn.adaptive_avg_pool3d(x, (2, 4, 3)), reference.adaptive_pool(x3, (2, 4, 3), "avg", "NCDHW"), x3)


def test_normalisation_and_products():
    check(lambda x: nn.softmax(x, axis=1), reference.softmax_python(x2), x2)
    flat = values(3, 7)
    check(lambda x: nn.log_softmax(x, axis=1), reference.log_softmax_python(flat), flat)
    gamma, beta, mean, var = (np.abs(values(4, seed=seed)) for seed in range(4))
    expected = reference.batch_norm(x2, gamma, beta, mean, var, 1, 1e-3, True, False)[0]
    check(lambda x, *p: nn.batch_norm(x, *p, axis=1, epsilon=1e-3, scale=False)[0], expected, x2, gamma, beta, mean, var)
    check(lambda x, g, b: nn.layer_norm(x, g, b, axis=1), reference.layer_norm_python(x2, gamma, beta, 1), x2, gamma, beta)
    check(lambda x, g, b: nn.instance_norm(x, g, b, axis=1), reference.instance_norm_python(x2, gamma, beta, (2, 3)), x2, gamma, beta)
    check(lambda x, g, b: nn.group_norm(x, g, b, num_groups=2, axis=1), reference.group_norm_python(x2, gamma, beta, 2, 1, (2, 3)), x2, gamma, beta)
    check(lambda x: nn.l2_normalize(x, 1e-3, [1]), reference.l2_normalize_python(x2, 1e-3, 1), x2)
    for size in (3, 5):
        check(lambda x, n=size: nn.lrn(x, n, 1, 2.0, 0.2, 0.75), reference.lrn_python(x2, size, 1, 2.0, 0.2, 0.75), x2)
    weight = values(5, 7, seed=3)
    check(lambda x, w: nn.dense(x, w), reference.dense(flat, weight, None), flat, weight)
    one, two = values(3, 4, 5), values(1, 6, 5)
    check(lambda a, b: nn.batch_matmul(a, b), reference.batch_matmul(one, two), one, two)
    check(lambda a, b: nn.batch_matmul(a, b, transpose_a=True, transpose_b=False), reference.batch_matmul(one, values(3, 4, 6), trans_x=True, trans_y=False),
          one, values(3, 4, 6))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_nll_loss(reduction):
    predictions, targets, weights = values(5, 4, 2), np.arange(10).reshape(5, 2).astype("int32") % 4, np.abs(values(4))
    targets[1, 0] = -2
    check(lambda p, t, w: nn.nll_loss(p, t, w, reduction, -2), reference.nll_loss(predictions, targets, weights, reduction, -2), predictions, targets, weights)


@pytest.mark.parametrize("method", ["nearest_neighbor", "linear", "cubic"])
@pytest.mark.parametrize("mode", ["half_pixel", "align_corners", "asymmetric"])
def test_resize(method, mode):
    for build, expected, array in [
            (lambda x: relay.image.resize1d(x, 13, None, "NCW", method, mode), reference.resize1d_python(values(1, 2, 9), (13 / 9,), "NCW", method, mode), values(1, 2, 9)),
            (lambda x: relay.image.resize2d(x, (5, 16), None, "NCHW", method, mode), reference.resize2d_python(x2, (5 / 9, 2.0), "NCHW", method, mode), x2),
            (lambda x: relay.image.resize2d(x, (18, 4), None, "NHWC", method, mode),
             reference.resize2d_python(np.moveaxis(x2, 1, -1), (2, 0.5), "NHWC", method, mode), np.moveaxis(x2, 1, -1)),
            (lambda x: relay.image.resize3d(x, (10, 3, 7), None, "NCDHW", method, mode),
             reference.resize3d_python(values(1, 2, 5, 6, 5), (2, 0.5, 7 / 5), "NCDHW", method, mode), values(1, 2, 5, 6, 5))]:
        check(build, expected, np.ascontiguousarray(array), atol=2e-4)


@pytest.mark.parametrize("method", ["bilinear", "nearest_neighbor"])
def test_crop_and_resize(method):
    image = np.moveaxis(x2, 1, -1).copy()
    boxes, places = np.array([[0.1, 0.2, 0.8, 0.9], [0, 0, 1.2, 1], [0.5, 0.4, 0.1, 0]], "float32"), np.array([1, 0, 1], "int32")
    expected = reference.crop_and_resize_python(image, boxes, places, (4, 5), "NHWC", method, 0.3)
    check(lambda x, b, p: relay.image.crop_and_resize(x, b, p, (4, 5), "NHWC", method, 0.3), expected, image, boxes, places)
    np.testing.assert_allclose(np.moveaxis(reference.crop_and_resize_python(x2, boxes, places, (4, 5), "NCHW", method, 0.3), 1, -1), expected)


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align_corners", [True, False])
def test_grids(method, padding_mode, align_corners):
    grid = (values(2, 2, 5, 6) * 0.8).astype("float32")
    check(lambda x, g: relay.image.grid_sample(x, g, method, "NCHW", padding_mode, align_corners),
          reference.grid_sample_python(x2, grid, method, "NCHW", padding_mode, align_corners), x2, grid, atol=1e-3)
    if method != "bicubic":
        x3, grid3 = values(2, 2, 4, 5, 3), (values(2, 3, 2, 3, 4) * 0.8).astype("float32")
        check(lambda x, g: relay.image.grid_sample(x, g, method, "NCDHW", padding_mode, align_corners),
              reference.grid_sample_python(x3, grid3, method, "NCDHW", padding_mode, align_corners), x3, grid3, atol=1e-3)
    matrix = values(2, 2, 3)
    check(lambda x: relay.image.affine_grid(x, (4, 5)), reference.affine_grid_python(matrix, (4, 5)), matrix)


def test_blocks_and_slices():
    channels = values(1, 8, 6, 4)
    for mode in ("DCR", "CDR"):
        check(lambda x, m=mode: nn.depth_to_space(x, 2, mode=m), reference.depth_to_space_python(channels, 2, mode), channels)
    check(lambda x: nn.space_to_depth(x, 2), reference.space_to_depth_python(channels, 2), channels)
    check(lambda x: relay.vision.yolo_reorg(x, 2), reference.reorg_python(channels, 2), channels)
    wide = values(2, 4, 6, 3)
    check(lambda x: nn.space_to_batch_nd(x, [2, 3], [[1, 1], [0, 3]], 0.5), reference.space_to_batch_nd_python(wide, [2, 3], [1, 0], [1, 3], 0.5), wide)
    batches = values(12, 2, 3, 2)
    check(lambda x: nn.batch_to_space_nd(x, [2, 3], [[1, 0], [0, 2]]), reference.batch_to_space_nd_python(batches, [2, 3], [1, 0], [0, 2]), batches)
    check(lambda x: nn.dilate(x, [1, 1, 2, 3], 7.0), reference.dilate_python(wide, [1, 1, 2, 3], 7.0), wide)
    for begin, end, strides, mode, axes in [([1, 0], [2, 3], [1, 2], "end", None), ([-1, 3], [-10, -9], [-1, -2], "end", [1, 2]),
                                            ([0, 1, 2], [2, -1, 3], [1, 1, 1], "size", None), ([1], [3], None, "end", [2])]:
        check(lambda x, b=begin, e=end, s=strides, m=mode, a=axes: relay.strided_slice(x, b, e, s, a, m),
              reference.strided_slice_python(wide, begin, end, strides, mode, axes), wide)
    part = values(1, 2, 6, 3)
    bounds = [relay.const(np.array(each, "int32")) for each in ([1, 0, 0, 0], [2, 4, 6, 3], [1, 2, 1, 1])]
    check(lambda x, v: relay.strided_set(x, v, *bounds),
          reference.strided_set_python(wide, part, [1, 0, 0, 0], [2, 4, 6, 3], [1, 2, 1, 1]), wide, part)


def test_indices_masks_and_diagonals():
    data, index = values(3, 4, 5), np.arange(30).reshape(3, 2, 5).astype("int32") % 4
    check(lambda x, i: relay.gather(x, 1, i), reference.gather_python(data, 1, index), data, index)
    pairs = np.array([[0, 2, 1], [3, 0, 2]], "int32")
    check(lambda x, i: relay.gather_nd(x, i), reference.gather_nd_python(data, pairs), data, pairs)
    numbers = np.array([[0, 2], [1, 4]], "int32")
    for axis in (-1, 0, 1):
        check(lambda i, a=axis: relay.one_hot(i, relay.const(3.0), relay.const(0.5), 5, a, "float32"),
              reference.one_hot(numbers, 3.0, 0.5, 5, axis, "float32"), numbers)
    for axis, lengths in ((0, np.array([1, 3, 0, 2], "int32")), (1, np.array([4, 1, 2], "int32"))):
        check(lambda x, n, a=axis: relay.sequence_mask(x, n, -1.0, a), reference.sequence_mask(data, lengths, -1.0, axis), data, lengths)
    ordered, wanted = np.sort(values(3, 9), axis=-1), values(3, 4, seed=2)
    for right in (True, False):
        check(lambda s, v, r=right: relay.searchsorted(s, v, r, "int32"), reference.searchsorted_ref(ordered, wanted, right, "int32"), ordered, wanted)
        check(lambda s, v, r=right: relay.searchsorted(s, v, r, "int64"), reference.searchsorted_ref(ordered[0], wanted, right, "int64"), ordered[0], wanted)
    check(lambda x, d: relay.matrix_set_diag(x, d, 1), reference.matrix_set_diag(data, values(3, 4), 1), data, values(3, 4))
    for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        diagonals = values(3, 4, 4)
        check(lambda x, d, a=align: relay.matrix_set_diag(x, d, (-2, 1), a), reference.matrix_set_diag(data, diagonals, (-2, 1), align), data, diagonals)
    np.testing.assert_array_equal(reference.slice_axis_python(data, 1, 1, 3), data[:, 1:3])


def test_regions():
    rois = np.array([[0, 0.5, 1, 6.5, 7], [1, 2, 2.5, 3, 2.6], [1, -2, -1, 20, 9]], "float32")
    for mode in ("avg", "max"):
        for ratio in (2, -1):
            check(lambda x, r, m=mode, s=ratio: relay.vision.roi_align(x, r, (3, 2), 0.7, s, mode=m),
                  reference.roi_align_nchw_python(x2, rois, (3, 2), 0.7, ratio, mode.encode()), x2, rois)
    last = np.moveaxis(x2, 1, -1).copy()
    check(lambda x, r: relay.vision.roi_align(x, r, (3, 2), 0.7, 2, "NHWC"), reference.roi_align_nhwc_python(last, rois, (3, 2), 0.7, 2), last, rois)
    check(lambda x, r: relay.vision.roi_pool(x, r, (3, 2), 0.7), reference.roi_pool_nchw_python(x2, rois, (3, 2), 0.7), x2, rois)


@pytest.mark.parametrize("groups,parts", [(1, 1), (2, 1), (1, 2)])
def test_moved_windows(groups, parts):
    weight, offsets = values(6, 4 // groups, 3, 3), values(2, 18 * parts, 9, 8)
    given = {"strides": (1, 1), "padding": (1, 1), "kernel_size": (3, 3), "channels": 6, "deformable_groups": parts, "groups": groups}
    check(lambda x, o, w: nn.deformable_conv2d(x, o, w, **given),
          reference.deformable_conv2d_nchw_python(x2, offsets, weight, 1, 1, 1, parts, groups), x2, offsets, weight, atol=1e-3)
    if groups == 1:
        last, moved, hwio = np.moveaxis(x2, 1, -1).copy(), np.moveaxis(offsets, 1, -1).copy(), weight.transpose(2, 3, 1, 0).copy()
        check(lambda x, o, w: nn.deformable_conv2d(x, o, w, data_layout="NHWC", kernel_layout="HWIO", **given),
              reference.deformable_conv2d_nhwc_python(last, moved, hwio, 1, 1, 1, parts, groups), last, moved, hwio, atol=1e-3)


def test_lstm_is_that_of_the_importers():
    from baton.relay.frontend.common import lstm_cell

    steps, wi, wh = [values(2, 3, seed=seed) for seed in range(4)], values(20, 3), values(20, 5)
    bi, bh = values(20), values(20, seed=9)

    def build(*names):
        zero = relay.zeros((2, 5), "float32")
        found, _, _ = lstm_cell(input_seqs=list(names[:4]), hidden_state=zero, cell_state=zero, w_inp=names[4], w_hid=names[5], b_inp=names[6],
                                b_hid=names[7])
        return relay.stack(found, axis=0)

    expected, _ = reference.lstm_python(np.stack(steps), wi, wh, bi, bh, weight_layout="IFGO")
    check(build, expected, *steps, wi, wh, bi, bh)


def test_what_needs_schedules_is_refused():
    with pytest.raises(NotImplementedError, match="tensor expressions"):
        reference.get_injective_schedule("llvm")
    assert tvm.topi.utils.get_const_tuple((1, tvm.tir.IntImm("int32", 2))) == (1, 2) and tvm.topi.nn.qnn.SQNN_DTYPE_TO_CODE["int8"] == 1
