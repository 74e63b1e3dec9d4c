"""Builders of this folder's operators without defaults, as TVM's module of that name has them."""
from ...op._make import raw

__getattr__ = raw(globals(), "qnn")
