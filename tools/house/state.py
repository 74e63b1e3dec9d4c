"""The build's state, and whether it is current. Runs on every call, so it imports very little."""
import os

# The program's inputs. Python and test files are not compiled into it.
INPUTS = ("src", "cmake", "CMakeLists.txt", "CMakePresets.json", "tools/requirements.txt")

# Targets of CMake. What else a call needs is built when the program asks for it (parts.py).
PROGRAM = ("baton",)
NEEDED = {"python": ("baton", "_baton")}


def venv_python(root):
    return os.path.join(root, "build", "venv", "bin", "python")


class Build:
    """One preset's build folder."""

    def __init__(self, root, preset):
        self.root = root
        self.preset = preset
        self.folder = os.path.join(root, "build", preset)
        self.program = os.path.join(self.folder, "baton")
        self.stamp = os.path.join(self.folder, ".built-from")
        self.targets_stamp = os.path.join(self.folder, ".built-targets")  # those that were built from `.built-from`

    def inputs(self):
        """Name, size and time of every input file: what `.built-from` holds after a build that succeeded."""
        lines = [self.root]
        folders = []
        for name in INPUTS:
            path = os.path.join(self.root, name)
            if os.path.isdir(path):
                folders.append(path)
            elif os.path.exists(path):
                lines.append(_line(path, os.stat(path)))
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir():
                        folders.append(entry.path)
                    else:
                        lines.append(_line(entry.path, entry.stat()))
        lines.sort()
        return "\n".join(lines)

    def is_current(self, targets=PROGRAM):
        """Whether nothing has changed since `targets` were built."""
        return self.are_built(targets, self.inputs())

    def are_built(self, targets, inputs):
        """Whether `targets` are there and were built from these inputs. Of targets with other inputs (tests): never."""
        return all(map(self._is_there, targets)) and set(targets) <= self.built_targets(inputs)

    def built_targets(self, inputs):
        """The targets that were built from these inputs."""
        try:
            with open(self.stamp, encoding="utf-8", errors="surrogateescape") as file:
                if file.read() != inputs:
                    return set()
            with open(self.targets_stamp, encoding="utf-8") as file:
                return set(file.read().split())
        except OSError:
            return set()

    def _is_there(self, target):
        if target == "_baton":
            folder = os.path.join(self.folder, "python")
            return os.path.isdir(folder) and any(name.startswith("_baton.") for name in os.listdir(folder))
        if target == "baton_lab_verbs" or target.startswith("baton_plugin_"):
            return os.path.exists(self.library(target))
        return target in ("baton", "baton-runner") and os.access(os.path.join(self.folder, target), os.X_OK)

    def library(self, target):
        """The file of a shared library."""
        return os.path.join(self.folder, "lib", "lib%s.so" % target)

    def become_program(self, arguments):
        """Replaces this process by the program; returns only when that fails."""
        import signal

        # Python ignores these signals, and the program would inherit that: `./baton print MODEL | head` must end.
        for name in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(name, signal.SIG_DFL)
        os.execv(self.program, ["baton", *arguments])

    def python_path(self):
        """The paths of the Python package and its compiled module."""
        return [os.path.join(self.root, "python"), os.path.join(self.folder, "python")]

    def offer_package(self):
        """Lets every Python started from here on import the package."""
        theirs = [path for path in [os.environ.get("PYTHONPATH")] if path]
        os.environ["PYTHONPATH"] = os.pathsep.join(self.python_path() + theirs)

    def become_python(self, arguments):
        """Replaces this process by the environment's Python, with the package; returns only when that fails."""
        self.offer_package()
        python = venv_python(self.root)
        os.execv(python, [python, *arguments])


def _line(path, status):
    return "%s %d %d" % (path, status.st_size, status.st_mtime_ns)
