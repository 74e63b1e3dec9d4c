"""Where Baton's libraries and headers are."""
import os

from .._load import core


def find_lib_path(name=None, search_path=None, optional=False):
    """[path] of the compiled module, or of the library `name` beside it. RuntimeError, or None with `optional`, if there is none."""
    folders = [os.path.dirname(core.__file__), *([search_path] if isinstance(search_path, str) else search_path or [])]
    wanted = [os.path.basename(core.__file__)] if name is None else [name] if isinstance(name, str) else list(name)
    found = [os.path.join(folder, each) for folder in folders for each in wanted if os.path.exists(os.path.join(folder, each))]
    if not found and not optional:
        raise RuntimeError(f"Cannot find the files {wanted} in {folders}")
    return found or None


def find_include_path(name=None, search_path=None, optional=False):
    """[folder] of the headers for backends."""
    from .._targets import get_include

    return [get_include()]
