// Where kernels run: one colour and one lane per device or library, and copies between devices.

const kCopies = "copies";

function isCopy(kernel) {
  return kernel.place === kCopies;
}

/// [{name, colour, kernels}]: in the order in which a run meets them, copies last. One: nothing to tell apart.
function devicesOf(model) {
  const places = new Map();
  for (const kernel of model.kernels) {
    if (!places.has(kernel.place)) places.set(kernel.place, {name: kernel.place, kernels: []});
    places.get(kernel.place).kernels.push(kernel);
  }
  const ordered = [...places.values()].sort((a, b) => (a.name === kCopies) - (b.name === kCopies));
  ordered.forEach((place, i) => { place.colour = place.name === kCopies ? kCopyColour : kPlaceColours[i % kPlaceColours.length]; });
  return ordered;
}

/// "llvm -mcpu=znver4" -> "llvm".
function briefPlace(name) {
  return name.split(" ")[0] || "?";
}

/// The memory that a kernel's result lies in. Reports without devices name only where kernels run.
function deviceOf(kernel) {
  return kernel.device || briefPlace(kernel.place);
}

/// Copies by the devices at their ends: [{from, to, copies, bytes}], in the order in which a run meets them.
function linksOf(model) {
  const links = new Map();
  for (const copy of model.kernels) {
    if (!isCopy(copy)) continue;
    const source = copy.from.find((each) => !isCopy(each)), reader = model.kernels.find((each) => !isCopy(each) && each.from.includes(copy));
    copy.fromDevice = copy.copiedFrom || (source ? deviceOf(source) : "inputs");
    copy.toDevice = copy.device || (reader ? deviceOf(reader) : "results");
    const key = JSON.stringify([copy.fromDevice, copy.toDevice]);
    if (!links.has(key)) links.set(key, {from: copy.fromDevice, to: copy.toDevice, copies: [], bytes: 0});
    links.get(key).copies.push(copy);
    links.get(key).bytes += copy.resultBytes;
  }
  return [...links.values()];
}

/// "cpu → opencl".
function copyWay(copy) {
  return `${copy.fromDevice} → ${copy.toDevice}`;
}

/// The operators that a copy is for: those that ask for it, or those whose devices differ.
function causesOf(copy) {
  return copy.origins.length ? copy.origins : copy.madeFor;
}

/// The time of several kernels in words.
function timeOfAll(kernels) {
  return timeText(sum(kernels, (kernel) => kernel.us));
}

/// "3.21 GB/s": the bytes of copies over their time; empty where none could be measured.
function rateText(copies) {
  const known = copies.filter((copy) => copy.us > 0), us = sum(known, (copy) => copy.us);
  return us > 0 ? `${(sum(known, (copy) => copy.resultBytes) / us / 1e3).toPrecision(3)} GB/s` : "";
}

/// On the label of an edge: "1.20 MB, 34 µs".
function copyText(copy) {
  return `${withUnit(copy.resultBytes, "B")}, ${shortTime(copy.us)}`;
}

function operatorsText(model, ids, most = 6) {
  const names = ids.slice(0, most).map((id) => operatorLabel(model.ops[id]));
  return names.join(", ") + (ids.length > most ? ` and ${ids.length - most} more` : "");
}

function copyTip(copy, model) {
  const rate = rateText([copy]), causes = causesOf(copy);
  return [`copy ${copyWay(copy)}`, `${withUnit(copy.resultBytes, "B")}, ${kernelTime(copy)}${rate && ", " + rate}`,
          ...(causes.length ? ["for " + operatorsText(model, causes)] : []), ...(copy.reason ? [copy.reason] : [])];
}

/// The view "Devices": devices with the copies between them as edges, and below one run with a lane per queue.
class Devices {
  constructor(state, model) {
    this.map = model.links.length ? new DeviceMap(state, model) : null;
    this.lanes = new Lanes(state, model);
    this.element = el("div", {class: "chart devices"});
    this.tools = this.map ? this.choices() : [];
    this.show("both");
  }

  /// Buttons for one of the two where both are higher than the pane.
  choices() {
    const entries = [["copies", "Copies", "Devices and the copies between them"], ["timeline", "Timeline", "One run, a lane per queue"], ["both", "Both", "One below the other"]];
    this.buttons = entries.map(([key, label, hint]) => el("button", {type: "button", class: "choice", title: hint, "data-devices": key, onclick: () => this.show(key)}, label));
    return [el("span", {class: "choices", role: "group", "aria-label": "What the view shows"}, this.buttons)];
  }

  show(key) {
    const map = this.map && key !== "timeline" ? [this.map.element] : [];
    this.element.replaceChildren(...map, ...(key === "copies" ? [] : this.lanes.elements));
    for (const button of this.buttons || []) button.setAttribute("aria-pressed", String(button.dataset.devices === key));
    this.selected();
  }

  selected() {
    this.map?.selected();
    this.lanes.selected();
  }
}

/// One run laid out from medians, a lane per place: what runs where, and which operators a copy is for.
class Lanes {
  constructor(state, model) {
    Object.assign(this, {state, model});
    const {places} = model, total = sum(model.kernels, (kernel) => kernel.us);
    // Where no time is known, the order is shown.
    const lengthOf = (kernel) => (total > 0 ? kernel.us / total : 1 / model.kernels.length);
    const width = 1000, lane = 34, height = lane * places.length;
    const chart = svg("svg", {class: "lanes", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", style: `height:${height}px`,
                              "aria-label": "Kernels in the order of execution, a lane per device"});
    this.marks = new Map();
    let at = 0;
    const begins = new Map(model.kernels.map((kernel) => { const begin = at; at += lengthOf(kernel); return [kernel, begin]; }));
    places.forEach((place, row) => {
      chart.append(svg("line", {x1: 0, x2: width, y1: lane * (row + 1), y2: lane * (row + 1), class: "lane"}));
      for (const kernel of place.kernels) {
        const length = Math.max(0.6, width * lengthOf(kernel));
        const mark = svg("rect", {x: Math.min(width - length, width * begins.get(kernel)), y: lane * row + 4, width: length, height: lane - 8,
                                  style: `fill:var(${place.colour})`, "data-kernel": kernel.node},
                         svg("title", {}, (isCopy(kernel) ? copyTip(kernel, model) : [kernel.title, kernelTime(kernel)]).join("\n")));
        mark.addEventListener("click", () => state.select("kernel", kernel.node, this));
        this.marks.set(kernel, mark);
        chart.append(mark);
      }
    });
    const facts = places.map((place) => el("div", {style: `color:var(${place.colour})`},
                                           el("dt", {}, place.name), el("dd", {}, this.factsOf(place))));
    this.elements = [
      el("dl", {class: "memory-facts"}, facts),
      el("div", {class: "lane-box"}, el("div", {class: "lane-names", style: `height:${height}px`}, places.map((place) => el("span", {style: `color:var(${place.colour})`}, el("b", {title: place.name}, briefPlace(place.name))))), chart),
      el("p", {class: "quiet"}, "One run from medians, one call after the other; a lane per queue. Select a call to see it.")];
  }

  /// "12 calls, 3.40 ms"; of a simulated device it says so.
  factsOf(place) {
    const simulated = place.name !== kCopies && place.kernels.some((kernel) => kernel.simulated) ? ", simulated" : "";
    const copied = place.name === kCopies ? `, ${withUnit(sum(place.kernels, (kernel) => kernel.resultBytes), "B")}` : "";
    return `${plural(place.kernels.length, "call")}${copied}, ${timeOfAll(place.kernels)}${simulated}`;
  }

  selected() {
    const {selection, linked} = this.state;
    for (const [kernel, mark] of this.marks) {
      mark.classList.toggle("selected", selection?.kind === "kernel" && selection.id === kernel.node);
      mark.classList.toggle("linked", linked.kernels.has(kernel));
    }
  }
}

/// Each kernel of the base beside the same operators on other backends (docs/design/0032-comparison.md).
function comparisonTable(state, model) {
  const {comparison} = model;
  const timed = (row) => row && ["faster", "slower", "within noise"].includes(row.verdict);
  const of = (row, backend) => row.compared.others.find((each) => each.backend === backend);
  const hint = (row) => (timed(row) ? `kernels ${usText(row.kernels_us || 0)} + copies ${usText(row.copies_us || 0)} + layouts ${usText(row.layouts_us || 0)} µs: ${row.verdict}`
                                    : `${row.verdict}: ${row.why || ""}`);
  const cells = comparison.others.flatMap((backend) => [
    {key: backend, drop: 2, label: `${backend} µs`, tip: "Kernels, copies in and out, and changes of layout", width: 104, num: true,
     value: (row) => (timed(of(row, backend)) ? of(row, backend).total_us : null),
     cell: (row) => { const each = of(row, backend); return each ? el("span", {title: hint(each)}, timed(each) ? usText(each.total_us) : each.verdict) : ""; }},
    {key: backend + "-ratio", drop: 3, label: "ratio", tip: `Total on ${backend} over the time on ${comparison.base}`, width: 84, num: true,
     value: (row) => (timed(of(row, backend)) ? of(row, backend).total_us / row.compared.own_us : null),
     cell: (row) => {
       const each = of(row, backend);
       if (!timed(each)) return "";
       const look = {faster: "faster", slower: "slower"}[each.verdict] || "quiet";
       return el("span", {class: look, title: hint(each)}, `${(each.total_us / row.compared.own_us).toFixed(2)}×`);
     }}]);
  const columns = [
    {key: "node", label: "node", tip: "The first that calls it", width: 56, num: true, value: (row) => row.compared.node},
    {key: "name", label: "function", tip: "A kernel of the base build", value: (row) => row.compared.title,
     cell: (row) => nameCell(row.compared.title, row.compared.why, row.compared.func_name)},
    {key: "calls", drop: 1, label: "calls", tip: "Nodes that call it", width: 60, num: true, value: (row) => row.compared.nodes.length},
    {key: "own", label: `${comparison.base} µs`, tip: "Alone, with warm caches", width: 92, num: true, value: (row) => row.compared.own_us || null,
     cell: (row) => (row.compared.own_us ? usText(row.compared.own_us) : "")},
    ...cells,
  ];
  const top = () => comparison.functions.map((compared) => ({key: "c" + compared.node, kind: "kernel", id: compared.node, level: 0, compared}));
  return new Grid(state, {name: "comparison", columns, top});
}
