"""Sampling of images: resizing, cropping, grids."""
import itertools

import numpy as np


def _source(place, size, target, mode):
    """Where in `size` pixels lies pixel `place` of `target`."""
    scale = size / target
    if mode == "align_corners":
        return place * ((size - 1) / (target - 1)) if target > 1 else np.zeros_like(place)
    if mode == "half_pixel":
        return (place + 0.5) * scale - 0.5
    if mode == "pytorch_half_pixel":
        return (place + 0.5) * scale - 0.5 if target > 1 else np.zeros_like(place)
    if mode == "tf_half_pixel_for_nn":
        return (place + 0.5) * scale
    if mode == "asymmetric":
        return place * scale
    raise ValueError(f"{mode!r} is no way to map coordinates")


def _cubic(distance, alpha):
    d = np.abs(distance)
    near = ((alpha + 2) * d - (alpha + 3)) * d * d + 1
    far = ((alpha * d - 5 * alpha) * d + 8 * alpha) * d - 4 * alpha
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def _weights(size, target, method, mode, alpha=-0.5):
    """(target, size): what each pixel takes of each."""
    place = _source(np.arange(target, dtype=np.float64), size, target, mode)
    made = np.zeros((target, size))
    rows = np.arange(target)
    if method in ("nearest_neighbor", "nearest"):
        nearest = np.floor(place + 0.5) if mode == "align_corners" else np.floor(place + 1e-5)
        made[rows, np.clip(nearest, 0, size - 1).astype(int)] = 1
        return made
    low = np.floor(place)
    if method in ("linear", "bilinear", "trilinear"):
        taps = [(0, 1 - (place - low)), (1, place - low)]
    elif method in ("cubic", "bicubic"):
        taps = [(step, _cubic(place - low - step, alpha)) for step in (-1, 0, 1, 2)]
    else:
        raise ValueError(f"{method!r} is no way to resize")
    for step, weight in taps:
        np.add.at(made, (rows, np.clip(low + step, 0, size - 1).astype(int)), weight)
    return made


def _resized(data, scale, layout, method, mode):
    """data of any layout with the axes D, H, W; targets are rounded extents times scale."""
    axes = [at for at, letter in enumerate(layout) if letter in "DHW"]
    made = data.astype(np.float64)
    for axis, factor in zip(axes, scale):
        weights = _weights(data.shape[axis], int(round(data.shape[axis] * factor)), method, mode)
        made = np.moveaxis(np.tensordot(weights, made, axes=([1], [axis])), 0, axis)
    return made.astype(data.dtype)


def resize1d_python(data, scale, layout="NCW", method="nearest_neighbor", coordinate_transformation_mode="align_corners"):
    """image.resize1d by factors `scale`."""
    return _resized(data, scale if isinstance(scale, (list, tuple)) else (scale,), layout, method, coordinate_transformation_mode)


def resize2d_python(data, scale, layout="NCHW", method="bilinear", coordinate_transformation_mode="align_corners"):
    """image.resize2d by factors `scale`; the layout may have blocks of channels, NCHW4c."""
    layout = "".join(letter for letter in layout if not letter.isdigit())
    return _resized(data, scale, layout, method, coordinate_transformation_mode)


def resize3d_python(data_in, scale, layout="NCDHW", method="trilinear", coordinate_transformation_mode="align_corners"):
    """image.resize3d by factors `scale`."""
    return _resized(data_in, scale, layout, method, coordinate_transformation_mode)


def crop_and_resize_python(image, boxes, box_indices, crop_size, layout="NHWC", method="bilinear", extrapolation_value=0):
    """image.crop_and_resize: boxes (y1, x1, y2, x2) in parts of the image."""
    data = np.moveaxis(image, 1, -1) if layout == "NCHW" else image
    height, width = data.shape[1:3]
    made = np.full((len(boxes), *crop_size, data.shape[-1]), extrapolation_value, np.float64)
    for number, (box, batch) in enumerate(zip(boxes, box_indices)):
        ys, xs = (_along_box(box[at], box[at + 2], extent, count)
                  for at, extent, count in zip((0, 1), (height, width), crop_size))
        for (row, y), (column, x) in itertools.product(enumerate(ys), enumerate(xs)):
            if 0 <= y <= height - 1 and 0 <= x <= width - 1:
                made[number, row, column] = _pixel(data[int(batch)].astype(np.float64), y, x, method)
    made = made.astype(image.dtype)
    return np.moveaxis(made, -1, 1) if layout == "NCHW" else made


def _along_box(begin, end, extent, count):
    if count == 1:
        return [0.5 * (begin + end) * (extent - 1)]
    return [begin * (extent - 1) + at * (end - begin) * (extent - 1) / (count - 1) for at in range(count)]


def _pixel(plane, y, x, method):
    """Of a plane (H, W, ...), at a place inside it."""
    if method in ("nearest_neighbor", "nearest"):
        return plane[int(np.floor(y + 0.5)), int(np.floor(x + 0.5))]
    top, left = int(np.floor(y)), int(np.floor(x))
    bottom, right = min(top + 1, plane.shape[0] - 1), min(left + 1, plane.shape[1] - 1)
    down, across = y - top, x - left
    upper = plane[top, left] * (1 - across) + plane[top, right] * across
    lower = plane[bottom, left] * (1 - across) + plane[bottom, right] * across
    return upper * (1 - down) + lower * down


def affine_grid_python(data, target_shape):
    """image.affine_grid: (N, 2, 3) -> (N, 2, *target_shape), x before y, from -1 to 1."""
    y, x = np.meshgrid(*(np.linspace(-1, 1, extent) for extent in target_shape), indexing="ij")
    grid = np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    return (data @ grid).reshape(len(data), 2, *target_shape).astype(data.dtype)


def _reflected(place, low, high):
    """Between low and high, there and back."""
    span = high - low
    if span <= 0:
        return np.zeros_like(place)
    rest = np.mod(place - low, 2 * span)
    return low + np.where(rest > span, 2 * span - rest, rest)


def _on_pixels(grid, extent, padding_mode, align_corners):
    place = (grid + 1) / 2 * (extent - 1) if align_corners else ((grid + 1) * extent - 1) / 2
    return _padded(place, extent, padding_mode, align_corners)


def _padded(place, extent, padding_mode, align_corners):
    if padding_mode == "border":
        return np.clip(place, 0, extent - 1)
    if padding_mode == "reflection":
        low, high = (0, extent - 1) if align_corners else (-0.5, extent - 0.5)
        return np.clip(_reflected(place, low, high), 0, extent - 1)
    return place


def grid_sample_python(data, grid, method="bilinear", layout="NCHW", padding_mode="zeros", align_corners=True):
    """image.grid_sample of NCHW, grid (N, 2, H, W), or of NCDHW, grid (N, 3, D, H, W): x before y before z."""
    if layout not in ("NCHW", "NCDHW"):
        raise ValueError(f"layout is NCHW or NCDHW, not {layout}")
    extents = data.shape[2:]
    count = len(extents)
    coordinates = [np.asarray(grid[:, count - 1 - axis], np.float64) for axis in range(count)]
    if method in ("bicubic", "cubic"):  # neighbours, not places, are reflected or held at the border
        places = [_on_pixels(each, extent, "zeros", align_corners) for each, extent in zip(coordinates, extents)]
        taps = [[(np.floor(each) + step, _cubic(each - np.floor(each) - step, -0.75)) for step in (-1, 0, 1, 2)] for each in places]
    else:
        places = [_on_pixels(each, extent, padding_mode, align_corners) for each, extent in zip(coordinates, extents)]
        if method in ("nearest", "nearest_neighbor"):
            taps = [[(np.rint(each), np.ones_like(each))] for each in places]
        else:
            taps = [[(np.floor(each), 1 - (each - np.floor(each))), (np.floor(each) + 1, each - np.floor(each))] for each in places]
    made = np.zeros((*data.shape[:2], *grid.shape[2:]))
    batch = np.arange(len(data)).reshape(-1, *[1] * count)
    for chosen in itertools.product(*taps):
        where, weight = [], np.ones_like(places[0])
        for (place, part), extent in zip(chosen, extents):
            place = _padded(place, extent, padding_mode, align_corners) if method in ("bicubic", "cubic") else place
            weight = weight * part * ((place >= 0) & (place <= extent - 1))
            where.append(np.clip(place, 0, extent - 1).astype(int))
        made += np.moveaxis(data[(batch, slice(None), *where)], -1, 1) * weight[:, None]
    return made.astype(data.dtype)


def grid_sample_nchw_python(data, grid, method="bilinear", padding_mode="zeros", align_corners=True):
    """grid_sample_python of NCHW."""
    return grid_sample_python(data, grid, method, "NCHW", padding_mode, align_corners)
