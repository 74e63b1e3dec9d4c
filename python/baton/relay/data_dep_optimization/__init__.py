"""Optimisations that depend on the values of weights."""
from . import bsr_conv2d, bsr_dense, simplify_fc_transpose, utils
