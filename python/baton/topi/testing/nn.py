"""Pools, normalisation, matrix products, recurrent cells."""
import itertools

import numpy as np

from .convolution import per_axis, wide


def softmax_python(a_np, axis=1):
    """nn.softmax."""
    powers = np.exp(a_np - a_np.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def log_softmax_python(a_np, axis=1):
    """nn.log_softmax."""
    shifted = a_np - a_np.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def dense(x, y, bias, use_bias=False, use_relu=False, out_dtype=None):
    """nn.dense: x times y transposed, and a bias and relu where wanted."""
    dtype = out_dtype or x.dtype
    made = x.astype(dtype) @ y.T.astype(dtype)
    made = made + bias if use_bias else made
    return np.maximum(made, 0) if use_relu else made


def batch_matmul(x, y, out_dtype=None, trans_x=False, trans_y=True):
    """nn.batch_matmul: a batch of 1 meets every matrix of the other."""
    one, two = x.swapaxes(1, 2) if trans_x else x, y.swapaxes(1, 2) if trans_y else y
    dtype = out_dtype or x.dtype
    return np.matmul(one.astype(dtype), two.astype(dtype))


def _along(vector, rank, axis):
    shape = [1] * rank
    shape[axis] = -1
    return np.asarray(vector).reshape(shape)


def batch_norm(x, gamma, beta, moving_mean, moving_var, axis, epsilon, center, scale, training=False, momentum=0.1):
    """nn.batch_norm: [result, mean, variance]; in training, those of x, and moved by momentum."""
    rest = tuple(each for each in range(x.ndim) if each != axis % x.ndim)
    mean, var = (x.mean(axis=rest), x.var(axis=rest)) if training else (moving_mean, moving_var)
    made = (x - _along(mean, x.ndim, axis)) / np.sqrt(_along(var, x.ndim, axis) + epsilon)
    made = made * _along(gamma, x.ndim, axis) if scale else made
    made = made + _along(beta, x.ndim, axis) if center else made
    if training:
        return [made, (1 - momentum) * moving_mean + momentum * mean, (1 - momentum) * moving_var + momentum * var]
    return [made, moving_mean, moving_var]


def _normalised(data, axes, epsilon):
    mean, var = data.mean(axis=axes, keepdims=True), data.var(axis=axes, keepdims=True)
    return (data - mean) / np.sqrt(var + epsilon)


def layer_norm_python(data, gamma, beta, axis, epsilon=1e-5):
    """nn.layer_norm over one axis or several; gamma and beta, where given, have their extents."""
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    shape = [extent if each in {one % data.ndim for one in axes} else 1 for each, extent in enumerate(data.shape)]
    made = _normalised(data, axes, epsilon)
    made = made * np.reshape(gamma, shape) if gamma is not None else made
    return (made + np.reshape(beta, shape) if beta is not None else made).astype(data.dtype)


def instance_norm_python(data, gamma, beta, axis, epsilon=1e-5):
    """nn.instance_norm: over the axes `axis`; gamma and beta, where given, are of axis 1."""
    made = _normalised(data, tuple(axis) if isinstance(axis, (list, tuple)) else (axis,), epsilon)
    made = made * _along(gamma, data.ndim, 1) if gamma is not None else made
    return (made + _along(beta, data.ndim, 1) if beta is not None else made).astype(data.dtype)


def group_norm_python(data, gamma, beta, num_groups, channel_axis, axes, epsilon=1e-5):
    """nn.group_norm: over `axes` (which do not include the channels) and the channels of a group."""
    order = [channel_axis, *(each for each in range(data.ndim) if each != channel_axis)]
    moved = data.transpose(order)
    parts = moved.reshape(num_groups, moved.shape[0] // num_groups, *moved.shape[1:])
    over = (1, *(order.index(each) + 1 for each in axes))
    made = _normalised(parts, over, epsilon).reshape(moved.shape).transpose(np.argsort(order))
    made = made * _along(gamma, data.ndim, channel_axis) if gamma is not None else made
    return (made + _along(beta, data.ndim, channel_axis) if beta is not None else made).astype(data.dtype)


def l2_normalize_python(a_np, eps, axis=None):
    """nn.l2_normalize."""
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    return a_np / np.sqrt(np.maximum(np.square(a_np).sum(axis=axes, keepdims=True), eps))


def lrn_python(a_np, size, axis, bias, alpha, beta):
    """nn.lrn: over `size` neighbours along the axis."""
    before = size // 2
    squares = np.moveaxis(np.square(a_np.astype(np.float64)), axis, 0)
    sums = np.stack([squares[max(0, at - before):at + size - before].sum(axis=0) for at in range(len(squares))])
    return (a_np / (bias + alpha * np.moveaxis(sums, 0, axis) / size) ** beta).astype(a_np.dtype)


def nll_loss(predictions, targets, weights, reduction="mean", ignore_index=-100):
    """nn.nll_loss: predictions (N, C, ...), targets (N, ...), weights (C)."""
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    taken = np.take_along_axis(predictions, np.expand_dims(chosen, 1), axis=1).squeeze(1)
    weight = np.where(counted, weights[chosen], 0).astype(predictions.dtype)
    losses = -taken * weight
    if reduction == "none":
        return losses
    return losses.sum() / weight.sum() if reduction == "mean" else losses.sum()


def _spatial(layout, rank):
    axes = [at for at, letter in enumerate(layout) if letter in "DHW"]
    if len(layout) != rank:
        raise ValueError(f"layout {layout} of an array of {rank} axes")
    return axes


def _positions(extent, window, stride, ceil_mode):
    free = extent - window
    return (-(-free // stride) if ceil_mode else free // stride) + 1


def poolnd_python(np_data, kernel, strides, dilation, padding_before, padding_after, pool_type, count_include_pad=True, ceil_mode=False,
                  dtype="float32", layout="NCHW"):
    """nn.max_pool and nn.avg_pool of one to three axes. An average counts padding where wanted, never what is behind it."""
    axes = _spatial(layout, np_data.ndim) if layout else list(range(np_data.ndim - len(kernel), np_data.ndim))
    data = np.moveaxis(np_data, axes, range(np_data.ndim - len(axes), np_data.ndim))
    lead = data.ndim - len(axes)
    reach = [(size - 1) * step + 1 for size, step in zip(kernel, dilation)]
    extents = [extent + before + after for extent, before, after in zip(data.shape[lead:], padding_before, padding_after)]
    counts = [_positions(extent, window, stride, ceil_mode) for extent, window, stride in zip(extents, reach, strides)]
    lowest = np.finfo(data.dtype).min if np.issubdtype(data.dtype, np.floating) else np.iinfo(data.dtype).min
    made = np.zeros((*data.shape[:lead], *counts), np.float64 if pool_type == "avg" else data.dtype)
    for place in np.ndindex(*counts):
        along, inside = [], 1
        for at, stride, before, size, step, extent, padded in zip(place, strides, padding_before, kernel, dilation, data.shape[lead:], extents):
            places = np.arange(size) * step + at * stride
            inside *= int((places < padded).sum())
            places = places[places < padded] - before
            along.append(places[(places >= 0) & (places < extent)])
        window = data[(..., *np.ix_(*along))]
        over = tuple(range(lead, data.ndim))
        if pool_type == "max":
            made[(..., *place)] = window.max(axis=over, initial=lowest)
        elif pool_type == "avg":
            count = max(inside if count_include_pad else int(np.prod([len(each) for each in along])), 1)
            made[(..., *place)] = window.astype(np.float64).sum(axis=over) / count
        else:
            raise ValueError(f"pool_type is max or avg, not {pool_type!r}")
    return np.moveaxis(made, range(lead, data.ndim), axes).astype(dtype)


def pool_grad_nchw(a_np, out_grad_np, pool_size, strides, padding, pool_type, ceil_mode, count_include_pad=True, add_relu=False):
    """nn.max_pool2d_grad and nn.avg_pool2d_grad of NCHW; padding: (top, left, bottom, right)."""
    top, left, bottom, right = padding
    height, width = a_np.shape[2:]
    made = np.zeros((*a_np.shape[:2], height + top + bottom, width + left + right), np.float64)
    lowest = np.pad(a_np, [(0, 0), (0, 0), (top, bottom), (left, right)],
                    constant_values=np.finfo(a_np.dtype).min if np.issubdtype(a_np.dtype, np.floating) else np.iinfo(a_np.dtype).min)
    for y, x in np.ndindex(*out_grad_np.shape[2:]):
        rows, columns = (slice(at * stride, at * stride + size) for at, stride, size in zip((y, x), strides, pool_size))
        grad = out_grad_np[:, :, y, x]
        if pool_type == "avg":
            ends = [min(part.stop - before, extent) - max(part.start - before, 0)
                    for part, before, extent in zip((rows, columns), (top, left), (height, width))]
            count = np.prod(pool_size) if count_include_pad else max(int(np.prod(ends)), 1)
            made[:, :, rows, columns] += grad[:, :, None, None] / count
            continue
        window = lowest[:, :, rows, columns]
        first = window.reshape(*window.shape[:2], -1).argmax(axis=-1)
        for batch, channel in itertools.product(*map(range, a_np.shape[:2])):
            down, across = np.unravel_index(first[batch, channel], window.shape[2:])
            made[batch, channel, rows.start + down, columns.start + across] += grad[batch, channel]
    made = made[:, :, top:top + height, left:left + width]
    return (np.where(a_np > 0, made, 0) if add_relu else made).astype(a_np.dtype)


def adaptive_pool(np_data, out_size, pool_type, layout="NCHW"):
    """nn.adaptive_max_pool and nn.adaptive_avg_pool of one to three axes."""
    axes = _spatial(layout, np_data.ndim)
    data = np.moveaxis(np_data, axes, range(np_data.ndim - len(axes), np_data.ndim))
    lead = data.ndim - len(axes)
    sizes = per_axis(out_size, len(axes))
    made = np.zeros((*data.shape[:lead], *sizes), wide(data.dtype) if pool_type == "avg" else data.dtype)
    for place in np.ndindex(*sizes):
        window = data[(..., *(slice(at * extent // size, -(-(at + 1) * extent // size))
                              for at, extent, size in zip(place, data.shape[lead:], sizes)))]
        over = tuple(range(lead, data.ndim))
        made[(..., *place)] = window.max(axis=over) if pool_type == "max" else window.mean(axis=over)
    return np.moveaxis(made, range(lead, data.ndim), axes).astype(np_data.dtype)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_python(Xs, Wi, Wh, Bi=None, Bh=None, h_init=None, c_init=None, proj=None, p_i=None, p_f=None, p_o=None, f_act=_sigmoid, g_act=np.tanh,
                h_act=np.tanh, reverse=False, weight_layout="IFGO"):
    """An LSTM over Xs (steps, batch, inputs): the hidden states and the cells of each step.

    Wi (4 * hidden, inputs), Wh (4 * hidden, outputs) have the gates in the order of weight_layout; p_i, p_f, p_o look at the
    cells; proj (outputs, hidden) makes outputs of hidden states.
    """
    hidden = Wi.shape[0] // 4
    places = [weight_layout.index(gate) for gate in "IFGO"]
    outputs = proj.shape[0] if proj is not None else hidden
    h = np.zeros((Xs.shape[1], outputs), Xs.dtype) if h_init is None else h_init
    c = np.zeros((Xs.shape[1], hidden), Xs.dtype) if c_init is None else c_init
    states, cells = [], []
    for x in Xs[::-1] if reverse else Xs:
        sums = x @ Wi.T + h @ Wh.T
        sums = sums + (0 if Bi is None else Bi) + (0 if Bh is None else Bh)
        i, f, g, o = (sums[:, at * hidden:(at + 1) * hidden] for at in places)
        i = f_act(i if p_i is None else i + p_i * c)
        f = f_act(f if p_f is None else f + p_f * c)
        c = f * c + i * g_act(g)
        h = f_act(o if p_o is None else o + p_o * c) * h_act(c)
        h = h if proj is None else h @ proj.T
        states.append(h)
        cells.append(c)
    return np.stack(states), np.stack(cells)
