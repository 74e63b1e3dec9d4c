"""What building the networks of bench/networks takes: time from an empty kernel cache and from a full one, and memory beside
ONNX Runtime.

    python3 bench/compare/run_builds.py [--networks resnet-18,bert-12] [--repeat 3] [--output FILE.json]

Seconds are those that `baton build` reports, the least of several calls; CPU seconds are those of the whole process. Memory is
the most that a Python process held (with numpy and its copy of the weights) that builds the network, or loads its ONNX file,
and runs it once; "loaded": of `baton run` with the built file. All with two threads. Prints "bar, measured, ok"; status 1 when
a bar is missed. Ctrl-C ends it; what was measured is in FILE.json (build/bench/builds.json).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import environment

THREADS = "2"
COLD_BARS = {"resnet-18": 1.5, "resnet-18-v1": 1.5, "densenet-121": 5.0, "vgg-11": 2.5, "bert-12": 2.5}
CACHED_BARS = {"resnet-18": 0.15, "resnet-18-v1": 0.15, "vgg-11": 0.8, "bert-12": 0.3}
KERNEL_BAR = 1.0
MEMORY_BAR, LOADED_BAR = 1.2, 1.0  # of ONNX Runtime's


def main():
    options = parse()
    environment.become_ready()
    import networks

    unknown = [name for name in options.networks if name not in networks.NETWORKS]
    if unknown:
        sys.exit(f"no network is called {', '.join(unknown)}\n  known: {' '.join(networks.NETWORKS)}")
    results, holds = {**environment.about(), "networks": {}}, True
    with environment.interruptible(options.output, results):
        for name in options.networks or networks.NETWORKS:
            try:
                with tempfile.TemporaryDirectory(prefix="baton-builds-") as folder:
                    results["networks"][name] = measure(networks.NETWORKS[name], folder, options.repeat)
                holds &= report(name, results["networks"][name])
            except environment.Failed as error:
                holds = False
                print(f"{name}: not measured: {error}", flush=True)
            environment.write(options.output, results)
    print(f"wrote {options.output}")
    return 0 if holds else 1


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=lambda text: [each for each in text.split(",") if each], default=[])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--output", default=str(environment.ROOT / "build" / "bench" / "builds.json"))
    return parser.parse_args()


def measure(network, folder, repeat):
    import numpy as np
    import relay_to_onnx

    files, params = network.write(folder), os.path.join(folder, network.name + ".npz")
    relay, built = os.path.join(folder, network.name + ".relay"), os.path.join(folder, "built.baton")
    inputs, onnx = os.path.join(folder, "inputs.npz"), os.path.join(folder, "model.onnx")
    np.savez(inputs, data=np.load(os.path.join(files["input"][1], "data.npy")))
    if files["onnx"]:
        onnx = files["onnx"][1]
    else:
        with open(relay, encoding="utf-8") as source, open(onnx, "wb") as file:
            file.write(relay_to_onnx.convert(source.read(), dict(np.load(params))))

    cold, cached = [], []
    for index in range(repeat):
        cache = {"BATON_CACHE_DIR": os.path.join(folder, f"cache{index}")}
        for times in (cold, cached):
            output, cpu, _ = child([os.environ["BATON_PROGRAM"], "build", *files["model"], "-o", built, "--json"], cache)
            report = json.loads(output)
            times.append({"seconds": report["total_s"], "cpu": cpu, "kernels": report["kernels"],
                          "slowest": report["slowest_kernel"]})
    peers = str(environment.ROOT / "bench" / "peers")
    memory = {}
    for name, script, last in (("baton", "run_python.py", []), ("ort", "run_ort.py", [onnx])):
        command = [sys.executable, os.path.join(peers, script), relay, params, inputs, THREADS, *last]
        memory[name] = child(command, cache)[2]
    memory["loaded"] = child([os.environ["BATON_PROGRAM"], "run", built, "--inputs", inputs, "--threads", THREADS], cache)[2]
    least = lambda times: min(times, key=lambda each: each["seconds"])  # noqa: E731
    return {"cold": least(cold), "cached": least(cached), "artifact_mb": os.path.getsize(built) / 2**20, "memory_mb": memory}


# Starts a command and says what it used. The system counts what a process held before it became the command, too, so a small
# process has to start it, not this one with its arrays.
STARTER = """
import json, os, sys
process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(process, 0)
with open(sys.argv[1], "w") as file:
    json.dump({"status": os.waitstatus_to_exitcode(status), "cpu": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss / 1024}, file)
"""


def child(command, more):
    """(standard output, CPU seconds, most memory in MB) of a process."""
    with tempfile.NamedTemporaryFile() as used:
        done = subprocess.run([sys.executable, "-I", "-S", "-c", STARTER, used.name, *command], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              env={**os.environ, **more}, check=False)
        found = json.loads(used.read() or '{"status": "not started"}')
    if done.returncode != 0 or found["status"] != 0:
        raise environment.Failed(f"{' '.join(command)}: status {found['status']}")
    return done.stdout.decode(), found["cpu"], found["mb"]


def report(name, found):
    """Prints a row for each number; whether all bars hold."""
    ort, ours, loaded = (found["memory_mb"][name] for name in ("ort", "baton", "loaded"))
    cold, cached = found["cold"], found["cached"]
    rows = [(f"build, empty cache ({cold['cpu']:.1f} CPU s, {cold['kernels']} kernels)", "s", cold["seconds"], COLD_BARS.get(name)),
            (f"slowest kernel ({cold['slowest']['func_name'][-30:]})", "s", cold["slowest"]["seconds"], KERNEL_BAR),
            (f"build, full cache ({cached['cpu']:.1f} CPU s)", "s", cached["seconds"], CACHED_BARS.get(name)),
            (f"memory, built and run ({ours:.0f} MB; ONNX Runtime {ort:.0f})", "x", ours / ort, MEMORY_BAR),
            (f"memory, loaded and run ({loaded:.0f} MB; file {found['artifact_mb']:.0f})", "x", loaded / ort, LOADED_BAR)]
    for what, unit, measured, bar in rows:
        verdict = "" if bar is None else "ok" if measured <= bar else "MISSED"
        print(f"{name:<16} {what:<58} {'' if bar is None else f'bar <= {bar:g} {unit}':<14} measured {measured:8.3f} {unit}  {verdict}", flush=True)
    return all(bar is None or measured <= bar for _, _, measured, bar in rows)


if __name__ == "__main__":
    sys.exit(main())
