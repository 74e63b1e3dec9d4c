"""relay.random: operators that make random numbers."""
from ...expr import Constant, Expr, const
from . import _make


def __getattr__(name):
    import importlib

    kernel = importlib.import_module(__name__ + ".kernel")  # needs numpy, which `import baton` is not to load
    return kernel if name == "kernel" else getattr(kernel, name)


def __dir__():
    return sorted({*globals(), "kernel", "multinomial", "normal", "threefry_generate", "threefry_key", "threefry_split", "uniform"})
