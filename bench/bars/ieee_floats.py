"""Bar of IEEE floats: no network of the bench is more than 1 % slower than in another build of Baton, one before kernels were
strict (docs/design/0042). Prints "bar, measured, ok"; 1 when one is missed.

    git worktree add ../before COMMIT && (cd ../before && ./baton setup)
    python3 bench/bars/ieee_floats.py ../before [--networks resnet-18,bert-4] [--rounds 6]

One thread; both programs in turn, each in a process of its own with a kernel cache of its own; the fastest run of all rounds
counts. A network above the bar is measured twice as long before it is called missed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BAR = 1.01


def fastest(root, arguments, cache):
    """Microseconds of the fastest run of one process."""
    command = [str(root / "build" / "release" / "baton"), "bench", *arguments, "--threads", "1", "--min-ms", "200", "--bursts", "3", "--json"]
    done = subprocess.run(command, env={**os.environ, "XDG_CACHE_HOME": str(cache)}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr[-2000:]}")
    return 1e6 * min(json.loads(done.stdout)["lat"])


def compare(measure_one, measure_other, bar, rounds):
    """The least of both, measured in turn; twice as long where the other is above `bar` times the one."""
    one, other = [], []
    for turn in range(2 * rounds):
        one.append(measure_one())
        other.append(measure_other())
        if turn + 1 >= rounds and min(other) <= bar * min(one):
            break
    return min(one), min(other)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path, help="the tree of the other build")
    parser.add_argument("--networks", type=lambda text: text.split(","), default=[])
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "bench" / "compare"))
    import environment

    environment.become_ready()
    import networks

    known, missed = {**networks.NETWORKS, **networks.INT8}, 0
    for name in options.networks or known:
        with tempfile.TemporaryDirectory() as folder:
            files = known[name].write(folder)
            arguments, folder = [*files["model"], *files["input"]], pathlib.Path(folder)
            old, new = compare(lambda: fastest(options.before.resolve(), arguments, folder / "before"),
                               lambda: fastest(ROOT, arguments, folder / "after"), BAR, options.rounds)
        ok = new <= BAR * old
        missed += not ok
        verdict = "ok" if ok else "MISSED"
        print(f"{name:<18} bar <= {BAR}  before {old:10.1f} us  now {new:10.1f} us  measured {new / old:.4f}  {verdict}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
