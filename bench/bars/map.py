"""Bars of mappings: never slower than the best single backend, better where backends disagree, priced rightly, found quickly, and
nearly as good when only predicted. Prints "bar, measured, ok"; 1 when one is missed. On a quiet machine:
`python3 bench/bars/map.py [--program build/release/baton] [--predictor llvm.predictor] [--seconds 6] [NETWORK...]`"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = ("mlp", "dqn", "resnet-18", "resnet-50", "mobilenet", "squeezenet-1.1", "vgg-11", "inception-v3", "densenet-121", "dcgan")
REAL = ("llvm,dnnl,openblas,opencl", "llvm,mirror")  # mirror: a thread and memory of its own on this processor
SHEETS = ("big_core", "dsp", "fast_gpu", "in_memory", "npu", "slow_gpu")


def large_network(operators):
    """Relay text of that many operators: convolutions, sums and activations with shared values."""
    lines = ['#[version = "0.0.5"]', "def @main(%x: Tensor[(1, 16, 14, 14), float32], %w: Tensor[(16, 16, 3, 3), float32]) {"]
    last, before = "%x", "%x"
    for i in range(operators):
        kind = i % 4
        if kind == 0:
            text = f"nn.conv2d({last}, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3])"
        else:
            text = {1: f"nn.relu({last})", 2: f"add({last}, {before})", 3: f"sigmoid({last})"}[kind]
        if kind == 3:
            before = last
        lines.append(f"  %{i} = {text};")
        last = f"%{i}"
    return "\n".join(lines + [f"  nn.softmax({last})", "}", ""])


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("networks", nargs="*", default=NETWORKS)
    flags.add_argument("--program", default=ROOT / "build" / "release" / "baton")
    flags.add_argument("--predictor", help="of `baton train`, for llvm: also the bars of predicted mappings")
    flags.add_argument("--seconds", type=float, default=6, help="for measuring each mapping")
    flags.add_argument("--objective", default="serial", choices=("serial", "latency", "throughput"))
    given = flags.parse_args()
    rows, missed = [], 0

    def mapped(model, targets, *words):
        done = subprocess.run([given.program, "map", model, "--targets", targets, "--threads", "1", "--max-seconds", str(given.seconds), "--objective", given.objective,
                               "--json", *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"{model} over {targets}: {done.stderr.strip().splitlines()[-1]}")
            return None
        found = json.loads(done.stdout)
        models = {each["name"]: each for each in found["models"]}
        best, single = models[found["chosen"]], models[found["best_single"]]
        modelled = [each["modelled_us"] for each in models.values() if each["single"] and each["modelled_us"] > 0]
        print(f"{model:<16}{targets[:50]:<52}{found['chosen']:<14}{best['measured_us']:10.1f} us{found['speedup']:8.3f}x of {single['name']:<14}"
              f"by prices {min(modelled) / found['bound_us']:6.3f}x, modelled/measured "
              f"{best['modelled_us'] / max(best['measured_us'], 1e-9):.3f}", flush=True)
        # Bounds of queues side by side are not reached: there the best that was found counts.
        least = found["bound_us"] if given.objective == "serial" else min(each["modelled_us"] for each in models.values()
                                                                          if each["modelled_us"] > 0)
        return found | {"gain": min(modelled) / least, "best": best}

    def bar(what, least, measured, at_most=False):
        nonlocal missed
        good = measured <= least if at_most else measured >= least
        missed += not good
        print(f"{what:<74} bar {'<=' if at_most else '>='} {least:<8} measured {measured:9.3f}  {'ok' if good else 'MISSED'}")

    with tempfile.TemporaryDirectory() as folder:
        regrets = []
        for model in given.networks:
            for targets in (*(REAL if given.objective != "serial" else REAL[:1]), *(f"llvm,dnnl,sim_{sheet}" for sheet in SHEETS),
                            "llvm," + ",".join(f"sim_{sheet}" for sheet in SHEETS)):
                words = []
                if given.predictor and "sim" in targets:
                    alone = targets.replace("dnnl,", "")
                    done = subprocess.run([given.program, "map", model, "--targets", alone, "--threads", "1", "--predictor", given.predictor,
                                           "-o", f"{folder}/p.json"], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    words = ["--also", f"{folder}/p.json"] if done.returncode == 0 else []
                found = mapped(model, targets, *words)
                if not found:
                    continue
                rows.append((targets, found))
                for each in found["models"]:
                    if each["name"].endswith("p.json") and each["measured_us"] > 0:
                        regrets.append(each["measured_us"] / found["best"]["measured_us"] - 1)
        print()
        bar("speed-up over the best single backend, the least", 1.0, min(found["speedup"] for _, found in rows))
        sims = [found["gain"] for targets, found in rows if "sim" in targets]
        differ = [gain for gain in sims if gain > 1.001]
        print(f"{len(differ)} of {len(sims)} mappings over simulated devices are better than any single backend, by prices")
        if differ:
            bar("speed-up by prices where backends disagree (simulated), geometric mean", 1.10, math.exp(statistics.mean(map(math.log, differ))))
        real = [found["gain"] for targets, found in rows if "sim" not in targets]
        if real:
            bar("speed-up by prices over real backends, the most", 1.05, max(real))
        slow = [found["without_links_us"] / found["bound_us"] for targets, found in rows
                if ("fast_gpu" in targets or "dsp" in targets) and found["without_links_us"] > 0]
        if slow:
            bar("better than without the cost of copies, where links are slow, mean", 1.10, math.exp(statistics.mean(map(math.log, slow))))
        overlaps = [abs(each["computed_us"] / each["measured_us"] - 1) for targets, found in rows if found["overlap"] == "measured"
                    for each in found["models"] if not each["why_not"] and each["measured_us"] > 0]
        if overlaps:
            bar("computed against measured times, real devices side by side, median error", 0.10, statistics.median(overlaps), True)
        errors = [abs(found["best"]["modelled_us"] / found["best"]["measured_us"] - 1) for _, found in rows]
        bar("modelled against measured time of the chosen mapping, median error", 0.05, statistics.median(errors), True)
        if regrets:
            bar("regret of mappings that were only predicted, median", 0.05, statistics.median(regrets), True)
        fifty = mapped("resnet-50", "llvm,dnnl,opencl,sim_slow_gpu")
        if fifty:
            bar("ResNet-50 over 4 targets: seconds beyond measuring", 30, fifty["build_s"] + fifty["search_s"], True)
        if given.predictor:
            path = pathlib.Path(folder) / "large.relay"
            path.write_text(large_network(3000), encoding="utf-8")
            large = mapped(str(path), "llvm," + ",".join(f"sim_{sheet}" for sheet in SHEETS), "--predictor", given.predictor)
            if large:
                bar("3,000 operators over 7 targets: seconds of the search", 120, large["search_s"], True)
                print(f"  gap {1 - large['bound_us'] / min(each['modelled_us'] for each in large['models']):.2%} ({large['method']})")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
