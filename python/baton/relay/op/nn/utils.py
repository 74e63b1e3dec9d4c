"""Padding in its long form."""


def _get_pad_tuple(padding, rank):
    if isinstance(padding, int):
        return (padding,) * (2 * rank)
    padding = tuple(padding)
    if len(padding) == rank:
        return padding * 2
    if len(padding) == 2 * rank:
        return padding
    raise ValueError(f"Size of padding can only be {rank} or {2 * rank}")


def get_pad_tuple1d(padding):
    """(before, after), from one number or those."""
    padding = tuple(padding) if isinstance(padding, (list, tuple)) else (padding,)
    return _get_pad_tuple(padding, 1)


def get_pad_tuple2d(padding):
    """(top, left, bottom, right), from one number, (height, width) or those."""
    return _get_pad_tuple(padding, 2)


def get_pad_tuple3d(padding):
    """(front, top, left, back, bottom, right), from one number, three or those."""
    return _get_pad_tuple(padding, 3)
