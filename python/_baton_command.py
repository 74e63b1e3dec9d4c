"""The command `baton` of an installed wheel: becomes the native program. Outside the package, which need not be imported."""
import os
import signal
import sys


def program():
    """The path of the native program."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "baton", "bin", "baton")


def main():
    # Python ignores these, and what is ignored stays so in the program: `baton print MODEL | head` must end.
    for name in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(name, signal.SIG_DFL)
    # The Python that has the package is the one that is asked for Parquet.
    os.environ.setdefault("BATON_PYTHON", sys.executable)
    try:
        os.execv(program(), ["baton", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"baton: cannot run {program()}: {error.strerror}")
