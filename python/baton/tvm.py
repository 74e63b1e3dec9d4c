"""Runs scripts that use `import tvm`.

    python -m baton.tvm script.py [args]
    python -m baton.tvm -m module [args]
    python -m baton.tvm -m pytest test_it.py    (with the fixtures of tvm.testing.plugin)

In a notebook, before anything imports tvm: `import baton.tvm; baton.tvm.install()`.
"""
import importlib
import importlib.abc
import importlib.machinery
import os
import signal
import sys
import types

import baton
from baton._absent import module_of, reason_of

_PYTEST_PLUGIN = "baton.testing.as_tvm"


class _Same(importlib.abc.Loader):
    """Loads a module by returning an existing one."""

    def __init__(self, module):
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        module.__spec__ = self._spec  # importlib has put that of the other name there


class Finder(importlib.abc.MetaPathFinder):
    """Finds tvm as baton, and tvm.a.b as baton.a.b: the same module objects."""

    def find_spec(self, fullname, path=None, target=None):
        root, _, rest = fullname.partition(".")
        if root not in ("tvm", "baton"):
            return None
        ours = "baton." + rest if rest else "baton"
        if rest and (why := reason_of("tvm." + rest)) and self._is_missing(ours, path):
            return self._absent(fullname, "tvm." + rest, why)
        if root == "baton":
            return None
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name != ours:
                raise
            raise ModuleNotFoundError(f"No module named {fullname!r}: Baton does not provide it (docs/compatibility.md)",
                                      name=fullname) from None
        return self._spec(fullname, module)

    @staticmethod
    def _is_missing(ours, path):
        """Whether Baton has no such module: neither a file nor another name of a module (_aliases)."""
        return ours not in sys.modules and importlib.machinery.PathFinder.find_spec(ours, path) is None

    def _absent(self, fullname, name, why):
        """tvm.micro and baton.micro are one module too."""
        for each in (name, "baton" + name[3:]):
            if each in sys.modules:
                return self._spec(fullname, sys.modules[each])
        return self._spec(fullname, module_of(name, why))

    @staticmethod
    def _spec(fullname, module):
        return importlib.machinery.ModuleSpec(fullname, _Same(module), is_package=hasattr(module, "__path__"))


def install():
    """From now on `import tvm` means Baton. ImportError when TVM itself was imported before."""
    there = sys.modules.get("tvm")
    if there is not None and there is not baton:
        place = getattr(there, "__file__", None) or "an unknown place"
        raise ImportError(f"tvm was already imported from {place}: call baton.tvm.install() before anything imports tvm",
                          name="tvm")
    if not any(isinstance(each, Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, Finder())


def uninstall():
    """Undoes install(); existing references to imported modules stay valid."""
    sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, Finder)]
    for name in [each for each in sys.modules if each == "tvm" or each.startswith("tvm.")]:
        del sys.modules[name]


def _usage(text):
    print(text, file=sys.stderr)
    return 2


def _run_file(path):
    """As `python path` does: the module __main__, the script's folder first on sys.path."""
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise SystemExit(_usage(f"{sys.executable}: can't open file {os.path.abspath(path)!r}: [Errno {error.errno}] "
                                f"{error.strerror}")) from None
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    path = os.path.abspath(path)
    main = types.ModuleType("__main__")
    main.__file__, main.__builtins__ = path, sys.modules["builtins"]
    main.__cached__, main.__annotations__ = None, {}
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    sys.modules["__main__"] = main
    exec(compile(source, path, "exec", dont_inherit=True), main.__dict__)  # noqa: S102


def _run_module(name):
    import runpy

    sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _without_ours(traceback):
    """The traceback from the script's first frame on."""
    ours = (__file__, "<frozen runpy>")
    while traceback is not None and traceback.tb_frame.f_code.co_filename in ours:
        traceback = traceback.tb_next
    return traceback


def main(arguments):
    """What `python -m baton.tvm` does; the exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip(), file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    is_module = arguments[0] == "-m"
    if is_module and len(arguments) < 2:
        return _usage("Argument expected for the -m option")
    install()
    sys.argv[:] = arguments[1:] if is_module else arguments
    plugins = [each for each in os.environ.get("PYTEST_PLUGINS", "").split(",") if each]
    if _PYTEST_PLUGIN not in plugins:
        os.environ["PYTEST_PLUGINS"] = ",".join([*plugins, _PYTEST_PLUGIN])
    try:
        (_run_module if is_module else _run_file)(sys.argv[0])
    except SystemExit:
        raise
    except BaseException as error:
        error.__traceback__ = _without_ours(error.__traceback__)
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
        sys.excepthook(type(error), error, error.__traceback__)
        if isinstance(error, KeyboardInterrupt):
            sys.stdout.flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        return 1
    return 0


if __name__ == "__main__":
    from baton.tvm import main as run  # this file as the module others see, not a second copy of it

    sys.exit(run(sys.argv[1:]))
