// Puts the page together, and tells every part when something changes.

const reports = JSON.parse(document.getElementById("data").textContent);
const model = readModel(reports.at(-1));
const difference = reports.length > 1 ? differenceOf(readModel(reports[0]), model) : null;
const state = new State(model);
state.read();

function header() {
  const {json} = model;
  $("model").textContent = difference && difference.before.name !== model.name ? `${difference.before.name} → ${model.name}` : model.name;
  const other = difference?.before;
  const against = (now, old, noise, differs) => (other && old ? [timeText(now), el("small", {class: verdict(old, now, noise, differs)}, " " + ratioText(old, now))] : timeText(now));
  const endToEndNoise = noiseOf(other?.endToEndPlusMinus ?? null, model.endToEndPlusMinus);
  const sumNoise = noiseOf(other ? plusMinusOf(other.kernels) : null, plusMinusOf(model.kernels));
  const both = (text) => (other && text(other.json) !== text(json) ? `${text(other.json)} → ${text(json)}` : text(json));
  const cv = json.cv ?? 0;
  const loaded = json.under_load || json.unreliable || model.kernels.find((kernel) => kernel.underLoad)?.underLoad;
  const facts = [
    fact("target", both((each) => each.target || "?")),
    json.machine ? fact("machine", both((each) => each.machine || "?"), json.other_machine ? "Times are those of this machine, not of the one that predicted them" : json.rescaled ? "Times are rescaled from those of a like machine: " + json.rescaled : "", json.other_machine || json.rescaled ? "warn" : "") : null,
    fact("threads", both((each) => String(each.threads ?? 1))),
    json.inputs?.length ? fact("on", json.inputs.map((each) => `${each.name} ${each.type}`).join(", "), "What the program was run on") : null,
    json.predicted ? fact("times", "predicted", "By " + json.predicted + "; nothing was run", json.out_of_range ? "warn" : "") : null,
    json.interval ? fact(`in ${Math.round(100 * json.interval.level)} of 100 cases`, `${timeText(json.interval.low_us)} to ${timeText(json.interval.high_us)}`, json.out_of_range || "The interval of the prediction, end to end", json.out_of_range ? "warn" : "") : null,
    json.partial ? fact("partial", json.partial, "Measuring ended before all was measured", "warn") : null,
    fact("end to end", against(model.endToEnd, other?.endToEnd, endToEndNoise, difference?.endToEndDiffers), json.predicted ? "Predicted" : json.under_load ? "By the least disturbed samples: other programs ran all the time" : "Median of plain runs, without any clock inside"),
    fact("sum of kernels", against(model.sum, other?.sum, sumNoise, difference?.sumDiffers), "Times of all kernels, added up"),
    fact("between", timeText(json.between_us ?? json.residual_us ?? model.endToEnd - model.sum).replace("-", "−"), "What lies between kernels, in runs with a clock around each"),
    json.end_to_end_us?.p99 && !json.under_load ? fact("p90, p99", `${timeText(json.end_to_end_us.p90)}, ${timeText(json.end_to_end_us.p99)}`, "Of plain runs: 90 % and 99 % of them take at most this long; end to end is p50") : null,
    json.end_to_end_us?.per_second ? fact("runs per second", json.end_to_end_us.per_second.toPrecision(4), "One run after the other") : null,
    model.memory ? fact("memory", withUnit((model.memory.constants_bytes || 0) + (model.memory.workspace_bytes || 0), "B"), "Constants and workspace") : null,
    json.overhead && !json.predicted && !json.under_load ? fact("profiling costs", signed(json.overhead - 1, (value) => percent(value)), "Runs with a clock around every kernel against plain ones") : null,
    loaded ? fact("beside others", loaded, "Times are those of the least disturbed samples, and their +- is wider; --wait measures once the machine is quiet", "warn") : null,
    json.predicted || loaded ? null : fact("spread", percent(cv), "Standard deviation over mean of the plain runs; above 3 % the machine was not quiet", cv > 0.03 ? "warn" : ""),
    json.load !== undefined && !json.predicted ? fact("load", Number(json.load).toFixed(1), "The system's load average when measuring began") : null,
    json.others_busy >= 0.05 ? fact("others", json.others_busy.toFixed(1) + " processors", "Processors that other programs kept busy meanwhile, on average", "warn") : null,
    model.unfusedSum ? fact("unfused", timeText(model.unfusedSum), "The same model built without fusion, end to end") : null,
    fact("build", both((each) => (each.opt_level === undefined ? "artifact" : `opt ${each.opt_level}`) + (each.precision ? `, ${each.precision}` : "") + `, Baton ${each.version || "?"}`)),
  ];
  $("facts").append(...facts.filter(Boolean));
  const notes = [...(json.notes || [])];
  if (cv > 0.03 && !loaded) notes.unshift(`Plain runs spread by ${percent(cv)}: the machine was not quiet. Times may be far from what they are alone.`);
  if (other) {
    if (other.name !== model.name) notes.push(`These are two models: ${other.name} and ${model.name}.`);
    notes.push(...(other.json.notes || []).map((note) => "first profile: " + note));
  }
  $("notes").hidden = !notes.length;
  $("notes").append(...notes.map((note) => el("p", {}, note)));
}

const graphs = [];

/// One graph, or both side by side.
function graphPane() {
  const element = el("div", {class: "graphs"});
  const byKind = {};
  const get = (kind) => (byKind[kind] ||= graphs[graphs.push(new Graph(state, kind, difference, tip)) - 1]);
  const choices = [["kernels", "Kernels", "Kernels with their operators inside"], ["operators", "Operators", "The source; thick: fused into one kernel"], ["both", "Both", "Side by side"],
                   ...(model.modules.length ? [["modules", "Modules", "The user's modules; a double click opens or closes one"]] : [])];
  const buttons = choices.map(([key, label, hint]) => el("button", {type: "button", class: "choice", title: hint, "data-graphs": key, onclick: () => show(key)}, label));
  let shown = [];
  const show = (key) => {
    shown = (key === "both" ? ["kernels", "operators"] : [key]).map(get);
    element.replaceChildren(...shown.map((graph) => graph.element));
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.graphs === key));
    for (const graph of shown) graph.selected();
  };
  const tools = [el("span", {class: "choices", role: "group", "aria-label": "What the graph shows"}, buttons),
                 ...zoomButtons(() => shown)];
  show("kernels");
  return {element, tools, selected: () => shown.forEach((graph) => graph.selected()), paint: () => shown.forEach((graph) => graph.paint()),
          approach: () => shown.forEach((graph) => graph.approach())};
}

header();
const details = new Details(state, model, difference);
details.onKind = (name) => { $("filter-op").value = name; state.setFilter({op: name}); };
details.onNear = () => {
  state.show({picture: "graph"});
  pictures.made.get("graph").approach();
};
const search = new Search(state, model);
const pictures = tabs(state, $("picture-tabs"), $("picture"), "picture", [
  {key: "graph", label: "Graph", tip: "What reads what", make: graphPane},
  {key: "roofline", label: "Roofline", tip: "Work per byte against speed", make: () => new Roofline(state, model, tip)},
  {key: "treemap", label: "Treemap", tip: "Areas by time: kind of operator, kernel, operator", make: () => new Treemap(state, model, tip)},
  ...(model.modules.length ? [{key: "flame", label: "Modules", tip: "The user's modules by their time", make: () => new ModuleMap(state, model, tip)}] : []),
  ...(hasSource(model) ? [{key: "source", label: "Source", tip: "The program with the time of each line", make: () => new SourceView(state, model)}] : []),
  ...(model.places.length > 1 ? [{key: "devices", label: "Devices", tip: "Devices, copies between them, and one run with a lane per queue", make: () => new Devices(state, model)}] : []),
  ...(model.memory ? [{key: "memory", label: "Memory", tip: "Workspace over a run, constants", make: () => new MemoryChart(state, model)}] : []),
]);
const tables = tabs(state, $("table-tabs"), $("table"), "table", [
  {key: "kernels", label: `Kernels ${model.kernels.length}`, tip: "What runs, in the order of execution", make: () => (difference ? groupTable(state, difference) : kernelTable(state, model))},
  {key: "operators", label: `Operators ${model.ops.length}`, tip: "What the user wrote", make: () => operatorTable(state, model, difference)},
  ...(model.modules.length ? [{key: "modules", label: `Modules ${model.modules.length}`, tip: "The tree of the user's modules", make: () => moduleTable(state, model)}] : []),
  ...(model.json.program ? [{key: "program", label: "Control flow", tip: "What lies between kernels, loops and branches", make: () => programTable(state, model)}] : []),
  ...(model.comparison ? [{key: "comparison", label: "Backends", tip: "Each kernel beside the same operators on other backends", make: () => comparisonTable(state, model)}] : []),
]);

function filters() {
  $("filter-op").append(...[...model.kinds.keys()].sort().map((name) => el("option", {value: name}, name)));
  $("filter-op").addEventListener("change", (event) => state.setFilter({op: event.target.value}));
  $("filter-name").addEventListener("input", (event) => state.setFilter({name: event.target.value.trim()}));
  $("filter-share").addEventListener("input", (event) => state.setFilter({share: Math.max(0, Number(event.target.value) || 0)}));
  $("clear").addEventListener("click", () => {
    $("filter-op").value = $("filter-name").value = "";
    $("filter-share").value = 0;
    state.setFilter({op: "", name: "", share: 0});
  });
}

function partOfTime(kernels) {
  return percent(sum([...kernels], (kernel) => kernel.us) / (model.sum || 1)) + " of the time";
}

function showStatus() {
  $("clear").hidden = !state.filtered;
  if (!state.filtered) return void ($("status").textContent = "");
  const {kernels, ops} = state.passes();
  $("status").textContent = `${kernels.size} of ${plural(model.kernels.length, "kernel")} (${partOfTime(kernels)}), ` +
                            `${ops.size} of ${plural(model.ops.length, "operator")}`;
}

function update(what) {
  if (what === "view") {
    const part = pictures.update();
    $("picture-tools").replaceChildren(...(part.tools || []));
    const table = tables.update();
    const fold = table.name === "kernels" ? [el("button", {type: "button", title: "Unfold or fold all rows", onclick: () => table.toggleAll()}, "unfold all")] : [];
    $("table-tools").replaceChildren(...(difference && table.name === "kernels" ? [sumCheck(difference)] : []), ...fold);
    return;
  }
  if (what === "selection") details.selected();
  if (what === "filter") showStatus();
  for (const part of [...pictures.made.values(), ...tables.made.values()]) {
    if (!part.element.isConnected && !(part instanceof Grid)) continue;
    if (what === "filter") {
      part.arrange?.();
      part.draw?.();
      part.paint?.();
    } else {
      part.selected?.();
    }
  }
}

filters();
splitter();
state.listen(update);
theme(graphs);
details.selected();
update("view");
addEventListener("hashchange", () => {
  state.read();
  update("view");
});

// For tests and curious people at the console: what is known, and where a box of the graph is on the screen.
window.baton = {
  model, state, difference, graphs,
  placeOf(kind, id) {
    for (const graph of graphs) {
      const place = graph.element.isConnected && graph.placeOf(kind, id), box = graph.canvas.getBoundingClientRect();
      if (place) return {x: box.left + place.x, y: box.top + place.y};
    }
    return null;
  },
};

// After the first frame with everything in it; tests and the bar of two seconds read it.
requestAnimationFrame(() => setTimeout(() => { document.documentElement.dataset.ready = performance.now().toFixed(0); }));
