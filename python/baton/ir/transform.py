"""Passes and pass contexts."""
import inspect

from .._load import core
from .._wanted import listed, wrong

__all__ = ["ModulePass", "Pass", "PassContext", "PassInfo", "PrintIR", "Sequential", "module_pass"]

Pass = core.Pass
ModulePass = core.Pass
PassInfo = core.PassInfo
PassContext = core.PassContext


def _pass_getattr(self, name):
    instance = self.__dict__.get("_instance")
    if instance is None:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    return getattr(instance, name)


Pass.__getattr__ = _pass_getattr
Pass.passes = property(core.passes_of, doc="The passes of a Sequential.")


def Sequential(passes=None, opt_level=0, name="sequential", required=None):
    """A pass that runs others in order if the context enables them, each after the passes it requires."""
    return core.sequential(listed("passes", passes or [], "a list of passes"), name, opt_level, listed("required", required or []))


def decorate_pass(make, method, pass_func, opt_level, name, required):
    """What module_pass and relay.transform.function_pass share: `make(info, body)`, and a class's `method`."""
    if opt_level is None:
        raise ValueError("Please provide opt_level for the pass.")
    required = listed("required", required or [], "a list of passes' names")

    def decorate(given):
        if not callable(given):
            raise wrong("pass_func", "a function or a class", given)
        info = PassInfo(opt_level, name or getattr(given, "__name__", type(given).__name__), required)
        if not inspect.isclass(given):
            return make(info, given)

        def create(*args, **kwargs):
            instance = given(*args, **kwargs)
            made = make(info, getattr(instance, method))
            made._instance = instance
            return made

        create.__name__, create.__doc__, create.__module__ = given.__name__, given.__doc__, given.__module__
        return create

    return decorate if pass_func is None else decorate(pass_func)


def module_pass(pass_func=None, opt_level=None, name=None, required=None):
    """Makes a pass of `f(mod, ctx) -> IRModule`, or of a class with transform_module(self, mod, ctx)."""
    return decorate_pass(core.module_pass, "transform_module", pass_func, opt_level, name, required)


def PrintIR(header="", show_meta_data=False):
    """A pass that prints the module to stderr."""

    def show(mod, _):
        import sys

        print(f"PrintIR({header}):\n{mod.astext(show_meta_data)}", file=sys.stderr)
        return mod

    return core.module_pass(PassInfo(0, "PrintIR"), show)
