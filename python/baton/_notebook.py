"""Display in notebooks: _repr_html_ of programs. Generated in C++ (src/baton/text/html.cc)."""
from ._load import core


def _repr_html_(self):
    return core.html(self)


core.IRModule._repr_html_ = _repr_html_
core.RelayExpr._repr_html_ = _repr_html_
