"""Precision "bf16" beside float32 and beside OpenVINO's own default, on networks that are bound by reading their weights.

    python3 bench/compare/run_bfloat16.py [--networks lstm,mlp,vgg-11] [--rounds 5] [--min-ms 200] [--no-peer] [--output FILE.json]

One thread, the lowest CPU time of a burst, both precisions in turn. Prints for each network "bar, measured, ok": the time of bf16
over that of f32, and the largest difference of the outputs, in parts of the largest output. OpenVINO computes in float32 where the
processor has no AVX512_BF16, and bfloat16 elsewhere; the bar is its time with an error that is no larger. Exit status 1: a bar is
missed.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import environment

BARS = {"lstm": 0.97, "mlp": 0.95, "vgg-11": 0.92}  # of the time of f32
LARGEST_ERROR = 1e-2  # of the largest output


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
    parser.add_argument("--networks", type=lambda text: text.split(","), default=list(BARS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--min-ms", type=float, default=200)
    parser.add_argument("--no-peer", action="store_true", help="without OpenVINO")
    parser.add_argument("--output", default=str(environment.ROOT / "build" / "bench" / "bfloat16.json"))
    return parser.parse_args()


def measure(network, folder, options):
    files, ms = network.write(folder), {}
    for _ in range(options.rounds):
        for precision in ("f32", "bf16"):
            report = environment.program("bench", *files["model"], *files["input"], "--precision", precision, "--threads", 1,
                                         "--min-ms", options.min_ms)
            ms[precision] = min(ms.get(precision, float("inf")), report["best_cpu_s"] * 1e3)
    row = {"ms": ms, "ratio": ms["bf16"] / ms["f32"], "bar": BARS.get(network.name, 1.0), "error": error(files, folder)}
    row["ok"] = row["ratio"] <= row["bar"] and row["error"] <= LARGEST_ERROR
    if not options.no_peer:
        report = environment.program("bench", *files["model"], *files["input"], *files["onnx"], "--precision", "bf16", "--threads", 1,
                                     "--bursts", options.rounds, "--min-ms", options.min_ms, "--peers", "openvino")
        row["openvino"] = {"ms": report["peers"]["openvino"]["best_cpu_s"] * 1e3, "baton_ms": report["best_cpu_s"] * 1e3}
        row["ok"] = row["ok"] and row["openvino"]["baton_ms"] <= row["openvino"]["ms"]
    return row


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
    peer = row.get("openvino")
    beside = f"; OpenVINO's default {peer['ms']:.3f} ms, Baton beside it {peer['baton_ms']:.3f}: {peer['baton_ms'] / peer['ms']:.2f}" if peer else ""
    print(f"{name:<8} f32 {row['ms']['f32']:.3f} ms, bf16 {row['ms']['bf16']:.3f} ms: bar <= {row['bar']:.2f}, measured {row['ratio']:.2f}, "
          f"outputs differ by {row['error']:.1e} of the largest (bar {LARGEST_ERROR:.0e}){beside}  {'ok' if row['ok'] else 'MISSED'}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
