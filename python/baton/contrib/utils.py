"""Temporary folders, locks, and lookup of programs."""
import atexit
import contextlib
import os
import shutil
import tempfile


class DirectoryCreatedPastAtExit(Exception):
    """A folder was requested after they were removed at interpreter exit."""


class TempDirectory:
    """A folder that is removed with this object, at the latest when the interpreter ends.

    `custom_path`: the folder, which must exist already; it is kept when `keep_for_debug` is set.
    """

    _KEEP_FOR_DEBUG = False
    _open, _closed = set(), False

    def __init__(self, custom_path=None, keep_for_debug=None):
        if TempDirectory._closed:
            raise DirectoryCreatedPastAtExit()
        self._keep = TempDirectory._KEEP_FOR_DEBUG if keep_for_debug is None else keep_for_debug
        self.temp_dir = tempfile.mkdtemp(prefix="baton-") if custom_path is None else os.fspath(custom_path)
        os.makedirs(self.temp_dir, exist_ok=True)
        if not self._keep:
            TempDirectory._open.add(self.temp_dir)

    @classmethod
    @contextlib.contextmanager
    def set_keep_for_debug(cls, set_to=True):
        """Inside, folders are kept."""
        before, cls._KEEP_FOR_DEBUG = cls._KEEP_FOR_DEBUG, set_to
        try:
            yield
        finally:
            cls._KEEP_FOR_DEBUG = before

    @classmethod
    def remove_tempdirs(cls):
        """Removes all remaining folders."""
        for each in list(cls._open):
            shutil.rmtree(each, ignore_errors=True)
        cls._open.clear()
        cls._closed = True

    def remove(self):
        """Removes the folder."""
        if self.temp_dir:
            if not self._keep:
                shutil.rmtree(self.temp_dir, ignore_errors=True)
                TempDirectory._open.discard(self.temp_dir)
            self.temp_dir = None

    @property
    def path(self):
        """The folder's path."""
        return self.temp_dir

    def relpath(self, name):
        """The path of a file in it."""
        return os.path.join(self.temp_dir, name)

    def listdir(self):
        """The names of its entries."""
        return os.listdir(self.temp_dir)

    def __truediv__(self, other):
        return self.relpath(os.fspath(other))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()

    def __del__(self):
        with contextlib.suppress(Exception):  # the interpreter may be half gone
            self.remove()


atexit.register(TempDirectory.remove_tempdirs)


def tempdir(custom_path=None, keep_for_debug=None):
    """A TempDirectory."""
    return TempDirectory(custom_path=custom_path, keep_for_debug=keep_for_debug)


class FileLock:
    """A lock held until release(); other processes wait."""

    def __init__(self, path):
        import fcntl

        self.lock_file = open(path, "w", encoding="utf-8")  # pylint: disable=consider-using-with
        fcntl.lockf(self.lock_file, fcntl.LOCK_EX)

    def release(self):
        """Releases the lock."""
        import fcntl

        if self.lock_file:
            fcntl.lockf(self.lock_file, fcntl.LOCK_UN)
            self.lock_file.close()
            self.lock_file = None


def filelock(path):
    """A FileLock."""
    return FileLock(path)


def is_source_path(path):
    """Whether it looks like a source file's path (.cc, .c, .cu, .hip, ...) rather than source text."""
    return os.path.exists(path) if "\n" not in path else False


def which(exec_name):
    """The path of a program, or None."""
    return shutil.which(exec_name)
