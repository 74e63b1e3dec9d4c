// What other machines would give: for each sweep a plot and a table of its points. A point that is clicked is shown in the graph.

const kPlotWidth = 500, kPlotHeight = 250, kPlotLeft = 46, kPlotRight = 104, kPlotTop = 14, kPlotBottom = 42;

class Sweeps {
  constructor(state, tip) {
    Object.assign(this, {state, tip, marks: []});
    this.element = el("div", {class: "chart sweeps"}, state.model.sweeps.map((sweep) => this.section(sweep)));
    this.tools = [];
    this.pointShown();
  }

  section(sweep) {
    const meaning = kMeanings[sweep.of];
    return el("section", {"data-sweep": sweep.of}, el("h3", {}, meaning.title),
              sweep.note ? el("p", {class: "note"}, sweep.note) : null, sweep.partial ? el("p", {class: "note"}, sweep.partial + ": later points are missing") : null,
              sweep.points.length ? el("div", {class: "sweep"}, this.plot(sweep), this.table(sweep)) : null);
  }

  plot(sweep) {
    const {points, base} = sweep, whole = sweep.of === "devices";
    const gain = (us) => (us > 0 ? base / us : null);
    const values = points.flatMap((point) => [gain(point.us), gain(point.singleUs)]).filter((value) => value !== null);
    const most = Math.max(1, ...values), least = Math.min(1, ...values), log = most / least > 6;
    const low = log ? least / 1.1 : 0, high = most * (log ? 1.15 : 1.08);
    const from = points[0].factor, to = points.at(-1).factor;
    const part = (value, a, b, logarithmic) => (b <= a ? 0.5 : logarithmic ? Math.log(value / a) / Math.log(b / a) : (value - a) / (b - a));
    const x = (factor) => kPlotLeft + (kPlotWidth - kPlotLeft - kPlotRight) * part(factor, from, to, !whole);
    const y = (value) => kPlotHeight - kPlotBottom - (kPlotHeight - kPlotTop - kPlotBottom) * part(value, low, high, log);
    const chart = svg("svg", {class: "plot", width: kPlotWidth, height: kPlotHeight, viewBox: `0 0 ${kPlotWidth} ${kPlotHeight}`, role: "img",
                              "aria-label": kMeanings[sweep.of].title + ": times as fast as the best single backend is now; the table beside it holds the same"});
    const text = (at, over, words, attributes = {}) => { const made = svg("text", {x: at, y: over, ...attributes}); made.textContent = words; chart.append(made); };
    for (const tick of log ? logTicks(low, high) : ticksOf(low, high, 5)) {
      chart.append(svg("line", {class: "tick", x1: kPlotLeft, x2: kPlotWidth - kPlotRight, y1: y(tick), y2: y(tick)}));
      text(kPlotLeft - 6, y(tick) + 4, tick + "×", {"text-anchor": "end"});
    }
    for (const tick of whole ? points.map((point) => point.factor) : logTicks(from, to)) {
      chart.append(svg("line", {class: "tick", x1: x(tick), x2: x(tick), y1: kPlotTop, y2: kPlotHeight - kPlotBottom}));
      text(x(tick), kPlotHeight - kPlotBottom + 16, String(tick), {"text-anchor": "middle"});
    }
    text((kPlotLeft + kPlotWidth - kPlotRight) / 2, kPlotHeight - 6, kMeanings[sweep.of].axis, {"text-anchor": "middle", class: "axis"});
    if (from < 1 && to > 1) chart.append(svg("line", {class: "now", x1: x(1), x2: x(1), y1: kPlotTop, y2: kPlotHeight - kPlotBottom}));
    const lines = [["single", "best single", (point) => point.singleUs], ["mixture", "best mapping", (point) => point.us]];
    const ends = lines.map(([, , of]) => y(gain(of(points.at(-1))) ?? low));
    // The names of the lines do not lie on each other.
    if (Math.abs(ends[0] - ends[1]) < 15) ends[ends[0] > ends[1] ? 0 : 1] = Math.min(...ends) + 15;
    lines.forEach(([look, name, of], i) => {
      const known = points.filter((point) => of(point) > 0);
      chart.append(svg("polyline", {class: look, points: known.map((point) => `${x(point.factor)},${y(gain(of(point)))}`).join(" ")}));
      text(kPlotWidth - kPlotRight + 10, ends[i] + 4, name, {class: "line-name " + look});
    });
    points.forEach((point, index) => {
      if (!(point.us > 0)) return;
      const mark = svg("circle", {class: "mixture", cx: x(point.factor), cy: y(gain(point.us)), r: 4.5, "data-point": index});
      mark.addEventListener("pointermove", (event) => this.tip.show(event, [kMeanings[sweep.of].text(point.factor), `best mapping ${timeText(point.us)}`,
        `best single backend ${point.single}, ${timeText(point.singleUs)}`, `speed-up ${point.speedup.toFixed(3)}×`]));
      mark.addEventListener("pointerleave", () => this.tip.hide());
      mark.addEventListener("click", () => this.state.showPoint(sweep.of, index));
      this.marks.push({mark, of: sweep.of, index});
      chart.append(mark);
    });
    return el("figure", {}, chart, el("figcaption", {class: "quiet"}, `Times as fast as the best single backend is now (${timeText(base)}).`));
  }

  table(sweep) {
    const {kept} = this.state.model;
    const rows = sweep.points.map((point, index) => {
      const row = el("tr", {"data-point": index, onclick: () => this.state.showPoint(sweep.of, index)},
                     el("td", {class: "num"}, sweep.of === "devices" ? String(point.factor) : factorText(point.factor)), el("td", {class: "num"}, usText(point.singleUs)),
                     el("td", {}, point.single), el("td", {class: "num"}, usText(point.us)), el("td", {class: "num"}, point.speedup.toFixed(3) + "×"),
                     el("td", {class: "num"}, String(movedFrom(point, kept))));
      this.marks.push({mark: row, of: sweep.of, index});
      return row;
    });
    const head = [["num", "factor"], ["num", "single µs"], ["", "which"], ["num", "mapping µs"], ["num", "speed-up"], ["num", "moved"]];
    return el("table", {class: "points"}, el("thead", {}, el("tr", {}, head.map(([look, name]) => el("th", {class: look || null, scope: "col"}, name)))), el("tbody", {}, rows));
  }

  pointShown() {
    const {shown} = this.state;
    for (const {mark, of, index} of this.marks) mark.classList.toggle("selected", shown?.of === of && shown.index === index);
  }
}

/// 1, 2 and 5 times powers of ten; of many decades the powers only.
function logTicks(low, high) {
  const ticks = [];
  const steps = high / low > 60 ? [1] : [1, 2, 5];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
    for (const step of steps) {
      const tick = Number((step * 10 ** power).toPrecision(6));
      if (tick >= low * 0.9999 && tick <= high * 1.0001) ticks.push(tick);
    }
  return ticks;
}
