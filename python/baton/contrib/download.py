"""Downloads files, such as images and weights for examples."""
import os
import pathlib
import shutil
import tempfile
import urllib.error
import urllib.request

__all__ = ["download", "download_testdata"]


def download(url, path, overwrite=False, size_compare=False, retries=3):
    """Fetches `url` into the file `path`, whose folder is made. What is there already is kept, unless `overwrite` is set,
    or `size_compare` is and the server says another size (in bytes).

    Tries `retries` times (at least once). Errors: those of urllib.request, all of them OSError; then `path` is as it was.
    """
    path = pathlib.Path(path)
    if path.is_file() and not overwrite and not (size_compare and path.stat().st_size != _size_of(url)):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in reversed(range(max(1, retries))):
        try:
            _fetch(url, path)
            return
        except urllib.error.HTTPError as error:
            if left == 0 or error.code < 500:  # asking again would not change that answer
                raise
        except OSError:
            if left == 0:
                raise


def download_testdata(url, relpath, module=None, overwrite=False):
    """download() into a folder of the user's, once for all scripts; returns the path of the file.

    `relpath`: its name there, below the folder `module` (str, or a list of str) where one is given. The folder is
    $TEST_DATA_ROOT_PATH, else ~/.tvm_test_data: files that TVM has fetched are found there.
    """
    folder = pathlib.Path(os.environ.get("TEST_DATA_ROOT_PATH") or pathlib.Path.home() / ".tvm_test_data")
    if module is not None and not isinstance(module, (str, list, tuple)):
        raise TypeError(f"download_testdata: module must be str or a list of str, not {type(module).__name__}")
    for part in [module] if isinstance(module, str) else module or []:
        folder /= part
    download(url, folder / relpath, overwrite=overwrite, size_compare=False)
    return str(folder / relpath)


def _size_of(url):
    """As the server says, in bytes; None when it does not."""
    with urllib.request.urlopen(urllib.request.Request(url, method="HEAD")) as answer:
        length = answer.headers.get("Content-Length")
    return None if length is None else int(length)


def _fetch(url, path):
    """Downloads atomically."""
    with urllib.request.urlopen(url) as answer:
        expected = answer.headers.get("Content-Length")
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name + ".", delete=False) as part:
            try:
                shutil.copyfileobj(answer, part)
                part.flush()
                if expected is not None and part.tell() != int(expected):
                    raise urllib.error.ContentTooShortError(f"{url}: {part.tell()} of {expected} bytes came", b"")
                os.chmod(part.name, 0o644)
                os.replace(part.name, path)
            except BaseException:
                pathlib.Path(part.name).unlink(missing_ok=True)
                raise
