"""Bars of `baton probe`: how long it takes, and how good its predictor is on networks that it did not measure, timed as users do
(`baton bench`, one thread, the lowest CPU time of a burst). Prints "bar, measured, ok"; 1 when one is missed. On a quiet machine:
`./baton python bench/bars/probe.py [--minutes 5] [--networks resnet-18,bert-4] [--bursts 10]`

Bars of fractions need many networks: with the sixteen of bench/networks one is 6 %. `again` is how far the same measurement taken
twice is apart, which no predictor can be nearer than."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--program", default=os.environ.get("BATON_PROGRAM", ROOT / "build" / "release" / "baton"))
    flags.add_argument("--minutes", type=float, default=5)
    flags.add_argument("--predictor", help="one that `baton probe` made: it is judged, and nothing is probed")
    flags.add_argument("--networks", type=lambda text: text.split(","), default=[])
    flags.add_argument("--bursts", type=int, default=5)
    given = flags.parse_args()
    sys.path.insert(0, str(ROOT / "bench"))
    import networks

    unknown = [name for name in given.networks if name not in networks.NETWORKS]
    if unknown:
        sys.exit(f"no network is called {', '.join(unknown)}\n  known: {' '.join(networks.NETWORKS)}")

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
        for name in given.networks or networks.NETWORKS:
            model = networks.NETWORKS[name].write(folder)["model"]
            told = program("predict", *model, "--predictor", predictor, "--threads", 1)
            first, second = (program("bench", *model, "--threads", 1, "--bursts", given.bursts, "--min-ms", 200)["best_cpu_s"] * 1e6
                             for _ in range(2))
            rows.append(row(name, told, min(first, second), max(first, second) / min(first, second) - 1))
    return summary(rows, seconds)


def row(name, told, us, again):
    """One network: `error`, whether the interval covers the time, and whether it was flagged."""
    predicted = told["end_to_end_us"]["median"]
    interval = told.get("interval")
    found = {"error": predicted / us - 1, "again": again, "flagged": interval is None,
             "covered": interval is not None and interval["low_us"] <= us <= interval["high_us"]}
    print(f"{name:<16} measured {us:10.1f} us  predicted {predicted:10.1f} us  {found['error']:+7.1%}  "
          f"{'a guess' if found['flagged'] else 'inside' if found['covered'] else 'OUTSIDE'}  (again: {again:.1%})", flush=True)
    return found


def summary(rows, seconds):
    errors = [abs(each["error"]) for each in rows]
    sure = [each for each in rows if not each["flagged"]]
    bars = [("median error", 0, 5, 100 * statistics.median(errors), "%"),
            ("networks within 10 %", 85, 100, 100 * sum(each <= 0.1 for each in errors) / len(errors), "%"),
            ("90 % intervals cover", 87, 93, 100 * sum(each["covered"] for each in sure) / max(1, len(sure)), "%")]
    if seconds is not None:
        bars.insert(0, ("wall time of the probe", 0, 300, seconds, "s"))
    missed = 0
    for what, least, most, measured, unit in bars:
        good = least <= measured <= most
        missed += not good
        print(f"{what:<26} bar {least} to {most} {unit}  measured {measured:7.1f} {unit}  {'ok' if good else 'MISSED'}")
    print(f"{len(rows)} networks, {len(rows) - len(sure)} flagged; the same network measured twice: median "
          f"{statistics.median(each['again'] for each in rows):.1%} apart")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
