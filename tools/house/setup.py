"""Install, configure, build: one process at a time, resuming after interruptions."""
import errno
import fcntl
import json
import os
import shutil
import signal
import sys

from . import browser, debian, parts, wheels
from .report import Failure, Steps, explain
from .state import NEEDED, PROGRAM, Build, venv_python

ALL_OF_IT = "baton_unit_tests"  # what needs most of what may be missing: it links the laboratory and GoogleTest
SPACE_NEEDED = 1_500_000_000  # bytes below build/ for wheels, precompiled headers and objects of one preset


def run(build, verb, arguments):
    """Brings everything up to date, then runs `verb`. Returns the exit status."""
    signal.signal(signal.SIGTERM, _interrupt)
    wanted = []
    known = parts.known(build.root)
    if verb == "setup":
        asked = any(word in ("-h", "--help") for word in arguments)
        unknown = [word for word in arguments if word not in known]
        if asked or unknown:
            print(parts.usage(known, None if asked else unknown[0]), file=sys.stdout if asked else sys.stderr)
            return 0 if asked else 2
        wanted = [known[word] for word in arguments]
    try:
        if verb == "test":
            from . import checks

            options = checks.parse(arguments)
            used = ("data", "onnx", "tests", *(("bench",) if options.slow else ()))
            packages = (*debian.TESTS, *(package for part in known.values() for package in part.packages))
            prepare(build, "all", wheel_sets=used, packages=packages, with_browser=True)
            if options.slow:
                for preset in checks.COMPILED:
                    prepare(Build(build.root, preset), wheel_sets=used)
                for preset, program in checks.SANITIZED:
                    prepare(Build(build.root, preset), program, wheel_sets=used)
                prepare(Build(build.root, "fuzz"), "fuzzers", wheel_sets=used, packages=debian.SLOW)
            return checks.run(build, options)
        if verb == "python":
            wanted = [known["python"]]
        # Where a program asks for parts it runs, and has its libraries loaded: only what it asks for is built.
        targets = [target for part in wanted for target in part.targets] if verb == "setup" else \
            [*NEEDED.get(verb, PROGRAM), *parts.built_before(build)]
        if not wanted:
            targets = targets or PROGRAM
        prepare(build, *dict.fromkeys(targets), only_installed=not targets,
                wheel_sets=tuple(dict.fromkeys(name for part in wanted for name in part.wheels)),
                packages=[package for part in wanted for package in part.packages],
                drivers=[package for part in wanted for package in part.missing_drivers()])
    except Failure as failure:
        print(f"{failure}", file=sys.stderr)
        return 1
    except OSError as error:
        print(_explain_os_error(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbaton: interrupted; the same command continues where this one stopped", file=sys.stderr)
        return 130
    if verb == "setup":
        return 0
    if verb == "python":
        return build.become_python(arguments)
    return build.become_program([verb, *arguments] if verb else [])


def prepare(build, *targets, only_installed=False, wheel_sets=(), packages=(), drivers=(), with_browser=False):
    """Makes `targets` of CMake (none: only what CMake writes) current, with wheels and Debian's packages (`wheel_sets` and
    `packages` beside those of every build; `drivers` and a browser if they can be had). `only_installed`: nothing is built."""
    folder = os.path.dirname(build.folder)
    os.makedirs(folder, exist_ok=True)
    steps = Steps(os.path.join(folder, "setup.log"))
    with open(os.path.join(folder, ".lock"), "a+", encoding="utf-8") as lock:
        _take(lock, steps)
        _truncate(steps.log_path)
        try:
            missing = debian.missing(dict.fromkeys(packages))
            if missing:
                steps.step(f"installing {len(missing)} Debian packages: {' '.join(missing)}")
                debian.install(steps, missing)
            if drivers:
                _want(steps, drivers, "what needs them says so")
            if with_browser:
                _want_browser(steps)
            _check_space(build)
            keep = (lock.fileno(),)
            wheels.ensure(steps, build.root, wheel_sets, keep)
            if only_installed:
                return
            # Read before compiling: files edited meanwhile are newer than the stamp and built by the next call.
            inputs = build.inputs()
            if targets and build.are_built(targets, inputs):
                return
            # What CMake did not find when it was run last is not among its targets.
            _configure(build, steps, keep, always=not targets or bool(missing) or not _are_known(build, targets))
            if targets:
                _compile(build, steps, targets, keep)
                _stamp(build, targets, inputs)
        finally:
            steps.close()


def _want_browser(steps):
    """Chromium, for the tests of the HTML page. Without it these are skipped."""
    if browser.program():
        return
    _want(steps, [browser.PACKAGE], "so the tests of the HTML page are skipped")


def _want(steps, packages, otherwise):
    """Installs packages that are useful, but that nothing fails without."""
    missing = [name for name in debian.missing(packages) if name in packages]
    if not missing:
        return
    names = " ".join(missing)
    steps.step(f"installing {names}")
    try:
        debian.install(steps, missing)
    except Failure as failure:
        steps.note(f"no {names}, {otherwise}: {failure.what}")


def _configure(build, steps, keep, always=False):
    """Runs CMake when the folder is not completely configured, or the presets or wheels have changed. `always`: where no
    build follows that would look for new files."""
    with open(os.path.join(build.root, "CMakePresets.json"), encoding="utf-8") as file:
        presets = file.read()
    names = [p["name"] for p in json.loads(presets)["configurePresets"] if not p.get("hidden")]
    if build.preset not in names:
        raise Failure("unknown preset", seen=f"BATON_PRESET={build.preset}", todo="take one of: " + ", ".join(names))
    with open(os.path.join(build.root, wheels.PINS), encoding="utf-8") as file:
        found_by = os.path.realpath(venv_python(build.root)) + "\n" + file.read()
    wanted = "\n".join([build.root, presets, found_by])
    stamp = os.path.join(build.folder, ".configured-from")
    held = _read(stamp)
    if held == wanted and not always:
        return

    steps.step(f"configuring build/{build.preset}")
    cmake = [os.path.join(build.root, "build", "venv", "bin", "cmake"), "--preset", build.preset, "-S", build.root]
    # --fresh discards all objects: only for changed wheels, and after an interruption or a move.
    other_wheels = held is not None and not held.endswith(found_by)
    for command in [[*cmake, "--fresh"]] if other_wheels else [cmake, [*cmake, "--fresh"]]:
        status, output = steps.run(command, keep=keep)
        if status == 0:
            break
    else:
        raise explain("CMake could not configure the build", command, output, "",
                      f"see {steps.log_path}; a package that is missing is named there")
    _write(stamp, wanted)


def _are_known(build, targets):
    """Whether the build folder has rules for all `targets`: what CMake does not find it leaves out, also of `all`."""
    rules = _read(os.path.join(build.folder, "build.ninja")) or ""
    wanted = [ALL_OF_IT if target == "all" else target for target in targets]
    return all(f"\nbuild {target}: " in rules for target in wanted)


def _compile(build, steps, targets, keep):
    what = "everything" if targets == ("all",) else ", ".join(targets)
    steps.step(f"building {what} (build/{build.preset})")
    ninja = [os.path.join(build.root, "build", "venv", "bin", "ninja"), "-C", build.folder, f"-j{_jobs()}", *targets]
    status, output = steps.run(ninja, keep=keep)
    if status != 0:
        failure = explain("the build failed", ninja, output, "", f"see the errors above, or {steps.log_path}")
        failed = output.find("FAILED:")
        failure.output = output[failed:][:20000] if failed >= 0 else ""
        raise failure


def _stamp(build, targets, inputs):
    """Notes what was built from `inputs`; a part that was built without the program makes no old program current."""
    made = {*build.built_targets(inputs), *targets}
    if "all" in targets:
        made.update(("baton", "_baton", "baton_lab_verbs", "baton-runner"), parts.built_before(build))
    if "baton" in made:
        _write(build.targets_stamp, " ".join(sorted(made)))
        _write(build.stamp, inputs)


def _jobs():
    """One compiler per core, fewer where they would not fit into memory (a file with Halide.h takes about 1 GB)."""
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(cores, memory // 1_200_000_000))


def _check_space(build):
    if os.path.exists(build.stamp):
        return
    there = os.path.dirname(build.folder)
    used = sum(os.lstat(os.path.join(folder, name)).st_size
               for folder, _, names in os.walk(there) for name in names)
    free = shutil.disk_usage(there).free
    if free + used < SPACE_NEEDED:
        raise Failure("the disk is too full to build", seen=f"{free / 1e9:.1f} GB free at {there}",
                      todo=f"free {(SPACE_NEEDED - free - used) / 1e9:.1f} GB more, then run the same command again")


def _take(lock, steps):
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        steps.note(f"waiting for another ./baton that installs or builds here (process {lock.read().strip() or '?'})")
        fcntl.flock(lock, fcntl.LOCK_EX)
    lock.seek(0)
    lock.truncate()
    lock.write(str(os.getpid()))
    lock.flush()


def _explain_os_error(error):
    where = error.filename or "build"
    if error.errno == errno.ENOSPC:
        return Failure("the disk is full", seen=f"{error.strerror}: {where}",
                       todo="free some space (about 2 GB are needed in all), then run the same command again")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Failure("cannot write to the build folder", seen=f"{error.strerror}: {where}",
                       todo="run it as the owner of the folder, or clone to a place of your own")
    return Failure("set-up failed", seen=f"{error.strerror}: {where}", todo="see build/setup.log")


def _interrupt(*_):
    raise KeyboardInterrupt


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return None


def _write(path, text):
    """Writes atomically."""
    with open(path + ".new", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.replace(path + ".new", path)


def _truncate(path):
    with open(path, "w", encoding="utf-8"):
        pass
