"""Values that move between places: blocks, slices, dilation."""
import numpy as np


def dilate_python(input_np, strides, dilation_value=0.0, out_dtype=None):
    """nn.dilate: strides[i] - 1 times dilation_value between neighbours along axis i."""
    if len(strides) != input_np.ndim:
        raise ValueError(f"{len(strides)} strides for {input_np.ndim} axes")
    shape = [(extent - 1) * stride + 1 for extent, stride in zip(input_np.shape, strides)]
    made = np.full(shape, dilation_value, out_dtype or input_np.dtype)
    made[tuple(slice(None, None, stride) for stride in strides)] = input_np
    return made


def depth_to_space_python(data, block_size, mode="DCR"):
    """nn.depth_to_space of NCHW; mode: DCR or CDR."""
    batch, channels, height, width = data.shape
    left = channels // block_size ** 2
    if mode == "DCR":
        blocks = data.reshape(batch, block_size, block_size, left, height, width).transpose(0, 3, 4, 1, 5, 2)
    elif mode == "CDR":
        blocks = data.reshape(batch, left, block_size, block_size, height, width).transpose(0, 1, 4, 2, 5, 3)
    else:
        raise ValueError(f"mode is DCR or CDR, not {mode!r}")
    return np.ascontiguousarray(blocks).reshape(batch, left, height * block_size, width * block_size)


def space_to_depth_python(data, block_size):
    """nn.space_to_depth of NCHW."""
    batch, channels, height, width = data.shape
    blocks = data.reshape(batch, channels, height // block_size, block_size, width // block_size, block_size)
    return blocks.transpose(0, 3, 5, 1, 2, 4).reshape(batch, channels * block_size ** 2, height // block_size, width // block_size)


def space_to_batch_nd_python(data, block_shape, pad_before, pad_after, pad_value=0):
    """nn.space_to_batch_nd: axes 1.. are padded and cut into blocks, whose places become batches."""
    count = len(block_shape)
    rest = [(0, 0)] * (data.ndim - 1 - count)
    padded = np.pad(data, [(0, 0), *zip(pad_before, pad_after), *rest], constant_values=pad_value)
    split = [padded.shape[0]]
    for extent, block in zip(padded.shape[1:], block_shape):
        split += [extent // block, block]
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count + 1, 2), *range(2 * count + 1, 2 * count + 1 + len(rest))]
    shape = [padded.shape[0] * int(np.prod(block_shape)), *(split[1::2]), *padded.shape[1 + count:]]
    return padded.reshape(*split, *padded.shape[1 + count:]).transpose(order).reshape(shape)


def batch_to_space_nd_python(data, block_shape, crop_begin_list, crop_end_list):
    """nn.batch_to_space_nd: the inverse of space_to_batch_nd, cropped."""
    count = len(block_shape)
    batch = data.shape[0] // int(np.prod(block_shape))
    parts = data.reshape(*block_shape, batch, *data.shape[1:])
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    order += range(2 * count + 1, parts.ndim)
    joined = parts.transpose(order).reshape(batch, *(extent * block for extent, block in zip(data.shape[1:], block_shape)),
                                            *data.shape[1 + count:])
    kept = [slice(begin, extent - end) for begin, end, extent in zip(crop_begin_list, crop_end_list, joined.shape[1:])]
    return joined[(slice(None), *kept)]


def reorg_python(a_np, stride):
    """vision.yolo_reorg of NCHW, as Darknet orders it."""
    batch, channels, height, width = a_np.shape
    if channels % stride ** 2:
        raise ValueError(f"{channels} channels are no multiple of {stride ** 2}")
    left = channels // stride ** 2
    parts = a_np.reshape(batch, left, height, stride, width, stride).transpose(0, 3, 5, 1, 2, 4)  # as Darknet reads its own memory
    return parts.reshape(batch, channels * stride ** 2, height // stride, width // stride)


def _bounds(data, begin, end, strides, slice_mode, axes):
    axes = list(range(len(begin))) if axes is None else [int(each) for each in axes]
    strides = [1] * len(begin) if strides is None or len(strides) == 0 else list(strides)
    strides += strides[-1:] * (len(begin) - len(strides))
    slices = [slice(None)] * data.ndim
    for place, axis in enumerate(axes):
        first = None if begin[place] is None else int(begin[place])
        last = None if place >= len(end) or end[place] is None else int(end[place])
        step = int(strides[place])
        if slice_mode == "size":
            first = 0 if first is None else first
            last = None if last is None or last < 0 else first + last
            step = 1
        elif step < 0 and last is not None and last < -data.shape[axis]:
            last = None
        slices[axis] = slice(first, last, step)
    return tuple(slices)


def strided_slice_python(data, begin, end, strides, slice_mode="end", axes=None):
    """strided_slice; slice_mode "size": `end` has sizes, where a negative one means all that follows."""
    return data[_bounds(data, begin, end, strides, slice_mode, axes)]


def strided_set_python(data, v, begin, end, strides):
    """strided_set: a copy of data with v in that slice."""
    made = data.copy()
    made[_bounds(data, begin, end, strides, "end", None)] = v
    return made
