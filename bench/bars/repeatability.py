"""Bars of profiles that can be trusted: two processes profile one build and are compared, and a profile with a campaign; two
busy loops run beside a third; the budget is kept; an interrupt loses nothing. Prints "bar, measured, ok"; 1 when one is missed. On
a quiet machine: `python3 bench/bars/repeatability.py [--program build/release/baton] [--pairs 4] [--threads 2] [NETWORK...]`

Pairs between which a hypervisor moved the processors farther apart (`exchange_ns`) are counted, and compared apart from the
others: their parallel kernels differ in truth, and `baton diff` judges none of them."""
import argparse
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = ["resnet-18", "mobilenet", "squeezenet-1.1", "mlp", "dqn"]
ABOVE = 0.01  # kernels over 1 % of the model are compared

THREADS = []  # flags

missed = []


def report(what, least, most, measured, unit):
    ok = least <= measured <= most
    missed.extend([] if ok else [what])
    bar = f"<= {most:g}" if least <= 0 else f"{least:g} .. {most:g}"
    print(f"{what:<66} bar {bar:<12} {unit:<4} measured {measured:8.2f}  {'ok' if ok else 'MISSED'}", flush=True)


def baton(program, *words, **how):
    return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **how).stdout


def profile(program, network, *flags, threads=None):
    flags = [*(THREADS if threads is None else ["--threads", str(threads)]), *flags]
    return json.loads(baton(program, "profile", network, "--json", "--no-unfused", "--no-peaks", *flags))


def apart_ns(profile):
    """How far apart the processors were; nan for one thread."""
    return statistics.median(profile.get("exchange_ns") or [float("nan")])


def placed_alike(a, b):
    ns = sorted([apart_ns(a), apart_ns(b)])
    return not ns[1] > 1.6 * ns[0]


def large(a, b):
    """The kernels of two profiles over 1 % of the model that could be measured in both."""
    for row, other in zip(a["kernels"], b["kernels"]):
        if row["share"] > ABOVE and "under_load" not in row and "under_load" not in other:
            yield row, other


def parts(a, b):
    """The parts of kernels over 1 %; None where the other profile lacks a part."""
    for row, other in large(a, b):
        for part in row["inside"]:
            same = [each for each in other["inside"] if (each["stage"], each["ids"], each["rest"]) ==
                    (part["stage"], part["ids"], part["rest"])]
            yield row, other, part, same[0] if same else None


class Pairs:
    def __init__(self):
        self.rows = self.marked = self.methods = self.equal_methods = 0
        self.kernel_covered, self.part_covered, self.kernel_off, self.part_off = [], [], [], []
        self.unreliable = self.kernels = self.moved = self.all = 0
        self.moved_off = []

    def add(self, program, a, b):
        self.all += 1
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for name, each in (("a", a), ("b", b)):
                names.append(os.path.join(folder, name + ".json"))
                pathlib.Path(names[-1]).write_text(json.dumps(each))
            found = json.loads(baton(program, "diff", *names, "--json"))
        for row in [*found["operators"], *found["groups"], *found["own"]]:
            self.rows += 1
            self.marked += bool(row["us"]["differs"])
        self.kernels += len(a["kernels"])
        if not placed_alike(a, b):
            self.moved += 1
            self.moved_off += [abs(other["median_us"] / row["median_us"] - 1) * 100 for row, other in large(a, b)]
            return
        self.unreliable += sum("under_load" in row for row in a["kernels"])
        for row, other in large(a, b):
            self.kernel_off.append(abs(other["median_us"] / row["median_us"] - 1) * 100)
            if row["plus_minus_us"] is not None:
                self.kernel_covered.append(abs(other["median_us"] - row["median_us"]) <= row["plus_minus_us"])
        for row, other, part, same in parts(a, b):
            self.methods += 1
            self.equal_methods += same is not None and same["method"] == part["method"]
            if same is None:
                continue
            self.part_off.append(abs(same["share"] - part["share"]) * 100)
            if part["plus_minus_us"] is not None:
                off = abs(same["share"] - part["share"]) * row["median_us"]
                self.part_covered.append(off <= part["plus_minus_us"])

    def report(self):
        share = lambda values: 100 * statistics.mean(values) if values else float("nan")
        report("diff of a build with itself: rows marked", 0, 1, 100 * self.marked / max(self.rows, 1), "%")
        report("kernels over 1 %: another process within +-", 90, 98, share(self.kernel_covered), "%")
        report("their parts: another process within +-", 90, 98, share(self.part_covered), "%")
        report("kernels over 1 %: largest difference of two processes", 0, 4, max(self.kernel_off, default=0), "%")
        report("their parts: largest difference of two processes", 0, 3, max(self.part_off, default=0), "pt")
        report("parts whose method differs", 0, 2, 100 - 100 * self.equal_methods / max(self.methods, 1), "%")
        print(f"  ({self.unreliable} of {self.kernels} kernels were measured beside other programs and are not compared; between {self.moved} of {self.all} pairs the "
              f"processors were moved: their kernels differ by up to {max(self.moved_off, default=0):.1f} %)")


def busy(program, network, quiet):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        loaded = profile(program, network, "--no-inside")
    finally:
        for loop in loops:
            loop.kill()
    off = [abs(other["median_us"] / row["median_us"] - 1) * 100 for row, other in large(quiet, loaded)]
    marked = sum("under_load" in row for row in loaded["kernels"])
    report(f"{network} beside two busy loops: kernels not marked, off by at most", 0, 5, max(off, default=0), "%")
    print(f"  ({marked} of {len(loaded['kernels'])} kernels were marked, {len(off)} compared; notes: {loaded['notes']})")


def budget(program, network, seconds):
    begin = time.monotonic()
    profile(program, network, "--max-seconds", str(seconds))
    report(f"{network} --max-seconds {seconds}, warm: all of it", 0, seconds + 10, time.monotonic() - begin, "s")


def interrupted(program, network, number, status):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.json")
        run = subprocess.Popen([program, "profile", network, "--no-peaks", "-o", path], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        time.sleep(6)
        run.send_signal(number)
        begin = time.monotonic()
        code = run.wait()
        after = time.monotonic() - begin
        partial = os.path.exists(path) and json.loads(pathlib.Path(path).read_text()).get("partial") == "interrupted"
        report(f"{network}, {signal.Signals(number).name}: partial file and status {status}", 1, 1, partial and code == status, "")
        report("  seconds until it ended", 0, 2, after, "s")


IN_BOTH = """SELECT a.median_us AS one, a.plus_minus_us AS one_within, b.median_us AS other, b.plus_minus_us AS other_within,
  min(a.core_ns, b.core_ns) AS core_ns
  FROM rows a JOIN rows b ON a.work = b.work AND a.node = b.node AND a.cache = b.cache AND a.threads = b.threads
  WHERE a.protocol = 'profile' AND b.protocol = 'campaign' AND a.kind = 'kernel' AND a.method IS NULL"""


def protocols(program, network):
    """A profile and a campaign of one model: their kernels agree within both intervals, and all have these and a clock."""
    with tempfile.TemporaryDirectory() as folder:
        store, design = os.path.join(folder, "m.db"), os.path.join(folder, "design.json")
        pathlib.Path(design).write_text(json.dumps({"models": [network]}))
        profile(program, network, "--no-inside", "--store", store, threads=1)  # as the campaign's
        baton(program, "measure", "--design", design, "--store", store)
        rows = json.loads(baton(program, "store", "query", "--store", store, "--json", "--sql", IN_BOTH))
    report(f"{network}: kernels of both protocols without an interval or a clock", 0, 0,
           sum(row["one_within"] is None or row["other_within"] is None or not row["core_ns"] for row in rows), "")
    within = [abs(row["one"] - row["other"]) <= math.hypot(row["one_within"], row["other_within"]) for row in rows]
    report(f"{network}: kernels of a profile and a campaign within +-", 90, 100, 100 * statistics.mean(within or [0]), "%")
    off = [abs(row["one"] / row["other"] - 1) * 100 for row in rows]
    print(f"  ({len(rows)} kernels, which differ by {statistics.median(off or [0]):.1f} % in the median, {max(off or [0]):.1f} % at most)")


def first_line(program):
    begin = time.monotonic()
    run = subprocess.Popen([program, "profile", "resnet-18"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    run.stdout.readline()
    first = time.monotonic() - begin
    run.stdout.read()
    run.wait()
    report("profile resnet-18, warm: to the first line", 0, 1, first, "s")
    report("profile resnet-18, warm: to the end", 0, 15, time.monotonic() - begin, "s")


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("networks", nargs="*")
    words.add_argument("--program", default=os.environ.get("BATON_PROGRAM", str(ROOT / "build" / "release" / "baton")))
    words.add_argument("--pairs", type=int, default=4)
    words.add_argument("--threads", type=int)
    words.add_argument("--only", choices=["pairs", "protocols", "busy", "budget", "interrupt", "first"], action="append")
    words = words.parse_args()
    wanted = words.only or ["pairs", "protocols", "busy", "budget", "interrupt", "first"]
    networks = words.networks or NETWORKS
    program = words.program
    if words.threads:
        THREADS.extend(["--threads", str(words.threads)])
        print(f"{words.threads} threads" if words.threads > 1 else "1 thread")
    if "pairs" in wanted:
        pairs = Pairs()
        for network in networks:
            profile(program, network)  # compiles, and decides how kernels are split
            for _ in range(words.pairs):
                pairs.add(program, profile(program, network), profile(program, network))
        pairs.report()
    if "protocols" in wanted:
        for network in networks:
            protocols(program, network)
    if "busy" in wanted:
        busy(program, networks[0], profile(program, networks[0], "--no-inside"))
    if "budget" in wanted:
        for network in networks:
            budget(program, network, 20)
    if "interrupt" in wanted:
        interrupted(program, networks[0], signal.SIGINT, 130)
        interrupted(program, networks[0], signal.SIGTERM, 143)
    if "first" in wanted:
        first_line(program)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
