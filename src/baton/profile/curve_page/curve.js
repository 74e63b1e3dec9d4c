// The time of each operator over an extent: a plot whose axes may be logarithmic, and a table of the same.

const data = JSON.parse($("data").textContent);
const kLines = 12, kLeft = 64, kRight = 190, kTop = 12, kBottom = 38;
const colour = (i) => (i < 10 ? `var(--kind${i})` : "var(--kind-other)");

// Empty numbers and texts are not in the data.
const points = data.points.map((point) => ({value: 0, name: "", inputs: "", ...point}));
const rows = data.rows.map((row) => ({name: "", line: 0, ...row, us: points.map((_, i) => (row.us || [])[i] || 0)}));
rows.forEach((row) => { row.most = Math.max(...row.us); });
const order = rows.filter((row) => row.kind !== "whole").sort((a, b) => b.most - a.most);
order.forEach((row, i) => { row.colour = colour(i); row.drawn = i < kLines; });
const whole = rows.find((row) => row.kind === "whole");

const view = {logX: points.length > 2 && points[0].value > 0 && points.at(-1).value / points[0].value >= 8, logY: true, each: false, text: "", chosen: null};

$("model").textContent = data.model;
$("facts").append(fact("target", data.target || ""), fact("threads", String(data.threads || 1)), fact("points", `${points[0].name} … ${points.at(-1).name}`),
                  ...(data.predicted ? [fact("predicted by", data.predicted)] : []),
                  fact("end to end", `${timeText(whole.us[0])} … ${timeText(whole.us.at(-1))}`), fact("machine", data.machine || "unknown"), fact("baton", data.version || ""));

const matches = (row) => !view.text || row.name.toLowerCase().includes(view.text);
/// Microseconds, or microseconds for each unit of the extent.
const value = (row, i) => (view.each && points[i].value > 0 ? row.us[i] / points[i].value : row.us[i]);

/// Ticks at 1, 2 and 5 times powers of ten.
function decades(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power)
    for (const step of [1, 2, 5]) if (step * 10 ** power >= low * 0.999 && step * 10 ** power <= high * 1.001) ticks.push(step * 10 ** power);
  return ticks.length > 12 ? ticks.filter((tick) => Math.abs(Math.log10(tick) % 1) < 1e-9) : ticks;
}
function even(low, high) {
  const rough = (high - low) / 6 || 1, size = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map((each) => each * size).find((each) => each >= rough);
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high * 1.0001; tick += step) ticks.push(tick);
  return ticks;
}

function plot() {
  const width = $("plot").clientWidth || 900, height = $("plot").clientHeight || 360;
  const shown = [...order.filter((row) => (view.text ? matches(row) : row.drawn || row === view.chosen)), whole];
  const values = shown.flatMap((row) => points.map((_, i) => value(row, i))).filter((each) => each > 0);
  const high = Math.max(...values, 1e-6), low = view.logY ? Math.max(Math.min(...values, high), high / 1e5) : 0;
  const from = points[0].value, to = points.at(-1).value;
  const part = (at, a, b, log) => (b <= a ? 0.5 : log ? Math.log(at / a) / Math.log(b / a) : (at - a) / (b - a));
  const x = (at) => kLeft + (width - kLeft - kRight) * part(at, from, to, view.logX);
  const y = (at) => height - kBottom - (height - kTop - kBottom) * Math.max(0, part(Math.max(at, low || 0), low, high, view.logY && low > 0));
  const chart = svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Time over the extent; the table below holds the same"});
  const text = (words, attributes) => { const made = svg("text", attributes); made.textContent = words; chart.append(made); };
  for (const tick of view.logY && low > 0 ? decades(low, high) : even(low, high)) {
    chart.append(svg("line", {class: "tick", x1: kLeft, x2: width - kRight, y1: y(tick), y2: y(tick)}));
    text(timeText(tick), {x: kLeft - 6, y: y(tick) + 4, "text-anchor": "end"});
  }
  const every = Math.ceil(points.length / Math.max(2, Math.floor((width - kLeft - kRight) / 60)));
  points.forEach((point, i) => { if (i % every === 0) text(String(point.value), {x: x(point.value), y: height - kBottom + 16, "text-anchor": "middle"}); });
  text(points[0].name.replace(/=.*/, "") + (view.each ? "; time for each" : ""), {x: (kLeft + width - kRight) / 2, y: height - 6, "text-anchor": "middle"});
  const ends = [];
  for (const row of shown) {
    const dim = view.chosen && view.chosen !== row ? "dim" : "";
    const stroke = row === whole ? null : row.colour;
    chart.append(svg("polyline", {class: `${row.kind} ${dim}`, stroke, points: points.map((point, i) => `${x(point.value)},${y(value(row, i))}`).join(" ")}));
    points.forEach((point, i) => {
      const mark = svg("circle", {cx: x(point.value), cy: y(value(row, i)), r: 3.5, fill: stroke || "var(--ink)", class: dim});
      mark.addEventListener("pointermove", (event) => tip.show(event, [row.name, `${point.name}: ${timeText(row.us[i])}`,
        whole.us[i] > 0 ? `${percent(row.us[i] / whole.us[i])} of the run` : "", point.inputs]));
      mark.addEventListener("pointerleave", () => tip.hide());
      mark.addEventListener("click", () => choose(row));
      chart.append(mark);
    });
    ends.push({row, dim, at: y(value(row, points.length - 1))});
  }
  // The names of the lines do not lie on each other; those without room are in the table.
  ends.sort((a, b) => a.at - b.at);
  let last = -Infinity;
  for (const end of ends) {
    end.at = Math.max(end.at, last + 13);
    if (end.at > height - kBottom + 8) break;
    last = end.at;
    const name = end.row.name.length > 28 ? end.row.name.slice(0, 27) + "…" : end.row.name;
    text(name, {x: width - kRight + 8, y: end.at + 4, class: `end ${end.dim}`});
  }
  $("plot").replaceChildren(chart);
}

function table() {
  const row = (each) => el("tr", {class: `${each.kind === "whole" ? "whole" : ""} ${each === view.chosen ? "chosen" : ""}`, onclick: () => choose(each)},
    el("td", {title: each.name}, el("span", {class: "key", style: `background:${each === whole ? "var(--ink)" : each.colour}`}), each.name),
    points.map((_, i) => el("td", {}, usText(value(each, i)))));
  $("table").replaceChildren(el("table", {},
    el("thead", {}, el("tr", {}, el("th", {scope: "col"}, view.each ? "µs for each" : "µs of a run"), points.map((point) => el("th", {scope: "col", title: point.inputs}, point.name)))),
    el("tbody", {}, [...order.filter(matches), whole].map(row))));
}

function choose(row) {
  view.chosen = view.chosen === row ? null : row;
  update();
}
function update() {
  for (const button of $("scales").children) button.setAttribute("aria-pressed", String(view[button.dataset.of]));
  plot();
  table();
}

for (const [of, name, hint] of [["logX", "log x", "Extents on a logarithmic axis"], ["logY", "log y", "Times on a logarithmic axis"],
                                ["each", "per unit", "Times divided by the extent: what grows in proportion is flat"]])
  $("scales").append(el("button", {type: "button", class: "choice", title: hint, "data-of": of, onclick: () => { view[of] = !view[of]; update(); }}, name));
$("search").addEventListener("input", () => { view.text = $("search").value.trim().toLowerCase(); update(); });
addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== $("search")) { event.preventDefault(); $("search").focus(); }
  if (event.key === "Escape") { $("search").value = ""; view.text = ""; view.chosen = null; update(); }
});
addEventListener("resize", plot);
theme([]);
update();
requestAnimationFrame(() => setTimeout(() => { document.documentElement.dataset.ready = performance.now().toFixed(0); }));
