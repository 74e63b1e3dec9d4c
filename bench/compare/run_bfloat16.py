"""Precision "bf16" beside float32 and beside OpenVINO's own default, on networks that are bound by reading their weights.

    python3 bench/compare/run_bfloat16.py [--networks lstm,mlp,vgg-11] [--rounds 5] [--min-ms 200] [--no-peer] [--output FILE.json]

One thread, the lowest CPU time of a burst, engines in turn. Prints for each network "bar, measured, ok": the time of bf16 over
that of f32, and the largest difference from the outputs of f32, in parts of the largest output. OpenVINO by itself computes in
bfloat16 where the processor has AVX512_BF16, in float32 elsewhere. Bars: no slower than float32, no slower than OpenVINO, and an
error no larger than OpenVINO's, or than 1 % where that computes in float32. Exit status 1: a bar is missed.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import environment

NETWORKS = ["lstm", "mlp", "vgg-11"]
LARGEST_ERROR = 1e-2  # of the largest output, where no peer computes in bfloat16
PEER = "openvino_default"


def main():
    options = parse()
    environment.become_ready()
    import networks

    results = {**environment.about(), "networks": {}}
    print(f"{results['date']}, {results['processor']}, commit {results['commit']}", flush=True)
    with environment.interruptible(options.output, results), tempfile.TemporaryDirectory(prefix="baton-bf16-") as folder:
        for name in options.networks:
            row = measure(networks.NETWORKS[name], folder, options)
            results["networks"][name] = row
            print_row(name, row)
    environment.write(options.output, results)
    return 0 if all(row["ok"] for row in results["networks"].values()) else 1


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=lambda text: text.split(","), default=NETWORKS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--min-ms", type=float, default=200)
    parser.add_argument("--no-peer", action="store_true", help="without OpenVINO")
    parser.add_argument("--output", default=str(environment.ROOT / "build" / "bench" / "bfloat16.json"))
    return parser.parse_args()


def measure(network, folder, options):
    """Times in ms, ratios and errors; `peer` has those of OpenVINO."""
    files, ms = network.write(folder), {}
    for _ in range(options.rounds):
        for precision in ("f32", "bf16"):
            report = environment.program("bench", *files["model"], *files["input"], "--precision", precision, "--threads", 1,
                                         "--min-ms", options.min_ms)
            ms[precision] = min(ms.get(precision, float("inf")), report["best_cpu_s"] * 1e3)
    row = {"ms": ms, "ratio": ms["bf16"] / ms["f32"], "error": error(files, folder), "largest_error": LARGEST_ERROR}
    row["ok"] = row["ratio"] <= 1
    if not options.no_peer:
        row["peer"] = peer = beside(files, options)
        # Float32 differs from float32 by the order of sums; bfloat16 has 8 bits.
        if peer["error"] > 1e-4:
            row["largest_error"] = peer["error"]
        row["ok"] = row["ok"] and peer["baton_ms"] <= peer["ms"]
    row["ok"] = row["ok"] and row["error"] <= row["largest_error"]
    return row


def beside(files, options):
    """OpenVINO's time beside ours in bf16, and the difference of its outputs from ours in f32."""
    common = [*files["model"], *files["input"], *files["onnx"], "--threads", 1, "--min-ms", options.min_ms, "--peers"]
    timed = environment.program("bench", *common, PEER, "--bursts", max(5, options.rounds), "--precision", "bf16")
    exact = environment.program("bench", *common, PEER, "--bursts", 5, "--precision", "f32")
    theirs = timed["peers"][PEER]
    return {"version": theirs["version"], "ms": theirs["best_cpu_s"] * 1e3, "baton_ms": timed["best_cpu_s"] * 1e3,
            "error": exact["peers"][PEER]["max_difference"]}


def error(files, folder):
    """The largest difference between both precisions, over the largest output."""
    import numpy as np

    outputs = {}
    inputs = pathlib.Path(files["input"][1]) / "data.npy"
    np.savez(pathlib.Path(folder) / "inputs.npz", data=np.load(inputs))
    for precision in ("f32", "bf16"):
        path = str(pathlib.Path(folder) / f"{precision}.npz")
        subprocess.run([os.environ["BATON_PROGRAM"], "run", *files["model"], "--inputs", f"{folder}/inputs.npz", "--precision", precision,
                        "--output", path], check=True, stdout=subprocess.DEVNULL)
        outputs[precision] = dict(np.load(path))
    return max(float(np.abs(outputs["bf16"][name] - value).max() / np.abs(value).max()) for name, value in outputs["f32"].items())


def print_row(name, row):
    peer = row.get("peer")
    beside_peer = (f"; {peer['version']} {peer['ms']:.3f} ms with error {peer['error']:.1e}, Baton beside it {peer['baton_ms']:.3f}: "
                   f"bar <= 1, measured {peer['baton_ms'] / peer['ms']:.2f}" if peer else "")
    print(f"{name:<8} f32 {row['ms']['f32']:.3f} ms, bf16 {row['ms']['bf16']:.3f} ms: bar <= 1, measured {row['ratio']:.2f}; "
          f"error {row['error']:.1e} of the largest output, bar {row['largest_error']:.1e}{beside_peer}  "
          f"{'ok' if row['ok'] else 'MISSED'}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
