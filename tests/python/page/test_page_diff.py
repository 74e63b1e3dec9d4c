"""The page of two profiles: joined by origin, every microsecond accounted for."""
import copy
import json

import page_profiles

BEFORE = page_profiles.net(60, seed=5)
AFTER = page_profiles.changed(BEFORE)


def groups(page):
    return page.eval("baton.difference.groups.map(g => [g.before.map(k => k.node), g.after.map(k => k.node), g.old, g.now])")


def test_kernels_show_old_new_and_what_lies_between(show):
    page = show(BEFORE, AFTER)
    cells = page.eval("[...document.querySelectorAll('tr.top')].slice(0, 3).map(row => [row.className, row.querySelector('.c-old').innerText, "
                      "row.querySelector('.c-new').innerText, row.querySelector('.c-delta').innerText, row.querySelector('.c-ratio').innerText])")
    old, new = (each["kernels"][0]["median_us"] for each in (BEFORE, AFTER))
    assert cells[0][:3] == ["top is-faster", f"{old:.1f}", f"{new:.1f}"] and cells[0][4] == "−30.0 %"
    assert cells[0][3].startswith("▼ −") and abs(float(cells[0][3][3:]) - (old - new)) < 0.2
    assert cells[1][0] == "top is-slower" and cells[1][3].startswith("▲ +") and cells[1][4] == "+20.0 %"
    assert cells[2][0] == "top" and cells[2][3] == "±0.00"
    assert page.eval("document.querySelectorAll('.delta i.faster').length") > 0


def test_operators_show_old_new_and_what_lies_between(show):
    page = show(BEFORE, AFTER, fragment="#op=0&table=operators")
    row = page.eval("Object.fromEntries([...document.querySelector('tr[data-op=\"0\"]').cells].map(cell => [cell.className, cell.innerText]))")
    old, new = (each["operators"][0]["inside_us"] for each in (BEFORE, AFTER))
    assert row["num c-old"] == f"{old:.1f}" and row["num c-new"] == f"{new:.1f}"
    assert row["num c-ratio"] == "−30.0 %"
    assert "before" in page.eval("document.getElementById('details').innerText")


def test_the_sums_are_checked(show):
    page = show(BEFORE, AFTER)
    check = page.eval("document.querySelector('.check').className + document.querySelector('.check').innerText")
    assert check.startswith("checkrows sum to ") and f"→ {AFTER['sum_us'] / 1000:.4g} ms (" in check and check.endswith("as both profiles say")
    wrong = copy.deepcopy(AFTER)
    wrong["sum_us"] *= 1.1
    page = show(BEFORE, wrong)
    assert page.eval("document.querySelector('.check').className") == "check bad"
    assert "they differ" in page.eval("document.querySelector('.check').innerText")


def test_kernels_that_were_fused_are_compared_with_those_they_were(show):
    after = copy.deepcopy(BEFORE)
    first, second = after["kernels"][0], after["kernels"].pop(1)
    first["origins"] = first["origins"] + second["origins"]
    first["inside"] = []
    for each in second["origins"]:
        after["operators"][each]["nodes"] = [first["node"]]
    after["sum_us"] -= second["median_us"]
    page = show(BEFORE, after)
    fused = groups(page)[0]
    assert fused[0] == [first["node"], second["node"]] and fused[1] == [first["node"]]
    assert abs(fused[2] - first["median_us"] - second["median_us"]) < 1
    assert page.eval("document.querySelector('tr.top .c-name').innerText").strip().endswith("2 → 1 kernels")
    page.click_on("tr.top button.fold")
    assert page.eval("[...document.querySelectorAll('tr.child small')].map(each => each.innerText.trim())") == ["old", "old", "new"]


def test_what_only_one_side_has_is_said(show):
    after = copy.deepcopy(BEFORE)
    after["operators"][4]["line"] += 500
    page = show(BEFORE, after)
    assert "2 operators on one side only" in page.eval("document.querySelector('.check').innerText")
    assert page.eval("baton.difference.ops.get(4).before") is None
    assert abs(sum(each[2] for each in groups(page)) - BEFORE["sum_us"]) < 5
    page.eval("baton.state.show({table: 'operators'})")
    page.eval("document.querySelector('#table .scroll').scrollTop = 1e6")
    page.settle()
    gone = page.eval("[...document.querySelectorAll('tr.gone')].map(row => [row.querySelector('.c-line').innerText, row.querySelector('.c-ratio').innerText])")
    assert gone == [[str(BEFORE["operators"][4]["line"]), "gone"]]


def test_two_builds_are_told_apart_in_the_heading(show):
    after = copy.deepcopy(AFTER)
    after.update(target="cuda", threads=4, opt_level=0)
    head = show(BEFORE, after).eval("document.getElementById('head').innerText")
    assert "llvm -mcpu=znver4 → cuda" in head and "2 → 4" in head and "opt 3, Baton 0.1.0 → opt 0, Baton 0.1.0" in head


def test_two_models_are_named(show):
    other = page_profiles.changed(page_profiles.net(40, seed=9, model="another"))
    page = show(BEFORE, other)
    assert "These are two models" in page.eval("document.getElementById('notes').innerText")
    assert json.loads(page.eval("JSON.stringify(baton.difference.groups.length)")) > 0


def test_a_side_that_was_not_split_has_no_operator_times(show):
    page = show(page_profiles.bare(BEFORE), AFTER, fragment="#table=operators")
    row = page.eval("Object.fromEntries([...document.querySelector('tr[data-op=\"0\"]').cells].map(cell => [cell.className, cell.innerText]))")
    assert row["num c-old"] == "" and row["num c-delta"] == "" and row["num c-new"] != ""


def test_a_change_within_the_intervals_is_none_also_beside_other_programs(show):
    before, after = copy.deepcopy(BEFORE), copy.deepcopy(AFTER)
    for first in (before["kernels"][0], after["kernels"][0]):
        us = first["median_us"]
        first.update(rounds_us=[us * each for each in (0.7, 1.3, 0.8, 1.2, 1.0, 1.0)], plus_minus_us=us / 2)
    after["kernels"][1].update(under_load="1.2 of 2 processors busy elsewhere", plus_minus_us=after["kernels"][1]["median_us"] / 2)
    page = show(before, after)
    cells = page.eval("[...document.querySelectorAll('tr.top')].slice(0, 2).map(row => [row.className, row.querySelector('.c-delta').innerText, "
                      "row.querySelector('.c-ratio').innerText])")
    assert cells[0] == ["top", cells[0][1], "−30.0 %"] and "▼" not in cells[0][1]
    assert cells[1] == ["top", cells[1][1], "+20.0 %"] and "▲" not in cells[1][1]
    assert "as both profiles say" in page.eval("document.querySelector('.check').innerText")


def test_rows_that_the_terminal_does_not_mark_have_no_colour(show):
    before, after = copy.deepcopy(BEFORE), copy.deepcopy(AFTER)
    for report in (before, after):  # rounds that vary by a half: 30 % faster is undecided, whatever +- says
        for kernel in report["kernels"]:
            us = kernel["median_us"]
            kernel.update(rounds_us=[us * each for each in (0.7, 1.3, 0.8, 1.2, 1.0, 1.0)], plus_minus_us=us * 0.01)
    page = show(before, after)
    assert page.eval("document.querySelectorAll('tr.is-faster, tr.is-slower, .delta i.faster, .delta i.slower').length") == 0
    assert "▼" not in page.eval("document.querySelector('tr.top .c-delta').innerText")
    assert page.eval("baton.difference.groups.every(group => group.differs === false)")
