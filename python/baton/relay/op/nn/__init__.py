"""relay.nn: operators of neural networks."""
from . import _make, nn, utils
from .nn import Constant, Expr, const
from .utils import get_pad_tuple1d, get_pad_tuple2d, get_pad_tuple3d


def __getattr__(name):
    return getattr(nn, name)


def __dir__():
    return sorted({*globals(), *dir(nn)})
