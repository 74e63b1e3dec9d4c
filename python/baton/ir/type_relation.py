"""Types that are applied, and TVM's relations between types."""
from .absent import absent
from .adt import TypeCall

_REASON = "operators carry their relations themselves, types have none"
TypeConstraint = absent("TypeConstraint", _REASON)
TypeRelation = absent("TypeRelation", _REASON)
