"""The goldens of tests/reference, through the Python interface: what passed once must pass for ever.

goldens_baseline.json names, by category, what fails yet and how many pass.

AGAIN: BATON_UPDATE_GOLDENS=1 python -m pytest tests/python/test_goldens.py   (writes the baseline anew)
"""
import json
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCE = os.path.join(HERE, "..", "reference")
BASELINE = os.path.join(HERE, "goldens_baseline.json")
CATEGORIES = ("text", "text_errors", "passes", "ops", "build")
SHARDS = 2


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """{category: {"passed", "exact", "failed": [ids]}}"""
    folder = tmp_path_factory.mktemp("goldens")
    runs = []
    for shard in range(SHARDS):
        for category in CATEGORIES:
            out = folder / f"{category}{shard}.json"
            runs.append((category, out, [sys.executable, os.path.join(REFERENCE, "check", "check_goldens.py"), "--dir", REFERENCE,
                                         "--cat", category, "--shard", f"{shard}/{SHARDS}", "--show", "0", "--json", str(out)]))
    found = {category: {"passed": 0, "exact": 0, "failed": []} for category in CATEGORIES}
    for begin in range(0, len(CATEGORIES)):  # both shards of a category at a time
        pair = runs[begin::len(CATEGORIES)]
        children = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _, _, command in pair]
        for child, (category, out, _) in zip(children, pair):
            output, _ = child.communicate()
            assert child.returncode == 0 and out.exists(), output
            report = json.loads(out.read_text())
            found[category]["passed"] += report["score"][category][0]
            found[category]["exact"] += report["exact"][category + ".exact"][0]
            found[category]["failed"] += [each[0] for each in report["fails"] if each[1] == "FAIL"]
    return found


def test_no_golden_is_lost(results, capsys):
    if os.environ.get("BATON_UPDATE_GOLDENS"):
        with open(BASELINE, "w", encoding="utf-8") as file:
            json.dump({category: {**each, "failed": sorted(each["failed"])} for category, each in results.items()}, file, indent=0)
            file.write("\n")
    with open(BASELINE, encoding="utf-8") as file:
        baseline = json.load(file)
    with capsys.disabled():
        print()
        for category, each in results.items():
            total = each["passed"] + len(each["failed"])
            print(f"   goldens {category}: {each['passed']} of {total} pass ({baseline[category]['passed']} in the baseline), "
                  f"{each['exact']} character for character")
    lost = {category: sorted(set(each["failed"]) - set(baseline[category]["failed"])) for category, each in results.items()}
    assert not any(lost.values()), f"goldens that passed before: { {category: ids[:20] for category, ids in lost.items() if ids} }"
