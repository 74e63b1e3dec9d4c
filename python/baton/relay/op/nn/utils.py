"""Padding in its long form."""
from ...._wanted import listed


def _get_pad_tuple(padding, rank):
    if hasattr(padding, "__index__") and not hasattr(padding, "__len__"):
        return (int(padding),) * (2 * rank)
    padding = tuple(listed("padding", padding, "an int or a list"))
    if len(padding) == rank:
        return padding * 2
    if len(padding) == 2 * rank:
        return padding
    raise ValueError(f"Size of padding can only be {rank} or {2 * rank}")


def get_pad_tuple1d(padding):
    """(before, after), from `padding`: one number or those."""
    return _get_pad_tuple(padding, 1)


def get_pad_tuple2d(padding):
    """(top, left, bottom, right), from `padding`: one number, (height, width) or those."""
    return _get_pad_tuple(padding, 2)


def get_pad_tuple3d(padding):
    """(front, top, left, back, bottom, right), from `padding`: one number, three or those."""
    return _get_pad_tuple(padding, 3)
