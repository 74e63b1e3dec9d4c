"""What lies between the kernels of a program of the virtual machine, and the page of curves."""
import copy
import os
import subprocess

import page_steps

PROGRAM = {"parts": [{"name": "shape code", "us": 2}, {"name": "control", "us": 5.5}], "instructions": 151, "pieces": 22,
           "loops": [{"function": "loop", "line": 2, "entries": 3, "iterations": 20, "us": 40, "us_per_iteration": 2}],
           "branches": [{"function": "loop", "what": "if", "line": 3, "taken": 1, "not_taken": 20, "taken_us": 0.05, "not_taken_us": 38}]}
OPEN = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 16), float32], %w: Tensor[(32, 16), float32]) { nn.softmax(nn.dense(%x, %w, units=32)) }
"""


def cells(page, column):
    return page.eval(f"[...document.querySelectorAll('#table [data-grid=program] tbody tr')].filter(row => row.children.length > 1).map(row => row.children[{column}].textContent)")


def test_parts_loops_and_branches(show):
    profile = copy.deepcopy(page_steps.SMALL)
    profile["program"], profile["inputs"] = PROGRAM, [{"name": "x", "type": "float32[5, 64]"}]
    profile["kernels"][0]["calls"] = 20
    page = show(profile, fragment="#table=program")
    assert cells(page, 0) == ["control", "shape code", "@loop, line 2 entered 3 times", "if, line 3 in @loop: not taken", "if, line 3 in @loop: taken"]
    assert cells(page, 2) == ["151 instructions", "", "20 turns", "20 times", "1 times"]
    assert cells(page, 4)[0] == "5.50" and cells(page, 3)[2] == "2.00"
    assert "x float32[5, 64]" in page.eval("document.getElementById('facts').textContent")
    page_steps.tab(page, "kernels")
    assert "20" in page.eval("[...document.querySelectorAll('#table .c-calls, #table td')].map(cell => cell.textContent)")


def test_a_plan_has_no_control_flow(show):
    page = show(page_steps.SMALL, fragment="#table=program")
    assert "Control flow" not in page.eval("document.getElementById('table-tabs').textContent")
    assert "calls" not in page.eval("document.querySelector('#table thead').textContent")


def test_curves(open_page, tmp_path):
    (tmp_path / "open.relay").write_text(OPEN, encoding="utf-8")
    subprocess.run([os.environ["BATON_PROGRAM"], "profile", "open.relay", "--input-name", "x", "--shape", "x=1:64:x2,16", "--repeat", "4",
                    "--max-seconds", "1", "--no-peaks", "--threads", "1", "-o", "c.html"], cwd=tmp_path, check=True, capture_output=True, timeout=200)
    page = open_page((tmp_path / "c.html").read_text(encoding="utf-8"))
    names = "[...document.querySelectorAll('#table tbody td:first-child')].map(cell => cell.textContent)"
    lines = "document.querySelectorAll('#plot polyline').length"
    assert any("dense" in name for name in page.eval(names)) and page.eval(names)[-1] == "end to end"
    assert page.eval("document.querySelectorAll('#table thead th').length") == 1 + 7
    assert page.eval(lines) == len(page.eval(names))
    page.eval("(() => { const box = document.getElementById('search'); box.value = 'dense'; box.dispatchEvent(new Event('input')); })()")
    page.settle()
    assert page.eval(lines) == 2 and len(page.eval(names)) == 2
    page.click_on("#scales button[data-of=each]")
    assert "for each" in page.eval("document.querySelector('#table th').textContent")
    page.click_on("#table tbody tr")
    assert page.eval("document.querySelectorAll('#table tr.chosen').length") == 1
