"""Bars of campaigns: configurations an hour, compiling included, and how many rows are steady. Prints "bar, measured, ok"; 1 when
one is missed. On a quiet machine: `python3 bench/bars/campaign.py [--program build/release/baton] [--minutes 30]`"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--program", default=ROOT / "build" / "release" / "baton")
    flags.add_argument("--design", default=ROOT / "bench" / "dataset" / "design.json")
    flags.add_argument("--minutes", type=float, default=30)
    given = flags.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([given.program, "measure", "--design", given.design, "--store", f"{folder}/s.db", "--campaign", "bar",
                               "--max-hours", str(given.minutes / 60), "--json"], check=True, stdout=subprocess.PIPE, text=True)
    report = json.loads(done.stdout)
    steady = 100 * report["steady_rows"] / max(1, report["timed_rows"])
    missed = 0
    for what, bar, measured, unit in (("configurations an hour, compiling included", 1250, report["per_hour"], "/h"),
                                      ("reliable rows that vary by no more than 3 %", 95, steady, "%")):
        missed += measured < bar
        print(f"{what:<62} bar >= {bar:<10} {unit:<4} measured {measured:9.1f}  {'ok' if measured >= bar else 'MISSED'}")
    print(f"{report['measured']} configurations, {report['failed']} failed, {report['timed_rows']} rows; drift {report['drift']:.1%}; "
          f"{report['build_s']:.0f} s building, {report['measure_s']:.0f} s measuring, {report['wait_s']:.0f} s waiting")
    for note in report["notes"]:
        print(note)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
