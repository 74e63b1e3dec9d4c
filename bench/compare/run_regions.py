"""Regions for oneDNN beside ONNX Runtime (whole networks) and beside oneDNN called by hand (single layers).

    python3 bench/compare/run_regions.py [--networks resnet-50,bert-4] [--layers 40] [--seed 0] [--threads 1] [--bursts 10] [--min-ms 100]
                                     [--output FILE.json]

Networks: all that oneDNN can take is given to it (partition_for_dnnl), the rest to Baton's own kernels; numpy in and out on both
sides. Layers: random ones (random_layers.py) of the kinds that oneDNN has fast primitives for, weights packed before, data left in
place on both sides; by hand means bench/peers/onednn_layer.cc, which takes the faster of plain layouts and its own with reorders.
Engines take turns burst by burst. One thread: the lowest CPU time of a burst; more: the lowest wall time. Status 1: a bar is missed.
What was measured is in FILE.json (build/bench/regions.json), also after Ctrl-C.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import environment

NETWORK_BAR, LAYER_BAR, OUTPUT_TOLERANCE = 1.15, 1.05, 1e-4
KINDS = ("conv", "depthwise", "grouped", "transposed", "dense", "batch_matmul")
PEERS = environment.ROOT / "bench" / "peers"


def main():
    options = parse()
    environment.become_ready()
    import networks

    results = {**environment.about(), "threads": options.threads, "networks": [], "layers": []}
    print(f"{results['date']}, {results['processor']}, commit {results['commit']}, {options.threads} threads", flush=True)
    with environment.interruptible(options.output, results):
        for name in options.networks:
            with tempfile.TemporaryDirectory(prefix="baton-compare-") as folder:
                results["networks"].append(measure_network({**networks.NETWORKS, **networks.INT8}[name], folder, options))
            show(results["networks"][-1], "ONNX Runtime", NETWORK_BAR)
        for name, module, params, inputs in chosen_layers(options):
            with tempfile.TemporaryDirectory(prefix="baton-compare-") as folder:
                results["layers"].append(measure_layer(name, module, params, inputs, folder, options))
            show(results["layers"][-1], "by hand")
    environment.write(options.output, results)
    holds = all(row["ratio"] <= NETWORK_BAR and row["difference"] <= OUTPUT_TOLERANCE for row in results["networks"])
    if results["layers"]:
        holds &= summary(results["layers"])
    print(f"wrote {options.output}")
    return 0 if holds else 1


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: [each for each in text.split(",") if each]  # noqa: E731
    parser.add_argument("--networks", type=words, default=["resnet-50", "bert-4"])
    parser.add_argument("--layers", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--bursts", type=int, default=10)
    parser.add_argument("--min-ms", type=float, default=100)
    parser.add_argument("--output", default=str(environment.ROOT / "build" / "bench" / "regions.json"))
    return parser.parse_args()


def chosen_layers(options):
    import random_layers

    made = random_layers.layers(2 * options.layers, options.seed)
    return [(name, module, params, inputs) for name, kind, module, params, inputs in made if kind in KINDS][:options.layers]


def measure_network(network, folder, options):
    files = network.write(folder)
    report = environment.program("bench", *files["model"], *files["input"], *files["onnx"], "--threads", options.threads, "--bursts",
                                 options.bursts, "--min-ms", options.min_ms, "--peers", "dnnl,ort,python")
    key = "best_cpu_s" if options.threads == 1 else "median_wall_s"
    us = {name: each[key] * 1e6 for name, each in report["peers"].items()}
    return row_of(network.name, us["dnnl"], us["ort"], max(each["max_difference"] for each in report["peers"].values()), baton_us=us["python"])


def measure_layer(name, module, params, inputs, folder, options):
    import numpy as np

    model, constants, data = (str(pathlib.Path(folder, each)) for each in ("layer.relay", "params.npz", "inputs.npz"))
    pathlib.Path(model).write_text(module.astext(show_meta_data=False), encoding="utf-8")
    np.savez(constants, **params)
    np.savez(data, **inputs)
    with Peer("dnnl", model, constants, data, options.threads) as ours, Peer("onednn", model, constants, data, options.threads) as by_hand:
        times = {ours: [], by_hand: []}
        for _ in range(options.bursts):
            for peer, found in times.items():
                found.append(peer.burst(options.min_ms, "cpu" if options.threads == 1 else "wall"))
        outputs = [peer.output(folder) for peer in times]
    difference = float(np.abs(outputs[0].ravel() - outputs[1].ravel()).max() / max(1e-30, np.abs(outputs[1]).max()))
    return row_of(name, min(times[ours]) * 1e6, min(times[by_hand]) * 1e6, difference)


def row_of(name, ours_us, theirs_us, difference, **more):
    return {"name": name, "dnnl_us": ours_us, "other_us": theirs_us, "ratio": ours_us / theirs_us, "difference": difference, **more}


class Peer:
    """A process of bench/peers (protocol: bursts.py)."""

    def __init__(self, name, model, params, inputs, threads):
        self.name = name
        command = [sys.executable, str(PEERS / f"run_{name}.py"), model, params, inputs, str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "BATON_BENCH_IN_PLACE": "1"})
        self._answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def burst(self, min_ms, clock):
        found = self._ask(f"burst {min_ms}")
        return found[clock] / found["runs"]

    def output(self, folder):
        import numpy as np

        path = os.path.join(folder, self.name + ".npy")
        self._ask("output " + path)
        return np.load(path)

    def _ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        return self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended without an answer; what it wrote stands above")
        return json.loads(line)


def show(row, other, bar=None):
    own = f"  (Baton's own kernels {row['baton_us']:.0f})" if "baton_us" in row else ""
    verdict = "" if bar is None else f"  bar <= {bar:g}  {'ok' if row['ratio'] <= bar else 'MISSED'}"
    print(f"{row['name']:<58} us: regions {row['dnnl_us']:9.1f}  {other} {row['other_us']:9.1f}  ratio {row['ratio']:5.2f}{verdict}{own}"
          f"  (outputs differ by {row['difference']:.0e})", flush=True)


def summary(rows):
    mean = math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows))
    worst = max(rows, key=lambda row: row["ratio"])
    bars = [("layers by hand, geometric mean", LAYER_BAR, mean), ("layers by hand, worst", LAYER_BAR, worst["ratio"]),
            ("largest difference of outputs", OUTPUT_TOLERANCE, max(row["difference"] for row in rows))]
    for what, bar, measured in bars:
        print(f"{what:<40} bar <= {bar:<7g} measured {measured:9.3g}  {'ok' if measured <= bar else 'MISSED'}")
    return all(measured <= bar for _, bar, measured in bars)


if __name__ == "__main__":
    sys.exit(main())
