"""What the tests of the page do again and again."""
import json

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


def visit_everything(page):
    for name in ("roofline", "treemap", "graph", "operators", "kernels"):
        tab(page, name)
    for kind in ("operators", "both", "kernels"):
        page.click_on(f"[data-graphs={kind}]")
