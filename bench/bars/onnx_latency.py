"""Bar of the importer: a network that was read from an ONNX file is within 3 % of the same network as Relay text. Prints "bar,
measured, ok"; 1 when one is missed.

    python3 bench/bars/onnx_latency.py [--networks resnet-18,bert-4] [--rounds 4]

One thread; both in turn, each in a process of its own; the fastest run of all rounds counts. The ONNX file is what
bench/peers/relay_to_onnx.py makes of the text. A network above the bar is measured twice as long before it is called missed.
"""
import argparse
import pathlib
import sys
import tempfile

import numpy as np
from ieee_floats import ROOT, compare, fastest

BAR = 1.03


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=lambda text: text.split(","), default=[])
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "bench" / "compare"), str(ROOT / "bench" / "peers")]
    import environment

    environment.become_ready()
    import networks
    import relay_to_onnx

    missed = 0
    for name in options.networks or networks.NETWORKS:
        network = networks.NETWORKS[name]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            made = network.write(folder)
            params, file = dict(np.load(folder / f"{name}.npz")), folder / f"{name}.onnx"
            if not network.onnx:
                file.write_bytes(relay_to_onnx.convert((folder / f"{name}.relay").read_text(encoding="utf-8"), params))
            relay, imported = compare(lambda: fastest(ROOT, [*made["model"], *made["input"]], folder / "cache"),
                                      lambda: fastest(ROOT, [str(file), *made["input"]], folder / "cache"), BAR, options.rounds)
        ok = imported <= BAR * relay
        missed += not ok
        print(f"{name:<18} bar <= {BAR}  Relay {relay:10.1f} us  ONNX {imported:10.1f} us  measured {imported / relay:.4f}  "
              f"{'ok' if ok else 'MISSED'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
