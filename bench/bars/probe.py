"""How good a predictor is on networks that it did not measure, timed as users do (`baton bench`, the lowest CPU time of a burst of one
thread, the median wall time of quiet bursts of more), and how long `baton probe` takes to make one. Prints "bar, measured, ok"; 1
when one is missed. On a quiet machine:

    ./baton python bench/bars/probe.py [--minutes 5] [--count 30] [--bursts 5]               what `baton probe` makes here
    ./baton python bench/bars/probe.py --predictor FILE --goal machine                       one that was trained on this machine
    ./baton python bench/bars/probe.py --networks resnet-18,bert-4                           networks of bench/networks

The networks are drawn (bench/networks/drawn.py) by the digest of the predictor's file: nobody can choose by them, and another
predictor has others. `again` is how far the same measurement taken twice is apart, which no predictor can be nearer than."""
import argparse
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


GOALS = {  # percent, at least and at most
    "probe": {"median error": (0, 5), "networks within 10 %": (85, 100), "90 % intervals cover": (87, 93)},
    "machine": {"networks within 5 %": (85, 100), "networks within 10 %": (97, 100), "90 % intervals cover": (87, 93)},
}


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--program", default=os.environ.get("BATON_PROGRAM", ROOT / "build" / "release" / "baton"))
    flags.add_argument("--minutes", type=float, default=5)
    flags.add_argument("--predictor", help="it is judged, and nothing is probed")
    flags.add_argument("--goal", choices=GOALS, default="probe")
    flags.add_argument("--networks", type=lambda text: text.split(","), default=[])
    flags.add_argument("--count", type=int, default=30, help="networks that are drawn")
    flags.add_argument("--threads", type=lambda text: [int(each) for each in text.split(",")], default=[1])
    flags.add_argument("--bursts", type=int, default=5)
    flags.add_argument("--json", help="a file for the rows")
    given = flags.parse_args()
    sys.path.insert(0, str(ROOT / "bench"))
    from networks import NETWORKS, drawn

    unknown = [name for name in given.networks if name not in NETWORKS]
    if unknown:
        sys.exit(f"no network is called {', '.join(unknown)}\n  known: {' '.join(NETWORKS)}")

    def program(*words):
        done = subprocess.run([given.program, *map(str, words), "--json"], stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)

    seconds, rows = None, []
    with tempfile.TemporaryDirectory() as folder:
        predictor = given.predictor or f"{folder}/here.predictor"
        if not given.predictor:
            probe = program("probe", "--minutes", given.minutes, "-o", predictor)
            seconds = probe["seconds"]
            print(f"{probe['device']}: {probe['networks']} networks and {probe['kernels']} kernels chosen, {probe['rows']} times, "
                  f"{probe['spoiled']:.0%} spoiled by other programs", flush=True)
        seed = hashlib.sha256(pathlib.Path(predictor).read_bytes()).hexdigest()
        chosen = ([drawn.Drawn(NETWORKS[name], threads) for name in given.networks for threads in given.threads] or
                  drawn.drawn(seed, given.count, given.threads))
        for one in chosen:
            with tempfile.TemporaryDirectory(dir=folder) as files:
                model = one.network.write(files)["model"]
                told = program("predict", *model, "--predictor", predictor, "--threads", one.threads)
                twice = [program("bench", *model, "--threads", one.threads, "--bursts", given.bursts, "--min-ms", 200) for _ in range(2)]
            us = [measured_us(each, one.threads) for each in twice]
            rows.append(row(one.name, told, min(us), max(us) / min(us) - 1, 1e6 * min(each["median_wall_s"] for each in twice)))
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(rows), encoding="utf-8")
    return summary(rows, seconds, GOALS[given.goal])


def measured_us(bench, threads):
    return 1e6 * (bench["best_cpu_s"] if threads == 1 else bench["median_wall_s"])


def row(name, told, us, again, usual_us):
    """One network: `error`, whether the interval covers the time, and whether it was flagged. `usual_us`: the median burst, which on a
    machine of a steady clock is the lowest, too."""
    predicted = told["end_to_end_us"]["median"]
    interval = told.get("interval")
    found = {"name": name, "us": us, "predicted_us": predicted, "error": predicted / us - 1, "again": again, "usual_us": usual_us,
             "flagged": interval is None,
             "covered": interval is not None and interval["low_us"] <= us <= interval["high_us"]}
    said = "a guess" if found["flagged"] else "inside" if found["covered"] else "OUTSIDE"
    print(f"{name:<32} measured {us:10.1f} us  predicted {predicted:10.1f} us  {found['error']:+7.1%}  {said}  "
          f"(again: {again:.1%}, the median burst {usual_us / us - 1:+.1%})", flush=True)
    return found


def summary(rows, seconds, goals):
    errors = [abs(each["error"]) for each in rows]
    sure = [each for each in rows if not each["flagged"]]
    measured = {"median error": 100 * statistics.median(errors),
                "networks within 5 %": 100 * sum(each <= 0.05 for each in errors) / len(errors),
                "networks within 10 %": 100 * sum(each <= 0.1 for each in errors) / len(errors),
                "90 % intervals cover": 100 * sum(each["covered"] for each in sure) / max(1, len(sure)),
                "wall time of the probe": seconds}
    bars = {what: (*goal, "%") for what, goal in goals.items()} | ({"wall time of the probe": (0, 300, "s")} if seconds else {})
    missed = 0
    for what, (least, most, unit) in bars.items():
        good = least <= measured[what] <= most
        missed += not good
        print(f"{what:<26} bar {least} to {most} {unit}  measured {measured[what]:7.1f} {unit}  {'ok' if good else 'MISSED'}")
    silent = [each["error"] for each in sure if abs(each["error"]) > 0.2]
    print(f"{len(rows)} networks, {len(rows) - len(sure)} flagged, {len(silent)} off by more than 20 % without a flag; the same network "
          f"measured twice: median {statistics.median(each['again'] for each in rows):.1%} apart")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
