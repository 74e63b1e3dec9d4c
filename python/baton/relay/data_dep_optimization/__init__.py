"""Optimisations that depend on the values of weights: relay.transform.DenseToSparse, Conv2dToSparse and SimplifyFCTranspose."""
from ..._refused import refused

for _name in ("bsr_dense", "bsr_conv2d", "simplify_fc_transpose", "utils"):
    globals()[_name] = refused(__name__, _name, "the passes DenseToSparse, Conv2dToSparse and SimplifyFCTranspose do it")
