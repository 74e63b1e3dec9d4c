"""Ways through the page: search, filters, keys, the address."""
import pytest

from page_steps import SMALL, details, operator, rows, selection, tab


# -- search, filter, keys ----------------------------------------------------------------------------------------------


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


# -- the address -------------------------------------------------------------------------------------------------------


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
