"""The native build behind what relay.build returns."""
from ._load import core


def built_of(made):
    """The core.BuildResult of a factory module or of its library; None when it was not built in this process."""
    for each in (made, getattr(made, "lib", None)):
        for found in (getattr(each, "result", None), getattr(getattr(each, "_source", None), "_result", None)):
            if isinstance(found, core.BuildResult):
                return found
    return None
