"""All networks of bench/networks beside ONNX Runtime and OpenVINO (f32; one in int8 beside ONNX Runtime), engine by engine in turn.

    python3 bench/compare/run_networks.py [--networks resnet-18,bert-4] [--threads 1,2] [--bursts 10] [--min-ms 300]
                                      [--peers ort,openvino] [--no-kernels] [--output FILE.json] [--list]

The first call installs the peers (build/venv) and builds Baton. `baton bench --peers` takes all times: Baton is called from Python,
numpy in and out like its peers. One thread: the lowest CPU time of a burst; more: the median wall time of the bursts in which other
programs left the machine alone. A ratio is Baton's time over that of the best peer; up to 1.05 counts as a tie.

Prints a row for each network and number of threads with "bar, measured, ok", the FMA peak measured in the same minute, and the
kernels that lose most against the roof (`baton profile`). A bar also holds where kernels whose roof is known (not Winograd's, whose
operations are fewer than counted) reach 95 % of it and take 95 % of the time. Two threads should be 1.85 times as fast as one where
a peer is. Exit status 1: a bar is missed. Ctrl-C ends it; what was measured is in FILE.json (build/bench/networks.json).
"""
import argparse
import re
import sys
import tempfile

import environment

TIE, ENOUGH_OF_ROOF = 1.05, 0.95
ENOUGH_SCALING = 1.85 / 2  # per thread
OUTPUT_TOLERANCE = 1e-4


def main():
    options = parse()
    environment.become_ready()
    import networks

    known = {**networks.NETWORKS, **networks.INT8}
    if options.list:
        for network in known.values():
            print(f"{network.name:<16} {'bar ' + str(network.bar) if network.bar else ''}")
        return 0
    unknown = [name for name in options.networks if name not in known]
    if unknown:
        sys.exit(f"no network is called {', '.join(unknown)}\n  known: {' '.join(known)}")
    results = {**environment.about(), "bursts": options.bursts, "min_ms": options.min_ms, "networks": {}}
    chosen = [known[name] for name in options.networks or known]
    failed = []
    print(f"{results['date']}, {results['processor']}, {results['processors']} processors, commit {results['commit']}", flush=True)
    with environment.interruptible(options.output, results):
        for index, network in enumerate(chosen):
            say(f"{network.name} ({index + 1} of {len(chosen)})")
            try:
                results["networks"][network.name] = measure(network, options)
            except (environment.Failed, ValueError) as error:
                failed.append(network.name)
                print(f"{network.name}: not measured: {error}", flush=True)
            environment.write(options.output, results)
    summary(results)
    print(f"wrote {options.output}")
    missed = [row for each in results["networks"].values() for row in each["rows"] if not row["ok"]]
    return 1 if missed or failed else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: [each for each in text.split(",") if each]  # noqa: E731
    parser.add_argument("--networks", type=words, default=[])
    parser.add_argument("--threads", type=lambda text: [int(each) for each in words(text)], default=[1, 2])
    parser.add_argument("--peers", type=words, default=["ort", "openvino"])
    parser.add_argument("--bursts", type=int, default=10)
    parser.add_argument("--min-ms", type=float, default=300)
    parser.add_argument("--no-kernels", action="store_true", help="do not profile: no roofs")
    parser.add_argument("--output", default=str(environment.ROOT / "build" / "bench" / "networks.json"))
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def say(text):
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)


def measure(network, options):
    """Everything about one network: `rows`, one per number of threads, `kernels` and `roof`."""
    found = {"bar": network.bar, "rows": []}
    peers = [each for each in options.peers if network.peers is None or each in network.peers]
    if not peers:
        raise ValueError(f"none of {', '.join(options.peers)} has a form of it: {', '.join(network.peers)}")
    with tempfile.TemporaryDirectory(prefix="baton-compare-") as folder:
        files = network.write(folder)
        if not options.no_kernels:
            profile = environment.program("profile", *files["model"], "--no-inside", "--no-unfused", "--threads", min(options.threads),
                                          "--max-seconds", 20)
            found.update(against_roof(profile))
        for threads in options.threads:
            report = environment.program("bench", *files["model"], *files["input"], *files["onnx"], "--threads", threads,
                                         "--bursts", options.bursts, "--min-ms", options.min_ms, "--peers", ",".join(["python", *peers]))
            row = compared(report, network.bar, found.get("roof"), network.tolerance)
            add_scaling(row, found["rows"])
            found["rows"].append(row)
            print_row(network.name, row)
    if not options.no_kernels:
        print_kernels(found)
    return found


def compared(report, bar, roof, tolerance=OUTPUT_TOLERANCE):
    """One row: times in ms of Baton and its peers, the ratio, and whether the bar holds."""
    threads, others = report["threads"], {name: each for name, each in report["peers"].items() if name != "python"}
    key = "best_cpu_s" if threads == 1 else "median_wall_s"
    ms = {name: each[key] * 1e3 for name, each in others.items()}
    ours = report["peers"]["python"]
    best = min(ms, key=ms.get)
    ratio = ours[key] * 1e3 / ms[best]
    difference = max(each["max_difference"] for each in others.values())
    row = {"threads": threads, "baton_ms": ours[key] * 1e3, "peers_ms": ms, "best": best, "ratio": ratio, "bar": bar,
           "wall_ms": {"baton": ours["median_wall_s"] * 1e3, **{name: each["median_wall_s"] * 1e3 for name, each in others.items()}},
           "difference": difference, "gflops": report["peaks"]["gflops"], "gbytes_per_s": report["peaks"]["gbytes_per_s"],
           "quiet": min(each["quiet"] for each in (ours, *others.values())), "bursts": report["bursts"], "compile_s": report["compile_s"],
           "versions": {name: each["version"] for name, each in report["peers"].items()}}
    # Without a bar of its own a network must not be slower than the best peer.
    row["verdict"] = verdict(ratio, bar or 1.0, roof)
    if difference > tolerance:
        row["verdict"] = "OUTPUTS DIFFER"
    row["ok"] = not row["verdict"].isupper()
    return row


def add_scaling(row, rows):
    """How much faster than with one thread: as much as possible where a peer has it."""
    one = next((each for each in rows if each["threads"] == 1), None)
    if row["threads"] == 1 or one is None:
        return
    scaling = {who: one["wall_ms"][who] / ms for who, ms in row["wall_ms"].items()}
    bar = ENOUGH_SCALING * row["threads"]
    row["scaling"] = scaling
    row["scales"] = scaling["baton"] >= bar or max(each for who, each in scaling.items() if who != "baton") < bar
    row["ok"] = row["ok"] and row["scales"]


def verdict(ratio, bar, roof):
    if ratio <= bar:
        return "ok"
    if roof and roof["fraction"] >= ENOUGH_OF_ROOF and roof["known"] >= ENOUGH_OF_ROOF:
        return "ok, at the roof"
    if bar == 1.0 and ratio <= TIE:
        return "ok, a tie"
    return "MISSED"


def against_roof(profile):
    """`roof`: what part of it the kernels reach, and for what part of the time it is known; `kernels`: the five that lose most,
    equal layers together; `slow`: those of more than 1 % of the time below half of the roof."""
    groups, total, known, reached, unreliable = {}, 0.0, 0.0, 0.0, 0
    for each in profile["kernels"]:
        us, roofline = each["median_us"], each.get("roofline")
        if us is None or roofline is None:
            unreliable += 1
            continue
        function = profile["functions"].get(each["func_name"], {})
        name = re.sub(r", line .*", "", each["title"])
        group = groups.setdefault((name, function.get("template")), {
            "name": name, "template": function.get("template"), "params": function.get("params"), "bound": each["bound"],
            "nominal": each["nominal"], "count": 0, "us": 0.0, "roof_us": 0.0, "lost_us": 0.0})
        group["count"] += 1
        group["us"] += us
        group["roof_us"] += us * roofline
        group["lost_us"] += us * max(0.0, 1 - roofline)
        total += us
        if not each["nominal"]:  # Winograd's operations are fewer than counted
            known += us
            reached += us * min(roofline, 1)
    for group in groups.values():
        group["roofline"] = group["roof_us"] / group["us"]
    worst = sorted(groups.values(), key=lambda each: -each["lost_us"])
    return {"roof": {"fraction": reached / known if known else 0, "known": 0 if unreliable or not total else known / total, "us": total,
                     "unreliable": unreliable},
            "kernels": worst[:5], "slow": [each for each in worst if each["us"] > 0.01 * total and each["roofline"] < 0.5]}


def print_row(name, row):
    peers = "  ".join(f"{peer} {ms:9.3f}" for peer, ms in row["peers_ms"].items())
    bar = f"bar <= {row['bar']:.2f}" if row["bar"] else "bar <= 1.00 (any)"
    quiet = "" if row["quiet"] >= 3 or row["threads"] == 1 else "; NOT QUIET"
    if "scaling" in row:
        quiet += "; scaling " + ", ".join(f"{who} {each:.2f}" for who, each in row["scaling"].items()) + ("" if row["scales"] else " MISSED")
    print(f"{name:<16} {row['threads']} thread{'s' if row['threads'] > 1 else ' '} ms: baton {row['baton_ms']:9.3f}  {peers}  {bar:<12} "
          f"measured {row['ratio']:6.3f}  {row['verdict']}  (outputs differ by {row['difference']:.0e}, peak {row['gflops']:.0f} GFLOP/s, "
          f"{row['gbytes_per_s']:.0f} GB/s{quiet})", flush=True)


def print_kernels(found):
    roof = found["roof"]
    if roof["unreliable"]:
        print(f"    {roof['unreliable']} kernels have no reliable time: the machine was busy", flush=True)
    if not found["kernels"]:
        return
    print(f"    kernels reach {roof['fraction']:.0%} of the roof where it is known ({roof['known']:.0%} of the time); most is lost in")
    for each in found["kernels"]:
        print(f"    {each['lost_us']:9.1f} of {each['us']:9.1f} us  {each['roofline']:4.0%} of {each['bound'] + ('*' if each['nominal'] else ''):<8} "
              f"{each['template'] or '':<16} {each['count']:3d} x {each['name']}")
    if found["slow"]:
        share = sum(each["us"] for each in found["slow"]) / roof["us"]
        print(f"    below half of the roof and over 1 % of the time: {len(found['slow'])} layers, {share:.0%} of the time", flush=True)


def summary(results):
    """The table for docs/performance.md."""
    print(f"\n| network | threads | Baton ms | best peer ms | ratio | bar | | scaling; the peer's |\n|{'---|' * 8}")
    for name, found in results["networks"].items():
        for row in found["rows"]:
            scaling = "; ".join(f"{row['scaling'][who]:.2f}" for who in ("baton", row["best"])) if "scaling" in row else ""
            print(f"| {name} | {row['threads']} | {row['baton_ms']:.3f} | {row['peers_ms'][row['best']]:.3f} ({row['best']}) | "
                  f"{row['ratio']:.2f} | {row['bar'] or ''} | {row['verdict']} | {scaling}{'' if row.get('scales', True) else ' MISSED'} |")


if __name__ == "__main__":
    sys.exit(main())
