"""Comparing arrays, and what tests need of the machine: markers for pytest, which is imported when one is used."""
import functools
import inspect
import sys

from .._load import core

TVMError = core.TVMError
IS_IN_CI = SKIP_SLOW_TESTS = False
DEFAULT_TEST_TARGETS = ["llvm", "cuda", "nvptx", "vulkan -from_device=0", "opencl", "opencl -device=mali,aocl_sw_emulator", "metal", "rocm",
                        "hexagon"]


def _array(value):
    import numpy as np

    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def assert_allclose(actual, desired, rtol=1e-7, atol=1e-7):
    """Raises AssertionError unless the arrays (numpy, NDArray, numbers) have one shape and equal up to the tolerances."""
    import numpy as np

    actual, desired = _array(actual), _array(desired)
    np.testing.assert_allclose(actual.shape, desired.shape)
    np.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol, verbose=True)


def check_numerical_grads(function, input_values, grad_values, function_value=None, delta=1e-3, atol=1e-2, rtol=0.1):
    """Compares gradients with differences of `function`, a function of arrays that returns a number.

    input_values, grad_values: lists of arrays, or dicts of them by keyword. Raises AssertionError where they differ.
    """
    import numpy as np

    names = list(input_values) if isinstance(input_values, dict) else None
    values = [np.array(each, dtype="float64") for each in (input_values.values() if names else input_values)]
    grads = [grad_values[each] for each in names] if names else list(grad_values)

    def at(arguments):
        return float(function(**dict(zip(names, arguments))) if names else function(*arguments))

    for i, (value, grad) in enumerate(zip(values, grads)):
        found = np.zeros(value.shape)
        for place in np.ndindex(*value.shape):
            ends = []
            for step in (delta, -delta):
                moved = value.copy()
                moved[place] += step
                ends.append(at([moved.astype(_array(grad).dtype) if k == i else each for k, each in enumerate(values)]))
            found[place] = (ends[0] - ends[1]) / (2 * delta)
        assert_allclose(_array(grad), found, rtol=rtol, atol=atol)


def device_enabled(target):
    """Whether programs can be built for a target (a str): for this machine's processor."""
    if not isinstance(target, str):
        raise TypeError("device_enabled: a target is given as a str")
    return target.split()[0] in ("llvm", "c") and "-device=" not in target


def enabled_targets():
    """[(target, device)]: what tests run on: ("llvm", cpu(0)), or those of $TVM_TEST_TARGETS (split by ;) that are builds for it."""
    import os

    from .. import cpu

    asked = [each.strip() for each in os.environ.get("TVM_TEST_TARGETS", "").split(";") if each.strip()]
    return [(each, cpu(0)) for each in asked if device_enabled(each)] or [("llvm", cpu(0))]


def skip_parameterizations(*skip_params, reason):
    """Decorator: skips the runs of a test that have these ids."""
    return _for_ids(skip_params, reason, "skip")


def xfail_parameterizations(*xfail_params, reason):
    """Decorator: the runs of a test that have these ids are expected to fail."""
    return _for_ids(xfail_params, reason, "xfail")


def _for_ids(ids, reason, act):
    import pytest

    def decorate(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            import os

            current = os.environ.get("PYTEST_CURRENT_TEST", "")
            if any(each in current for each in ids):
                getattr(pytest, act)(reason)
            return function(*args, **kwargs)

        return run

    return decorate


def skip_if_32bit(reason):
    """Decorator: skips a test on machines of 32 bits."""
    import pytest

    return pytest.mark.skipif(sys.maxsize <= 2 ** 32, reason=reason)


def skip_if_wheel_test(func):
    """Decorator: skips a test where an installed wheel is tested, which $WHEEL_TEST says."""
    import os

    import pytest

    is_wheel = os.environ.get("WHEEL_TEST", "").lower() in ("1", "true", "yes", "on")
    return pytest.mark.skipif(is_wheel, reason="Test not supported in wheel.")(func)


def slow(fn):
    """Decorator: skips a test where SKIP_SLOW_TESTS is set, which $SKIP_SLOW_TESTS says."""
    import os

    import pytest

    skipped = SKIP_SLOW_TESTS or os.environ.get("SKIP_SLOW_TESTS", "").lower() in ("1", "true", "yes", "on")
    return pytest.mark.skipif(skipped, reason="Skipping slow test since SKIP_SLOW_TESTS is set")(fn)


def main():
    """Runs pytest over the file that calls it, with the arguments of the command line, and ends the program."""
    import pytest

    sys.exit(pytest.main([inspect.getsourcefile(sys._getframe(1)), *sys.argv[1:]]))


def install_request_hook(depth):
    """Requests for files of the network are not redirected: nothing to do."""


def fetch_model_from_url(url, model_format, sha256):
    """Raises NotImplementedError: models are not fetched from the network."""
    raise NotImplementedError("fetch_model_from_url: Baton does not fetch models from the network")
