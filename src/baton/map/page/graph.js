// The graph of a mapping: a box per operator in the colour of the backend that computes it; thick edges are transfers.

const kOpWidth = 172;

class MapGraph extends GraphView {
  constructor(state, tip) {
    super(state, "operators", tip);
    this.note.textContent = "No operator reads another's result: in the order of the source.";
  }

  makeBoxes(aspect) {
    const {ops} = this.state.model;
    const items = ops.map((op) => ({kind: "op", id: op.id, op, rows: [], w: kOpWidth, h: 2 * kPad + 2 * kTitle - 2, indent: 5}));
    const edges = ops.flatMap((op) => op.inputs.filter((id) => id !== op.id && id < ops.length).map((id) => [id, op.id]));
    const boxes = placed(items, edges, aspect);
    boxes.copied = this.transfers(boxes);
    return boxes;
  }

  /// By edge: whether the value goes from one device to another. Operators without a kernel are where what they read is.
  transfers(boxes) {
    if (!boxes.drawn) return null;
    const {ops, backends} = this.state.model, {backendOf} = this.state.point;
    const places = ops.map(() => null);
    const placeOf = (id) => (backendOf[id] >= 0 ? backends[backendOf[id]].device : null);
    for (const op of ops) places[op.id] = placeOf(op.id) ?? op.inputs.map((id) => (id < op.id ? places[id] : null)).find(Boolean) ?? null;
    return boxes.edges.map(([from, to]) => Boolean(places[from] && places[to] && places[from] !== places[to]));
  }

  noun() {
    return "operator";
  }

  /// Another mapping is shown.
  recolourBoxes() {
    if (!this.boxes) return;
    this.boxes.copied = this.transfers(this.boxes);
    for (const item of this.boxes.items) item.look = null;
    this.paint();
  }

  painter() {
    const {state} = this, {point, model} = state, {kept, backends} = model;
    const backendOf = (item) => backends[point.backendOf[item.id]];
    const moved = (item) => point !== kept && backendOf(item) && kept.backendOf[item.id] >= 0 && point.backendOf[item.id] !== kept.backendOf[item.id];
    return {
      filtered: false,
      passes: () => true,
      fill: (item, look) => (backendOf(item) ? mix(look.panel, look[backendOf(item).colour.slice(2)], 0.3) : look.panel),
      stripe: (ctx, item, look) => {
        if (!backendOf(item)) return;
        ctx.fillStyle = css(look[backendOf(item).colour.slice(2)]);
        ctx.fillRect(item.x, item.y + 3, 8, item.h - 6);
        if (backendOf(item).device !== "cpu") paintEnds(ctx, item, look);
      },
      box: (ctx, item, look, view, mark) => {
        paintOutline(ctx, item, look, view, mark, {dashed: !backendOf(item), border: moved(item) ? look.ink : look.line});
        if (moved(item) && !mark) ctx.stroke();  // twice: heavier
        if (view.k < kTitlesFrom) return;
        const near = view.k >= kRowsFrom;
        paintTitle(ctx, item, view, shortOp(item.op.op), this.below(item, backendOf(item), moved(item), near));
      },
    };
  }

  /// The second line of a box.
  below({op}, backend, moved, near) {
    if (!backend) return "no kernel";
    const {point, model} = this.state;
    if (moved) return near ? `${backend.name}, was ${model.backends[model.kept.backendOf[op.id]].name}` : backend.name;
    if (point !== model.kept || !op.us) return backend.name;
    return near ? `${backend.name}   ${usText(op.us)} µs` : shortTime(op.us);
  }

  tipLines({item: {op}}) {
    const backend = this.state.model.backends[this.state.point.backendOf[op.id]];
    const lines = [op.label, backend ? `on ${backend.name}` : "no kernel: " + absentText(op)];
    if (op.type) lines.push(op.type);
    if (backend && this.state.point === this.state.model.kept && op.us) lines.push(`${usText(op.us)} µs, its share of its kernel`);
    return lines;
  }
}

/// Copies from and to the caller, who has inputs and results in the processor's memory: short ends of edges.
function paintEnds(ctx, item, look) {
  ctx.fillStyle = css(look[kCopyColour.slice(2)]);
  const middle = item.x + item.w / 2, length = kGapY * 0.4;
  if (item.op.readsInput) ctx.fillRect(middle - 1.5, item.y - length, 3, length);
  if (item.op.returned) ctx.fillRect(middle - 1.5, item.y + item.h, 3, length);
}

/// The graph below its legend, which counts what each backend computes.
class MapGraphPane {
  constructor(state, graph) {
    Object.assign(this, {state, graph});
    this.legend = el("div", {class: "map-legend"});
    this.element = el("div", {class: "map-graph"}, this.legend, graph.element);
    this.tools = zoomButtons(() => [graph]);
    this.pointShown();
  }

  pointShown() {
    const {point, model} = this.state, counts = countsOf(point, model);
    const entry = (look, style, name, text) => el("span", {"data-legend": name}, el("i", {class: look, style}), el("b", {}, name), " " + text);
    const idle = model.ops.length - sum(counts, (count) => count);
    const {count, us} = point.transfers;
    this.legend.replaceChildren(
      ...model.backends.map((backend, i) => entry("place", `background:var(${backend.colour})`, backend.name,
        plural(counts[i], "operator") + (point.backendUs[backend.name] > 0 ? `, ${timeText(point.backendUs[backend.name])}` : ""))),
      ...(model.links.length ? [entry("copied", `background:var(${kCopyColour})`, "transfers", count ? `${count}, ${timeText(us)}` : "none")] : []),
      ...(idle ? [entry("dashed", null, "no kernel", plural(idle, "operator"))] : []),
      ...(model.links.length || model.sweeps.length ? [entry("moved", null, "elsewhere than kept", plural(movedFrom(point, model.kept), "operator"))] : []));
    this.graph.recolourBoxes();
  }

  selected() { this.graph.selected(); }
}
