"""Names of things that a build makes."""
import re

from ..._wanted import listed, wanted
from ..transform import mangle_module_name


def sanitize_name(original_name):
    """Letters, digits and underscores only. ValueError for an empty name."""
    if not wanted("original_name", original_name, str, "a str"):
        raise ValueError("Name is empty")
    return re.sub(r"[^A-Za-z0-9_]", "_", original_name)


def to_c_function_style(original_name):
    """TVMFunctionName: "tvm_" is required in front, which becomes "TVM"."""
    if not wanted("original_name", original_name, str, "a str"):
        raise ValueError("Name is empty")
    if not original_name.startswith("TVM"):
        raise ValueError("Function not TVM prefixed")
    return "TVM" + "".join(part[:1].upper() + part[1:] for part in original_name[3:].split("_"))


def to_c_variable_style(original_name):
    """tvm_variable_name in lower case."""
    if not wanted("original_name", original_name, str, "a str"):
        raise ValueError("Name is empty")
    if not original_name.startswith("TVM"):
        raise ValueError("Variable not TVM prefixed")
    return "tvm" + original_name[3:].lower()


def to_c_constant_style(original_name):
    """TVM_CONSTANT_NAME in upper case."""
    return to_c_variable_style(original_name).upper()


def prefix_name(name):
    """`name`, or names joined, with TVM in front."""
    return _joined("TVM", name)


def prefix_generated_name(names):
    """The names with TVMGen in front, joined."""
    return _joined("TVMGen", names)


def _joined(prefix, names):
    if isinstance(names, str):
        names = [names]
    names = [wanted("a name", each, str, "a str") for each in listed("names", names)]
    if not names or not all(names):
        raise ValueError("Name segments empty")
    return "_".join([prefix, *names])
