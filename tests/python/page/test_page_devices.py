"""The page of a profile on several devices, and of one that compares backends."""
import copy

from page_steps import SMALL, rows, tab


def on_two_devices():
    profile = copy.deepcopy(SMALL)
    for kernel in profile["kernels"][1:3]:
        kernel["target"] = "opencl"
    moved = profile["kernels"][3]
    moved.update(func_name="__copy", target="llvm")
    return profile, moved


def test_a_lane_per_device_and_one_for_copies(show):
    profile, moved = on_two_devices()
    page = show(profile, fragment="#view=devices")
    assert page.eval("document.querySelectorAll('svg.lanes line.lane').length") == 3
    assert page.eval("document.querySelectorAll('svg.lanes rect').length") == len(profile["kernels"])
    assert page.eval("[...document.querySelectorAll('.memory-facts dt')].map(each => each.textContent)") == ["llvm", "opencl", "copies"]
    colour = "getComputedStyle(document.querySelector(\"svg.lanes rect[data-kernel='%d']\")).fill"
    assert page.eval(colour % moved["node"]) != page.eval(colour % profile["kernels"][0]["node"])
    page.eval(f"document.querySelector(\"svg.lanes rect[data-kernel='{moved['node']}']\").dispatchEvent(new MouseEvent('click'))")
    assert rows(page, "kernels", ".selected") == [moved["node"]]


def test_one_device_has_no_lanes(show):
    page = show(SMALL)
    assert page.eval("document.querySelector('[data-tab=devices]')") is None
    assert page.eval("document.querySelector('[data-tab=comparison]')") is None


def compared():
    profile = copy.deepcopy(SMALL)
    node = profile["kernels"][0]["node"]

    def row(backend, verdict, total, why=""):
        return {"backend": backend, "verdict": verdict, "why": why, "kernels_us": total, "copies_us": 0, "layouts_us": 0, "total_us": total, "run_us": total,
                "rounds_us": [total] * 3, "interval_us": 1, "copied_bytes": 0, "kernels": 1, "largest_difference": 0}

    functions = [{"node": node, "nodes": [node], "func_name": "f", "title": "first <b>", "backend": "llvm", "origins": [0], "made_for": [], "own_us": 10,
                  "rounds_us": [10] * 3, "others": [row("dnnl", "faster", 5), row("opencl", "not taken", 0, "it says no")]},
                 {"node": profile["kernels"][1]["node"], "nodes": [profile["kernels"][1]["node"]], "func_name": "g", "title": "second", "backend": "llvm",
                  "origins": [], "made_for": [0], "own_us": 3, "rounds_us": [], "why": "the compiler added it", "others": []}]
    profile["comparison"] = {"base": "llvm", "others": ["dnnl", "opencl"], "base_us": 13, "best_us": 8, "notes": [], "functions": functions}
    return profile


def test_the_table_of_backends(show):
    profile = compared()
    page = show(profile)
    tab(page, "comparison")
    text = page.eval("document.querySelector('[data-grid=comparison]').textContent")
    assert "first <b>" in text and "0.50×" in text and "not taken" in text and "the compiler added it" in text
    assert page.eval("document.querySelector('[data-grid=comparison] .faster').textContent") == "0.50×"
    page.click_on("[data-grid=comparison] tbody tr[data-index='0']")
    assert page.eval("location.hash").startswith(f"#kernel={profile['kernels'][0]['node']}")
