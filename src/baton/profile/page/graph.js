// The graph of a profile: kernels with their operators inside, or the operators of the source.

class Graph extends GraphView {
  constructor(state, kind, difference, tip) {
    super(state, kind, tip);
    this.difference = difference;
    this.open = new Set();  // modules that show what is in them
    this.note.textContent = "This profile has no edges: in the order of " + (kind === "kernels" ? "execution." : "the source.");
    this.element.append(this.legend());
  }

  legend() {
    const entry = (look, text) => el("span", {}, el("i", {class: look}), text);
    return el("div", {class: "legend", "aria-hidden": "true"}, this.difference ? entry("change", "faster to slower") : entry("heat", "time"),
              ...(this.kind === "kernels" ? [...placeEntries(this.state.model), entry("dashed", "made by the compiler")] : [entry("dashed", "folded or retired"), entry("thick", "fused")]));
  }

  makeBoxes(aspect) {
    if (this.kind === "modules") return moduleBoxes(this.state.model, aspect, this.open);
    return this.kind === "kernels" ? kernelBoxes(this.state.model, aspect) : operatorBoxes(this.state.model, aspect);
  }

  /// A module opens, or closes, where it is.
  enter(item) {
    if (item.kind !== "module") return super.enter(item);
    if (!this.open.delete(item.id)) this.open.add(item.id);
    this.prepare(this.size.width / Math.max(1, this.size.height));
    const again = this.boxes.items.find((each) => each.kind === "module" && each.id === item.id);
    if (this.fitting) this.fit();
    else this.view = {...this.view, x: this.view.x + (item.x - again.x) * this.view.k, y: this.view.y + (item.y - again.y) * this.view.k};
    this.paint();
  }

  noun() {
    return this.kind.slice(0, -1);
  }

  painter() {
    return profilePainter(this.state, this.difference);
  }

  tipLines(found) {
    if (found.item.kind === "module") return moduleTip(found.item);
    const id = found.op ?? (found.item.kind === "op" ? found.item.id : null);
    return id !== null ? operatorTip(this.state.model.ops[id]) : kernelTip(found.item.kernel, this.state.model);
  }
}

function operatorTip(op) {
  const lines = [[op.op, lineOrName(op)].filter(Boolean).join("  ")];
  if (op.type) lines.push(op.type);
  if (op.time !== null && stateOf(op) === "timed") lines.push(usText(op.time) + " µs");
  const why = stateText(op);
  if (why) lines.push(why);
  return lines;
}

/// Colours of devices and of copies, where kernels run in several places.
function placeEntries({places}) {
  if (places.length < 2) return [];
  return places.map((place) => el("span", {}, el("i", {class: place.name === kCopies ? "copied" : "place", style: `background:var(${place.colour})`}),
                                  place.name === kCopies ? "copy" : briefPlace(place.name)));
}

function kernelTip(kernel, model) {
  if (isCopy(kernel)) return copyTip(kernel, model);
  const lines = [kernel.short, `node ${kernel.node}: ${kernelTime(kernel)}`];
  if (kernel.reason) lines.push(kernel.reason);
  return lines;
}
