"""The HTML page of a profile, clicked through in Chromium without a window."""
import copy
import json

import pytest

import page_profiles

SMALL = page_profiles.small()


def operator(profile, op, nth=0):
    return [each for each in profile["operators"] if each["op"] == op][nth]


def rows(page, table, look=""):
    """Ids of the rows of a table that have this class, as far as they are drawn; the table must be shown."""
    page.eval(f"baton.state.show({{table: {json.dumps(table)}}})")
    page.settle()
    kind = "kernel" if table == "kernels" else "op"
    return page.eval(f"[...document.querySelectorAll('#table tr.top{look}[data-{kind}]')].map(row => Number(row.dataset.{kind}))")


def details(page):
    return page.eval("document.getElementById('details').innerText")


def selection(page):
    return page.eval("baton.state.selection && [baton.state.selection.kind, baton.state.selection.id]")


def tab(page, name):
    page.click_on(f"[data-tab={name}]")


# -- linked both ways -------------------------------------------------------------------------------------------------


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


# -- tables -----------------------------------------------------------------------------------------------------------


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


# -- search, filter, keys ---------------------------------------------------------------------------------------------


def test_search_with_the_keyboard(show):
    page = show(SMALL)
    page.press("/", 191, "/")
    page.type("softmax")
    found = page.eval("[...document.querySelectorAll('#found li')].map(item => item.className)")
    assert found == ["op", "kernel", "kernel"] or sorted(found) == ["kernel", "kernel", "op"]
    page.press("ArrowDown", 40)
    page.press("ArrowDown", 40)
    page.press("ArrowDown", 40)  # around the end
    page.press("Enter", 13)
    assert selection(page) is not None and page.eval("document.getElementById('found').hidden")


@pytest.mark.parametrize("words, kind", [("line 5", "op"), ("node 8", "kernel"), ("conv2d LINE 3", "op")])
def test_search_by_name_line_and_node(show, words, kind):
    page = show(SMALL)
    page.eval("document.getElementById('search').focus()")
    page.type(words)
    page.press("Enter", 13)
    assert selection(page)[0] == kind


def test_search_for_what_is_not_there(show):
    page = show(SMALL)
    page.eval("document.getElementById('search').focus()")
    page.type("no such thing")
    assert page.eval("document.getElementById('found').innerText").strip() == "nothing of that name"
    page.press("Enter", 13)
    assert selection(page) is None
    page.press("Escape", 27)
    assert page.eval("document.getElementById('found').hidden")


def test_filters_take_away_rows_and_say_how_many(show):
    page = show(SMALL)
    page.eval("(s => { s.value = 'nn.softmax'; s.dispatchEvent(new Event('change')); })(document.getElementById('filter-op'))")
    softmax = operator(SMALL, "nn.softmax")
    assert rows(page, "kernels") == softmax["nodes"]
    assert rows(page, "operators") == [softmax["id"]]
    assert page.eval("document.getElementById('status').innerText").startswith(f"2 of {len(SMALL['kernels'])} kernels")
    page.click_on("#clear")
    assert len(rows(page, "kernels")) == len(SMALL["kernels"])

    page.eval("document.getElementById('filter-name').focus()")
    page.type("MAX_POOL2D")
    assert rows(page, "kernels") == [each["node"] for each in SMALL["kernels"] if "max_pool2d" in each["name"]] != []
    page.click_on("#clear")

    page.eval("(s => { s.value = '10'; s.dispatchEvent(new Event('input')); })(document.getElementById('filter-share'))")
    assert rows(page, "kernels") == [each["node"] for each in SMALL["kernels"] if each["share"] >= 0.1] != []
    tab(page, "treemap")
    kept = {each["node"] for each in SMALL["kernels"] if each["share"] >= 0.1}
    assert set(page.eval("[...document.querySelectorAll('.leaf')].map(leaf => Number(leaf.dataset.kernel))")) <= kept


def test_the_table_with_the_keyboard(show):
    page = show(SMALL)
    page.eval("document.querySelector('#table .scroll').focus()")
    page.press("ArrowDown", 40)
    page.press("ArrowDown", 40)
    assert selection(page) == ["kernel", 5]
    page.press("ArrowRight", 39)
    page.press("ArrowDown", 40)
    assert selection(page) == ["op", SMALL["kernels"][1]["inside"][0]["id"]]
    page.press("Escape", 27)
    assert selection(page) is None
    page.press("End", 35)
    assert selection(page) == ["kernel", SMALL["kernels"][-1]["node"]]


def test_the_graph_with_the_keyboard(show):
    page = show(SMALL)
    page.eval("document.querySelector('canvas').focus()")
    before = page.eval("({...baton.graphs[0].view})")
    page.press("+", 187)
    page.press("ArrowLeft", 37)
    after = page.eval("({...baton.graphs[0].view})")
    assert after["k"] > before["k"] and after["x"] != before["x"]
    page.press("0", 48)
    assert page.eval("({...baton.graphs[0].view})") == before


# -- the address ------------------------------------------------------------------------------------------------------


def test_the_address_keeps_the_selection(show):
    page = show(SMALL, fragment="#op=4&view=treemap&table=operators")
    assert selection(page) == ["op", 4]
    assert page.eval("[...document.querySelectorAll('[role=tab][aria-selected=true]')].map(tab => tab.dataset.tab)") == ["treemap", "operators"]
    page.click_on("tr[data-op='1']")
    assert page.eval("location.hash") == "#op=1&view=treemap&table=operators"
    page.eval("location.hash = '#kernel=5'")
    page.settle()
    assert selection(page) == ["kernel", 5]
    page.press("Escape", 27)
    assert "kernel" not in page.eval("location.hash")


@pytest.mark.parametrize("fragment", ["#op=99999", "#kernel=3", "#op=-1", "#op=x", "#view=none", "#kernel=", "#%%%", "#op=1.5"])
def test_an_address_that_leads_nowhere_shows_the_whole(show, fragment):
    page = show(SMALL, fragment=fragment)
    assert selection(page) is None and "Overview" in details(page)


# -- what others put in -----------------------------------------------------------------------------------------------

EVIL = '</script><img src=x onerror="window.hacked=1"> \' " & <!-- ]]> \u2028 日本語 ﷽ @data@ \\u003c'


def test_names_of_users_are_text_everywhere(show):
    profile = copy.deepcopy(SMALL)
    profile.update(model=EVIL, target=EVIL, source=EVIL, notes=[EVIL])
    for each in profile["operators"]:
        each.update(op=EVIL, source=EVIL, type=EVIL, attrs={EVIL: EVIL, "list": [EVIL]}, not_fused=EVIL)
    profile["functions"] = {EVIL: {"relay": EVIL, "template": EVIL, "params": {}}}
    for each in profile["kernels"]:
        each.update(name=EVIL + str(each["node"]), func_name=EVIL, reason=EVIL, compiler=EVIL, region=EVIL)
        for part in each["inside"]:
            part.update(label=EVIL, stage=EVIL)
    page = show(profile, profile, fragment="#op=0")
    page.click_on("tr[data-kernel] button.fold")
    for name in ("roofline", "treemap", "operators", "graph"):
        tab(page, name)
    page.eval("baton.state.select('kernel', 2)")
    page.eval("document.getElementById('search').focus()")
    page.type("img")
    assert page.eval("document.getElementById('model').textContent") == EVIL
    assert page.eval("document.title").startswith("</script><img")
    assert page.eval("document.querySelector('#details .relay').textContent") == EVIL
    assert page.eval("window.hacked") is None and page.eval("document.images.length") == 0


def test_numbers_may_be_extreme(show):
    profile = copy.deepcopy(SMALL)
    for each, us in zip(profile["kernels"], (0, 1e-9, 1e12, 0.004, 123456789.123)):
        each.update(median_us=us, samples=[us] * 5, flops=us * 1e9, bytes=1)
    page = show(profile)
    for name in ("roofline", "treemap", "operators"):
        tab(page, name)
    assert "NaN" not in page.eval("document.body.innerHTML.replace(/<script[\\s\\S]*/, '')")


# -- what is not there ------------------------------------------------------------------------------------------------


def visit_everything(page):
    for name in ("roofline", "treemap", "graph", "operators", "kernels"):
        tab(page, name)
    for kind in ("operators", "both", "kernels"):
        page.click_on(f"[data-graphs={kind}]")


def test_a_profile_that_holds_next_to_nothing(show):
    profile = page_profiles.bare(SMALL)
    page = show(profile)
    visit_everything(page)
    assert "no edges" in page.eval("document.querySelector('.graph-note').innerText")
    assert page.eval("document.querySelector('th.c-roof') || document.querySelector('th.c-gflops')") is None
    for number in range(len(profile["operators"])):
        page.eval(f"baton.state.select('op', {number})")
    for each in profile["kernels"]:
        page.eval(f"baton.state.select('kernel', {each['node']})")
    tab(page, "operators")
    assert page.eval("document.querySelector('th.c-unfused')") is None
    tab(page, "roofline")
    assert "No kernel of this profile" in page.eval("document.getElementById('picture').innerText")


def test_a_profile_without_a_single_kernel(show):
    profile = copy.deepcopy(SMALL)
    profile.update(operators=[], kernels=[], functions={}, sum_us=0, unfused={"end_to_end_us": 0, "kernels": []}, peaks=None)
    page = show(profile)
    visit_everything(page)
    assert "0 operators in 0 kernels" in details(page)
    visit_everything(show(profile, profile))


def test_edges_that_go_around_do_not_hang_the_drawing(show):
    profile = copy.deepcopy(SMALL)
    for each in profile["kernels"]:
        each["inputs"] = [other["node"] for other in profile["kernels"]][:4]
    for each in profile["operators"]:
        each["inputs"] = [(each["id"] + 1) % len(profile["operators"])]
    visit_everything(show(profile))


# -- the drawing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["kernels", "operators"])
def test_no_box_covers_another_and_edges_lead_down(show, kind):
    page = show(page_profiles.net(400))
    page.click_on(f"[data-graphs={kind}]")
    covered, upwards, edges, outside = page.eval(f"""(() => {{
        const {{items, edges, width, height}} = baton.graphs.find(graph => graph.kind === '{kind}').boxes;
        const apart = (a, b) => a.x + a.w <= b.x + 0.1 || b.x + b.w <= a.x + 0.1 || a.y + a.h <= b.y + 0.1 || b.y + b.h <= a.y + 0.1;
        let covered = 0;
        items.forEach((a, i) => items.slice(i + 1).forEach(b => {{ covered += !apart(a, b); }}));
        const up = edges.filter(([from, to]) => items[to].x < items[from].x + 250 && items[to].x > items[from].x - 250 && items[to].y < items[from].y);
        return [covered, up.length, edges.length, items.filter(each => each.x < -1 || each.y < -1 || each.x + each.w > width + 1 || each.y + each.h > height + 1).length];
    }})()""")
    assert covered == 0 and outside == 0
    assert edges > 100 and upwards <= 0.02 * edges  # a column that begins near the end of the one before


def test_a_long_chain_is_folded_into_columns(show):
    page = show(page_profiles.net(400))
    width, height = page.eval("(({width, height}) => [width, height])(baton.graphs[0].boxes)")
    assert 0.7 < width / height / (990 / 360) < 1.6  # about the shape of its pane


# -- themes, widths ---------------------------------------------------------------------------------------------------


def test_dark_and_light_by_the_system_and_by_the_button(show):
    background = "getComputedStyle(document.body).backgroundColor"
    light, dark = show(SMALL), show(SMALL, scheme="dark")
    assert light.eval(background) != dark.eval(background)
    system = dark.eval(background)
    dark.click_on("#theme")
    assert dark.eval("document.documentElement.dataset.theme") == "light"
    assert dark.eval(background) == light.eval(background)
    dark.click_on("#theme")
    assert dark.eval(background) == system
    dark.click_on("#theme")
    assert dark.eval("document.documentElement.dataset.theme") is None


@pytest.mark.parametrize("width, most", [(1280, 10), (1000, 8), (700, 8), (360, 4)])
def test_names_keep_their_room_and_columns_give_way(show, width, most):
    page = show(SMALL, width=width, height=800)
    for table in ("kernels", "operators"):
        page.eval(f"baton.state.show({{table: '{table}'}})")
        page.settle()
        assert page.eval("document.querySelector('#table td.c-name').offsetWidth") >= (200 if width > 600 else 110)
        heads = page.eval("[...document.querySelectorAll('#table th')].map(th => th.className.split('c-')[1])")
        assert len(heads) <= most and {"name", "us" if table == "kernels" else "inside"} <= set(heads)


@pytest.mark.parametrize("width", [360, 700, 1000])
def test_a_narrow_screen_scrolls_one_way_only(show, width):
    page = show(SMALL, width=width, height=800)
    visit_everything(page)
    assert page.eval("document.documentElement.scrollWidth") <= width


def test_every_control_has_a_name(show):
    page = show(SMALL, fragment="#kernel=2")
    nameless = """[...document.querySelectorAll('button, input, select, canvas, [role=img], [role=button]')].filter(each =>
        !each.closest('[aria-hidden=true]') && !(each.innerText || each.getAttribute('aria-label') || each.title || each.closest('label') || each.classList.contains('leaf')))
        .map(each => each.outerHTML.slice(0, 80))"""
    assert page.eval(nameless) == []
