"""The program with its times, memory over a run, percentiles, and details on a narrow window."""
import copy

import page_steps


def profile():
    """A small net with its text, memory, and one operator of a Python file."""
    report = copy.deepcopy(page_steps.SMALL)
    lines = ["#[version = \"0.0.5\"]", "def @main(%data: Tensor[(1), float32]) {"]
    lines += [f"  %{each['id']} = {each['op']}(%x);" for each in report["operators"]]
    report["sources"] = [{"file": "", "text": "\n".join(lines) + "\n"}, {"file": "/net.py", "text": "x = 1\ny = relay.nn.relu(x)\n"}]
    report["operators"][-1].update(file="/net.py", line=2)
    report["memory"] = {"constants_bytes": 2e6, "inputs_bytes": 4e3, "workspace_bytes": 3e6, "peak_bytes": 2.5e6}
    for i, kernel in enumerate(report["kernels"]):
        kernel.update(live_bytes=1e6 + i, result_bytes=5e5, title=f"kernel number {i}")
    return report


def test_times_stand_beside_their_lines(show):
    report = profile()
    page = show(report)
    page_steps.tab(page, "source")
    page.settle()
    rows = page.eval("[...document.querySelectorAll('.source .line.has-ops')].map(row => [row.dataset.line, row.querySelector('.time').innerText])")
    assert len(rows) == len({(each.get("file"), each["line"]) for each in report["operators"]})
    timed = page_steps.operator(report, next(each["op"] for each in report["operators"] if each["inside_us"]))
    assert next(time for line, time in rows if int(line) == timed["line"]) != ""
    page.eval(f"[...document.querySelectorAll('.source .line')].find(row => row.dataset.line == '{timed['line']}').click()")
    page.settle()
    assert page_steps.selection(page) == ["op", timed["id"]]
    assert page.eval("document.querySelectorAll('.source .line.selected').length") == 1
    assert "/net.py" in page.eval("document.querySelector('.source').innerText")


def test_a_line_of_python_is_named(show):
    report = profile()
    page = show(report)
    page.eval(f"baton.state.select('op', {report['operators'][-1]['id']})")
    page.settle()
    assert "/net.py:2" in page_steps.details(page)


def test_memory_and_percentiles(show):
    page = show(profile())
    page_steps.tab(page, "memory")
    page.settle()
    bars = page.eval("document.querySelectorAll('.memory-chart rect').length")
    assert bars == len(page_steps.SMALL["kernels"])
    page.eval("document.querySelector('.memory-chart rect').dispatchEvent(new MouseEvent('click'))")
    page.settle()
    text = page_steps.details(page)
    assert "kernel number 0" in text and "p50" in page.eval("document.getElementById('details').innerHTML")
    assert "runs per second" in page.eval("document.getElementById('facts').innerText")


def test_without_sources_and_memory_their_tabs_are_missing(show):
    page = show(page_steps.SMALL)
    assert page.eval("document.querySelectorAll('[data-tab=source], [data-tab=memory]').length") == 0


def test_on_a_narrow_window_the_details_come_into_view(show):
    page = show(profile(), width=600, height=800)
    assert page.eval("document.getElementById('details').getBoundingClientRect().top") > 800
    page.eval("baton.state.select('kernel', baton.model.kernels[0].node)")
    page.settle()
    assert page.eval("document.getElementById('details').getBoundingClientRect().top") < 400
