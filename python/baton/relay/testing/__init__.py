"""Networks and helpers for tests."""
from ..._load import core, not_provided
from ...ir import IRModule
from ...testing.utils import enabled_targets
from .. import transform
from ..prelude import Prelude
from . import (dcgan, densenet, dqn, inception_v3, init, lstm, mlp, mobilenet, resnet, resnet_3d, squeezenet, synthetic,
               temp_op_attr, vgg)
from .check_gradient import _np_randn_from_type, check_grad
from .init import create_workload
from .nat import count, make_nat_expr, make_nat_value
from .py_converter import run_as_python, to_python
from ..function import Function
from ..transform import gradient


def run_opt_pass(expr, opt_pass, import_prelude=False):
    """`expr` after InferType and one pass: a Function as it is, else the body of main."""
    module = IRModule.from_expr(expr)
    if import_prelude:
        Prelude(module)
    module = opt_pass(transform.InferType()(module))
    main = module["main"]
    return main if isinstance(expr, Function) else main.body


def run_infer_type(expr):
    """`expr` with types."""
    return run_opt_pass(expr, transform.InferType())


def count_ops(expr):
    """How many calls of each operator `expr` holds: a collections.Counter by name."""
    import collections

    return collections.Counter(core.op_frequencies(IRModule.from_expr(expr)))


def rand(dtype, *shape):
    """An NDArray of random numbers from [0, 1)."""
    import numpy as np

    from ...runtime import ndarray

    return ndarray.array(np.random.rand(*shape).astype(dtype))


def __getattr__(name):
    if name in ("byoc", "layers", "nat", "op", "tf", "darknet", "yolo_detection"):
        import importlib

        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError:
            pass
    not_provided(__name__, name)
