"""The targets that a program is compiled for."""
from .._load import core


def make_compilation_config(ctxt, target, target_host=None):
    """A CompilationConfig: `target` is one target, a list of them, or a dict of devices and targets."""
    if isinstance(target, dict):
        target = list(target.values())
    targets = target if isinstance(target, (list, tuple)) else [target]
    if target_host is None:
        target_host = next((each.host for each in targets if getattr(each, "host", None) is not None), "")
    return core.CompilationConfig(ctxt, [str(each) for each in targets], str(target_host))
