"""Expressions, and what TVM's tensor programs (tir) have instead."""
from .._load import core
from .absent import absent

BaseExpr = RelayExpr = core.RelayExpr
GlobalVar = core.GlobalVar

_REASON = "it belongs to tir; extents and attributes are plain numbers here"
PrimExpr = absent("PrimExpr", _REASON)
Range = absent("Range", _REASON)
