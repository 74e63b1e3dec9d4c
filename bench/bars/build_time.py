"""Bars of building: what a fresh clone, the tests and an edit cost on this machine without a compiler cache. Prints
"bar, measured, ok"; 1 when one is missed. Takes some 15 minutes of two cores that do nothing else.

    python3 bench/bars/build_time.py [--keep FOLDER] [--only fresh,tests,operator,expr]

The tree is copied (with what is edited but not committed) and built there by its own `./baton`. Wheels are those of
build/venv: the network is not measured.
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = ("fresh", "tests", "operator", "expr")
missed = []


def report(what, most, measured, unit):
    """A measured value that must not be larger than `most`."""
    ok = measured <= most
    missed.extend([] if ok else [what])
    print(f"{what:<62} bar <= {most:<6g} {unit:<4} measured {measured:8.2f}  {'ok' if ok else 'MISSED'}", flush=True)


def note(what, measured, unit):
    print(f"{what:<62} {'':<18} measured {measured:8.2f} {unit}", flush=True)


def timed(command, folder):
    """Seconds of wall clock and of processor that the command and its children took."""
    environment = {**os.environ, "CCACHE_DISABLE": "1", "XDG_CACHE_HOME": str(folder / "build" / "cache"),
                   "HOME": str(folder / "build" / "home")}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-4000:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def copy_of_the_tree(folder):
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                           stdout=subprocess.PIPE).stdout.decode().split("\0")
    for name in names:
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / "build" / "home").mkdir(parents=True)
    os.symlink((ROOT / "build" / "venv").resolve(), folder / "build" / "venv")


def edit(path):
    """Another text of the same meaning: a new function that nothing calls."""
    text = path.read_text(encoding="utf-8")
    end = text.rindex("}  // namespace baton")
    function = f"inline int edited_{path.stem}() {{ return 1; }}"  # both edited files may be in one batch
    path.write_text(f"{text[:end]}{function}\n\n{text[end:]}", encoding="utf-8")


def ninja(folder, *targets):
    return [str(folder / "build" / "venv" / "bin" / "ninja"), "-C", str(folder / "build" / "release"),
            f"-j{len(os.sched_getaffinity(0))}", *targets]


def measure(folder, only):
    if "fresh" in only:
        wall, cpu = timed(["./baton", "profile", "resnet-18"], folder)
        report("first profile from nothing (aim 4): wall clock", 5, wall / 60, "min")
        report("first profile from nothing (aim 6.5): processor", 8, cpu / 60, "min")
    else:
        timed(["./baton", "setup"], folder)
    if {"tests", "operator"} & only:
        wall, cpu = timed(ninja(folder, "all"), folder)
        if "tests" in only:
            report("compiling that `./baton test` adds: processor", 6, cpu / 60, "min")
            note("compiling that `./baton test` adds: wall clock", wall / 60, "min")
    if "operator" in only:
        edit(folder / "src" / "baton" / "ops" / "nn" / "softmax.cc")
        build_wall, cpu = timed(ninja(folder, "all"), folder)
        test_wall, _ = timed(["build/release/baton_unit_tests", "--gtest_brief=1", "--gtest_filter=*oftmax*"], folder)
        report("an operator edited, to its tested program: wall clock", 20, build_wall + test_wall, "s")
        note("  of this compiling and linking: processor", cpu, "s")
        wall, _ = timed(["./baton", "test", "--filter", "[Ss]oftmax"], folder)
        note("  ./baton test --filter softmax after it: wall clock", wall, "s")
    if "expr" in only:
        edit(folder / "src" / "baton" / "ir" / "expr.h")
        wall, cpu = timed(ninja(folder, "baton"), folder)
        report("ir/expr.h edited, to the program: wall clock", 3, wall / 60, "min")
        note("ir/expr.h edited, to the program: processor", cpu / 60, "min")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--keep", metavar="FOLDER", type=pathlib.Path, help="build there and leave it (must not exist)")
    parser.add_argument("--only", default=",".join(STEPS), help="some of: " + ", ".join(STEPS))
    options = parser.parse_args()
    only = set(options.only.split(","))
    if only - set(STEPS):
        parser.error(f"--only: no such step: {', '.join(sorted(only - set(STEPS)))}")
    if os.getloadavg()[0] > 0.5:
        print(f"# other programs run here (load {os.getloadavg()[0]:.1f}): wall clocks say little", flush=True)
    if options.keep:
        options.keep.mkdir(parents=True)
        copy_of_the_tree(options.keep.resolve())
        measure(options.keep.resolve(), only)
    else:
        with tempfile.TemporaryDirectory(prefix="baton-build-time-", dir=ROOT / "build") as folder:
            copy_of_the_tree(pathlib.Path(folder))
            measure(pathlib.Path(folder), only)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
