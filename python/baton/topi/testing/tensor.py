"""Indices, masks, diagonals."""
import numpy as np


def gather_python(data, axis, indices):
    """gather: as numpy's take_along_axis, of indices with smaller extents, too."""
    places = list(np.indices(indices.shape))
    places[axis] = indices
    return data[tuple(places)]


def gather_nd_python(a_np, indices_np):
    """gather_nd: indices (M, ...) of the first M axes."""
    return a_np[tuple(indices_np.astype(np.int64))]


def one_hot(indices, on_value, off_value, depth, axis, dtype):
    """one_hot."""
    axis = indices.ndim if axis == -1 else axis
    shape = [1] * (indices.ndim + 1)
    shape[axis] = depth
    return np.where(np.expand_dims(indices, axis) == np.arange(depth).reshape(shape), on_value, off_value).astype(dtype)


def sequence_mask(data, valid_length, mask_value, axis):
    """sequence_mask: axis 0 or 1 is that of lengths, the other that of sequences."""
    if axis not in (0, 1):
        raise ValueError(f"axis is 0 or 1, not {axis}")
    steps = np.arange(data.shape[axis])
    valid = steps[:, None] < valid_length[None, :] if axis == 0 else steps[None, :] < valid_length[:, None]
    return np.where(valid.reshape(*valid.shape, *[1] * (data.ndim - 2)), data, np.asarray(mask_value, data.dtype))


def slice_axis_python(data, axis, begin, end=None):
    """A slice along one axis."""
    slices = [slice(None)] * data.ndim
    slices[axis] = slice(begin, end)
    return data[tuple(slices)]


def searchsorted_ref(sorted_sequence, values, right, out_dtype):
    """searchsorted: the rows of sorted_sequence are those of values, or one row is that of all."""
    side = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        return np.searchsorted(sorted_sequence, values, side=side).astype(out_dtype)
    rows, wanted = sorted_sequence.reshape(-1, sorted_sequence.shape[-1]), values.reshape(-1, values.shape[-1])
    found = [np.searchsorted(row, each, side=side) for row, each in zip(rows, wanted)]
    return np.array(found).reshape(values.shape).astype(out_dtype)


def matrix_set_diag(input_np, diagonal, k=0, align="RIGHT_LEFT"):
    """matrix_set_diag: the diagonals k, a number or (first, last), of the last two axes; align says where shorter ones stand."""
    low, high = (k, k) if np.ndim(k) == 0 else (k[0], k[-1])
    rows, columns = input_np.shape[-2:]
    made = input_np.copy()
    if np.ndim(k) == 0 or len(k) == 1 or low == high:
        diagonal = diagonal.reshape(*input_np.shape[:-2], 1, -1)
    above, below = align.split("_")
    longest = diagonal.shape[-1]
    for number, offset in enumerate(range(high, low - 1, -1)):
        length = min(rows + min(offset, 0), columns - max(offset, 0))
        shift = longest - length if (above if offset >= 0 else below) == "RIGHT" else 0
        for place in range(length):
            made[..., place - min(offset, 0), place + max(offset, 0)] = diagonal[..., number, shift + place]
    return made
