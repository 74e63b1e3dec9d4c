"""Names of texts and numbers, and TVMError."""
import ctypes

from .._ffi_names import register_object
from ..error import TVMError, register_error

string_types = (str,)
integer_types = (int,)
numeric_types = (float, int)


def py_str(text):
    """Bytes as a str."""
    return text.decode("utf-8")


def c_str(string):
    """A str as a char pointer."""
    return ctypes.c_char_p(string.encode("utf-8"))


def c_array(ctype, values):
    """Values as an array of a type of ctypes."""
    return (ctype * len(values))(*values)


def check_call(ret):
    """Raises TVMError for the status of a C function that is not 0."""
    if ret != 0:
        raise TVMError(f"a C function returned {ret}")


def decorate(func, fwrapped):
    """fwrapped, called with func before its arguments."""
    import functools

    return functools.wraps(func)(lambda *args, **kwargs: fwrapped(func, *args, **kwargs))
