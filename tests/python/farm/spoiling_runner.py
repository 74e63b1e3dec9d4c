"""A baton-runner that does what files in a folder say, once each: MACHINE.hang, MACHINE.wrong (another result is expected than the
program has), MACHINE.crash, or a name of LIES: it says other times than it measured. MACHINE.reference.LIE: each time, of the reference
kernel only. Writes down which bundles were measured, and when they came: MACHINE.jobs, lines of JSON."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

folder, real = pathlib.Path(sys.argv[1]), sys.argv[2]
machine = os.environ["BATON_MACHINE"]


def told(what):
    try:
        (folder / f"{machine}.{what}").unlink()
        return True
    except FileNotFoundError:
        return False


def with_samples(change):
    def lie(answer):
        for row in answer["rows"]:
            row["samples_us"] = [change(us, row) for us in row["samples_us"]]
    return lie


def without_a_kernel(answer):
    answer["rows"].remove(next(row for row in answer["rows"] if row["node"]))


LIES = {
    "zeros": with_samples(lambda us, row: 0),
    "huge": with_samples(lambda us, row: 1e300),
    "tenfold": with_samples(lambda us, row: 10 * us),
    "hundredfold": with_samples(lambda us, row: 100 * us),
    "thousandth": with_samples(lambda us, row: us / 1000),
    "constant": with_samples(lambda us, row: 123.4),
    "dropped": without_a_kernel,
    "name": lambda answer: answer.update(machine="elsewhere"),
}


def spoilt(bundle):
    """A copy that expects other outputs than the program has."""
    copy = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "bundle"
    shutil.copytree(bundle, copy)
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    for output in manifest["outputs"]:
        output["mean"] += 1000
    (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return str(copy)


def say(line):
    sys.stdout.write(line)
    sys.stdout.flush()


def main():
    runner = subprocess.Popen([real, *sys.argv[3:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    say(runner.stdout.readline())
    for line in sys.stdin:
        job, lies = json.loads(line), []
        if job["id"].startswith("reference"):
            lies = [lie for name, lie in LIES.items() if (folder / f"{machine}.reference.{name}").exists()]
        else:
            lies = [lie for name, lie in LIES.items() if told(name)]
            with open(folder / f"{machine}.jobs", "a", encoding="utf-8") as file:
                came = os.stat(os.path.join(job["bundle"], "manifest.json")).st_mtime_ns
                file.write(json.dumps({"id": job["id"], "bundle": os.path.basename(job["bundle"]), "came": came}) + "\n")
            for what in ("hang", "crash"):
                if told(what):
                    say('{"begun":true}\n')
                    if what == "crash":
                        os.kill(os.getpid(), signal.SIGSEGV)
                    time.sleep(1000)
            if told("wrong"):
                job["bundle"] = spoilt(job["bundle"])
        runner.stdin.write(json.dumps(job) + "\n")
        runner.stdin.flush()
        while True:
            answer = runner.stdout.readline()
            if not answer:
                sys.exit(1)
            if answer.startswith('{"begun"'):
                say(answer)
                continue
            if lies:
                told_rows = json.loads(answer)
                for lie in lies:
                    lie(told_rows)
                answer = json.dumps(told_rows) + "\n"
            say(answer)
            break


main()
