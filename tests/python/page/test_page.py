"""The HTML page of a profile, clicked through in Chromium without a window: what is linked with what, and the tables."""
import copy

import page_profiles
from page_steps import SMALL, details, operator, rows, selection, tab


# -- linked both ways --------------------------------------------------------------------------------------------------


def test_a_click_on_an_operator_highlights_all_its_kernels(show):
    page, softmax = show(SMALL), operator(SMALL, "nn.softmax")
    assert len(softmax["nodes"]) == 2
    tab(page, "operators")
    page.click_on(f"tr[data-op='{softmax['id']}']")
    assert rows(page, "operators", ".selected") == [softmax["id"]]
    assert rows(page, "kernels", ".linked") == softmax["nodes"]
    assert page.eval("baton.graphs[0].lit.linked.size") == 2
    tab(page, "roofline")
    with_work = [node for node in softmax["nodes"] if next(k for k in SMALL["kernels"] if k["node"] == node)["flops"]]
    assert page.eval("[...document.querySelectorAll('circle.linked')].map(dot => Number(dot.dataset.kernel))") == with_work
    tab(page, "treemap")
    assert page.eval("document.querySelectorAll('.leaf.selected').length") == 2


def test_a_click_on_a_kernel_highlights_its_operators(show):
    kernel = next(each for each in SMALL["kernels"] if len(each["origins"]) == 3)
    page = show(SMALL)
    page.click_on(f"tr[data-kernel='{kernel['node']}']")
    assert rows(page, "operators", ".linked") == kernel["origins"]
    text = details(page)
    assert kernel["name"] in text and "conv_" in text and "tile_oc=16" in text and "GFLOP/s" in text
    assert "fn (%p0: Tensor" in text and page.eval("document.querySelectorAll('#details .strip circle').length") == 30


def test_boxes_of_the_graph_can_be_clicked_operators_and_kernels(show):
    page, conv = show(SMALL, fragment="#op=0"), operator(SMALL, "nn.conv2d", 1)
    node = conv["nodes"][0]
    place = page.eval(f"baton.placeOf('kernel', {node})")
    page.click(place["x"], place["y"])
    assert selection(page) == ["kernel", node]
    page.click_on(".near")
    place = page.eval(f"baton.placeOf('kernel', {node})")
    first_row = place["y"] + 17 + 8  # a row of an operator begins below title and time
    page.click(place["x"], first_row)
    assert selection(page) == ["op", conv["id"]]
    assert rows(page, "kernels", ".linked") == [node]
    page.click_on("[data-graphs=operators]")
    place = page.eval(f"baton.placeOf('op', {conv['id'] + 1})")
    page.click(place["x"], place["y"])
    assert selection(page) == ["op", conv["id"] + 1]


def test_a_folded_operator_leads_to_the_kernels_that_read_its_constant(show):
    profile = page_profiles.net(60, seed=5)
    folded = next(each for each in profile["operators"] if each["folded_into"] and not each["nodes"])
    page = show(profile, fragment=f"#op={folded['id']}")
    assert rows(page, "kernels", ".reader") == folded["folded_into"]
    assert rows(page, "kernels", ".linked") == []
    assert "computed at compile time, read by 1 kernel" in details(page)
    page.eval(f"baton.state.select('kernel', {folded['folded_into'][0]})")
    assert folded["id"] in rows(page, "operators", ".reader")


def test_a_retired_operator_says_why(show):
    profile = page_profiles.net(200)
    retired = operator(profile, "nn.dropout")
    page = show(profile, fragment=f"#op={retired['id']}&table=operators")
    assert "dropout is the identity at inference (SimplifyInference)" in details(page)
    assert rows(page, "operators", ".retired.selected") == [retired["id"]]


def test_a_kernel_of_the_compilers_own_says_what_it_is_for(show):
    made = next(each for each in SMALL["kernels"] if not each["origins"])
    page = show(SMALL, fragment=f"#kernel={made['node']}")
    assert made["reason"] in details(page)
    assert rows(page, "operators", ".reader") == made["made_for"]
    assert rows(page, "operators", ".linked") == []


# -- tables ------------------------------------------------------------------------------------------------------------


def test_columns_sort_down_up_and_not_at_all(show):
    page = show(SMALL)
    order = rows(page, "kernels")
    times = {each["node"]: each["median_us"] for each in SMALL["kernels"]}
    page.click_on("[data-grid=kernels] th.c-us button")
    assert rows(page, "kernels") == sorted(order, key=lambda node: -times[node])
    assert page.eval("document.querySelector('th.c-us').getAttribute('aria-sort')") == "descending"
    page.click_on("[data-grid=kernels] th.c-us button")
    assert rows(page, "kernels") == sorted(order, key=lambda node: times[node])
    page.click_on("[data-grid=kernels] th.c-us button")
    assert rows(page, "kernels") == order


def test_what_has_no_value_sorts_last_both_ways(show):
    page = show(SMALL)
    nothing = [each["node"] for each in SMALL["kernels"] if not each["flops"]]
    for _ in range(2):
        page.click_on("[data-grid=kernels] th.c-gflops button")
        assert rows(page, "kernels")[-len(nothing):] == nothing


def test_a_kernel_unfolds_to_its_parts_with_method_share_and_time(show):
    page = show(SMALL)
    page.click_on("tr[data-kernel='2'] button.fold")
    parts = page.eval("[...document.querySelectorAll('tr.child')].map(row => [...row.cells].map(cell => cell.innerText.trim()).filter(Boolean))")
    kernel = SMALL["kernels"][0]
    assert len(parts) == len(kernel["inside"])
    assert parts[0][0] == "nn.conv2d line 3" and parts[0][-1] == "markers"
    assert parts[0][1] == f"{kernel['inside'][0]['us']:.1f}" and parts[0][2] == f"{100 * kernel['inside'][0]['share']:.1f} %"
    assert parts[-1][0].startswith("load, store, loop")
    page.click_on("#table-tools button")  # unfold all: some are folded
    assert page.eval("document.querySelectorAll('tr.top[aria-expanded=true]').length") > 1


def test_what_is_below_the_noise_is_no_number(show):
    profile = copy.deepcopy(SMALL)
    part = profile["kernels"][0]["inside"][2]
    part.update(below_noise=True, us=0, share=0)
    profile["operators"][part["id"]]["inside_us"] = 0.0
    profile["kernels"][1].update(trusted=False, stage_sum=1.2)
    page = show(profile, fragment="#kernel=2")
    assert "< noise" in details(page)
    page.eval("baton.state.show({table: 'operators'})")
    page.settle()
    assert page.eval(f"document.querySelector('tr[data-op=\"{part['id']}\"] .c-inside').innerText") == "< noise"
    page.eval("baton.state.select('kernel', 5)")
    assert "~" in details(page) and "estimates" in details(page)


def test_the_roof_is_the_reports_own_where_it_has_one_else_from_its_peaks(show):
    page = show(SMALL, fragment="#kernel=2")
    kernel, peaks = SMALL["kernels"][0], SMALL["peaks"]
    parts = kernel["flops"] / kernel["median_us"] / 1e3 / peaks["gflops"], kernel["bytes"] / kernel["median_us"] / 1e3 / peaks["gbytes_per_s"]
    bound = "compute" if parts[0] > parts[1] else "memory"
    assert f"{100 * max(parts):.0f} % of what {bound} allows" in details(page)


def test_what_was_measured_beyond_is_told_in_the_details(show):
    def more(report):
        report["others_busy"] = 1.25
        del report["opt_level"]  # of an artifact
        report["kernels"][0].update(
            roofline=1.31, bound="cache", nominal=True, cv=0.021, dtype="float32", inside_notes=["two rounds were left out"],
            on_threads={"threads": 2, "us": 345.6, "utilisation": 0.93, "stages": [{"stage": "gemm", "ids": [0], "busy_us": 600.5}]})
        report["kernels"][0]["inside"][0]["method"] = "sampling"

    text = details(page := show(SMALL, change=more, fragment="#kernel=2"))
    assert "131 % of what cache allows (its algorithm does fewer operations than are counted)" in text
    assert "345.6 µs, threads busy 93.0 % of it" in text and "600.5 µs busy" in text and "two rounds were left out" in text
    assert "2.1 % of its runs" in text and "float32" in text and "sampling" in text
    head = page.eval("document.getElementById('head').innerText")
    assert "1.3 processors" in head or "1.2 processors" in head
    assert "artifact, Baton" in head


def test_operators_show_their_three_times_side_by_side(show):
    page, conv = show(SMALL, fragment="#table=operators"), operator(SMALL, "nn.conv2d")
    kernel = next(each for each in SMALL["kernels"] if each["node"] == conv["nodes"][0])
    cells = page.eval(f"Object.fromEntries([...document.querySelector('tr[data-op=\"{conv['id']}\"]').cells].map(cell => [cell.className, cell.innerText]))")
    assert cells["num c-unfused"] == f"{conv['unfused_us']:.1f}"
    assert cells["num c-fused"] == f"{kernel['median_us']:.1f}"
    assert cells["num c-inside"] == f"{conv['inside_us']:.1f}"
    assert page.eval("[...document.querySelectorAll('th button')].every(button => button.title)")


def test_only_rows_in_sight_exist_and_all_of_them_are_printed(show):
    profile = page_profiles.net(600)
    page = show(profile, fragment="#table=operators")
    drawn = "document.querySelectorAll('#table tr[data-op]').length"
    assert page.eval(drawn) < 100
    page.call("Emulation.setEmulatedMedia", media="print")
    page.eval("dispatchEvent(new Event('beforeprint'))")
    assert page.eval(drawn) == len(profile["operators"])
    assert page.eval("document.getElementById('tables').offsetHeight") > 26 * len(profile["operators"])
    page.call("Emulation.setEmulatedMedia", media="screen")
    page.eval("dispatchEvent(new Event('afterprint'))")
    assert page.eval(drawn) < 100


def test_a_row_that_is_selected_elsewhere_is_brought_into_sight(show):
    page = show(page_profiles.net(600), fragment="#op=400&table=operators")
    inside = """(() => { const row = document.querySelector('tr.selected').getBoundingClientRect(), box = document.querySelector('.scroll').getBoundingClientRect();
        return row.top > box.top && row.bottom <= box.bottom; })()"""
    assert page.eval(inside)
    page.eval("baton.state.select('op', 20)")
    page.settle()
    assert page.eval(inside)
