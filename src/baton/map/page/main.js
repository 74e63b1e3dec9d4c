// Puts the page together, and tells every part when something changes.

const model = readMapping(JSON.parse(document.getElementById("data").textContent));
const state = new MapState(model);
state.read();

function header() {
  const {json, chosen, bestSingle} = model;
  $("model").textContent = model.name;
  const single = chosen === bestSingle;
  const noise = json.plus_minus > 0 ? ` ± ${percent(json.plus_minus)}` : "";
  const objectives = {serial: "one input, one thing after the other", latency: "one input, devices and links side by side", throughput: "per input of a stream, devices and links side by side"};
  const facts = [
    fact("backends", model.backends.map((each) => each.name).join(", ")),
    json.machine ? fact("machine", json.machine) : null,
    fact("threads", String(json.threads ?? 1)),
    fact("objective", json.objective || "serial", objectives[json.objective || "serial"]),
    fact("kept", single ? `${chosen?.name ?? "?"} alone` : chosen?.name ?? "?"),
    chosen ? fact(json.predicted ? "time, predicted" : "time", timeText(timeOfModel(chosen)), json.predicted ? "By the predictor; nothing was run" : chosen.verified ? "Measured after it was chosen" : "Measured, all mappings in turns") : null,
    bestSingle && !single ? fact("best single", `${bestSingle.name}, ${timeText(timeOfModel(bestSingle))}`) : null,
    single ? null : fact("speed-up", `${(json.speedup || 1).toFixed(3)}×${noise}`, json.predicted ? "Over the best single backend" : "Over the best single backend, by rounds measured after the choice"),
    chosen?.modelled && chosen.measured ? fact("modelled", timeText(chosen.modelled), "By the prices of its kernels and copies") : null,
    json.partial ? fact("partial", json.partial, "It ended before all was measured", "warn") : null,
  ];
  $("facts").append(...facts.filter(Boolean));
  const notes = json.notes || [];
  $("notes").hidden = !notes.length;
  $("notes").append(...notes.map((note) => el("p", {}, note)));
}

header();
const graph = new MapGraph(state, tip), graphs = [graph];
const details = new MapDetails(state);
const slider = new PriceSlider(state, $("tools"));
const pictures = tabs(state, $("picture-tabs"), $("picture"), "picture", [
  {key: "graph", label: "Graph", tip: "Operators by the backend that computes them", make: () => new MapGraphPane(state, graph)},
  ...(model.queues.length ? [{key: "timeline", label: "Timeline", tip: "One input, a lane per device and link", make: () => new Timeline(state, tip)}] : []),
  ...(model.sweeps.length ? [{key: "sweeps", label: `Sweeps ${model.sweeps.length}`, tip: "What other machines would give", make: () => new Sweeps(state, tip)}] : []),
]);
const tables = tabs(state, $("table-tabs"), $("table"), "table", [
  {key: "models", label: `Mappings ${model.models.length}`, tip: "What was compared", make: () => modelTable(state)},
  {key: "operators", label: `Operators ${model.ops.length}`, tip: "What the user wrote, and where it is computed", make: () => operatorGrid(state)},
]);
details.onNear = () => {
  state.show({picture: "graph"});
  graph.approach();
};

function update(what) {
  if (what === "view") {
    $("picture-tools").replaceChildren(...(pictures.update().tools || []));
    tables.update();
    return;
  }
  if (what === "selection") details.update();
  if (what === "shown") slider.pointShown();
  for (const part of [...pictures.made.values(), ...tables.made.values()]) {
    if (what === "selection") part.selected?.();
    if (what !== "shown") continue;
    part.pointShown?.();
    if (part instanceof Grid && part.element.isConnected) {
      part.arrange();
      part.draw();
    }
  }
}

splitter();
state.listen(update);
theme([graph, {recolour: () => pictures.made.get("timeline")?.recolour()}]);
details.update();
update("view");
addEventListener("keydown", (event) => {
  if (event.key === "Escape") state.clearSelection();
});
addEventListener("hashchange", () => {
  state.read();
  for (const what of ["view", "selection", "shown"]) update(what);
});

// For tests and curious people at the console.
window.baton = {
  model, state, graphs,
  placeOf(kind, id) {
    const place = graph.element.isConnected && graph.placeOf(kind, id), box = graph.canvas.getBoundingClientRect();
    return place ? {x: box.left + place.x, y: box.top + place.y} : null;
  },
};

// After the first frame with everything in it; tests read it.
requestAnimationFrame(() => setTimeout(() => { document.documentElement.dataset.ready = performance.now().toFixed(0); }));
