"""Builders of this folder's operators without defaults, as TVM's module of that name has them."""
from .._make import raw

__getattr__ = raw(globals(), "image")
