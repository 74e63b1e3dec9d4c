"""The page of a mapping, in a browser: `baton map -o m.html`."""
import json
import os
import pathlib
import re
import subprocess

import pytest

from baton.relay import testing


def good(*words):
    done = subprocess.run([os.environ["BATON_PROGRAM"], *map(str, words)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Made:
    """A small VGG over two simulated devices: its page, report and mapping."""

    def __init__(self, folder):
        self.network = folder / "vgg.relay"
        self.network.write_text(testing.vgg.get_workload(batch_size=1, num_classes=10, image_shape=(3, 32, 32), num_layers=11)[0].astext())
        self.mapping = folder / "m.json"
        self.report = json.loads(good("map", self.network, "--targets", "sim_in_memory,sim_big_core", "--objective", "latency", "--threads", 1, "--max-seconds", 1,
                                      "--sweep", "link=0.01:100", "--sweep", "devices=1:3", "-o", folder / "m.html", "-o", self.mapping, "--json"))
        self.text = (folder / "m.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("map"))


@pytest.fixture
def show(open_page, made):
    """show(change=None, fragment="#op=1", ...): the page, perhaps with other data, open."""
    return lambda change=None, **options: open_page(made.text, change, **options)


def texts(page, selector):
    return page.eval(f"[...document.querySelectorAll({selector!r})].map(each => each.textContent)")


def details(page):
    return page.eval("document.getElementById('details').innerText")


def fills(page):
    """The backends whose colours the boxes of the graph have, as painted."""
    page.settle()
    return page.eval("""(() => { const {model, graphs} = baton, view = graphs[0];
        return view.boxes.items.map(item => model.backends.findIndex(each =>
          JSON.stringify(item.fill) === JSON.stringify([0, 1, 2].map(i => Math.round(view.look.panel[i] + (view.look[each.colour.slice(2)][i] - view.look.panel[i]) * 0.3))))); })()""")


def test_operators_are_coloured_by_backend(show, made):
    page = show()
    names = made.report["backends"]
    placed = [names.index(each["backend"]) if each["backend"] else -1 for each in made.report["mapping"]["operators"]]
    assert fills(page) == placed
    legend = dict(zip(page.eval("[...document.querySelectorAll('[data-legend]')].map(each => each.dataset.legend)"), texts(page, "[data-legend]")))
    for i, name in enumerate(names):
        assert f"{placed.count(i)} operator" in legend[name]
    links = [queue for queue in made.report["queues"] if " - " in queue["name"]]
    assert legend["transfers"].endswith("none") if not links else f"{sum(len(queue['spans']) for queue in links)}," in legend["transfers"]
    # Edges between devices are transfers.
    operators = page.eval("baton.model.ops.map(op => op.inputs)")
    crossing = page.eval("baton.graphs[0].boxes.edges.filter((edge, i) => baton.graphs[0].boxes.copied[i])")
    for source, reader in crossing:
        assert placed[source] != placed[reader] and source in operators[reader]


def test_a_click_on_an_operator_says_what_explain_says(show, made):
    page = show()
    chosen = next(each for each in made.report["mapping"]["operators"] if len(each.get("alternatives", [])) > 1)
    where = page.eval(f"baton.placeOf('op', {chosen['id']})")
    page.click(where["x"], where["y"])
    assert page.eval("baton.state.selection") == {"kind": "op", "id": chosen["id"]} and page.eval("location.hash") == f"#op={chosen['id']}"
    said = details(page)
    assert chosen["operator"] in said and chosen["backend"] in said
    explained = good("explain", made.network, "--mapping", made.mapping, "--operator", f"id:{chosen['id']}").splitlines()
    reasons = [line.strip() for line in explained if "its kernel would take" in line]
    assert reasons and all(line in said for line in reasons)
    others = [", ".join(filter(None, (each["backend"], each.get("variant")))) for each in chosen["alternatives"]
              if each["backend"] != chosen["backend"] or (each.get("variant") != chosen.get("variant") and each["more_us"] > 0)]
    assert sorted(page.eval("[...document.querySelectorAll('[data-alternative]')].map(each => each.dataset.alternative)")) == sorted(others)
    page.eval("dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    assert page.eval("baton.state.selection") is None


def test_the_slider_shows_the_best_mapping_at_each_price(show):
    page = show()
    points = page.eval("baton.model.prices.points")
    assert len(points) == 25 and points[0]["factor"] == pytest.approx(100) and points[-1]["factor"] == pytest.approx(0.01)
    assert any(abs(each["factor"] - 1) < 1e-9 for each in points)
    # Dearer transfers take no less, and at some price nothing is worth one any more.
    assert all(first["us"] <= second["us"] * (1 + 1e-5) for first, second in zip(points, points[1:]))
    assert points[0]["backendOf"] != points[-1]["backendOf"]
    kept = fills(page)
    for index in (0, 24, 12):
        page.eval(f"(() => {{ const slider = document.getElementById('price'); slider.value = {index}; slider.dispatchEvent(new Event('input')); }})()")
        assert fills(page) == points[index]["backendOf"]
        text = texts(page, "#price-text")[0]
        price = 1 / points[index]["factor"]
        assert f"transfers at ×{float(f'{price:.2g}'):g} their price" in text
        assert points[index]["single"] in text or points[index]["us"] == points[index]["singleUs"]
        assert page.eval("location.hash") == f"#at=prices:{index}"
    again = show(fragment="#at=prices:24")
    assert fills(again) == points[24]["backendOf"]
    again.click_on("#kept")
    assert fills(again) == kept and again.eval("location.hash") == ""


def test_a_longer_text_beside_the_slider_moves_nothing(show):
    page = show()
    top = "document.getElementById('panes').getBoundingClientRect().top"
    before = page.eval(top)
    for index in range(25):
        page.eval(f"baton.state.showPoint('prices', {index})")
        assert page.eval(top) == before


def test_an_operator_tells_where_it_moves(show):
    page = show()
    moving = page.eval("""baton.model.ops.find(op => op.backend >= 0 && new Set(baton.model.prices.points.map(point => point.backendOf[op.id])).size > 1)?.id""")
    assert moving is not None
    page.eval(f"baton.state.select('op', {moving})")
    said = details(page)
    assert "By the price of transfers".lower() in said.lower() and " to ×" in said


def test_a_lane_per_queue(show, made):
    page = show(fragment="#view=timeline")
    assert [text for text in texts(page, "svg.lanes .lane-name")] == [queue["name"] * 2 for queue in made.report["queues"]]  # with its title
    assert page.eval("document.querySelectorAll('svg.lanes rect[data-span]').length") == sum(len(queue["spans"]) for queue in made.report["queues"])
    row, queue = next((i, queue) for i, queue in enumerate(made.report["queues"]) if any(queue["operators"]))
    span = next(i for i, ids in enumerate(queue["operators"]) if ids)
    page.eval(f"document.querySelector(\"[data-span='{row}:{span}']\").dispatchEvent(new MouseEvent('click'))")
    assert page.eval("baton.state.selection.id") == queue["operators"][span][0]
    assert page.eval(f"document.querySelector(\"[data-span='{row}:{span}']\").classList.contains('selected')")


def test_sweeps_are_plots_and_tables(show, made):
    page = show(fragment="#view=sweeps")
    assert page.eval("[...document.querySelectorAll('[data-sweep]')].map(each => each.dataset.sweep)") == ["link", "devices"]
    for of in ("link", "devices"):
        points = made.report["sweeps"][of]["points"]
        assert page.eval(f"document.querySelectorAll('[data-sweep={of}] circle').length") == len(points)
        assert page.eval(f"document.querySelectorAll('[data-sweep={of}] tbody tr').length") == len(points)
        names = page.eval(f"[...document.querySelectorAll('[data-sweep={of}] .line-name')].map(each => each.getBoundingClientRect().top)")
        assert abs(names[0] - names[1]) >= 12  # they do not lie on each other
    page.eval("document.querySelector('[data-sweep=link] tbody tr[data-point=\"2\"]').click()")
    assert page.eval("location.hash") == "#view=sweeps&at=link:2"
    assert page.eval("document.querySelector('[data-sweep=link] circle[data-point=\"2\"]').classList.contains('selected')")
    page.click_on("[data-tab=graph]")
    assert fills(page) == made.report["sweeps"]["link"]["points"][2]["backend_of"]
    assert f"links ×{float(format(made.report['sweeps']['link']['points'][2]['factor'], '.2g')):g} as fast" in texts(page, "#price-text")[0]


def test_tables(show, made):
    page = show()
    rows = texts(page, "[data-grid=models] tbody tr.top")
    assert len(rows) == len(made.report["models"])
    assert sum("kept" in row for row in rows) == 1 and made.report["chosen"] + " kept" in next(row for row in rows if "kept" in row)
    page.click_on("[data-tab=operators]")
    assert page.eval("document.querySelectorAll('[data-grid=operators] tbody tr.top').length") > 5
    page.click_on("[data-grid=operators] tbody tr[data-index='3']")
    assert page.eval("baton.state.selection.id") == 3


def test_it_is_one_file(made):
    assert not re.search(r"(src|href)=|@import|url\(|fetch\(|XMLHttpRequest", made.text)
    assert set(re.findall(r"https?://[^\s\"']+", made.text)) <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("options", [{"width": 420, "height": 860}, {"width": 1000, "height": 700, "scheme": "dark"}, {"width": 1440, "height": 900}])
def test_nothing_is_cut_off(show, options):
    page = show(fragment="#op=2&at=prices:20", **options)
    for view in ("graph", "timeline", "sweeps"):
        page.eval(f"baton.state.show({{picture: {view!r}}})")
        page.settle()
        assert page.eval("document.documentElement.scrollWidth") <= options["width"]
    assert page.eval("(() => { const details = document.getElementById('details'); return details.scrollWidth <= details.clientWidth; })()")


def test_names_are_text_and_not_html(show):
    bad = "</script><b id='evil'>x</b>"

    def change(held):
        held["model"] = held["notes"] = None
        held["model"], held["notes"] = bad, [bad]
        old = held["backends"][1]
        held["backends"][1] = bad
        for operator in held["mapping"]["operators"]:
            operator["operator"], operator["why"] = bad, bad
            operator["backend"] = bad if operator.get("backend") == old else operator.get("backend", "")
        for operator in held["operators"]:
            operator["op"] = operator["type"] = bad

    page = show(change, fragment="#op=1")
    for view in ("timeline", "sweeps", "graph"):
        page.eval(f"baton.state.show({{picture: {view!r}}})")
    page.eval("baton.state.show({table: 'operators'})")
    page.settle()
    assert page.eval("document.getElementById('evil')") is None and bad in details(page)


def test_without_devices_there_is_no_slider(show):
    def change(held):
        for key in ("links", "queues", "sweeps", "prices", "notes"):
            held.pop(key, None)

    page = show(change)
    assert "there are no transfers" in texts(page, "#tools")[0] and page.eval("document.getElementById('price')") is None
    assert texts(page, "#picture-tabs button") == ["Graph"]


def test_an_empty_model(show):
    def change(held):
        for key in ("operators", "queues", "sweeps", "prices"):
            held.pop(key, None)
        held["mapping"].pop("operators", None)

    page = show(change)
    assert page.eval("baton.graphs[0].boxes.items.length") == 0


def test_three_thousand_operators_are_drawn_soon(show):
    def change(held):
        base, mapped = held["operators"][3], held["mapping"]["operators"][3]
        held["operators"] = [{**base, "id": i, "inputs": [max(0, i - 1), max(0, i - 7)] if i else []} for i in range(3000)]
        held["mapping"]["operators"] = [{**mapped, "id": i, "backend": held["backends"][i // 50 % 2]} for i in range(3000)]
        for sweep in [held["prices"], *held["sweeps"].values()]:
            for at, point in enumerate(sweep["points"]):
                point["backend_of"] = [(i // (at + 2)) % 2 for i in range(3000)]

    page = show(change)
    assert page.eval("baton.graphs[0].boxes.items.length") == 3000
    page.eval("baton.state.showPoint('prices', 3)")
    assert fills(page)[:3] == page.eval("baton.model.prices.points[3].backendOf.slice(0, 3)")
