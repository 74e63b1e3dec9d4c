"""Ways to run a program."""
from ._registered import Registered


class Executor(Registered):
    """`Executor("graph")` runs the plan of a build; `Executor("aot")` runs the same kernels in the same order."""

    KINDS = {
        "aot": {"link-params": ("IntImm", None), "unpacked-api": ("IntImm", None), "interface-api": ("runtime.String", None),
                "workspace-byte-alignment": ("IntImm", None), "constant-byte-alignment": ("IntImm", None)},
        "graph": {"link-params": ("IntImm", False)}}
