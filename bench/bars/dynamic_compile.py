"""What a build for any batch or length takes beside one for a number. Prints "bar, measured, ok"; 1 when one is missed.

    ./baton python bench/bars/dynamic_compile.py [--networks mlp,bert-4] [--rounds 3] [--program build/release/baton]

CPU seconds of whole `baton build` processes with two threads and an empty kernel cache, both forms of a network in turn, the
least of several rounds. Where a build is short, its start, the link and the file are a part of it.
"""
import argparse
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BAR = 1.3


def networks():
    """{name: build} of networks whose first axis may be any batch; of BERT, its length."""
    from networks import NETWORKS, bert, testing

    images = ("resnet-18", "vgg-11", "mobilenet", "mobilenet-v2", "squeezenet-1.1", "densenet-121", "inception-v3", "dcgan", "mlp")
    made = {name: NETWORKS[name].build for name in images}
    made["dqn"] = testing.workload("dqn", batch_size=1)
    made["bert-4"] = bert.encoder(4)
    return made


def of_any_extent(name, text):
    """The Relay text of a network for any batch; for any length of BERT's."""
    text = re.sub(r"(?m)^(def @main\(.*\)) -> Tensor\[.*\] \{$", r"\1 {", text)
    if not name.startswith("bert"):
        return re.sub(r"(def @main\(%\w+: Tensor\[\()1,", r"\1?,", text)
    text = re.sub(r"(def @main\(%\w+: Tensor\[\(1, )128,", r"\1?,", text)
    # The same reshapes without the number: codes of relay.reshape.
    codes = {"128, 768": "-3, -2", "128, 3072": "-3, -2", "1, 128, 768": "-4, 1, -1, -2", "1, 128, 3072": "-4, 1, -1, -2",
             "1, 128, 12, 64": "0, 0, 12, 64", "12, 128, 64": "-3, -2", "12, 128, 128": "-3, -2", "1, 12, 128, 128": "-4, 1, 12, -2",
             "1, 12, 128, 64": "-4, 1, 12, -2"}
    for shape, code in codes.items():
        text = text.replace(f"newshape=[{shape}]", f"newshape=[{code}]")
    # The merged heads: two axes become one again.
    text = re.sub(r"(transpose\(.*axes=\[0, 2, 1, 3\]\)[^\n]*\n[^\n]*newshape=\[)-4, 1, -1, -2\]", r"\g<1>0, 0, -3]", text)
    return re.sub(r"strided_slice\((%\d+), begin=\[0, 0, 0\], end=\[1, 1, 768\][^)]*\)", r"take(\1, 0, axis=1)", text)


def cpu_seconds(command, cache):
    """CPU seconds of a process, with its children."""
    env = {**os.environ, "BATON_CACHE_DIR": cache, "BATON_NUM_THREADS": "2"}
    process = os.posix_spawnp(command[0], command, env, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(process, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)}: status {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime


def measure(name, build, rounds, program, folder):
    import numpy as np

    module, params = build()
    text, forms, least = module.astext(show_meta_data=False), {}, {}
    weights = os.path.join(folder, f"{name}.npz")
    np.savez(weights, **params)
    for form, of in (("static", text), ("dynamic", of_any_extent(name, text))):
        forms[form] = os.path.join(folder, f"{name}-{form}.relay")
        pathlib.Path(forms[form]).write_text(of, encoding="utf-8")
    for _ in range(rounds):
        for form, path in forms.items():
            with tempfile.TemporaryDirectory(prefix="baton-dynamic-") as cache:
                taken = cpu_seconds([program, "build", path, "--params", weights, "-o",
                                     os.path.join(cache, "built.baton")], cache)
            least[form] = min(least.get(form, taken), taken)
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=lambda text: [each for each in text.split(",") if each], default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--program", default=os.environ.get("BATON_PROGRAM", str(ROOT / "build" / "release" / "baton")))
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "bench"))
    known, missed = networks(), []
    unknown = [name for name in options.networks if name not in known]
    if unknown:
        sys.exit(f"no network is called {', '.join(unknown)}\n  known: {' '.join(known)}")
    with tempfile.TemporaryDirectory(prefix="baton-dynamic-") as folder:
        for name in options.networks or known:
            least = measure(name, known[name], options.rounds, options.program, folder)
            ratio = least["dynamic"] / least["static"]
            missed += [name] if ratio > BAR else []
            print(f"{name + ', any extent, against a number':<48} bar <= {BAR:g}x measured {ratio:5.2f}x  "
                  f"{'ok' if ratio <= BAR else 'MISSED'} ({least['dynamic']:.2f} s, {least['static']:.2f} s)", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
