"""`./baton test`: all kinds of tests in order, and one line of counts at the end."""
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

from . import compiles, formatting, state

Counts = collections.namedtuple("Counts", "passed failed skipped", defaults=(0,))
NONE = Counts(0, 0)
failures = []  # what failed, named again before the last line: logs of CI are cut to their end
times = []  # (seconds of processor time, name, whether it is marked slow) of single tests
SHOWN_SLOWEST = 10
MOST_SECONDS = 10  # of processor time on a quiet machine, for a test that is not marked slow
MOST_PROCESSES = 4  # of Python tests
FUZZ_SECONDS = 30
COMPILED = ("tidy", "folders")  # presets: every file alone; all files of a folder together
# Presets, and the programs built with them.
SANITIZED = (("asan-ubsan", "baton_unit_tests"), ("asan-ubsan", "baton-golden"), ("asan-ubsan", "baton-runner"),
             ("tsan", "baton_unit_tests"))
THREADED = ("byoc", "codegen", "driver", "pass", "profile", "runtime", "support")  # folders of tests/unit that use threads
# Whole networks and a million nodes take minutes under sanitizers, and smaller tests cover the same paths. Signals of a
# sampler come late under the thread sanitizer.
TOO_SLOW_THREADED = r"Slow|Networks|Million|Ladder|LargePlan|KernelFuzz|^Sampling"
# An exception that leaves the stack which Halide lowers on leaves that memory poisoned for what lies there next.
TOO_SLOW_SANITIZED = r"Slow|ErrorNamesTheKernel|PassGoldens|OriginMutations|Networks|Models|Reference|Million|Ladder|ThreadPool"


def parse(arguments):
    parser = argparse.ArgumentParser(prog="baton test", description="Build everything and run every test.")
    parser.add_argument("--slow", action="store_true", help="run the slow ones too, and those against other compilers")
    parser.add_argument("--onnx", action="store_true", help="run only ONNX's own node tests, all of them, and print what fails and why")
    parser.add_argument("--filter", metavar="RE", default="", help="only tests whose name matches this regular expression")
    options = parser.parse_args(arguments)
    try:
        re.compile(options.filter)
    except re.error as error:
        parser.error(f"--filter {options.filter!r}: {error}")
    return options


def run(build, options):
    os.makedirs(os.path.join(build.folder, "test-results"), exist_ok=True)
    kinds = [("layers", _layers), ("format", _format), ("unit tests", _unit), ("golden files", _golden),
             ("golden files against broken origins", _mutants), ("Python tests", _python)]
    if options.slow:
        kinds.append(("each file compiled by itself, each folder in one piece", _compiles))
        kinds.append(("unit tests under the address and undefined behaviour sanitizers", _sanitized))
        kinds.append(("golden files under the same", _sanitized_golden))
        kinds.append(("unit tests of what runs and compiles on threads, under the thread sanitizer", _threads))
        kinds.append((f"fuzzers, {FUZZ_SECONDS} s each", _fuzz))
    if options.onnx:
        kinds = [("ONNX's node tests", _onnx)]
    results = []
    with Pace() as pace:
        for title, kind in kinds:
            _say(f"== {title}")
            began = time.monotonic()
            counts = kind(build, options)
            results.append(counts)
            _say(f"   {_words(counts)} ({time.monotonic() - began:.1f} s)")
    total = Counts(*map(sum, zip(*results)))
    if not options.slow:  # sanitizers' times are others
        over = _too_long(pace.factor())
        total = Counts(total.passed - over, total.failed + over, total.skipped)
    if times:
        _say("== the slowest tests")
    for seconds, name, _ in sorted(times, reverse=True)[:SHOWN_SLOWEST]:
        _say(f"   {seconds:6.1f} s  {name}")
    _say("")
    if not (total.passed or total.failed):
        _say(f"no test matches {options.filter!r}" if options.filter else "no test was run")
    for what in failures:
        _say(f"FAILED {what}")
    _say(_words(total))
    return 0 if total.failed == 0 and total.passed > 0 else 1


def _layers(build, options):
    if not re.search(options.filter, "layers"):
        return NONE
    status = _call(build, [sys.executable, os.path.join(build.root, "tools", "check_layers")])
    if status != 0:
        _failure("tools/check_layers")
    return Counts(1, 0) if status == 0 else Counts(0, 1)


def _format(build, options):
    if not re.search(options.filter, "format"):
        return NONE
    counts = formatting.check(build.root, _failure)
    return _nothing("no clone of git, or no clang-format in build/venv") if counts is None else Counts(*counts)


def _compiles(build, options):
    """Both of the presets that are configured for this and not built."""
    passed, failed = 0, 0
    for preset in COMPILED:
        its_build = state.Build(build.root, preset)
        if not os.path.exists(os.path.join(its_build.folder, "compile_commands.json")):
            return _nothing(f"build/{preset} is not configured")
        count, wrong = compiles.check(its_build, len(os.sched_getaffinity(0)), lambda name: re.search(options.filter, name))
        for name, output in wrong.items():
            _failure(f"{name} does not compile with the preset {preset}", output[:2000])
        passed, failed = passed + count - len(wrong), failed + len(wrong)
    return Counts(passed, failed)


def _sanitized(build, options):
    return _unit(state.Build(build.root, "asan-ubsan"), options, lambda name: not re.search(TOO_SLOW_SANITIZED, name))


def _sanitized_golden(build, options):
    return _golden(state.Build(build.root, "asan-ubsan"), options)


def _threads(build, options):
    suites = set()
    for folder in THREADED:
        for path in glob.glob(os.path.join(build.root, "tests", "unit", folder, "**", "*.cc"), recursive=True):
            with open(path, encoding="utf-8") as file:
                suites.update(re.findall(r"^TEST(?:_F|_P)?\((\w+)", file.read(), re.MULTILINE))
    return _unit(state.Build(build.root, "tsan"), options,
                 lambda name: suites & set(re.split(r"[./]", name)) and not re.search(TOO_SLOW_THREADED, name))


def _unit(build, options, wanted=lambda name: True):
    program = os.path.join(build.folder, "baton_unit_tests")
    if not os.path.exists(program):
        return _nothing("no test in tests/unit yet")
    chosen = [name for name in _unit_names(build, program)
              if re.search(options.filter, name) and (options.slow or "Slow" not in name) and wanted(name)]
    if not chosen:
        return _nothing("none chosen")
    shards = min(len(os.sched_getaffinity(0)), len(chosen))
    with concurrent.futures.ThreadPoolExecutor(shards) as pool:
        counts = pool.map(lambda shard: _unit_shard(build, program, shard, chosen[shard::shards]), range(shards))
        return Counts(*map(sum, zip(*counts)))


def _unit_shard(build, program, shard, chosen):
    """Runs `chosen` in one process. What they print goes to a file: failures are said from the report."""
    stem = os.path.join(build.folder, "test-results", f"unit.{shard}")
    flags, report, log = stem + ".flags", stem + ".json", stem + ".log"
    # In a file: thousands of names do not fit on a command line.
    os.makedirs(os.path.dirname(stem), exist_ok=True)
    with open(flags, "w", encoding="utf-8") as file:
        file.write(f"--gtest_filter={':'.join(chosen)}\n--gtest_output=json:{report}\n")
    _remove(report)
    with open(log, "w", encoding="utf-8") as output:
        status = subprocess.run([program, f"--gtest_flagfile={flags}"], cwd=build.root, env=_environment(build),
                                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    try:
        with open(report, encoding="utf-8") as file:
            tests = [(f"{suite['name']}.{test['name']}", test) for suite in json.load(file)["testsuites"]
                     for test in suite["testsuite"]]
    except (OSError, ValueError, KeyError):
        with open(log, encoding="utf-8", errors="replace") as output:
            last = output.read()[-2000:]
        _failure(f"baton_unit_tests ended without a report, status {status}: the last test of {log} did not end", last)
        return Counts(0, 1)
    failed = 0
    for name, test in tests:
        if "failures" in test:
            failed += 1
            _failure(name, "\n".join(failure["failure"] for failure in test["failures"]))
    times.extend((float(test["cpu_s"]), name, "Slow" in name) for name, test in tests if "cpu_s" in test)
    skipped = sum(test["result"] != "COMPLETED" for _, test in tests)
    if status != 0 and not failed:
        _failure(f"baton_unit_tests ended with status {status} after its last test", f"see {log}")
        failed = 1
    return Counts(len(tests) - failed - skipped, failed, skipped)


def _unit_names(build, program):
    """Suite.Test of every unit test."""
    listing = subprocess.run([program, "--gtest_list_tests"], cwd=build.root, env=_environment(build), check=True,
                             stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True).stdout
    names, suite = [], ""
    for line in listing.splitlines():
        name = line.split("#")[0].strip()
        if line.startswith("  "):
            names.append(suite + name)
        elif name.endswith("."):
            suite = name
    return names


def _mutants(build, options):
    return _golden(build, options, "--mutate", *([] if options.filter else ["--every-pass"]))


def _golden(build, options, *flags):
    program = os.path.join(build.folder, "baton-golden")
    if not os.path.exists(program):
        return _nothing("no golden runner yet (tools/golden)")
    files = sorted(path for path in glob.glob(os.path.join(build.root, "tests", "golden", "**", "*"), recursive=True)
                   if os.path.isfile(path))
    chosen = [name for name in (os.path.relpath(path, build.root) for path in files) if re.search(options.filter, name)]
    if not chosen:
        return _nothing("no file in tests/golden yet" if not files else "none chosen")
    done = subprocess.Popen([program, *flags, *chosen], cwd=build.root, env=_environment(build), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, text=True)
    last = ""
    for line in done.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        last = line.strip() or last
    status = done.wait()
    found = re.fullmatch(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", last)
    if not found or (status != 0) != (int(found.group(2)) > 0):
        _failure(f"baton-golden ended with status {status}, its last line: {last!r}")
        return Counts(0, 1)
    if status != 0:
        _failure(" ".join(("baton-golden", *flags)) + ": " + last)
    return Counts(*(int(number or 0) for number in found.groups()))


def _python(build, options):
    folder = os.path.join(build.root, "tests", "python")
    if not glob.glob(os.path.join(folder, "**", "test_*.py"), recursive=True):
        return _nothing("no test in tests/python yet")
    report = os.path.join(build.folder, "test-results", "python.xml")
    _remove(report)
    # Processes beside each other; the tests of a file stay together, as they share what they have built. Slow ones
    # take the memory and the processors of whole campaigns, and run one after the other. A process takes up to 1 GB.
    processes = 0 if options.slow else min(MOST_PROCESSES, len(os.sched_getaffinity(0)))
    command = [state.venv_python(build.root), "-m", "pytest", "-q", "-rfE", f"--junitxml={report}", "--color=no",
               f"--numprocesses={processes}", "--dist=loadfile",
               "-o", f"cache_dir={os.path.join(build.root, 'build', 'pytest_cache')}", folder]
    if options.filter:
        command.append(f"--filter={options.filter}")
    if options.slow:
        command.append("--slow")
    status = _call(build, command)
    try:
        suite = xml.etree.ElementTree.parse(report).getroot().find("testsuite")
        wrong = [case for case in suite if case.find("failure") is not None or case.find("error") is not None]
        tests, failed_tests, errors, skipped = (int(suite.get(k)) for k in ("tests", "failures", "errors", "skipped"))
    except (OSError, xml.etree.ElementTree.ParseError, AttributeError, TypeError):
        _failure(f"pytest ended without a report, status {status}")
        return Counts(0, 1)
    failures.extend(f"{case.get('classname')}.{case.get('name')}" for case in wrong)  # pytest has said why
    failed = failed_tests + errors
    properties = ((case, {each.get("name"): each.get("value") for each in case.iter("property")}) for case in suite)
    # Shown, but not limited yet: some thirty that build whole networks take longer.
    times.extend((float(known["cpu_s"]), f"{case.get('classname')}.{case.get('name')}", True)
                 for case, known in properties if "cpu_s" in known)
    if status not in (0, 5) and not failed:  # 5: no tests selected
        _failure(f"pytest ended with status {status}")
        failed = 1
    return Counts(max(0, tests - failed_tests - errors - skipped), failed, skipped)


def _onnx(build, options):
    """All node tests of the wheel `onnx`; a tenth of them is in the Python tests."""
    script = os.path.join(build.root, "tests", "python", "frontend", "onnx_node_tests.py")
    command = [state.venv_python(build.root), script, f"--filter={options.filter}"]
    done = subprocess.run(command, cwd=build.root, env=_environment(build), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          check=False)
    print(done.stdout, end="", flush=True)
    counts = re.search(r"(\d+) passed, .* (\d+) of other types; (\d+) of those", done.stdout)
    if not counts:
        _failure(f"ONNX's node tests ended without counts, status {done.returncode}")
        return Counts(0, 1)
    passed, others, wrong = map(int, counts.groups())
    if wrong:
        _failure(f"{wrong} of ONNX's node tests fail that tests/python/frontend/onnx_node_exceptions.txt does not name")
    return Counts(passed, wrong, others)


class Pace:
    """How much longer than on a quiet core work takes meanwhile: beside other programs, and on shared cores, its processor time
    doubles, too."""

    def __enter__(self):
        self._seconds, self._ended = [self._work()], threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def factor(self):
        """At least 2: tests run beside each other, on hyperthreads of one core."""
        return max(2.0, statistics.median(self._seconds) / min(self._seconds))

    def _watch(self):
        while not self._ended.wait(1):
            self._seconds.append(self._work())

    @staticmethod
    def _work():
        begun = time.thread_time()
        hashlib.sha256(bytes(4_000_000)).digest()
        return time.thread_time() - begun


def _too_long(factor):
    """Says which tests take longer than one that is not marked slow may."""
    over = [(seconds, name) for seconds, name, is_slow in times if seconds > MOST_SECONDS * factor and not is_slow]
    for seconds, name in over:
        _failure(f"{name} took {seconds:.1f} s of processor time (on a core {factor:.1f} times slower than a quiet one); more than "
                 f"{MOST_SECONDS} s are for slow tests: split it, or mark it slow")
    return len(over)


def _fuzz(build, options):
    """Runs every program of tests/fuzz, built by setup.prepare with the preset `fuzz`, on the seeds in the tree."""
    folder = os.path.join(build.root, "build", "fuzz")
    sources = sorted(glob.glob(os.path.join(build.root, "tests", "fuzz", "*.cc")))
    chosen = [name for name in (os.path.basename(path)[:-3] for path in sources) if re.search(options.filter, name)]
    failed = 0
    for name in chosen:
        corpus, findings = os.path.join(folder, "corpus", name), os.path.join(folder, "findings", name)
        os.makedirs(corpus, exist_ok=True)
        os.makedirs(findings, exist_ok=True)
        seeds = [seed for seed in (os.path.join(build.root, "tests", "fuzz", "corpus", name),
                                   os.path.join(build.root, "tests", "golden", "text") if name == "relay_text" else "")
                 if os.path.isdir(seed)]
        log = os.path.join(folder, f"{name}.log")
        with open(log, "w", encoding="utf-8") as file:
            status = subprocess.run([os.path.join(folder, "fuzz_" + name), f"-max_total_time={FUZZ_SECONDS}", "-timeout=10",
                                     "-rss_limit_mb=2500", f"-artifact_prefix={findings}/", corpus, *seeds],
                                    cwd=build.root, env=_environment(build),
                                    stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
        if status != 0:
            failed += 1
            _failure(f"fuzzer {name}: a finding; see {log} and {findings}")
    return Counts(len(chosen) - failed, failed)


def _call(build, command):
    sys.stdout.flush()
    return subprocess.run(command, cwd=build.root, env=_environment(build), stdin=subprocess.DEVNULL, check=False).returncode


def _environment(build):
    return {**os.environ, "PYTHONPATH": os.pathsep.join(build.python_path()), "BATON_PROGRAM": build.program,
            "BATON_BUILD_DIR": build.folder, "ASAN_OPTIONS": "detect_leaks=0:alloc_dealloc_mismatch=0",
            "TSAN_OPTIONS": "die_after_fork=0:suppressions=" + os.path.join(build.root, "tests", "unit", "tsan.supp")}


def _nothing(why):
    _say(f"   {why}")
    return NONE


def _words(counts):
    words = f"{counts.passed} passed, {counts.failed} failed"
    return words + (f", {counts.skipped} skipped" if counts.skipped else "")


def _say(text):
    print(text, flush=True)


def _failure(what, details=""):
    """Said at once, and its name again at the end."""
    failures.append(what)
    _say(f"   FAILED {what}" + "".join(f"\n      {line}" for line in details[:4000].splitlines()))


def _remove(path):
    try:
        os.remove(path)
    except FileNotFoundError:
        pass
