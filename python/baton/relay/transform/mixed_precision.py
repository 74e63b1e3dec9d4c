"""The colours that operators have for ToMixedPrecision."""
MIXED_PRECISION_ALWAYS, MIXED_PRECISION_FOLLOW, MIXED_PRECISION_NEVER = range(3)
