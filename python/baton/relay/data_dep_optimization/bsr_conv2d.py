"""Convolutions of 1 x 1 with many zeros in their weights as convolutions with sparse matrices."""
from .. import transform
from ..sparse_weights import process_params
from .utils import _run_opt_pass


def convert(func, params, blocksize, sparsity_threshold, layout="NHWC", kernel_size=1):
    """(`func` with nn.sparse_conv2d for nn.conv2d with weights of which sparsity_threshold or more is zero, params).

    params: arrays by name, of which such weights are replaced; blocksize: (rows, columns) of a block; layout: of the data, NHWC (with
    weights in HWIO) or NCHW (OIHW).
    """
    found = process_params(func, params, blocksize, sparsity_threshold, layout, kernel_size)
    if not found.weight_name:
        return func, params
    return _run_opt_pass(func, transform.Conv2dToSparse(found.weight_name, found.weight_shape, layout, kernel_size)), params


def convert2(func, params, layout, kernel_size, blocksize, sparsity_threshold):
    """The same with the weights as constants: (function, params)."""
    from ..build_module import bind_params_by_name

    bound = bind_params_by_name(func, params)
    return _run_opt_pass(bound, transform.Conv2dToSparse2(layout, kernel_size, blocksize, sparsity_threshold)), params
