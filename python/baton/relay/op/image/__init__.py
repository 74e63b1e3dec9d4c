"""relay.image: operators on images."""
from . import _make, image
from .image import Constant, Expr, const


def __getattr__(name):
    return getattr(image, name)


def __dir__():
    return sorted({*globals(), *dir(image)})
