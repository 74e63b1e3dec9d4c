"""Formatting: C++ by clang-format, Markdown prose by tools/wrap_docs."""
import concurrent.futures
import os
import re
import subprocess
import sys

from . import state

SOURCES = ("*.cc", "*.h", "*.c")
BATCHES = 4  # batches per CPU, for load balance


def unformatted(root, files, program):
    """Those of `files` (relative to root) that clang-format would change."""
    jobs = os.cpu_count() or 1
    size = max(1, -(-len(files) // (jobs * BATCHES)))
    batches = [files[start:start + size] for start in range(0, len(files), size)]
    found = set()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(lambda batch: subprocess.run([program, "--dry-run", "--Werror", "-ferror-limit=1", *batch], cwd=root,
                                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                                          check=False), batches):
            named = re.findall(r"^([^:\n]+):\d+:\d+: error:", done.stderr, re.M)
            if done.returncode and not named:
                raise OSError(f"clang-format ended with status {done.returncode}: {done.stderr.strip()[:500]}")
            found.update(named)
    return sorted(found)


def tracked(root, patterns):
    """Existing files tracked by git; None outside a clone."""
    try:
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--", *patterns], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return sorted({name for name in listed.split("\0") if name and os.path.isfile(os.path.join(root, name))})


def check(root, say):
    """(passed, failed) of the two kinds of text; say(what, details) is called for each that failed. None when nothing can be checked."""
    program = os.path.join(os.path.dirname(state.venv_python(root)), "clang-format")
    sources = tracked(root, SOURCES)
    if not sources or not os.path.exists(program):
        return None
    wrong = unformatted(root, sources, program)
    if wrong:
        say(f"not laid out as .clang-format says: {' '.join(wrong)}",
            f"mend it: {os.path.relpath(program, root)} -i {' '.join(wrong)}")
    docs = subprocess.run([sys.executable, os.path.join(root, "tools", "wrap_docs"), "--check"], cwd=root, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if docs.returncode:
        say("tools/wrap_docs --check", docs.stdout)
    failed = bool(wrong) + bool(docs.returncode)
    return 2 - failed, failed
