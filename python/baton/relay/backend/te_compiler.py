"""TVM's compiler of tensor expressions. Baton makes kernels through Halide, from operators' own definitions."""
from ...target import Target
from ..._load import core
from .name_transforms import mangle_module_name


def _none(what):
    raise NotImplementedError(f"{what}: Baton has no tensor expressions (te); kernels come from relay.build, and "
                              "`baton explain` says how each is made")


class LoweredOutput:
    """The result of lowering in TVM. Never created."""

    def __init__(self, outputs, implement):
        self.outputs, self.implement = outputs, implement


class CCacheKey:
    """A function to be lowered, and its target."""

    def __init__(self, source_func, target):
        self.source_func, self.target = source_func, target

    def __eq__(self, other):
        return isinstance(other, CCacheKey) and str(self.target) == str(other.target) and core.structural_equal(
            self.source_func, other.source_func)

    def __hash__(self):
        return hash((str(self.target), core.structural_hash(self.source_func)))


class CCacheValue:
    """A lowered function. Never created."""

    def __init__(self, *_, **__):
        _none("CCacheValue")


class TECompiler:
    """Kernels live in Baton's own cache; this one is always empty."""

    def lower(self, source_func, target=None, mod_name="default"):
        """Not provided."""
        _none("TECompiler.lower")

    def jit(self, source_func, target=None):
        """Not provided."""
        _none("TECompiler.jit")

    def clear(self):
        """Clears the lowered functions: there are none."""

    def items(self):
        """The lowered functions: none."""
        return []


_compiler = TECompiler()


def get():
    """The TECompiler of this process."""
    return _compiler


def libinfo():
    """Facts of this build, texts by name."""
    from ... import __version__

    return {"VERSION": __version__, "USE_LLVM": "Halide", "USE_CUDA": "OFF"}


def get_valid_implementations(op, attrs, inputs, out_type, target):
    """Not provided."""
    _none("get_valid_implementations")


def select_implementation(op, attrs, inputs, out_type, target, use_autotvm=True):
    """Not provided."""
    _none("select_implementation")


def lower_call(*args):
    """Not provided."""
    _none("lower_call")


def get_shape(shape):
    """A shape as a list of ints. NotImplementedError for extents that are not static."""
    if any(not isinstance(each, int) for each in shape):
        raise NotImplementedError("get_shape: extents that are known at run time only are not provided")
    return list(shape)


def is_auto_scheduler_enabled():
    """False."""
    return False


def is_meta_schedule_enabled():
    """False."""
    return False
