// Everything about the operator that is selected: where it is, what it would cost elsewhere, what would move it.

/// "llvm, plain": a backend, and how a layer is computed there.
const placeText = ({backend, variant}) => (variant ? `${backend}, ${variant}` : backend);

class MapDetails {
  constructor(state) {
    Object.assign(this, {state, element: document.getElementById("details")});
  }

  update() {
    const {selection, model} = this.state;
    this.element.replaceChildren(...(selection ? this.operator(model.ops[selection.id]) : this.nothing()).filter(Boolean));
    this.element.scrollTop = 0;
    if (selection && matchMedia("(max-width: 900px)").matches) this.element.scrollIntoView({block: "start"});
  }

  facts(rows) {
    const list = el("dl", {class: "facts"});
    for (const [name, value, tip] of rows) if (value) list.append(el("dt", {title: tip || null}, name), el("dd", {}, value));
    return list;
  }

  nothing() {
    const {model} = this.state, {json, chosen, kept, links} = model;
    const counts = countsOf(kept, model), single = chosen === model.bestSingle;
    const dearest = model.ops.filter((op) => op.us > 0).toSorted((a, b) => b.us - a.us).slice(0, 8);
    return [
      el("h2", {}, single ? `${chosen?.name ?? "One backend"} alone is the fastest` : `${chosen?.name}: ${(json.speedup || 1).toFixed(2)}× as fast as ${model.bestSingle?.name} alone`),
      el("p", {class: "quiet"}, "Each box of the graph is an operator, in the colour of the backend that computes it; thick edges are transfers between devices. " +
        "Select an operator to see what it would cost elsewhere." + (links.length ? " The slider shows the best mapping at other prices of transfers." : "")),
      this.facts([
        ...model.backends.map((backend, i) => [backend.name, `${plural(counts[i], "operator")}${kept.backendUs[backend.name] > 0 ? ", " + timeText(kept.backendUs[backend.name]) : ""}`]),
        ["bound", json.bound_us > 0 && timeText(json.bound_us), "By the prices no mapping takes less"],
        ["ignoring copies", json.without_links_us > 0 && timeText(json.without_links_us), "What a mapping would take that is best where copies cost nothing"],
        ["search", json.method],
        ["took", `${(json.build_s || 0).toFixed(1)} s building, ${(json.measure_s || 0).toFixed(1)} s measuring, ${(json.search_s || 0).toFixed(2)} s searching`],
      ]),
      links.length ? el("h3", {}, "Links") : null,
      links.length ? this.facts(links.map((link) => [`${link.from} → ${link.to}`, `${usText(link.latency_us || 0)} µs, ${(link.gbytes_per_s || 0).toPrecision(3)} GB/s`])) : null,
      dearest.length ? el("h3", {}, "Longest operators") : null,
      dearest.length ? this.links(dearest) : null,
    ];
  }

  links(ops) {
    const {model} = this.state;
    return el("ul", {class: "links"}, ops.map((op) => el("li", {}, el("button", {type: "button", class: "link", title: op.type || null, onclick: () => this.state.select("op", op.id)},
      el("span", {class: "name"}, el("i", {class: "dot", style: op.backend < 0 ? "border:1px dashed var(--edge)" : `background:var(${model.backends[op.backend].colour})`}), op.label),
      el("span", {class: "num"}, op.us ? usText(op.us) + " µs" : "")))));
  }

  operator(op) {
    const {model} = this.state, backend = model.backends[op.backend];
    const others = op.alternatives.filter((each) => each.backend !== backend?.name || ((each.variant || "") !== op.variant && each.more_us > 0));
    return [
      el("div", {class: "kind"}, el("span", {}, "operator"),
         el("button", {type: "button", class: "near", title: "Show it in the graph, near enough to read", onclick: () => this.onNear?.()}, "in the graph"),
         el("button", {type: "button", class: "close", title: "Clear the selection (Escape)", "aria-label": "Clear the selection", onclick: () => this.state.clearSelection()}, "✕")),
      el("h2", {}, op.label),
      this.facts([
        ["computed by", backend ? el("span", {}, backendName(backend)) : "nobody: " + absentText(op)],
        ["takes", backend && op.us ? `${usText(op.us)} µs, its share of its kernel` : ""],
        ["source", op.line ? (op.file ? `${op.file}:${op.line}` : `line ${op.line}`) : op.name],
        ["is", op.brief], ["result", op.type], ["operations", op.flops ? withUnit(op.flops, "FLOP") : ""],
      ]),
      backend ? el("h3", {}, "Elsewhere") : null,
      others.length ? this.alternatives(others) : null,
      ...this.why(op),
      ...this.prices(op),
      op.inputs.length ? el("h3", {}, "Reads") : null,
      op.inputs.length ? this.links(op.inputs.map((id) => model.ops[id]).filter(Boolean)) : null,
      op.readers.length ? el("h3", {}, "Read by") : null,
      op.readers.length ? this.links(op.readers.map((id) => model.ops[id])) : null,
    ];
  }

  alternatives(others) {
    const {model} = this.state;
    const rows = others.toSorted((a, b) => a.more_us - b.more_us).map((each) => el("tr", {"data-alternative": placeText(each)},
      el("td", {title: placeText(each)}, backendName(model.backends.find((backend) => backend.name === each.backend)), each.variant ? `, ${each.variant}` : ""), el("td", {class: "num"}, briefUs(each.us)),
      el("td", {class: "num"}, each.more_us > 0 ? "+" + briefUs(each.more_us) : "0"), el("td", {class: "num", title: each.transfers ? `${withUnit(each.transfer_bytes || 0, "B")}, ${usText(each.transfer_us || 0)} µs` : null}, String(each.transfers || 0)),
      el("td", {class: "num"}, String(each.moves || 0))));
    const head = [["", "on", "A backend that could compute it"], ["num", "kernel µs", "Of the cheapest kernel there that computes it, with what is fused with it"],
                  ["num", "more µs", "By which the best mapping with it there is slower"], ["num", "copies", "Transfers that this mapping makes and the best one does not"],
                  ["num", "moves", "Other operators that would be elsewhere"]];
    return el("table", {class: "points"}, el("thead", {}, el("tr", {}, head.map(([look, name, tip]) => el("th", {class: look || null, title: tip, scope: "col"}, name)))), el("tbody", {}, rows));
  }

  /// What `baton explain --mapping` says, without its first lines, which the facts above hold.
  why(op) {
    const lines = op.why.split("\n").map((line) => line.trim()).filter(Boolean);
    return lines.slice(op.backend < 0 ? 1 : 2).map((line) => el("p", {class: "why"}, line));
  }

  /// Where it is at other prices of transfers.
  prices(op) {
    const {model} = this.state, {points} = model.prices;
    if (!model.links.length || points.length < 2 || op.backend < 0) return [];
    const stays = staysOf(points, op.id), price = (i) => factorText(1 / points[i].factor);
    const chart = svg("svg", {class: "strip-of-prices", viewBox: `0 0 ${points.length} 1`, preserveAspectRatio: "none", "aria-hidden": "true"});
    for (const stay of stays)
      chart.append(svg("rect", {x: stay.first, y: 0, width: stay.last - stay.first + 1, height: 1, style: `fill:var(${model.backends[stay.backend]?.colour ?? "--own"})`}));
    const name = (stay) => model.backends[stay.backend]?.name ?? "nobody";
    const words = stays.map((stay) => el("li", {}, el("button", {type: "button", class: "link", onclick: () => this.state.showPoint("prices", stay.first)},
      el("span", {class: "name"}, backendName(model.backends[stay.backend])), el("span", {class: "num"}, stay.first === stay.last ? price(stay.first) : `${price(stay.first)} to ${price(stay.last)}`))));
    return [el("h3", {}, "By the price of transfers"), chart,
            stays.length === 1 ? el("p", {class: "why"}, `on ${name(stays[0])} at any price from ${price(0)} to ${price(points.length - 1)}`) : el("ul", {class: "links"}, words)];
  }
}

/// Microseconds where there is little room.
function briefUs(us) {
  return us < 1000 ? usText(us) : us.toFixed(0);
}
