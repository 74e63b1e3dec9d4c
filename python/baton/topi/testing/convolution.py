"""Convolutions over any number of axes, and what resembles them."""
import itertools

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def per_axis(value, count):
    """`value` as one number per axis."""
    values = tuple(value) if isinstance(value, (list, tuple, np.ndarray)) else (value,) * count
    if len(values) != count:
        raise ValueError(f"{len(values)} numbers for {count} axes: {values}")
    return tuple(int(each) for each in values)


def padding_of(padding, extents, windows, strides):
    """(before, after) of each axis: from one number, one or two per axis, or "VALID" and "SAME"."""
    count = len(windows)
    if isinstance(padding, str):
        if padding.upper() == "VALID":
            return [(0, 0)] * count
        if padding.upper() != "SAME":
            raise ValueError(f"padding is numbers, VALID or SAME, not {padding!r}")
        totals = [max((-(-extent // stride) - 1) * stride + window - extent, 0)
                  for extent, window, stride in zip(extents, windows, strides)]
        return [(total // 2, total - total // 2) for total in totals]
    if isinstance(padding, (list, tuple)) and len(padding) == 2 * count:
        return list(zip(padding[:count], padding[count:]))
    return [(each, each) for each in per_axis(padding, count)]


def wide(dtype):
    """The type that sums are made in."""
    return np.float64 if np.issubdtype(dtype, np.floating) else np.int64


def windows_of(data, sizes, strides, dilation, pads, value=0):
    """(N, C, *positions, *sizes): the windows of data (N, C, *extents)."""
    count = len(sizes)
    padded = np.pad(data, [(0, 0), (0, 0), *pads], constant_values=value)
    reach = [(size - 1) * step + 1 for size, step in zip(sizes, dilation)]
    windows = sliding_window_view(padded, reach, axis=tuple(range(2, 2 + count)))
    return windows[(slice(None), slice(None), *(slice(None, None, each) for each in strides),
                    *(slice(None, None, each) for each in dilation))]


def convolution(data, weight, stride, padding, dilation=1, groups=1):
    """data (N, C, *extents), weight (O, C / groups, *sizes) -> (N, O, *positions), of the type of data."""
    sizes = weight.shape[2:]
    count = len(sizes)
    strides, steps = per_axis(stride, count), per_axis(dilation, count)
    pads = padding_of(padding, data.shape[2:], [(size - 1) * step + 1 for size, step in zip(sizes, steps)], strides)
    windows = windows_of(data.astype(wide(data.dtype)), sizes, strides, steps, pads)
    over = list(range(2 + count, 2 + 2 * count))
    parts = [np.tensordot(part, kernel.astype(windows.dtype), axes=([1, *over], [1, *range(2, 2 + count)]))
             for part, kernel in zip(np.split(windows, groups, axis=1), np.split(weight, groups, axis=0))]
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, 1).astype(data.dtype)


def transposed_convolution(data, weight, stride, padding, output_padding=0, groups=1):
    """data (N, C, *extents), weight (C, O / groups, *sizes) -> (N, O, *positions), of the type of data."""
    sizes = weight.shape[2:]
    count = len(sizes)
    strides, extra = per_axis(stride, count), per_axis(output_padding, count)
    extents = data.shape[2:]
    pads = padding_of(padding, extents, sizes, [1] * count)
    full = [(extent - 1) * step + size + more for extent, step, size, more in zip(extents, strides, sizes, extra)]
    made = []
    for part, kernel in zip(np.split(data.astype(wide(data.dtype)), groups, axis=1), np.split(weight, groups, axis=0)):
        out = np.zeros((data.shape[0], weight.shape[1], *full), part.dtype)
        for place in np.ndindex(*sizes):
            term = np.tensordot(part, kernel[(slice(None), slice(None), *place)].astype(part.dtype), axes=([1], [0]))
            out[(slice(None), slice(None), *(slice(at, at + (extent - 1) * step + 1, step)
                                             for at, extent, step in zip(place, extents, strides)))] += np.moveaxis(term, -1, 1)
        made.append(out)
    kept = (slice(before, size - after) for (before, after), size in zip(pads, full))
    return np.concatenate(made, axis=1)[(slice(None), slice(None), *kept)].astype(data.dtype)


def conv1d_ncw_python(a_np, w_np, stride, padding, dilation):
    """nn.conv1d of NCW, OIW."""
    return convolution(a_np, w_np, stride, padding, dilation)


def group_conv1d_ncw_python(a_np, w_np, stride, padding, dilation, groups):
    """nn.conv1d of NCW, OIW, with groups."""
    return convolution(a_np, w_np, stride, padding, dilation, groups)


def conv1d_transpose_ncw_python(a_np, w_np, stride, padding, output_padding):
    """nn.conv1d_transpose of NCW, IOW."""
    return transposed_convolution(a_np, w_np, stride, padding, output_padding)


def group_conv1d_transpose_ncw_python(a_np, w_np, stride, padding, output_padding, groups=1):
    """nn.conv1d_transpose of NCW, IOW, with groups."""
    return transposed_convolution(a_np, w_np, stride, padding, output_padding, groups)


def conv2d_nchw_python(a_np, w_np, stride, padding, groups=1):
    """nn.conv2d of NCHW, OIHW."""
    return convolution(a_np, w_np, stride, padding, groups=groups)


def conv2d_nhwc_python(a_np, w_np, stride, padding, groups=1):
    """nn.conv2d of NHWC, HWIO."""
    return np.moveaxis(convolution(np.moveaxis(a_np, -1, 1), w_np.transpose(3, 2, 0, 1), stride, padding, groups=groups), 1, -1)


def conv2d_hwcn_python(a_np, w_np, stride, padding):
    """nn.conv2d of HWCN, HWIO."""
    return convolution(a_np.transpose(3, 2, 0, 1), w_np.transpose(3, 2, 0, 1), stride, padding).transpose(2, 3, 1, 0)


def conv2d_transpose_nchw_python(a_np, w_np, stride, padding, output_padding, groups=1):
    """nn.conv2d_transpose of NCHW, IOHW."""
    return transposed_convolution(a_np, w_np, stride, padding, output_padding, groups)


def conv2d_transpose_nhwc_python(a_nhwc, weight, weight_format, stride, padding, output_padding=(0, 0)):
    """nn.conv2d_transpose of NHWC; weight_format: "HWIO", "HWOI", "OIHW" or "IOHW", I being the axis that is summed."""
    order = [weight_format.index(axis) for axis in "IOHW"]
    made = transposed_convolution(np.moveaxis(a_nhwc, -1, 1), weight.transpose(order), stride, padding, output_padding)
    return np.moveaxis(made, 1, -1)


def conv3d_ncdhw_python(a_np, w_np, stride, padding, groups=1):
    """nn.conv3d of NCDHW, OIDHW."""
    return convolution(a_np, w_np, stride, padding, groups=groups)


def conv3d_ndhwc_python(a_np, w_np, stride, padding, groups=1):
    """nn.conv3d of NDHWC, DHWIO."""
    return np.moveaxis(convolution(np.moveaxis(a_np, -1, 1), w_np.transpose(4, 3, 0, 1, 2), stride, padding, groups=groups), 1, -1)


def conv3d_transpose_ncdhw_python(a_np, w_np, stride, padding, output_padding=(0, 0, 0)):
    """nn.conv3d_transpose of NCDHW, IODHW."""
    return transposed_convolution(a_np, w_np, stride, padding, output_padding)


def depthwise_conv2d_python_nchw(input_np, filter_np, stride, padding):
    """nn.conv2d, one group per channel: filter (C, multiplier, H, W)."""
    channels, multiplier = filter_np.shape[:2]
    weight = filter_np.reshape(channels * multiplier, 1, *filter_np.shape[2:])
    return convolution(input_np, weight, stride, padding, groups=channels)


def depthwise_conv2d_python_nhwc(input_np, filter_np, stride, padding):
    """The same of NHWC: filter (H, W, C, multiplier)."""
    return np.moveaxis(depthwise_conv2d_python_nchw(np.moveaxis(input_np, -1, 1), filter_np.transpose(2, 3, 0, 1), stride, padding), 1, -1)


def depthwise_conv2d_python_nchwc(input_np, filter_np, stride, padding):
    """The same of blocks: input (N, C/c, H, W, c), filter (O/o, 1, H, W, 1, o)."""
    batch, chunks, height, width, block = input_np.shape
    out_chunks, _, rows, columns, _, out_block = filter_np.shape
    channels = chunks * block
    data = np.moveaxis(input_np, -1, 2).reshape(batch, channels, height, width)
    weight = np.moveaxis(filter_np[:, 0, :, :, 0], -1, 1).reshape(channels, out_chunks * out_block // channels, rows, columns)
    made = depthwise_conv2d_python_nchw(data, weight, stride, padding)
    return np.moveaxis(made.reshape(batch, out_chunks, out_block, *made.shape[2:]), 2, -1)


def conv2d_backward_weight_python(dy_np, x_np, kernel_size, stride, padding, groups=1, channels=None):
    """The gradient of nn.conv2d for its weight, OIHW: dy (N, O, H', W'), x (N, C, H, W)."""
    if channels is not None and channels != dy_np.shape[1]:
        raise ValueError(f"dy has {dy_np.shape[1]} channels, not {channels}")
    sizes, strides = per_axis(kernel_size, 2), per_axis(stride, 2)
    pads = padding_of(padding, x_np.shape[2:], sizes, strides)
    windows = windows_of(x_np.astype(wide(x_np.dtype)), sizes, strides, (1, 1), pads)[:, :, :dy_np.shape[2], :dy_np.shape[3]]
    parts = [np.einsum("nohw,nchwij->ocij", dy.astype(part.dtype), part)
             for dy, part in zip(np.split(dy_np, groups, axis=1), np.split(windows, groups, axis=1))]
    return np.concatenate(parts, axis=0).astype(x_np.dtype)


def correlation_nchw_python(data1, data2, kernel_size, max_displacement, stride1, stride2, padding, is_multiply):
    """nn.correlation of NCHW."""
    pads = [(0, 0), (0, 0), *padding_of(padding, data1.shape[2:], (1, 1), (1, 1))]
    one, two = np.pad(data1.astype(np.float64), pads), np.pad(data2.astype(np.float64), pads)
    radius = (kernel_size - 1) // 2
    border, reach = max_displacement + radius, max_displacement // stride2
    rows, columns = (-(-(extent - 2 * border) // stride1) for extent in one.shape[2:])
    moves = list(itertools.product(range(-reach * stride2, reach * stride2 + 1, stride2), repeat=2))
    made = np.zeros((data1.shape[0], len(moves), rows, columns))
    for channel, (down, right) in enumerate(moves):
        for y, x in np.ndindex(rows, columns):
            top, left = y * stride1 + max_displacement, x * stride1 + max_displacement
            first = one[:, :, top:top + kernel_size, left:left + kernel_size]
            second = two[:, :, top + down:top + down + kernel_size, left + right:left + right + kernel_size]
            values = first * second if is_multiply else np.abs(first - second)
            made[:, channel, y, x] = values.sum(axis=(1, 2, 3))
    return (made / (kernel_size * kernel_size * data1.shape[1])).astype(data1.dtype)
