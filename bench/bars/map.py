"""Bars of mappings: never slower than the best single backend, better where backends disagree, priced rightly, found quickly, and
nearly as good when only predicted. Prints "bar, measured, ok"; 1 when one is missed. On a quiet machine:
`./baton python bench/bars/map.py [--predictor llvm.predictor] [--seconds 6] [NETWORK...]`
With --afterwards the artifacts that `baton map` wrote are run, too, over real backends and beside each of them alone: by a clock that
did not choose, in another process. --busy 2: `baton map` works beside so many busy loops."""
import argparse
import contextlib
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import afterwards
from busy import busy_loops

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench")]
NETWORKS = ("mlp", "dqn", "resnet-18", "resnet-50", "mobilenet", "squeezenet-1.1", "vgg-11", "inception-v3", "densenet-121", "dcgan")
ON_THE_PROCESSOR = "llvm,dnnl,openblas"
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


def files_of(network, folder):
    """What the program is given of a network: one of bench/networks as a file, else a workload's name."""
    import networks

    return networks.NETWORKS[network].write(folder)["model"] if network in networks.NETWORKS else [network]


def bars_of_afterwards(given):
    claims, missed = [], 0
    for network in given.networks:
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as meanwhile:
            model, kept, mapping = files_of(network, folder), f"{folder}/kept.baton", f"{folder}/kept.json"
            meanwhile.enter_context(busy_loops(given.busy))
            done = subprocess.run([given.program, "map", *model, "--targets", ON_THE_PROCESSOR, "--threads", "1", "--max-seconds", str(given.seconds),
                                   "--json", "--artifact", kept, "-o", mapping], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            meanwhile.close()
            if done.returncode:
                print(f"{network}: {done.stderr.strip().splitlines()[-1]}")
                missed += 1
                continue
            found = json.loads(done.stdout)
            usable = [each["name"] for each in found["models"] if each["single"] and not each["why_not"]]
            alone = afterwards.backends_alone(given.program, model, found["mapping"], usable, folder)
            ratio, half, single = afterwards.run(kept, alone)
            claims.append((found["speedup"], found["plus_minus"] or 0, ratio, half, found["chosen"] not in usable))
            claim = f"claimed {found['speedup']:.3f}x +-{100 * claims[-1][1]:.1f} %" if claims[-1][-1] else "nothing claimed"
            print(f"{network:<18}{found['chosen']:<16}{claim:<26} afterwards {ratio:.3f}x +-{100 * half:.1f} % of {single} alone", flush=True)
    if not claims:
        return 1

    def bar(what, goal, measured, good):
        nonlocal missed
        missed += not good
        print(f"{what:<84} bar {goal:<8} measured {measured:7.3f}  {'ok' if good else 'MISSED'}")

    print(f"{sum(each[-1] for each in claims)} of {len(claims)} mappings are faster than any backend alone, by `baton map`")
    least = min(ratio + half for _, _, ratio, half, _ in claims)
    bar("afterwards, over the best single backend, the least, its interval allowed", ">= 1.0", least, least >= 1)
    apart = max((abs(claim / ratio - 1) - math.hypot(sure, half) for claim, sure, ratio, half, mixed in claims if mixed), default=0)
    bar("claimed and afterwards, the most apart, both intervals allowed", "<= 0.02", max(0, apart), apart <= 0.02)
    return 1 if missed else 0


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("networks", nargs="*", default=NETWORKS)
    flags.add_argument("--program", default=ROOT / "build" / "release" / "baton")
    flags.add_argument("--predictor", help="of `baton train`, for llvm: also the bars of predicted mappings")
    flags.add_argument("--seconds", type=float, default=6, help="for measuring each mapping")
    flags.add_argument("--objective", default="serial", choices=("serial", "latency", "throughput"))
    flags.add_argument("--afterwards", action="store_true", help=f"over {ON_THE_PROCESSOR}: run the artifact afterwards; no other bar")
    flags.add_argument("--busy", type=int, default=0, metavar="LOOPS", help="beside --afterwards: busy loops while a mapping is looked for")
    given = flags.parse_args()
    if given.afterwards:
        return bars_of_afterwards(given)
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
