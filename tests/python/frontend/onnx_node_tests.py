"""The node tests of the wheel `onnx`, through Baton: `./baton test --onnx` runs all of them.

    python tests/python/frontend/onnx_node_tests.py [--filter RE] [--tenth] [--update]

Prints what fails and why, and the counts. --update writes the exceptions: what passes is left out, what fails is there with its error as
the reason, until someone writes a better one. The exit status is 1 where a test of plain numbers fails that onnx_node_exceptions.txt, which
says why, does not name.
"""
import argparse
import collections
import os
import re
import sys
import time
import warnings
import zlib

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

PLAIN = {"float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"}
EXCEPTIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx_node_exceptions.txt")

Outcome = collections.namedtuple("Outcome", "kind why", defaults=("",))  # kind: "passed", "failed", "refused" or "other"


class OfOtherType(Exception):
    """A value that is no tensor of plain numbers."""


def load():
    with warnings.catch_warnings():  # the tests' data have divisions by 0
        warnings.simplefilter("ignore")
        return load_model_tests(kind="node")


def tenth(cases):
    """The same tests on each machine; a group of them on all that have a name like theirs."""
    return [case for case in cases if zlib.crc32(case.name.encode()) % 10 == 0]


def exceptions():
    """By the name of a test, why it is not passed."""
    with open(EXCEPTIONS, encoding="utf-8") as file:
        return dict(line.strip().split(": ", 1) for line in file if line.strip() and not line.startswith("#"))


def outcome(case):
    """How one test ends."""
    try:
        inputs, outputs = ([_plain(value) for value in values] for values in case.data_sets[0])
    except OfOtherType as other:
        return Outcome("other", str(other))
    try:
        module = _imported(case, inputs)
    except NotImplementedError as why:
        return Outcome("refused", _one_line(why))
    except Exception as why:  # pylint: disable=broad-exception-caught
        return Outcome("failed", "import: " + _one_line(why))
    try:
        got = _results(module, inputs)
    except Exception as why:  # pylint: disable=broad-exception-caught
        return Outcome("failed", "run: " + _one_line(why))
    why = _difference(got, outputs, case)
    return Outcome("failed", why) if why else Outcome("passed")


def _plain(value):
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    if value is None or isinstance(value, (list, tuple, dict)):
        raise OfOtherType("a sequence, map or optional")
    value = np.asarray(value)
    if value.dtype.name not in PLAIN:
        raise OfOtherType(value.dtype.name if value.dtype.kind not in "OUS" else "texts")
    return value


def _imported(case, inputs):
    from baton._load import core

    initialized = {each.name for each in case.model.graph.initializer}
    names = [each.name for each in case.model.graph.input]
    real = [name for name in names if name not in initialized]
    shapes = {name: list(value.shape) for name, value in zip(real if len(real) == len(inputs) else names, inputs)}
    return core.import_onnx_bytes(case.model.SerializeToString(), case.name, shapes)[0]


def _results(module, inputs):
    import baton
    from baton import relay

    arguments = [_bfloat16(each) if each.dtype.name == "bfloat16" else baton.nd.array(each) for each in inputs]
    with baton.transform.PassContext(opt_level=0):
        return _tensors(relay.create_executor("debug", module, baton.cpu(), "llvm").evaluate()(*arguments))


def _bfloat16(array):
    from baton.runtime import ndarray

    return ndarray._bfloat16(array.view("uint16"))  # pylint: disable=protected-access


def _tensors(value):
    if hasattr(value, "numpy"):
        array = value.numpy()
        if value.dtype == "bfloat16":
            import ml_dtypes

            array = array.view(ml_dtypes.bfloat16)
        return [array]
    return [part for each in value for part in _tensors(each)]


def _difference(got, wanted, case):
    if len(got) != len(wanted):
        return f"{len(got)} results, not {len(wanted)}"
    for i, (one, other) in enumerate(zip(got, wanted)):
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            return f"result {i} is {one.dtype}{list(one.shape)}, not {other.dtype}{list(other.shape)}"
        one, other = one.astype("float64"), other.astype("float64")
        if not np.allclose(one, other, rtol=case.rtol, atol=case.atol, equal_nan=True):
            with np.errstate(invalid="ignore"):
                return f"result {i} differs by {np.nanmax(np.abs(one - other))}"
    return ""


def _one_line(why):
    return " | ".join(str(why).splitlines()[:3])[:200]


def unexpected(cases, show=None):
    """What fails and may not: names with reasons. `show(name, outcome)` is called for each test that is not passed."""
    known, wrong = exceptions(), {}
    for case in cases:
        ended = outcome(case)
        if ended.kind != "passed" and show:
            show(case.name, ended)
        if ended.kind in ("failed", "refused") and case.name not in known:
            wrong[case.name] = ended.why
    return wrong


def write_exceptions(reasons):
    with open(EXCEPTIONS, encoding="utf-8") as file:
        head = [line for line in file if line.startswith("#")]
    with open(EXCEPTIONS, "w", encoding="utf-8") as file:
        file.writelines(head + [f"{name}: {why}\n" for name, why in sorted(reasons.items())])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tenth", action="store_true", help="only those that the Python tests run")
    parser.add_argument("--update", action="store_true", help="write the exceptions")
    parser.add_argument("--filter", metavar="RE", default="", help="only tests whose name matches this regular expression")
    options = parser.parse_args()
    begun = time.monotonic()
    cases = [case for case in (tenth(load()) if options.tenth else load()) if re.search(options.filter, case.name)]
    counts, known = collections.Counter(), exceptions()

    def show(name, ended):
        counts[ended.kind] += 1
        print(f"{ended.kind:8} {name}: {ended.why}{'; known: ' + known[name] if name in known else ''}", flush=True)

    ended_badly = {}
    wrong = unexpected(cases, lambda name, ended: (show(name, ended), ended_badly.setdefault(name, ended)))
    if options.update:
        kept = {name: why for name, why in known.items() if name not in {case.name for case in cases}}
        write_exceptions({**kept, **{name: known.get(name, ended.why) for name, ended in ended_badly.items() if ended.kind != "other"}})
    passed = len(cases) - sum(counts.values())
    print(f"{len(cases)} node tests: {passed} passed, {counts['failed']} failed, {counts['refused']} refused, {counts['other']} of other types; "
          f"{len(wrong)} of those are not in {os.path.basename(EXCEPTIONS)} ({time.monotonic() - begun:.0f} s)")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
