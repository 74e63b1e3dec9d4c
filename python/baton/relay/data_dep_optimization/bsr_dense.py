"""Dense layers with many zeros in their weights as products with sparse matrices."""
from .. import transform
from ..sparse_weights import process_params
from .utils import _run_opt_pass


def convert(func, params, blocksize, sparsity_threshold):
    """(`func` with nn.sparse_dense for nn.dense with weights of which sparsity_threshold or more is zero, params).

    params: arrays by name, of which such weights are replaced; blocksize: (rows, columns) of a block.
    """
    found = process_params(func, params, blocksize, sparsity_threshold)
    if not found.weight_name:
        return func, params
    return _run_opt_pass(func, transform.DenseToSparse(found.weight_name, found.weight_shape)), params
