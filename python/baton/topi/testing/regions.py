"""Regions of interest, and convolutions whose windows are moved."""
import itertools

import numpy as np

from .convolution import padding_of, per_axis


def _between(plane, y, x):
    """Bilinear, of a plane (C, H, W); places up to one pixel outside have the value at the border."""
    height, width = plane.shape[1:]
    if y < -1 or x < -1 or y > height or x > width:
        return np.zeros(plane.shape[0])
    y, x = min(max(y, 0.0), height - 1), min(max(x, 0.0), width - 1)
    top, left = int(np.floor(y)), int(np.floor(x))
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = y - top, x - left
    return ((plane[:, top, left] * (1 - across) + plane[:, top, right] * across) * (1 - down)
            + (plane[:, bottom, left] * (1 - across) + plane[:, bottom, right] * across) * down)


def _between_or_zero(plane, y, x):
    """Bilinear, of a plane (C, H, W), with zeros around it below and to the right; 0 outside."""
    height, width = plane.shape[1:]
    if y < 0 or x < 0 or y >= height or x >= width:
        return np.zeros(plane.shape[0])
    top, left = int(np.floor(y)), int(np.floor(x))
    square = np.zeros((plane.shape[0], 2, 2))
    there = plane[:, top:top + 2, left:left + 2]
    square[:, :there.shape[1], :there.shape[2]] = there
    rows, columns = np.array([1 - (y - top), y - top]), np.array([1 - (x - left), x - left])
    return np.einsum("cij,i,j->c", square, rows, columns)


def roi_align_nchw_python(a_np, rois_np, pooled_size, spatial_scale, sample_ratio, mode=b"avg"):
    """vision.roi_align of NCHW: rois (batch, x1, y1, x2, y2); mode: avg or max."""
    mode = mode.decode() if isinstance(mode, bytes) else mode
    rows, columns = per_axis(pooled_size, 2)
    made = np.zeros((len(rois_np), a_np.shape[1], rows, columns))
    for number, (batch, left, top, right, bottom) in enumerate(np.asarray(rois_np, np.float64)):
        left, top, right, bottom = (each * spatial_scale for each in (left, top, right, bottom))
        tall, wide = max(bottom - top, 1.0) / rows, max(right - left, 1.0) / columns
        down, across = (sample_ratio, sample_ratio) if sample_ratio > 0 else (int(np.ceil(tall)), int(np.ceil(wide)))
        plane = a_np[int(batch)].astype(np.float64)
        for row, column in np.ndindex(rows, columns):
            samples = [_between(plane, top + row * tall + (i + 0.5) * tall / down, left + column * wide + (j + 0.5) * wide / across)
                       for i, j in itertools.product(range(down), range(across))]
            made[number, :, row, column] = np.max(samples, axis=0) if mode == "max" else np.mean(samples, axis=0)
    return made.astype(a_np.dtype)


def roi_align_nhwc_python(a_np, rois_np, pooled_size, spatial_scale, sample_ratio, mode=b"avg"):
    """The same of NHWC."""
    made = roi_align_nchw_python(np.moveaxis(a_np, -1, 1), rois_np, pooled_size, spatial_scale, sample_ratio, mode)
    return np.moveaxis(made, 1, -1)


def roi_pool_nchw_python(a_np, rois_np, pooled_size, spatial_scale):
    """vision.roi_pool of NCHW: the largest of each bin, 0 of an empty one."""
    rows, columns = per_axis(pooled_size, 2)
    height, width = a_np.shape[2:]
    made = np.zeros((len(rois_np), a_np.shape[1], rows, columns), a_np.dtype)
    for number, roi in enumerate(rois_np):
        batch = int(roi[0])
        left, top, right, bottom = (int(np.floor(each * spatial_scale + 0.5)) for each in roi[1:])
        tall, wide = max(bottom - top + 1, 1) / rows, max(right - left + 1, 1) / columns
        for row, column in np.ndindex(rows, columns):
            ys = slice(*(min(max(int(each) + top, 0), height) for each in (np.floor(row * tall), np.ceil((row + 1) * tall))))
            xs = slice(*(min(max(int(each) + left, 0), width) for each in (np.floor(column * wide), np.ceil((column + 1) * wide))))
            window = a_np[batch, :, ys, xs]
            if window.size:
                made[number, :, row, column] = window.max(axis=(1, 2))
    return made


def deformable_conv2d_nchw_python(a_np, offset_np, w_np, stride, padding, dilation, deformable_groups, groups):
    """nn.deformable_conv2d of NCHW, OIHW: offset (N, 2 * deformable_groups * H * W, ...), down before across."""
    (down, across), (step_y, step_x) = per_axis(stride, 2), per_axis(dilation, 2)
    sizes = w_np.shape[2:]
    pads = padding_of(padding, a_np.shape[2:], [(size - 1) * step + 1 for size, step in zip(sizes, (step_y, step_x))], (down, across))
    batches, channels = a_np.shape[:2]
    rows, columns = offset_np.shape[2:]
    offsets = offset_np.reshape(batches, deformable_groups, *sizes, 2, rows, columns)
    made = np.zeros((batches, w_np.shape[0], rows, columns))
    members, outputs = channels // groups, w_np.shape[0] // groups
    for batch, y, x in np.ndindex(batches, rows, columns):
        taken = np.zeros((channels, *sizes))
        for part, (i, j) in itertools.product(range(deformable_groups), np.ndindex(*sizes)):
            moved = offsets[batch, part, i, j, :, y, x]
            of_part = slice(part * channels // deformable_groups, (part + 1) * channels // deformable_groups)
            taken[of_part, i, j] = _between_or_zero(a_np[batch, of_part].astype(np.float64), y * down - pads[0][0] + i * step_y + moved[0],
                                                    x * across - pads[1][0] + j * step_x + moved[1])
        for group in range(groups):
            weight = w_np[group * outputs:(group + 1) * outputs]
            made[batch, group * outputs:(group + 1) * outputs, y, x] = np.tensordot(
                weight.astype(np.float64), taken[group * members:(group + 1) * members], axes=3)
    return made.astype(a_np.dtype)


def deformable_conv2d_nhwc_python(a_np, offset_np, w_np, stride, padding, dilation, deformable_groups, groups):
    """The same of NHWC, HWIO: offset (N, ..., 2 * deformable_groups * H * W)."""
    made = deformable_conv2d_nchw_python(np.moveaxis(a_np, -1, 1), np.moveaxis(offset_np, -1, 1), w_np.transpose(3, 2, 0, 1), stride, padding,
                                         dilation, deformable_groups, groups)
    return np.moveaxis(made, 1, -1)
