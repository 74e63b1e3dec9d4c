"""Compares gradients with finite differences."""
from ..._load import core
from ...testing.utils import assert_allclose, enabled_targets


def _np_randn_from_type(t, scale=1, mean=0):
    """A numpy array of a TensorType: normally distributed around `mean` with the deviation `scale`."""
    import numpy as np

    return (mean + scale * np.random.randn(*t.concrete_shape)).astype(t.dtype)


def check_grad(func, inputs=None, test_inputs=None, eps=1e-6, atol=1e-5, rtol=1e-3, scale=None, mean=0, mode="higher_order",
               target_devices=None, executor_kind="debug"):
    """Raises AssertionError unless the gradient of `func` with respect to `test_inputs` equals finite differences of width `eps`.

    Parameters
    ----------
    func : Function
        The function to differentiate. float64 parameters make the differences exact enough for the default tolerances.
    inputs, test_inputs : lists of numpy arrays, optional
        Arguments, by default normally distributed around `mean` with deviation `scale` (10 * eps); and those of them that are
        differentiated by, by default all.
    mode : {"higher_order", "first_order"}
        The mode of relay.transform.gradient.
    target_devices : list of (target, device), optional
        enabled_targets() by default.
    """
    import numpy as np

    from ...runtime import ndarray
    from ..transform import gradient
    from . import run_infer_type

    forward = run_infer_type(func)
    backward = run_infer_type(gradient(forward, mode=mode))
    if inputs is None:
        deviation = 10 * eps if scale is None else scale
        inputs = [_np_randn_from_type(each.checked_type, deviation, mean) for each in forward.params]
    if test_inputs is None:
        test_inputs = inputs
    for target, device in enabled_targets() if target_devices is None else target_devices:
        value_of = _function_of(forward, executor_kind, device, target)
        _, grads = _function_of(backward, executor_kind, device, target)(*[ndarray.to_native(each) for each in inputs])
        positions = [next(i for i, each in enumerate(inputs) if each is tested) for tested in test_inputs]
        for position, tested in zip(positions, test_inputs):
            assert_allclose(grads[position].numpy(), _differences(value_of, inputs, position, tested, eps), rtol=rtol, atol=atol)


def _function_of(function, kind, device, target):
    """A Python function; run as Python where no executor runs it: gradients of higher order are closures and references."""
    from ..build_module import create_executor
    from .py_converter import run_as_python

    try:
        return create_executor(kind, device=device, target=target).evaluate(function)
    except core.NotSupported:
        return run_as_python(function)


def _differences(value_of, inputs, position, tested, eps):
    """The sum of the result's elements, differentiated by the elements of inputs[position]."""
    import numpy as np

    def total(array):
        result = value_of(*[array if i == position else each for i, each in enumerate(inputs)])
        return float(np.sum(result.numpy().astype("float64")))

    found = np.zeros(tested.shape, tested.dtype)
    for place in np.ndindex(*tested.shape):
        above, below = tested.copy(), tested.copy()
        above[place] += eps
        below[place] -= eps
        found[place] = (total(above) - total(below)) / (2 * eps)
    return found
