"""Operators that make random numbers: Threefry, whose state is a tensor of ten uint64."""
import numpy as np

from ...._wanted import listed
from ....runtime import ndarray as nd
from ...expr import Constant, Expr, TupleWrapper, const
from .. import _make
from .._make import call

__getattr__, __dir__ = _make.fill(globals(), "random")


def threefry_key(seed):
    """A Constant: the state that belongs to `seed`, an int from 0 to 2**256 - 1, or ten uint64, the whole state."""
    if isinstance(seed, (int, np.integer)):
        seed = int(seed)
        words = [seed >> 64 * i & (1 << 64) - 1 for i in range(4)] + [0, 0, 0, 0, 1 << 63, 0]
        if not 0 <= seed < 1 << 256:
            raise ValueError(f"threefry_key: a seed is a number from 0 to 2**256 - 1, not {seed}")
    else:
        words = listed("seed", seed, "an int, or the ten numbers of a state")
        if not all(hasattr(each, "__index__") for each in words):
            raise TypeError("threefry_key: the numbers of a state are ints")
        words = [int(each) for each in words]
        if len(words) != 10:
            raise ValueError(f"threefry_key: a state is ten numbers, not {len(words)}")
    return const(np.array(words, dtype="uint64"))


def threefry_generate(key, shape):
    """(the next state, uint64 of `shape`)."""
    return call("random.threefry_generate", [key], {}, out_shape=shape)


def _numbers(name, key, shape, dtype, first, second):
    operands = [key] + [each if isinstance(each, Expr) else const(each, dtype) for each in (first, second)]
    return call(name, operands, {}, out_shape=shape, out_dtype=dtype)


def uniform(key, shape, dtype="float32", low=0.0, high=1.0):
    """(the next state, numbers from `low` to before `high`)."""
    return _numbers("random.uniform", key, shape, dtype, low, high)


def normal(key, shape, dtype="float32", mean=0.0, scale=1.0):
    """(the next state, normally distributed numbers)."""
    return _numbers("random.normal", key, shape, dtype, mean, scale)


_make.explain(globals(), "random.")
