"""The page of a profile on several devices, and of one that compares backends."""
import copy

import page_profiles
from page_steps import SMALL, details, rows, selection, tab

HOST, CARD, CHIP = ("llvm -mcpu=znver4", "cpu"), ("opencl", "opencl"), ("sim_npu", "sim_npu")


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


def in_turns(profile, *places, each=3):
    """`each` kernels in one place, then as many in the next."""
    return page_profiles.spread(profile, lambda i, kernel: places[i // each % len(places)])


def copies_of(profile):
    return [kernel for kernel in profile["kernels"] if kernel["func_name"] == "__copy"]


def texts(page, selector):
    return page.eval(f"[...document.querySelectorAll({selector!r})].map(each => each.textContent)")


def test_copies_are_edges_between_devices(show):
    profile = in_turns(page_profiles.net(60), HOST, CARD)
    out = [each for each in copies_of(profile) if each["device"] == "opencl"]
    back = [each for each in copies_of(profile) if each["device"] == "cpu"]
    assert len(out) > 1 and back
    page = show(profile, fragment="#view=devices")
    assert page.eval("[...document.querySelectorAll('[data-device]')].map(each => each.dataset.device)") == ["cpu", "opencl"]
    labels = dict(page.eval("[...document.querySelectorAll('.link-edge')].map(each => [each.dataset.link, each.getAttribute('aria-label')])"))
    assert set(labels) == {"cpu → opencl", "opencl → cpu"}
    size, us = sum(each["result_bytes"] for each in out), sum(each["median_us"] for each in out)
    assert f"{len(out)} copies, {size / 1e6:.1f} MB" in labels["cpu → opencl"] and f"{us / 1e3:.3f} ms, {size / us / 1e3:.2f} GB/s" in labels["cpu → opencl"]
    page.click_on(".link-edge[data-link='opencl → cpu'] text")
    assert len(texts(page, ".copies-of li")) == len(back) and page.eval("document.querySelector('.link-edge.selected').dataset.link") == "opencl → cpu"
    longest = max(back, key=lambda each: each["median_us"])
    first = profile["operators"][longest["made_for"][0]]
    assert f"{first['op']} line {first['line']}" in texts(page, ".copies-of li")[0]
    page.click_on(".copies-of li button")
    assert selection(page) == ["kernel", longest["node"]] and "opencl → cpu" in details(page)
    assert page.eval(f"document.querySelector(\"svg.lanes rect[data-kernel='{longest['node']}']\").classList.contains('selected')")
    assert rows(page, "kernels", ".selected") == [longest["node"]]


def test_copies_or_the_timeline_alone(show):
    page = show(in_turns(page_profiles.net(60), HOST, CARD), fragment="#view=devices")
    shown = "[document.querySelectorAll('.device-map svg').length, document.querySelectorAll('svg.lanes').length]"
    for key, both in (("copies", [1, 0]), ("timeline", [0, 1]), ("both", [1, 1])):
        page.click_on(f"[data-devices={key}]")
        assert page.eval(shown) == both
        assert page.eval("[...document.querySelectorAll('[data-devices][aria-pressed=true]')].map(each => each.dataset.devices)") == [key]


def test_an_edge_is_chosen_with_the_keyboard(show):
    page = show(in_turns(page_profiles.net(60), HOST, CARD), fragment="#view=devices")
    page.eval("document.querySelector('.link-edge').focus()")
    page.press("Enter", 13, "\r")
    assert page.eval("document.querySelector('.link-edge').getAttribute('aria-pressed')") == "true"
    page.press("Enter", 13, "\r")
    assert page.eval("document.querySelectorAll('.link-edge.selected').length") == 0


def test_the_graph_draws_copies_as_labelled_edges(show):
    profile = in_turns(page_profiles.net(30, seed=3), HOST, CARD)
    copy_of = copies_of(profile)[0]
    page = show(profile, height=1400)
    graph = "baton.graphs[0].boxes"
    assert page.eval(f"{graph}.copied.filter(Boolean).length") >= 2 * len(copies_of(profile))
    assert page.eval(f"{graph}.copied.length === {graph}.edges.length")
    place = page.eval(f"baton.placeOf('kernel', {copy_of['node']})")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=place["x"], y=place["y"])
    page.settle()
    tip = page.eval("document.getElementById('tip').innerText")
    first = profile["operators"][copy_of["made_for"][0]]
    assert "copy cpu → opencl" in tip and f"{copy_of['result_bytes'] / 1e6:.2f} MB" in tip and f"{first['op']} line {first['line']}" in tip
    page.click(place["x"], place["y"])
    assert selection(page) == ["kernel", copy_of["node"]]
    assert "copy" in texts(page, ".legend span") and "opencl" in texts(page, ".legend span")


def test_one_device_has_no_copies_in_its_graph(show):
    page = show(SMALL)
    assert page.eval("baton.graphs[0].boxes.copied.some(Boolean)") is False and "copy" not in texts(page, ".legend span")


def test_three_devices_of_which_one_is_simulated(show):
    profile = in_turns(page_profiles.net(120), HOST, ("dnnl", "cpu"), CARD, CHIP)
    for kernel in profile["kernels"]:
        if kernel["target"] == "sim_npu":
            kernel["simulated"] = "sim_npu"
    page = show(profile, fragment="#view=devices")
    boxes = page.eval("[...document.querySelectorAll('[data-device]')].map(each => [each.dataset.device, each.textContent])")
    assert [name for name, _ in boxes] == ["cpu", "opencl", "sim_npu"] and "dnnl" in boxes[0][1] and "(simulated)" in boxes[2][1]
    known = {(each["copied_from"], each["device"]) for each in copies_of(profile)}
    assert {tuple(each.split(" → ")) for each in page.eval("[...document.querySelectorAll('.link-edge')].map(each => each.dataset.link)")} == known
    assert any("simulated" in text for text in texts(page, ".memory-facts dd"))


def test_hundreds_of_copies_keep_within_the_view(show):
    profile = in_turns(page_profiles.net(700), HOST, CARD, each=1)
    assert len(copies_of(profile)) > 150
    page = show(profile, fragment="#view=devices")
    page.click_on(".link-edge text")
    assert len(texts(page, ".copies-of li")) > 50
    assert page.eval("document.querySelector('.copies-of ul').clientHeight") <= 220
    assert page.eval("document.documentElement.scrollWidth <= innerWidth")


def test_times_from_beside_other_programs_have_lengths(show):
    profile = in_turns(page_profiles.net(60), HOST, CARD)
    for kernel in profile["kernels"]:
        kernel["under_load"] = "1.2 of 2 processors busy elsewhere"
    page = show(profile, fragment="#view=devices")
    said = " ".join(texts(page, ".memory-facts dd") + texts(page, ".device-map svg text"))
    assert "unreliable" not in said and "GB/s" in said


def test_a_report_that_does_not_say_devices(show):
    profile = in_turns(page_profiles.net(60), HOST, CARD)
    for kernel in profile["kernels"]:
        del kernel["device"]
        kernel.pop("copied_from", None)
    page = show(profile, fragment="#view=devices")
    links = "[...document.querySelectorAll('.link-edge')].map(each => each.dataset.link)"
    assert page.eval(links) == ["llvm → opencl", "opencl → llvm"]
    copies_of(profile)[0]["inputs"] = []  # of an input of the model
    page = show(profile, fragment="#view=devices")
    assert "inputs → opencl" in page.eval(links) and any("no kernel runs here" in text for text in texts(page, "[data-device]"))


def test_two_places_in_one_memory_have_no_copies(show):
    profile = in_turns(page_profiles.net(60), HOST, ("dnnl", "cpu"))
    assert not copies_of(profile)
    page = show(profile, fragment="#view=devices")
    assert page.eval("document.querySelectorAll('.device-map, [data-devices]').length") == 0
    assert texts(page, ".memory-facts dt") == ["llvm -mcpu=znver4", "dnnl"]
    assert page.eval("document.querySelectorAll('svg.lanes rect').length") == len(profile["kernels"])


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
