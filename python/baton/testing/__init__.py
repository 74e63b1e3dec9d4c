"""Test helpers: tolerances, parameters, and requirements on the machine. pytest and numpy are imported when used."""
from .._refused import refused as _refused
from . import features, fixtures, utils
from .features import *  # noqa: F403
from .features import FEATURES, Feature, is_ampere_or_newer, requires_cuda_compute_version, requires_nvcc_version, requires_package, uses_gpu
from .fixtures import exclude_targets, fixture, known_failing_targets, parameter, parameters, parametrize_targets
from .utils import *  # noqa: F403
from .utils import DEFAULT_TEST_TARGETS, IS_IN_CI, SKIP_SLOW_TESTS, TVMError

for _name, _why in {
    "CompareBeforeAfter": "it compares TIR, which Baton does not have",
    "assert_prim_expr_equal": "it compares TIR, which Baton does not have",
    "check_bool_expr_is_true": "it proves statements of TIR, which Baton does not have",
    "check_int_constraints_trans_consistency": "it proves statements of TIR, which Baton does not have",
    "load_model": "there are no importers yet",
    **{_each: "it tests TVM's own calls between languages" for _each in (
        "ErrorTest", "FrontendTestModule", "call_cpp_ffi", "call_cpp_py_ffi", "call_py_ffi", "device_test", "echo", "identity_cpp", "nop",
        "object_use_count", "register_ffi", "run_check_signal", "test_check_eq_callback", "test_raise_error_callback",
        "test_wrap_callback")},
    **{_each: "it tests TVM's own pool of processes" for _each in (
        "after_initializer", "fast_summation", "identity_after", "initializer", "slow_summation", "terminate_self", "timeout_job")},
}.items():
    globals()[_name] = _refused(__name__, _name, _why)


def __getattr__(name):
    if name == "plugin":
        import importlib

        return importlib.import_module(__name__ + ".plugin")
    from .._load import not_provided

    not_provided(__name__, name)
