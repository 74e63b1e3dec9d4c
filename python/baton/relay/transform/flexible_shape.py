"""One module for inputs of several sizes: FlexibleShapeDispatch."""
from . import FlexibleShapeDispatch  # noqa: F401
