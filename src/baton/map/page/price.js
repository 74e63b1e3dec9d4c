// The slider over the price of transfers: mappings that were searched beforehand, from transfers that cost next to nothing to
// such that nothing is worth one. Above it: which part of the operators each backend computes at each price.

class PriceSlider {
  constructor(state, element) {
    Object.assign(this, {state, element});
    const {points} = state.model.prices;
    if (!state.model.links.length || points.length < 2) {
      element.append(el("span", {class: "quiet"}, state.model.links.length ? "Other prices of transfers were not searched."
                                                                        : "All backends compute in the processor's memory: there are no transfers."));
      return;
    }
    this.input = el("input", {type: "range", id: "price", min: 0, max: points.length - 1, step: 1, "aria-label": "Price of transfers", "aria-describedby": "price-text"});
    this.input.addEventListener("input", () => state.showPoint("prices", Number(this.input.value)));
    this.kept = el("button", {type: "button", id: "kept", title: "Show the mapping that was kept, by the clock", onclick: () => state.showPoint(null)}, "mapping kept");
    this.text = el("output", {id: "price-text", for: "price"});
    const ends = [points[0], points.at(-1)].map((point) => el("small", {}, factorText(1 / point.factor)));
    element.append(el("label", {for: "price"}, "price of transfers"), this.kept,
                   el("div", {class: "price"}, this.strip(), el("div", {class: "price-row"}, ends[0], this.input, ends[1])), this.text);
    this.pointShown();
  }

  /// Index of the point at today's prices.
  get now() {
    const {points} = this.state.model.prices;
    return points.reduce((best, point, i) => (Math.abs(Math.log(point.factor)) < Math.abs(Math.log(points[best].factor)) ? i : best), 0);
  }

  strip() {
    const {model} = this.state, {points} = model.prices;
    const chart = svg("svg", {class: "strip-of-prices", viewBox: `0 0 ${points.length} 1`, preserveAspectRatio: "none", role: "img",
                              "aria-label": "The part of the operators that each backend computes, by the price of transfers"});
    points.forEach((point, i) => {
      const counts = countsOf(point, model), all = Math.max(1, sum(counts, (count) => count));
      let top = 0;
      counts.forEach((count, b) => {
        if (!count) return;
        chart.append(svg("rect", {x: i, y: top, width: 1.02, height: count / all, style: `fill:var(${model.backends[b].colour})`}));
        top += count / all;
      });
    });
    this.needle = svg("rect", {class: "needle", x: 0, y: 0, width: 0.12, height: 1});
    chart.append(this.needle);
    return chart;
  }

  pointShown() {
    if (!this.input) return;
    const {shown, point, model} = this.state, onPrice = shown?.of === "prices";
    const at = onPrice ? shown.index : this.now;
    this.input.value = at;
    this.input.setAttribute("aria-valuetext", onPrice ? kMeanings.prices.text(point.factor) : "the mapping that was kept");
    this.needle.setAttribute("x", at + 0.44);
    this.kept.setAttribute("aria-pressed", String(!shown));
    const moved = movedFrom(point, model.kept);
    const what = shown ? kMeanings[shown.of].text(point.factor) + ": " : `${model.chosen?.name ?? "mapping"} at prices as they are: `;
    const gain = point.single && point.us !== point.singleUs ? `, ${point.speedup.toFixed(2)}× as fast as ${point.single} alone` : "";
    this.text.replaceChildren(el("b", {}, what), timeText(point.us) + gain + (shown ? `; ${moved ? plural(moved, "operator") + " elsewhere than kept" : "all operators as kept"}` : ""));
    this.text.title = this.text.textContent;
  }
}
