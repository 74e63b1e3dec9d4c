"""What `baton map` wrote, run afterwards beside each single backend: by a clock that took no part in the choice, in another process."""
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

os.environ["BATON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
ROUNDS, BURST_S = 12, 0.04


def backends_alone(program, model, mapping, backends, folder):
    """{name: artifact} of the model on each backend alone, with the processor for what it does not take."""
    made = {}
    for backend in backends:
        alone = {**mapping, "operators": [{key: value for key, value in each.items() if key != "variant"} | {"backend": each["backend"] and backend}
                                          for each in mapping["operators"]]}
        path = pathlib.Path(folder) / f"{backend}.json"
        path.write_text(json.dumps(alone), encoding="utf-8")
        made[backend] = path.with_suffix(".baton")
        subprocess.run([program, "build", *model, "--mapping", str(path), "-o", str(made[backend])], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return made


def seconds_in_turn(artifacts):
    """{name: seconds of a run by each round}: CPU time of one thread, which other programs do not lengthen, by executors of their own."""
    import baton as tvm
    from baton.contrib import graph_executor

    libraries = {name: tvm.runtime.load_module(path) for name, path in artifacts.items()}
    seconds = {name: [] for name in artifacts}
    for turn in range(ROUNDS):
        for name in sorted(artifacts, reverse=turn % 2 == 1):
            model = graph_executor.GraphModule(libraries[name]["default"](tvm.cpu(0)))
            model.threads = 1
            model.run()
            begin = time.process_time()
            model.run()
            count = max(1, math.ceil(BURST_S / max(time.process_time() - begin, 1e-6)))
            begin = time.process_time()
            for _ in range(count):
                model.run()
            seconds[name].append((time.process_time() - begin) / count)
    return seconds


def speed_up_of(artifact, alone):
    """(times that the best single backend takes, half of its 95 % interval, that backend)."""
    seconds = seconds_in_turn({"": artifact, **alone})
    found = []
    for name in alone:
        ratios = [single / kept for single, kept in zip(seconds[name], seconds[""])]
        half = 2.2 * 1.25 * statistics.stdev(ratios) / math.sqrt(len(ratios))  # Student's t of twelve, of a median
        found.append((statistics.median(ratios), half, name))
    return min(found)


def main():
    """In a process of its own: words are the artifact and NAME=ARTIFACT of each single backend; JSON on standard output."""
    artifact, *alone = sys.argv[1:]
    print(json.dumps(speed_up_of(artifact, dict(word.split("=", 1) for word in alone))))


def run(artifact, alone):
    done = subprocess.run([sys.executable, __file__, str(artifact), *(f"{name}={path}" for name, path in alone.items())], check=True,
                          stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
