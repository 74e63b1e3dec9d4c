"""Random layers beside oneDNN called by hand: the shapes that nobody tuned.

    python3 bench/compare/run_layers.py [--count 200] [--seed 0] [--only 17,40] [--kinds conv,dense] [--threads 1] [--bursts 10]
                                    [--min-ms 20] [--peers onednn] [--output FILE.json]

Plain arrays in and out on both sides, weights packed before (batch_matmul: both sides are inputs); times as in run_networks.py,
with Baton called by the program itself, as oneDNN is. oneDNN (3.2, wheels of tools/requirements-bench.txt) runs with plain layouts
or its own with reorders, whichever is faster. It has little more than reference loops for pools and reductions of plain arrays:
there the best of oneDNN, ONNX Runtime and OpenVINO counts, unless --peers says otherwise. Prints the geometric mean of the ratios,
by kind too, and the ten worst; status 1 when a bar is missed. Ctrl-C ends it: what was measured is reported and in FILE.json
(build/bench/layers.json).
"""
import argparse
import math
import os
import sys
import tempfile

import environment

MEAN_BAR, WORST_BAR = 0.95, 1.5
# By kind; oneDNN alone where none stands here.
PEERS = {"pool": ["onednn", "ort", "openvino"], "reduce": ["onednn", "ort", "openvino"]}
OUTPUT_TOLERANCE = 1e-4


def main():
    options = parse()
    environment.become_ready()
    import random_layers

    results = {**environment.about(), "seed": options.seed, "threads": options.threads, "layers": []}
    status, made = 0, random_layers.layers(options.count, options.seed)
    chosen = [each for index, each in enumerate(made)
              if (not options.only or index in options.only) and (not options.kinds or each[1] in options.kinds)]
    failed = 0
    try:
        for name, kind, module, params, inputs in chosen:
            try:
                row = measure(name, kind, module, params, inputs, options)
            except environment.Failed as error:
                failed += 1
                print(f"{name}: not measured: {error}", flush=True)
                continue
            results["layers"].append(row)
            if len(results["layers"]) % 10 == 0:
                environment.write(options.output, results)
    except KeyboardInterrupt:
        results["partial"] = True
        status = 130
        print("interrupted", file=sys.stderr)
    environment.write(options.output, results)
    if results["layers"]:
        holds = report(results["layers"])
        status = status or (0 if holds and not failed else 1)
    print(f"{failed} layers not measured; wrote {options.output}")
    return status


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: [each for each in text.split(",") if each]  # noqa: E731
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=lambda text: {int(each) for each in words(text)}, default=set(), help="numbers of layers")
    parser.add_argument("--kinds", type=words, default=[])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--bursts", type=int, default=10)
    parser.add_argument("--min-ms", type=float, default=20)
    parser.add_argument("--peers", type=words, default=[], help="of all layers (default: see above)")
    parser.add_argument("--output", default=str(environment.ROOT / "build" / "bench" / "layers.json"))
    return parser.parse_args()


def measure(name, kind, module, params, inputs, options):
    import numpy as np

    with tempfile.TemporaryDirectory(prefix="baton-compare-") as folder:
        model = os.path.join(folder, "layer.relay")
        with open(model, "w", encoding="utf-8") as file:
            file.write(module.astext(show_meta_data=False))
        np.savez(os.path.join(folder, "params.npz"), **params)
        for each, value in inputs.items():
            np.save(os.path.join(folder, each + ".npy"), value)
        report = environment.program("bench", model, "--params", os.path.join(folder, "params.npz"), "--input", folder, "--input-name", *inputs,
                                     "--threads", options.threads, "--bursts", options.bursts, "--min-ms", options.min_ms,
                                     "--peers", ",".join(options.peers or PEERS.get(kind, ["onednn"])))
    key = "best_cpu_s" if options.threads == 1 else "median_wall_s"
    peers = {each: found[key] * 1e6 for each, found in report["peers"].items()}
    best = min(peers, key=peers.get)
    difference = max(found["max_difference"] for found in report["peers"].values())
    row = {"name": name, "kind": kind, "baton_us": report[key] * 1e6, "peers_us": peers, "best": best, "ratio": report[key] * 1e6 / peers[best],
           "difference": difference, "gflops": report["peaks"]["gflops"],
           "versions": {each: found["version"] for each, found in report["peers"].items()}}
    print(line(row) + ("  OUTPUTS DIFFER" if difference > OUTPUT_TOLERANCE else ""), flush=True)
    return row


def line(row):
    peers = "  ".join(f"{peer} {us:9.1f}" for peer, us in row["peers_us"].items())
    return f"{row['name']:<58} us: baton {row['baton_us']:9.1f}  {peers}  ratio {row['ratio']:6.2f}  (outputs differ by {row['difference']:.0e})"


def geometric_mean(rows):
    return math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows))


def report(rows):
    """Prints the summary; whether the bars hold."""
    print("\nthe ten worst:")
    worst = sorted(rows, key=lambda row: -row["ratio"])
    for row in worst[:10]:
        print("  " + line(row))
    print("\ngeometric mean of the ratios by kind:")
    for kind in sorted({row["kind"] for row in rows}):
        some = [row for row in rows if row["kind"] == kind]
        print(f"  {kind:<14} {len(some):4d} layers  {geometric_mean(some):6.3f}   worst {max(row['ratio'] for row in some):6.2f}")
    bars = [("all layers, geometric mean", MEAN_BAR, geometric_mean(rows)), ("all layers, worst", WORST_BAR, worst[0]["ratio"]),
            ("largest difference of outputs", OUTPUT_TOLERANCE, max(row["difference"] for row in rows))]
    print()
    for what, bar, measured in bars:
        print(f"{what:<40} bar <= {bar:<7g} measured {measured:9.3g}  {'ok' if measured <= bar else 'MISSED'}")
    return all(measured <= bar for _, bar, measured in bars)


if __name__ == "__main__":
    sys.exit(main())
