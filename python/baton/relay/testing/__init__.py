"""Networks and helpers for tests."""
from ..._load import not_provided
from ...ir import IRModule
from .. import transform
from . import (dcgan, densenet, dqn, inception_v3, init, lstm, mlp, mobilenet, resnet, resnet_3d, squeezenet, synthetic, vgg)
from .init import create_workload
from ..function import Function
from ..transform import gradient


def run_opt_pass(expr, opt_pass, import_prelude=False):
    """`expr` after InferType and one pass: a Function as it is, else the body of main."""
    if import_prelude:
        raise NotImplementedError("run_opt_pass: import_prelude is not provided yet")
    module = opt_pass(transform.InferType()(IRModule.from_expr(expr)))
    main = module["main"]
    return main if isinstance(expr, Function) else main.body


def run_infer_type(expr):
    """`expr` with types."""
    return run_opt_pass(expr, transform.InferType())


def rand(dtype, *shape):
    """An NDArray of random numbers from [0, 1)."""
    import numpy as np

    from ...runtime import ndarray

    return ndarray.array(np.random.rand(*shape).astype(dtype))


def __getattr__(name):
    not_provided(__name__, name)
