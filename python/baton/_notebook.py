"""What notebooks show: _repr_html_ of programs. Made in C++ (src/baton/text/html.cc)."""
from ._load import core

core.IRModule._repr_html_ = core.html
core.RelayExpr._repr_html_ = core.html
