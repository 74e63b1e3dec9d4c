"""The modules of the user's program: the tree, the flame graph and the areas, boxes that open, lines of Python."""
import copy

import page_profiles
import page_steps


def profile():
    return page_profiles.in_modules(copy.deepcopy(page_steps.SMALL))


def rows(page):
    return page.eval("[...document.querySelectorAll('#table tr[data-module] .name')].map(name => name.title)")


def test_the_tree_opens_and_closes_and_adds_up(show):
    page = show(profile(), fragment="#table=modules")
    assert rows(page)[1:3] == ["stage0", "stage1"], "the model is open"
    page.click_on("#table tr[data-module='1'] .fold")
    assert "stage0/1" in rows(page)
    page.click_on("#table tr[data-module='1'] .fold")
    assert "stage0/1" not in rows(page)
    assert page.eval("""baton.model.modules.every(module => Math.abs(module.us - module.ownUs - module.restUs - module.addedUs
        - module.children.reduce((sum, child) => sum + child.us, 0)) < 1e-3 * module.us + 1e-6)""")
    assert abs(page.eval("baton.model.modules[0].us / baton.model.sum") - 1) < 1e-4


def test_a_module_is_selected_everywhere(show):
    page = show(profile(), fragment="#table=modules&view=flame")
    page.click_on(".module-cell[data-module='1']")
    assert page_steps.selection(page) == ["module", 1]
    text = page_steps.details(page)
    assert "stage0" in text and "Inside" in text and "Within" in text
    assert page.eval("document.querySelector('#table tr.selected').dataset.module") == "1"
    page_steps.tab(page, "operators")
    assert page.eval("document.querySelectorAll('#table tr.linked').length") > 3
    assert page.eval("location.hash").count("module=1") == 1
    again = show(profile(), fragment="#module=1")
    assert page_steps.selection(again) == ["module", 1]
    again.eval("baton.state.select('op', 0)")
    again.settle()
    assert "stage0/0" in page_steps.details(again) and "/home/me/net.py:10" in page_steps.details(again)


def test_flame_and_areas_are_as_large_as_times(show):
    page = show(profile(), fragment="#view=flame")
    size = "[...document.querySelectorAll('.module-cell:not(.rest)')].map(cell => [Number(cell.dataset.module), cell.offsetWidth, cell.offsetHeight])"
    for shape in ("flame", "areas"):
        page.click_on(f"[data-shape={shape}]")
        cells = {module: (width, height) for module, width, height in page.eval(size)}
        us = page.eval("baton.model.modules.map(module => module.us)")
        assert set(cells) >= {0, 1, 2}
        if shape == "flame":
            assert abs(cells[1][0] / cells[0][0] - us[1] / us[0]) < 0.02
        else:
            areas = [cells[i][0] * cells[i][1] / us[i] for i in page.eval("baton.model.modules[0].children.map(module => module.index)")]
            assert max(areas) / min(areas) < 1.2
    page.eval("document.querySelector(\".module-cell[data-module='1']\").dispatchEvent(new MouseEvent('dblclick'))")
    page.settle()
    assert page.eval("document.querySelector('.module-cell').dataset.module") == "1"


def test_boxes_of_the_graph_open(show):
    page = show(profile())
    page.click_on("[data-graphs=modules]")
    items = "baton.graphs.at(-1).boxes.items.map(item => item.kind + item.id)"
    before = page.eval(items)
    assert all(each.startswith("module") for each in before)
    place = page.eval("baton.placeOf('module', 1)")
    page.click(place["x"], place["y"])
    page.click(place["x"], place["y"], count=2)
    after = page.eval(items)
    assert len(after) > len(before) and before[0] in after
    inside = """(() => { const {items} = baton.graphs.at(-1).boxes, frame = items.find(item => item.open);
        return items.filter(item => item.kind === "module" && item.module.parent === frame.module).every(item =>
            item.x > frame.x && item.y > frame.y && item.x + item.w < frame.x + frame.w && item.y + item.h < frame.y + frame.h); })()"""
    assert page.eval(inside)
    place = page.eval("baton.placeOf('module', 1)")
    page.click(place["x"], place["y"], count=2)
    assert page.eval(items) == before


def test_lines_that_are_known_stand_without_their_file(show):
    page = show(profile(), fragment="#view=source")
    text = page.eval("document.querySelector('.source').innerText")
    assert "/home/me/net.py" in text and "x = self.part0(x)" in text and "in forward" in text
    lines = page.eval("[...document.querySelectorAll('.source .line')].map(row => Number(row.dataset.line))")
    assert lines[:3] == [10, 11, 12]


def test_without_modules_nothing_speaks_of_them(show):
    page = show(page_steps.SMALL)
    assert page.eval("document.querySelectorAll('[data-tab=modules], [data-tab=flame], [data-graphs=modules]').length") == 0
