"""Bars of a profile's HTML page, in Chromium: how large it is, how fast it opens and answers. Prints "bar, measured, ok"; 1
when one is missed. `PYTHONPATH=python:build/release/python python bench/bars/page.py`"""
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python" / "page"))

import page_browser  # noqa: E402
import page_profiles  # noqa: E402
from baton._load import core  # noqa: E402

missed = []

# Draws `count` frames of the graph, each at another place, and gives the mean time of one.
FRAMES = """(count => { const graph = baton.graphs[0], begin = performance.now();
  for (let i = 0; i < count; ++i) { graph.view = {...graph.view, x: graph.view.x + (i % 2 ? 3 : -3)}; graph.paintNow(); }
  graph.ctx.getImageData(0, 0, 1, 1);  // until it is really drawn
  return (performance.now() - begin) / count; })(20)"""


def report(what, most, measured, unit):
    """A measured value that must not be larger than `most`."""
    ok = measured <= most
    missed.extend([] if ok else [what])
    print(f"{what:<62} bar <= {most:<8g} {unit:<5} measured {measured:9.2f}  {'ok' if ok else 'MISSED'}", flush=True)


def time_of(page, script):
    return page.eval(f"(() => {{ const begin = performance.now(); {script}; return performance.now() - begin; }})()")


def main():
    if not page_browser.program():
        print("Chromium is not installed: apt-get install chromium-headless-shell")
        return 1
    profile = page_profiles.net(3000)
    with page_browser.Browser() as browser, tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "page.html"
        path.write_text(core.profile_page(json.dumps(profile)), encoding="utf-8")
        name = f"{len(profile['operators'])} operators, {len(profile['kernels'])} kernels"
        report(f"{name}: size", 10, path.stat().st_size / 1e6, "MB")
        opened = []
        for _ in range(5):  # one after the other: a tab that is hidden draws nothing
            if opened:
                page.close()
            page = browser.page(path)
            opened.append(float(page.eval("document.documentElement.dataset.ready")))
        report(f"{name}: opened and drawn, median of 5", 2000, sorted(opened)[2], "ms")
        report("a frame of the graph, all of it", 33, page.eval(FRAMES), "ms")
        page.eval("baton.state.select('op', 1500); baton.graphs[0].approach(); 0")
        page.settle()
        report("a frame of the graph, near", 33, page.eval(FRAMES), "ms")
        report("a selection, everywhere", 100, time_of(page, "baton.state.select('kernel', baton.model.kernels[700].node)"), "ms")
        report("sorting the operators", 100, time_of(page, "baton.state.show({table: 'operators'}); document.querySelector('th.c-inside button').click()"), "ms")
        report("the treemap", 300, time_of(page, "baton.state.show({picture: 'treemap'})"), "ms")
        report("the roofline", 300, time_of(page, "baton.state.show({picture: 'roofline'})"), "ms")
        for line in page.complaints():
            missed.append(line)
            print("complaint:", line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
