"""Runtimes that a build is for."""
from ._registered import Registered


class Runtime(Registered):
    """`Runtime("cpp")`: this process, or the C interface. `Runtime("crt")` is known by name only."""

    KINDS = {"cpp": {"system-lib": ("IntImm", None)}, "crt": {"system-lib": ("IntImm", None)}}
