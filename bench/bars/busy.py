"""Bars of profiles on a busy machine: each network is profiled as quiet as the machine gets, beside busy loops that this program
starts, and quiet again. Times of the busy profile are held against those of the first quiet one; how far the two quiet ones agree
by the same measure says what the machine allows. Prints "bar, measured, ok"; 1 when one is missed.
`python3 bench/bars/busy.py [--program build/release/baton] [--loops 2] [--threads 1] [--wait 60] [--quiet FOLDER] [NETWORK...]`

With --quiet the profiles without loops are kept in FOLDER, and used again when they are there. Where other programs ran beside
these, too, the comparison is of two busy machines, and a line says so."""
import argparse
import contextlib
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = ["resnet-18", "mobilenet", "squeezenet-1.1", "mlp", "dqn", "lstm", "densenet-121", "resnet-50", "vgg-11", "inception-v3"]
LOOP = "while True: pass"
LONGEST = 5
COVERED = 0.9

missed = []


def report(what, bar, measured, ok):
    missed.extend([] if ok else [what])
    print(f"{what:<62} bar {bar:<10} measured {measured:<24} {'ok' if ok else 'MISSED'}", flush=True)


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(count)]
    time.sleep(0.5)
    try:
        yield
    finally:
        for each in loops:
            each.kill()
            each.wait()


def profile(program, network, flags):
    begin = time.monotonic()
    done = subprocess.run([program, "profile", network, "--json", "--no-unfused", "--no-peaks", *flags], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout), time.monotonic() - begin


def quiet_profile(program, network, flags, folder, wait, which=""):
    kept = folder and folder / f"{network}{which}.json"
    if kept and kept.exists():
        return json.loads(kept.read_text())
    found, _ = profile(program, network, [*flags, f"--wait={wait:g}"])
    if kept:
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found))
    return found


def has_number(row):
    return row["median_us"] > 0 and row["plus_minus_us"] is not None and 0 < row["share"] <= 1


def longest(found):
    return sorted(found["kernels"], key=lambda row: -row["median_us"])[:LONGEST]


def keeps_order(quiet, busy):
    """Whether kernels that differ for certain when it is quiet stand in the same order: equal layers have none."""
    us = {row["node"]: row["median_us"] for row in busy["kernels"]}
    rows = longest(quiet)
    least = rows[-1]
    others = [row for row in quiet["kernels"] if all(row["node"] != each["node"] for each in rows)]
    pairs = [(a, b) for i, a in enumerate(rows) for b in rows[i + 1:]] + [(row, other) for row in rows for other in others
                                                                         if other["median_us"] > 0.8 * least["median_us"]]
    certain = [(a, b) for a, b in pairs if a["median_us"] - b["median_us"] > (a["plus_minus_us"] or 0) + (b["plus_minus_us"] or 0)]
    return all(us[a["node"]] > us[b["node"]] for a, b in certain)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build/release/baton"))
    parser.add_argument("--loops", type=int, default=2)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--wait", type=float, default=60)
    parser.add_argument("--quiet", type=pathlib.Path)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    given = parser.parse_args()
    flags = ["--threads", str(given.threads)] if given.threads else []
    rows = numbers = within = marked = loaded = ordered = 0
    agree = 0
    off, widths, seconds = [], [], []
    for network in given.networks:
        quiet = quiet_profile(given.program, network, flags, given.quiet, given.wait)
        loaded += "under_load" in quiet or any("under_load" in row for row in quiet["kernels"])
        with busy_loops(given.loops):
            busy, took = profile(given.program, network, flags)
        again = quiet_profile(given.program, network, flags, given.quiet, given.wait, ".again")
        seconds.append(took)
        same = keeps_order(quiet, busy)
        ordered += same
        covered = 0
        for a, b, c in zip(quiet["kernels"], busy["kernels"], again["kernels"], strict=True):
            assert a["node"] == b["node"] == c["node"]
            rows += 1
            numbers += has_number(b)
            marked += "under_load" in b
            apart = abs(a["median_us"] - b["median_us"])
            covered += apart <= (b["plus_minus_us"] or 0)
            agree += abs(a["median_us"] - c["median_us"]) <= (c["plus_minus_us"] or 0)
            off.append(apart / a["median_us"] if a["median_us"] else 0)
            widths.append((b["plus_minus_us"] or 0) / b["median_us"] if b["median_us"] else 0)
        within += covered
        ends = [each["end_to_end_us"]["median"] for each in (quiet, again, busy)]
        print(f"  {network:<16} {len(busy['kernels']):>4} kernels, {covered} within +-; end to end {ends[0]:.1f} and {ends[1]:.1f} us quiet, {ends[2]:.1f} us busy; "
              f"{'the same' if same else 'ANOTHER'} order; {took:.0f} s", flush=True)
    off.sort()
    widths.sort()
    report("rows of kernels that have a time, a +- and a share", "100 %", f"{numbers} of {rows}", numbers == rows)
    report("networks whose five longest kernels keep their order", "all", f"{ordered} of {len(given.networks)}", ordered == len(given.networks))
    report("times that are within their +- of those of a quiet machine", f">= {COVERED:.0%}", f"{within / rows:.1%}", within >= COVERED * rows)
    print(f"  {agree / rows:.1%} of the times of the second quiet profiles are within their +- of those of the first")
    print(f"  of the quiet time they are off by {off[len(off) // 2]:.1%} (median), {off[len(off) * 9 // 10]:.1%} (90 %); +- is "
          f"{widths[len(widths) // 2]:.1%} (median), {widths[len(widths) * 9 // 10]:.1%} (90 %); {marked} of {rows} rows say that they were "
          f"under load; a profile took {sum(seconds) / len(seconds):.0f} s on average")
    if loaded:
        print(f"  note: other programs ran beside {loaded} of the {len(given.networks)} profiles without loops, too")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
