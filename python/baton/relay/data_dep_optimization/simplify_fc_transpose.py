"""Dense layers that transpose their weights: the weights are transposed once."""
from ...runtime import ndarray
from .. import transform
from ..sparse_weights import transposed_weights
from .utils import _run_opt_pass


def convert(func, params):
    """(`func` with nn.dense(x, NAME.T) for nn.dense(x, transpose(NAME)), params with NAME.T for NAME)."""
    names = [each for each in transposed_weights(func) if each in params]
    changed = _run_opt_pass(func, transform.SimplifyFCTranspose(names))
    for name in names:
        weight = params[name].numpy() if hasattr(params[name], "numpy") else params[name]
        params[name + ".T"] = ndarray.array(weight.T.copy())
        del params[name]
    return changed, params
