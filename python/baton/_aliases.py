"""TVM's modules whose names Baton has in their package itself."""
import sys


def same(package, *names):
    """Makes `import PACKAGE.NAME` and PACKAGE.NAME the package itself; `package` is its globals."""
    module = sys.modules[package["__name__"]]
    for name in names:
        sys.modules[f"{module.__name__}.{name}"] = module
        package[name] = module
