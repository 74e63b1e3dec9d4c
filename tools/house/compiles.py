"""Checks that each file compiles by itself, and each folder as one unit. Syntax only: a usual build (batches of files of a
folder, precompiled headers) hides missing includes and name clashes between files of a folder."""
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess

OURS = ("src", "tests", "tools")


def check(build, jobs, wanted=lambda name: True):
    """Compiles every file of ours in build's compile_commands.json that has changed since it last compiled, or that reads
    one that has. Returns how many there are and what the compiler said of those that do not compile, by name."""
    with open(os.path.join(build.folder, "compile_commands.json"), encoding="utf-8") as file:
        entries = [(name, entry) for entry in json.load(file) for name in [_name(build, entry["file"])]
                   if name and wanted(name)]
    stamps = os.path.join(build.folder, "compiled")
    os.makedirs(stamps, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        answers = list(pool.map(lambda named: _compile(named[1], stamps), entries))
    return len(entries), {name: answer for (name, _), answer in zip(entries, answers) if answer}


def _name(build, path):
    """A source file below the root, or a batch of them; None for external and generated files."""
    if "/Unity/" in path:
        return os.path.basename(path)
    inner = os.path.relpath(path, build.root)
    return inner if inner.split(os.sep)[0] in OURS else ""


def _compile(entry, stamps):
    """"" when it compiles, or compiled before with unchanged inputs; else the compiler's output."""
    words = shlex.split(entry["command"])
    if "-o" in words:
        at = words.index("-o")
        del words[at:at + 2]
    key = hashlib.sha256(entry["command"].encode()).hexdigest()[:24]
    stamp, listing = (os.path.join(stamps, key + end) for end in (".stamp", ".d"))
    try:
        with open(stamp, encoding="utf-8") as file:
            if file.read() == _state(listing):
                return ""
    except OSError:
        pass
    done = subprocess.run([*words, "-fsyntax-only", "-MD", "-MF", listing], cwd=entry["directory"], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        return done.stdout or f"status {done.returncode}"
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(_state(listing))
    return ""


def _state(listing):
    """Size and time of every file in a list of dependencies as compilers write it (`x.o: a.cc a.h \\`)."""
    with open(listing, encoding="utf-8") as file:
        names = shlex.split(file.read().partition(":")[2].replace("\\\n", " "))
    lines = []
    for name in names:
        try:
            status = os.stat(name)
        except OSError:
            lines.append(f"{name} gone")
        else:
            lines.append(f"{name} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(lines)
