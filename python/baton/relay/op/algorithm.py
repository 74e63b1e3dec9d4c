"""Sorting and searching operators."""
from ..expr import Constant, Expr, TupleWrapper
from . import _make

__getattr__, __dir__ = _make.fill(globals(), "algorithm")


def topk(data, k=1, axis=-1, ret_type="both", is_ascend=False, dtype="int32"):
    """The `k` largest elements along `axis` (all when k < 1; an expression too), in order: "both", "values" or "indices"."""
    count = _make.known(k)
    if count is None:
        return _make.call("dyn.topk", [data, k], True, axis=axis, ret_type=ret_type, is_ascend=is_ascend, dtype=dtype)
    count = count[0] if isinstance(count, list) else count
    return _make.call("topk", [data], True, k=count, axis=axis, ret_type=ret_type, is_ascend=is_ascend, dtype=dtype)


_make.explain(globals())
