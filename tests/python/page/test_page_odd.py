"""The page with what it is not made for: strange names, missing parts, graphs of any shape, any screen."""
import copy

import pytest

import page_profiles
from page_steps import SMALL, details, tab, visit_everything


# -- what others put in ------------------------------------------------------------------------------------------------

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


# -- what is not there -------------------------------------------------------------------------------------------------


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


# -- the drawing -------------------------------------------------------------------------------------------------------


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


def test_a_wide_layer_becomes_several_rows(show):
    net = page_profiles.Net(1)
    net.plain("concatenate", [net.conv(0) for _ in range(net.conv(None), 200)], axis=1)
    page = show(net.report("wide"))
    width, height = page.eval("(({width, height}) => [width, height])(baton.graphs[0].boxes)")
    assert width < 8 * height


def test_where_everything_reads_everything_the_nodes_are_not_crowded_out(show):
    net = page_profiles.Net(2)
    values = [net.conv(None)]
    for _ in range(60):
        values.append(net.conv(net.plain("concatenate", values[-40:], axis=1)))
    page = show(net.report("dense"))
    covered = page.eval("(({items, width, height}) => items.reduce((sum, each) => sum + each.w * each.h, 0) / (width * height))(baton.graphs[0].boxes)")
    assert covered > 0.15


# -- themes, widths ----------------------------------------------------------------------------------------------------


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
        assert page.eval("document.querySelector('#table td.c-name').offsetWidth") >= (290 if width > 600 else 110)
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


def test_times_from_beside_other_programs_are_numbers_and_said_to_be_so(show):
    profile = copy.deepcopy(SMALL)
    first, second = profile["kernels"][:2]
    first.update(under_load="1.2 of 2 processors busy elsewhere", median_us=77.21, plus_minus_us=7.7)
    second.update(plus_minus_us=second["median_us"] / 4)
    profile.update(under_load="1.2 of 2 processors busy elsewhere", partial="interrupted")
    page = show(profile, fragment=f"#kernel={first['node']}")
    assert "least disturbed" in details(page) and "77.2" in details(page)
    row = page.eval(f"document.querySelector('tr[data-kernel=\"{first['node']}\"]').textContent")
    assert "77.2" in row
    page.eval(f"baton.state.select('kernel', {second['node']})")
    assert "25.0 %" in details(page)
    facts = page.eval("document.querySelector('#facts').textContent")
    assert "1.2 of 2 processors busy elsewhere" in facts and "unreliable" not in facts and "interrupted" in facts
    whisker = f"document.querySelector('tr[data-kernel=\"{second['node']}\"] .whisker')"
    assert "±" in page.eval(whisker + ".title") and page.eval(whisker + ".offsetWidth") > 1
    assert page.eval(f"document.querySelector('tr[data-kernel=\"{first['node']}\"] .whisker').offsetWidth") > 1


def test_a_guess_of_an_earlier_version_is_shown_as_a_time_beside_other_programs(show):
    profile = copy.deepcopy(SMALL)
    first = profile["kernels"][0]
    first.update(unreliable="1.2 of 2 processors busy elsewhere")
    page = show(profile, fragment=f"#kernel={first['node']}")
    assert "least disturbed" in details(page) and "1.2 of 2 processors busy elsewhere" in page.eval("document.querySelector('#facts').textContent")


@pytest.mark.parametrize("picture, mark", [("treemap", ".leaf"), ("roofline", "circle")])
def test_a_time_from_beside_other_programs_is_drawn(show, picture, mark):
    profile = copy.deepcopy(SMALL)
    drawn = "[...document.querySelectorAll('#picture " + mark + "[data-kernel]')].map(each => Number(each.dataset.kernel))"
    words = "document.getElementById('picture').innerText"
    page = show(profile)
    tab(page, picture)
    node, before = page.eval(drawn)[0], page.eval(words)  # kernels without operations are never in the roofline
    for kernel in profile["kernels"]:
        if kernel["node"] == node:
            kernel["under_load"] = "1.2 of 2 processors busy elsewhere"
    page = show(profile)
    tab(page, picture)
    assert node in page.eval(drawn)
    assert page.eval(words) == before
