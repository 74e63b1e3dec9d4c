"""Reductions. axis: an int, a list, or None for all; exclude: `axis` lists the axes not reduced."""
from ..expr import Tuple, TupleWrapper
from . import _make
from .tensor import exp, log, sqrt
from .transform import squeeze

__getattr__, __dir__ = _make.fill(globals(), "reduce")


def _reduce(name, data, axis, keepdims, exclude):
    return _make.call(name, [data], axis=axis, keepdims=keepdims, exclude=exclude)


def logsumexp(data, axis=None, keepdims=False):
    """log(sum(exp(data))) along `axis`, shifted by the largest element to avoid overflow."""
    largest = _reduce("max", data, axis, True, False)
    total = _reduce("sum", exp(data - largest), axis, True, False)
    result = log(total) + largest
    return result if keepdims else squeeze(result, axis)


def variance(data, axis=None, keepdims=False, exclude=False, unbiased=False, with_mean=None):
    """The mean square distance from the mean; `with_mean`, when given, is that mean with all axes kept."""
    mean_of = _reduce("mean", data, axis, True, exclude) if with_mean is None else with_mean
    return _make.call("variance", [data, mean_of], axis=axis, keepdims=keepdims, exclude=exclude, unbiased=unbiased)


def std(data, axis=None, keepdims=False, exclude=False, unbiased=False):
    """The square root of the variance."""
    return sqrt(variance(data, axis, keepdims, exclude, unbiased))


def _mean_and(spread, data, axis, keepdims, exclude):
    kept = _reduce("mean", data, axis, True, exclude)
    shown = kept if keepdims else _reduce("mean", data, axis, False, exclude)
    return TupleWrapper(Tuple([shown, spread(kept)]), 2)


def mean_variance(data, axis=None, keepdims=False, exclude=False, unbiased=False):
    """(mean, variance) along `axis`."""
    return _mean_and(lambda kept: variance(data, axis, keepdims, exclude, unbiased, kept), data, axis, keepdims, exclude)


def mean_std(data, axis=None, keepdims=False, exclude=False):
    """(mean, standard deviation) along `axis`."""
    return _mean_and(lambda kept: sqrt(variance(data, axis, keepdims, exclude, False, kept)), data, axis, keepdims, exclude)


_make.explain(globals())
