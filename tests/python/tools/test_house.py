"""./baton: when it builds, what it says when set-up fails, how it counts tests."""
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from house import browser, checks, compiles, debian, parts, report, setup, state, wheels  # noqa: E402


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def tree(tmp_path):
    """A tree that looks built: sources, presets, a program that prints how it was called."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cc").write_text("int a;\n")
    shutil.copy(ROOT / "CMakePresets.json", tmp_path)
    shutil.copy(ROOT / "baton", tmp_path)
    (tmp_path / "tools").mkdir()
    shutil.copytree(ROOT / "tools" / "house", tmp_path / "tools" / "house")
    for name in (wheels.PINS, *wheels.SETS.values()):
        shutil.copy(ROOT / name, tmp_path / name)
    executable(tmp_path / "build" / "release" / "baton",
               '#!/bin/sh\necho "args: $*"\necho "telemetry off: $ORT_DISABLE_TELEMETRY"\nexit 7\n')
    build = state.Build(str(tmp_path), "release")
    setup._stamp(build, ["baton"], build.inputs())
    return build


class Recorder:
    """Stands for report.Steps: notes the commands and answers `status`, `output`."""

    log_path = "setup.log"

    def __init__(self, status=0, output=""):
        self.commands, self.status, self.output = [], status, output

    def step(self, title):
        pass

    def note(self, text):
        self.commands.append("note: " + text)

    def run(self, command, **_):
        self.commands.append(" ".join(command))
        return self.status, self.output


# -- the quick way ----------------------------------------------------------------------------------------------------


def test_a_current_build_runs_the_program_with_all_arguments_and_its_status(tree):
    done = subprocess.run([sys.executable, os.path.join(tree.root, "baton"), "profile", "resnet-18", "--json"],
                          capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]})
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout == "args: profile resnet-18 --json\ntelemetry off: 1\n"


def test_the_program_dies_of_a_closed_pipe_like_any_other(tree):
    executable(pathlib.Path(tree.program), "#!/bin/sh\nkill -PIPE $$\necho survived\n")
    done = subprocess.run([sys.executable, os.path.join(tree.root, "baton")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (-13, "")


@pytest.mark.parametrize("change", [
    lambda root: (root / "src" / "a.cc").write_text("int b = 1;\n"),
    lambda root: (root / "src" / "new").mkdir() or (root / "src" / "new" / "b.cc").write_text(""),
    lambda root: (root / "src" / "a.cc").unlink(),
    lambda root: (root / "build" / "release" / "baton").unlink(),
    lambda root: (root / "build" / "release" / ".built-from").unlink(),
    lambda root: (root / "tools" / "requirements.txt").write_text("halide==22.0.0\n"),
    lambda root: os.utime(root / "src" / "a.cc", (1, 1)),
], ids=["edited", "added", "removed", "no program", "never finished", "other pins", "older"])
def test_a_change_makes_the_build_stale(tree, change):
    assert tree.is_current()
    change(pathlib.Path(tree.root))
    assert not tree.is_current()


def test_a_tree_that_was_moved_is_stale(tree, tmp_path_factory):
    moved = tmp_path_factory.mktemp("moved") / "tree"
    shutil.move(tree.root, moved)
    assert not state.Build(str(moved), "release").is_current()


# -- wheels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [wheels.PINS, *wheels.SETS.values()])
def test_every_wheel_is_pinned(name):
    pins = wheels.read_pins(ROOT / name)
    assert pins
    for pin in pins:
        assert len(pin.split("==")) == 2, pin


def make_environment(root):
    executable(root / "build" / "venv" / "bin" / "python", "")


def test_an_environment_is_made_once(tree):
    root = pathlib.Path(tree.root)
    steps = Recorder()
    wheels.ensure(steps, tree.root, (), ())
    assert ["-m venv" in command for command in steps.commands] == [True, False]
    assert "pip install" in steps.commands[1]

    make_environment(root)
    again = Recorder()
    wheels.ensure(again, tree.root, (), ())
    assert again.commands == []


def test_an_interrupted_environment_is_made_anew(tree):
    root = pathlib.Path(tree.root)
    make_environment(root)
    (root / "build" / "venv" / "half-a-wheel").write_text("")
    with pytest.raises(report.Failure):
        wheels.ensure(Recorder(status=1), tree.root, (), ())
    assert not (root / "build" / "venv.stamp").exists()
    assert not (root / "build" / "venv" / "half-a-wheel").exists()


def test_other_pins_are_installed_over_the_environment(tree):
    root = pathlib.Path(tree.root)
    wheels.ensure(Recorder(), tree.root, (), ())
    make_environment(root)
    (root / wheels.PINS).write_text("numpy==0.0.1\n")
    steps = Recorder()
    wheels.ensure(steps, tree.root, (), ())
    assert len(steps.commands) == 1 and "pip install" in steps.commands[0]


def test_the_wheels_of_other_compilers_come_only_when_asked_for(tree):
    wheels.ensure(Recorder(), tree.root, (), ())
    make_environment(pathlib.Path(tree.root))
    steps = Recorder()
    wheels.ensure(steps, tree.root, ("data", "bench"), ())
    assert len(steps.commands) == 1 and "requirements-bench.txt" in steps.commands[0] and "requirements-data.txt" in steps.commands[0]
    assert "requirements-tests.txt" not in steps.commands[0]


def test_a_linked_environment_is_checked_and_never_changed(tree, tmp_path_factory):
    mine = tmp_path_factory.mktemp("mine")
    executable(mine / "bin" / "python", "")
    os.symlink(mine, os.path.join(tree.root, "build", "venv"))
    with pytest.raises(report.Failure, match="is a link to an environment without the pinned wheels"):
        wheels.ensure(Recorder(output="halide==1.0\n"), tree.root, (), ())
    assert (mine / "bin" / "python").exists()

    good = Recorder(output="\n".join(wheels.read_pins(ROOT / wheels.PINS)).replace("scikit-build-core", "scikit_build_core"))
    wheels.ensure(good, tree.root, (), ())
    assert len(good.commands) == 1 and "pip freeze" in good.commands[0]


# -- the browser ------------------------------------------------------------------------------------------------------


def no_browser(monkeypatch, missing):
    monkeypatch.delenv("BATON_CHROMIUM", raising=False)
    monkeypatch.setattr(browser.shutil, "which", lambda name: None)
    monkeypatch.setattr(debian, "missing", lambda more=(): [*more] if missing else [])
    monkeypatch.setattr(debian, "_as_root", lambda by_hand: [])


def test_a_browser_that_is_there_is_taken(monkeypatch):
    no_browser(monkeypatch, missing=True)
    monkeypatch.setenv("BATON_CHROMIUM", "/opt/chromium")
    steps = Recorder()
    setup._want_browser(steps)
    assert steps.commands == [] and browser.program() == "/opt/chromium"


def test_a_browser_is_installed_for_the_tests(monkeypatch):
    no_browser(monkeypatch, missing=True)
    steps = Recorder()
    setup._want_browser(steps)
    assert steps.commands[-1].endswith("install --no-install-recommends --fix-broken " + browser.PACKAGE)


def test_without_packages_of_debian_there_is_none(monkeypatch):
    no_browser(monkeypatch, missing=False)
    steps = Recorder()
    setup._want_browser(steps)
    assert steps.commands == [] and browser.program() is None


def test_a_browser_that_cannot_be_had_is_said_and_stops_nothing(monkeypatch):
    no_browser(monkeypatch, missing=True)
    steps = Recorder(status=100, output="E: Unable to locate package")
    setup._want_browser(steps)
    assert steps.commands[-1].startswith(f"note: no {browser.PACKAGE}, so the tests of the HTML page are skipped: ")


# -- messages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output, cause", [
    ("Err:1 http://mirror.example bookworm InRelease\n  Temporary failure resolving 'mirror.example'\nE: Unable to locate "
     "package g++", "no network"),
    ("WARNING: Retrying after connection broken by 'NewConnectionError(': Failed to establish a new connection: [Errno "
     "-3]')': /simple/cmake/\nERROR: No matching distribution found for cmake==4.4.4", "no network"),
    ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full"),
    ("E: You don't have enough free space in /var/cache/apt/archives/.", "the disk is full"),
    ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", "certificate"),
    ("c++: fatal error: Killed signal terminated program cc1plus", "not enough memory"),
])
def test_a_known_cause_is_named_with_what_was_seen(output, cause):
    failure = report.explain("cannot install", ["tool", "install"], output, "connect", "look")
    assert cause in failure.what
    text = str(failure)
    assert "  command: tool install\n  do:      " in text
    assert failure.seen and failure.seen in output


def test_an_unknown_cause_shows_the_last_error():
    failure = report.explain("cannot install", ["tool"], "fine\nE: first\nE: second\nbye\n", "connect", "look there")
    assert str(failure) == "baton: cannot install\n  seen:    E: second\n  command: tool\n  do:      look there"


def test_an_unknown_preset_is_named_beside_those_there_are(tree):
    with pytest.raises(report.Failure) as failed:
        setup._configure(state.Build(tree.root, "fast"), Recorder(), ())
    assert "BATON_PRESET=fast" in str(failed.value)
    assert "release, dev, asan-ubsan, tsan" in str(failed.value)


class Cmake(Recorder):
    """Fails unless called with --fresh."""

    def run(self, command, **_):
        self.commands.append(command[1:])
        return (0, "") if "--fresh" in command else (1, "CMakeCache.txt directory is different")


def test_only_a_folder_that_cannot_be_configured_loses_its_objects(tree):
    steps = Recorder()
    setup._configure(tree, steps, ())
    assert len(steps.commands) == 1 and "--fresh" not in steps.commands[0]
    setup._configure(tree, steps, ())
    assert len(steps.commands) == 1

    (pathlib.Path(tree.folder) / ".configured-from").unlink()
    steps = Cmake()
    setup._configure(tree, steps, ())
    assert ["--fresh" in command for command in steps.commands] == [False, True]


def test_where_nothing_is_built_cmake_looks_for_new_files_each_time(tree):
    for _ in range(2):
        steps = Recorder()
        setup._configure(tree, steps, (), always=True)
        assert len(steps.commands) == 1


def test_other_wheels_are_looked_for_afresh(tree):
    setup._configure(tree, Recorder(), ())
    (pathlib.Path(tree.root) / wheels.PINS).write_text("halide==0.0.1\n")
    steps = Recorder()
    setup._configure(tree, steps, ())
    assert len(steps.commands) == 1 and "--fresh" in steps.commands[0]


def test_a_command_that_is_not_there_is_an_answer_and_not_a_crash(tmp_path):
    assert report.Steps(str(tmp_path / "log")).run(["/no/such/tool"]) == (127, "/no/such/tool: not found")


def test_the_lock_stays_taken_while_a_command_of_it_lives(tmp_path):
    """Else a killed ./baton would leave a ninja behind that the next one does not wait for."""
    steps = report.Steps(str(tmp_path / "log"))
    with open(tmp_path / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        status, output = steps.run(["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"], keep=(lock.fileno(),))
    assert status == 0
    with open(tmp_path / "lock", "w", encoding="utf-8") as second:
        try:
            with pytest.raises(BlockingIOError):
                fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.kill(int(output), 15)


# -- each file by itself ----------------------------------------------------------------------------------------------

# Fails where a file says so, and lists what the file reads: itself and the lines that begin with "reads ".
COMPILER = """#!/bin/sh
for word; do case "$before" in -c) file=$word ;; -MF) listing=$word ;; esac; before=$word; done
echo "$file" >> "$(dirname "$0")/calls"
grep -q '#error' "$file" && { echo "$file:1: error"; exit 1; }
echo "x.o: $file $(sed -n 's/^reads //p' "$file" | tr '\\n' ' ')" > "$listing"
"""


@pytest.fixture
def single(tree):
    """Writes compile_commands.json for sources of the tree and checks them; returns count, mistakes, files compiled."""
    root = pathlib.Path(tree.root)
    compiler = executable(root / "build" / "c++", COMPILER)

    def run(*names, wanted=lambda name: True):
        entries = [{"file": str(root / name), "directory": str(root),
                    "command": f"{compiler} -O1 -o x.o -c {root / name}"} for name in names]
        (pathlib.Path(tree.folder) / "compile_commands.json").write_text(json.dumps(entries))
        calls = root / "build" / "calls"
        calls.write_text("")
        count, wrong = compiles.check(tree, 2, wanted)
        return count, wrong, sorted(os.path.relpath(line, root) for line in calls.read_text().splitlines())
    return run


def test_a_file_that_does_not_compile_by_itself_is_named(tree, single):
    (pathlib.Path(tree.root) / "src" / "b.cc").write_text("#error\n")
    count, wrong, _ = single("src/a.cc", "src/b.cc", "build/release/generated/page.cc")
    assert count == 2
    assert list(wrong) == ["src/b.cc"] and "b.cc:1: error" in wrong["src/b.cc"]
    assert single("src/a.cc", "src/b.cc")[1:] == (wrong, ["src/b.cc"])  # until it compiles


def test_only_what_has_changed_is_compiled_again(tree, single):
    root = pathlib.Path(tree.root)
    (root / "src" / "b.h").write_text("int b;\n")
    (root / "src" / "b.cc").write_text(f"reads {root / 'src' / 'b.h'}\n")
    assert single("src/a.cc", "src/b.cc")[2] == ["src/a.cc", "src/b.cc"]
    assert single("src/a.cc", "src/b.cc")[2] == []
    (root / "src" / "b.h").write_text("int other;\n")
    assert single("src/a.cc", "src/b.cc")[2] == ["src/b.cc"]
    (root / "src" / "b.h").unlink()
    assert single("src/a.cc", "src/b.cc")[2] == ["src/b.cc"]


def test_a_filter_chooses_files(single):
    assert single("src/a.cc", wanted=lambda name: "b" in name)[0] == 0


# -- counting tests ---------------------------------------------------------------------------------------------------

UNIT = """#!/bin/sh
case "$1" in
  --gtest_list_tests) printf 'Running main\\nShapes.\\n  Add\\n  Sub\\n  SlowOnes\\nTexts.\\n  Print\\n'; exit 0 ;;
  --gtest_flagfile=*) file=${1#*=}; echo noise; cat "$file" >> unit.ran; ends ;;
esac
"""
# Every shard has one test that fails and one that skips itself.
REPORT = """report=$(sed -n 's/--gtest_output=json://p' "$file")
  echo '{"testsuites": [{"name": "Shapes", "testsuite": [{"name": "Add", "result": "COMPLETED", "cpu_s": "3.5"},
  {"name": "Sub", "result": "COMPLETED", "cpu_s": "0.25", "failures": [{"failure": "Expected: 1"}]},
  {"name": "Mul", "result": "SKIPPED", "cpu_s": "0.0"}]}]}' > "$report"; exit 1"""


@pytest.fixture
def runner(tree, capfd):
    """Runs the test verb over a tree with these programs; returns status and output."""
    def run(*arguments, unit=None, golden=None):
        executable(pathlib.Path(tree.root) / "tools" / "check_layers", "")
        if unit:
            executable(pathlib.Path(tree.folder) / "baton_unit_tests", UNIT.replace("ends", unit))
        if golden:
            case = pathlib.Path(tree.root) / "tests" / "golden" / "text"
            case.mkdir(parents=True, exist_ok=True)
            (case / "one.relay").write_text("")
            executable(pathlib.Path(tree.folder) / "baton-golden", "#!/bin/sh\n" + golden)
        ran = pathlib.Path(tree.root) / "unit.ran"
        ran.unlink(missing_ok=True)
        checks.failures.clear()
        checks.times.clear()
        status = checks.run(tree, checks.parse(arguments))
        chosen = re.findall("--gtest_filter=(.*)", ran.read_text()) if ran.exists() else []
        return types.SimpleNamespace(status=status, text=capfd.readouterr().out,
                                     chosen=sorted(":".join(chosen).split(":")), shards=len(chosen))
    return run


def last_line(done):
    return done.text.splitlines()[-1]


def test_kinds_that_do_not_exist_yet_are_named_and_do_not_fail(runner):
    done = runner()
    assert (done.status, last_line(done)) == (0, "1 passed, 0 failed")
    assert "no test in tests/unit yet" in done.text and "no golden runner yet" in done.text


def test_all_kinds_are_added_up(runner):
    done = runner(unit=REPORT, golden='echo "4 passed, 2 failed"; exit 1')
    shards = min(3, len(os.sched_getaffinity(0)))
    # The golden runner runs twice: with mutants too.
    assert (done.status, done.shards) == (1, shards)
    assert last_line(done) == f"{9 + shards} passed, {4 + shards} failed, {shards} skipped"


def test_what_failed_is_named_again_before_the_counts_and_noise_is_not(runner):
    done = runner(unit=REPORT, golden='echo "4 passed, 2 failed"; exit 1')
    assert "FAILED Shapes.Sub\n      Expected: 1\n" in done.text and "noise" not in done.text
    end = done.text.splitlines()[-4:-1]
    assert end == ["FAILED Shapes.Sub", "FAILED baton-golden: 4 passed, 2 failed",
                   "FAILED baton-golden --mutate --every-pass: 4 passed, 2 failed"]


def test_the_slowest_tests_are_listed(runner):
    text = runner(unit=REPORT).text.split("== the slowest tests\n")[1]
    assert text.startswith("      3.5 s  Shapes.Add\n") and text.count(" s  Shapes.") == min(10, 3 * min(3, len(os.sched_getaffinity(0))))
    assert text.index("0.2 s  Shapes.Sub") < text.index("0.0 s  Shapes.Mul")


def test_a_test_that_takes_too_long_for_one_not_marked_slow_fails(runner, monkeypatch):
    long = REPORT.replace('"failures": [{"failure": "Expected: 1"}]', '"cpu": 0').replace("exit 1", "exit 0")
    monkeypatch.setattr(checks.Pace, "factor", lambda self: 1.0)
    assert runner(unit=long.replace("3.5", "9.9")).status == 0
    done = runner(unit=long.replace("3.5", "10.4"))
    assert (done.status, done.text.count("FAILED Shapes.Add took 10.4 s of processor time")) == (1, 2 * done.shards)
    assert last_line(done) == f"{1 + 2 * done.shards - done.shards} passed, {done.shards} failed, {done.shards} skipped"
    assert runner(unit=long.replace("3.5", "10.4").replace('"Add"', '"SlowAdd"')).status == 0
    monkeypatch.setattr(checks.Pace, "factor", lambda self: 2.0)
    assert runner(unit=long.replace("3.5", "10.4")).status == 0


def test_the_pace_is_that_of_the_core():
    with checks.Pace() as pace:
        time.sleep(2.5)
    assert 2 <= pace.factor() < 100


def test_a_program_that_crashes_is_a_failure(runner):
    done = runner("--filter", "Shapes.Add|golden|layers", unit="kill -SEGV $$", golden='echo "4 passed, 0 failed"; kill -SEGV $$')
    assert (done.status, last_line(done)) == (1, "1 passed, 3 failed")
    assert "did not end\n      noise" in done.text


def test_slow_tests_run_only_when_asked_for(runner):
    assert runner(unit=REPORT).chosen == ["Shapes.Add", "Shapes.Sub", "Texts.Print"]
    assert runner("--slow", unit=REPORT).chosen == ["Shapes.Add", "Shapes.SlowOnes", "Shapes.Sub", "Texts.Print"]


def test_a_filter_is_a_regular_expression_over_names(runner):
    assert runner("--filter", "^Tex.*t$", unit=REPORT).chosen == ["Texts.Print"]


def test_a_filter_that_matches_nothing_fails(runner):
    done = runner("--filter", "no such test", unit=REPORT)
    assert (done.status, last_line(done)) == (1, "0 passed, 0 failed")
    assert "no test matches 'no such test'" in done.text


def test_a_filter_that_is_no_expression_is_wrong_usage(capfd):
    with pytest.raises(SystemExit) as ended:
        checks.parse(["--filter", "("])
    assert ended.value.code == 2
    assert "--filter '('" in capfd.readouterr().err


def test_python_is_that_of_the_environment_with_the_package(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: calls.append((program, arguments, os.environ["PYTHONPATH"])))
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    state.Build(str(tmp_path), "release").become_python(["-m", "baton.tvm", "script.py"])
    python = str(tmp_path / "build" / "venv" / "bin" / "python")
    path = os.pathsep.join([str(tmp_path / "python"), str(tmp_path / "build" / "release" / "python"), "/theirs"])
    assert calls == [(python, [python, "-m", "baton.tvm", "script.py"], path)]


@pytest.fixture
def made(monkeypatch):
    """The targets that set-up makes current."""
    targets = []
    monkeypatch.setattr(setup, "prepare", lambda build, *wanted, **_: targets.extend(wanted))
    monkeypatch.setattr(os, "execv", lambda program, arguments: None)
    return targets


@pytest.mark.parametrize("verb, targets", [
    ("profile", ["baton"]),
    ("measure", ["baton"]),
    ("python", ["baton", "_baton"]),
    ("setup", ["baton"]),
])
def test_a_verb_gets_what_every_call_of_it_needs(tree, made, verb, targets):
    setup.run(tree, verb, [])
    assert made == targets


def add_plugin(tree, name):
    (pathlib.Path(tree.root) / parts.PLUGINS / name).mkdir(parents=True)


def test_parts_that_were_built_before_stay_current_with_the_program(tree, made):
    """Else a plug-in of the last version meets a program of this one."""
    for name in ("dnnl", "opencl"):
        add_plugin(tree, name)
    executable(pathlib.Path(tree.library("baton_plugin_dnnl")), "")
    executable(pathlib.Path(tree.folder) / "baton-runner", "")
    executable(pathlib.Path(tree.library("baton_plugin_gone")), "")  # its sources were removed
    executable(pathlib.Path(tree.library("baton_lab_verbs")), "")
    setup.run(tree, "profile", ["mlp"])
    assert made == ["baton", "baton_plugin_dnnl", "baton_lab_verbs", "baton-runner"]


def test_a_part_is_made_without_the_program_that_asks_for_it(tree, made):
    add_plugin(tree, "dnnl")
    assert setup.run(tree, "setup", ["dnnl", "runner", "lab"]) == 0
    assert made == ["baton_plugin_dnnl", "baton-runner", "baton_lab_verbs"]


@pytest.mark.parametrize("part", ["data", "peers"])
def test_a_part_of_wheels_alone_builds_nothing(tree, monkeypatch, part):
    """It is asked for by a program that runs: another build of that would change its libraries under it."""
    asked = []
    monkeypatch.setattr(debian, "missing", lambda packages=(): [])
    monkeypatch.setattr(wheels, "ensure", lambda steps, root, sets, keep: asked.append(sets))
    monkeypatch.setattr(setup, "_configure", lambda *given, **named: asked.append("CMake"))
    (pathlib.Path(tree.root) / "src" / "a.cc").write_text("int newer;\n")
    assert setup.run(tree, "setup", [part]) == 0
    assert asked == [parts.known(tree.root)[part].wheels]


def test_what_cmake_left_out_is_looked_for_again(tree):
    """Packages that a part needs may have come by hand, after CMake ran without them."""
    rules = pathlib.Path(tree.folder) / "build.ninja"
    rules.write_text("#\nbuild baton: phony x\nbuild all: phony baton\n")
    assert setup._are_known(tree, ("baton",)) and not setup._are_known(tree, ("baton_lab_verbs",))
    assert not setup._are_known(tree, ("all",))
    rules.write_text(rules.read_text() + "build baton_unit_tests: link x\n")
    assert setup._are_known(tree, ("all",))


def test_a_part_that_does_not_exist_is_named_beside_those_that_do(tree, made, capsys):
    add_plugin(tree, "dnnl")
    assert setup.run(tree, "setup", ["bogus"]) == 2
    said = capsys.readouterr().err
    assert "there is no part `bogus`" in said and "\n  dnnl " in said and "\n  peers " in said
    assert setup.run(tree, "setup", ["--help"]) == 0
    assert "usage: ./baton setup [PART...]" in capsys.readouterr().out and made == []


@pytest.mark.parametrize("arguments", [["measure", "resnet-18"], ["bench", "resnet-18", "--peers", "bogus"], ["python", "-c", "0"]])
def test_nothing_is_installed_or_built_before_the_program_knows_that_it_is_needed(tree, arguments):
    """`bench --peers bogus` installed 56 wheels before it said that there is no such engine; `python` built at each call."""
    (pathlib.Path(tree.root) / "tools" / "house" / "setup.py").write_text("raise SystemExit('set-up was called')\n")
    executable(pathlib.Path(tree.folder) / "python" / "_baton.so", "")
    executable(pathlib.Path(state.venv_python(tree.root)), '#!/bin/sh\necho "args: $*"\nexit 7\n')
    setup._stamp(tree, ["_baton"], tree.inputs())
    done = subprocess.run([sys.executable, os.path.join(tree.root, "baton"), *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (7, "")


def test_a_target_is_current_only_while_its_file_is_there_and_its_inputs_are_the_same(tree):
    wanted = ("baton", "_baton", "baton_plugin_dnnl")
    assert not tree.is_current(wanted)
    executable(pathlib.Path(tree.folder) / "python" / "_baton.so", "")
    executable(pathlib.Path(tree.library("baton_plugin_dnnl")), "")
    assert not tree.is_current(wanted)  # of whatever it was built from
    setup._stamp(tree, ["_baton", "baton_plugin_dnnl"], tree.inputs())
    assert tree.is_current(wanted) and tree.is_current()
    os.remove(tree.library("baton_plugin_dnnl"))
    assert not tree.is_current(wanted) and tree.is_current(("baton", "_baton"))
    (pathlib.Path(tree.root) / "src" / "a.cc").write_text("int c;\n")
    setup._stamp(tree, ["_baton"], tree.inputs())
    assert not tree.is_current(("_baton",))  # without the program: the next call has to build that


def test_a_driver_comes_with_the_plug_in_that_needs_one(tree, monkeypatch):
    for name in ("dnnl", "opencl"):
        add_plugin(tree, name)
    known = parts.known(tree.root)
    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    monkeypatch.setattr(parts, "ICD_FILES", os.path.join(tree.root, "*.icd"))
    assert known["opencl"].missing_drivers() == ("pocl-opencl-icd",) and known["dnnl"].missing_drivers() == ()
    (pathlib.Path(tree.root) / "gpu.icd").write_text("libgpu.so\n")
    assert known["opencl"].missing_drivers() == ()


def test_an_early_interrupt_ends_the_launcher_without_a_traceback(tree):
    """It ends as programs do, by the signal; what Python does before it reads the script is not ours."""
    (pathlib.Path(tree.root) / "tools" / "house" / "__init__.py").write_text(
        "import sys, time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen([pathlib.Path(tree.root) / "baton", "print", "x"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == -signal.SIGINT


def test_make_wheel_says_what_it_lacks(tmp_path):
    tool = [sys.executable, ROOT / "tools" / "make_wheel"]
    done = subprocess.run([*tool, tmp_path / "out", tmp_path / "no"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"make_wheel: {tmp_path / 'no'} holds no build: ./baton setup makes build/release\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "cmake_install.cmake").write_text("")
    (tmp_path / "file").write_text("")
    done = subprocess.run([*tool, tmp_path / "file" / "out", tmp_path / "build"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"make_wheel: the wheel cannot be put into {tmp_path}/file/out: Not a directory\n")
