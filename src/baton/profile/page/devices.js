// Where kernels run: one colour and one lane per device or library, and one for copies between them.

const kCopies = "copies";

/// [{name, colour, kernels}]: in the order in which a run meets them, copies last. One: nothing to tell apart.
function devicesOf(model) {
  const places = new Map();
  for (const kernel of model.kernels) {
    if (!places.has(kernel.place)) places.set(kernel.place, {name: kernel.place, kernels: []});
    places.get(kernel.place).kernels.push(kernel);
  }
  const ordered = [...places.values()].sort((a, b) => (a.name === kCopies) - (b.name === kCopies));
  ordered.forEach((place, i) => { place.colour = place.name === kCopies ? "--kind5" : ["--kind0", "--kind2", "--kind3", "--kind1", "--kind6", "--kind8"][i % 6]; });
  return ordered;
}

/// One run laid out from medians, a lane per place: what runs where, and which operators a copy is for.
class Lanes {
  constructor(state, model) {
    Object.assign(this, {state, model});
    const places = devicesOf(model), total = sum(model.kernels, (kernel) => kernel.us) || 1;
    const width = 1000, lane = 34, height = lane * places.length;
    const chart = svg("svg", {class: "lanes", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
                              "aria-label": "Kernels in the order of execution, a lane per device"});
    this.marks = new Map();
    let at = 0;
    const begins = new Map(model.kernels.map((kernel) => { const begin = at; at += kernel.us; return [kernel, begin]; }));
    places.forEach((place, row) => {
      chart.append(svg("line", {x1: 0, x2: width, y1: lane * (row + 1), y2: lane * (row + 1), class: "lane"}));
      for (const kernel of place.kernels) {
        const mark = svg("rect", {x: width * begins.get(kernel) / total, y: lane * row + 4, width: Math.max(0.6, width * kernel.us / total), height: lane - 8,
                                  style: `fill:var(${place.colour})`, "data-kernel": kernel.node},
                         svg("title", {}, `${kernel.title}\n${kernelTime(kernel)}${kernel.madeFor.length ? "\nfor " + kernel.madeFor.map((id) => model.ops[id].brief || model.ops[id].op).join(", ") : ""}`));
        mark.addEventListener("click", () => state.select("kernel", kernel.node, this));
        this.marks.set(kernel, mark);
        chart.append(mark);
      }
    });
    const words = places.map((place) => el("div", {style: `color:var(${place.colour})`}, el("dt", {}, place.name),
                                           el("dd", {}, `${plural(place.kernels.length, "call")}, ${timeText(sum(place.kernels, (kernel) => kernel.us))}`)));
    this.element = el("div", {class: "chart memory"}, el("dl", {class: "memory-facts"}, words), chart,
                      el("p", {class: "quiet"}, "One run from medians, one call after the other; a lane per device, from the top as they are named. Select a call to see it."));
    this.selected();
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
     cell: (row) => (row.compared.unreliable ? "unreliable" : row.compared.own_us ? usText(row.compared.own_us) : "")},
    ...cells,
  ];
  const top = () => comparison.functions.map((compared) => ({key: "c" + compared.node, kind: "kernel", id: compared.node, level: 0, compared}));
  return new Grid(state, {name: "comparison", columns, top});
}
