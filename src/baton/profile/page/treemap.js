// Areas by time: kind of operator > kernel > operator. What could not be split is an area of its kernel's kinds together.

const kKindTitle = 17;

/// [{name, colour, us, children: [{kernel, us, children: [{id, us, label}]}]}], longest first.
function treeOf(model, kernels) {
  const kinds = new Map();
  for (const kernel of kernels) {
    for (const part of kernel.split) {
      if (!(part.us > 0)) continue;
      const name = part.ids.length ? [...new Set(part.ids.map((id) => shortOp(model.ops[id].op)))].join(" + ")
                 : kernel.origins.length ? kOwn : kernel.madeFor.length ? "made by the compiler" : kernel.short;
      if (!kinds.has(name)) kinds.set(name, {name, colour: kindColour(model, part.ids), us: 0, byKernel: new Map()});
      const kind = kinds.get(name);
      kind.us += part.us;
      if (!kind.byKernel.has(kernel)) kind.byKernel.set(kernel, {kernel, us: 0, children: []});
      const inKernel = kind.byKernel.get(kernel);
      inKernel.us += part.us;
      inKernel.children.push({ids: part.ids, us: part.us});
    }
  }
  const falling = (list) => list.sort((a, b) => b.us - a.us);
  return falling([...kinds.values()].map((kind) => ({...kind, children: falling([...kind.byKernel.values()])})));
}

/// Rectangles of the given areas in {x, y, w, h}, as near to squares as a greedy choice makes them.
function squarified(nodes, box, give) {
  const total = sum(nodes, (node) => node.us);
  if (!(total > 0) || box.w < 1 || box.h < 1) return;
  let {x, y, w, h} = box;
  const scale = w * h / total;
  const worst = (row, area, side) => Math.max(side * side * row[0].us * scale / (area * area), area * area / (side * side * row.at(-1).us * scale));
  for (let i = 0; i < nodes.length;) {
    const side = Math.min(w, h), row = [nodes[i]];
    let area = nodes[i].us * scale;
    for (++i; i < nodes.length; ++i) {
      const more = area + nodes[i].us * scale;
      if (worst([row[0], nodes[i]], more, side) > worst(row, area, side)) break;
      row.push(nodes[i]);
      area = more;
    }
    const thick = side > 0 ? area / side : 0;
    let at = 0;
    for (const node of row) {
      const long = thick > 0 ? node.us * scale / thick : 0;
      give(node, w >= h ? {x, y: y + at, w: thick, h: long} : {x: x + at, y, w: long, h: thick});
      at += long;
    }
    if (w >= h) [x, w] = [x + thick, Math.max(0, w - thick)];
    else [y, h] = [y + thick, Math.max(0, h - thick)];
  }
}

class Treemap {
  constructor(state, model, tip) {
    Object.assign(this, {state, model, tip});
    this.element = el("div", {class: "chart treemap"});
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  draw() {
    const {clientWidth: width, clientHeight: height} = this.element;
    if (!width || !height) return;
    const passing = this.state.passes().kernels;
    const kinds = treeOf(this.model, this.model.kernels.filter((kernel) => passing.has(kernel)));
    const parts = [];
    this.leaves = [];
    squarified(kinds, {x: 0, y: 0, w: width, h: height}, (kind, box) => {
      if (box.w < 3 || box.h < 3) return;
      const titled = box.h > 34 && box.w > 44;
      const frame = el("div", {class: "kind-area", style: this.place(box, 1) + `;--kind:var(${kind.colour})`});
      if (titled) frame.append(el("span", {class: "kind-title"}, kind.name, el("small", {}, " " + percent(kind.us / this.model.sum))));
      parts.push(frame);
      const inner = {x: box.x + 2, y: box.y + (titled ? kKindTitle : 2), w: box.w - 4, h: box.h - (titled ? kKindTitle + 2 : 4)};
      squarified(kind.children, inner, (entry, area) => this.kernelArea(kind, entry, area, parts));
    });
    this.element.replaceChildren(...parts);
    if (!kinds.length) this.element.replaceChildren(el("p", {class: "graph-note"}, "Nothing has time here."));
    this.selected();
  }

  place({x, y, w, h}, gap) {
    return `left:${x.toFixed(1)}px;top:${y.toFixed(1)}px;width:${Math.max(0, w - gap).toFixed(1)}px;height:${Math.max(0, h - gap).toFixed(1)}px`;
  }

  kernelArea(kind, entry, box, parts) {
    if (box.w < 2.5 || box.h < 2.5) return;
    entry.children.sort((a, b) => b.us - a.us);
    squarified(entry.children, box, (part, area) => {
      if (area.w < 2.5 || area.h < 2.5) return;
      const id = part.ids[0] ?? null;
      const leaf = el("button", {type: "button", class: "leaf", tabindex: -1, style: this.place(area, 1) + `;--kind:var(${kind.colour})`,
                                 [id !== null ? "data-op" : "data-part"]: id ?? "", "data-kernel": entry.kernel.node});
      if (area.w > 46 && area.h > 20) {
        leaf.append(el("span", {}, (id !== null && lineOrName(this.model.ops[id])) || "node " + entry.kernel.node));
        if (area.h > 36) leaf.append(el("small", {}, usText(part.us) + " µs"));
      }
      const label = part.ids.length ? part.ids.map((each) => operatorLabel(this.model.ops[each])).join(", ") : kind.name;
      leaf.addEventListener("pointermove", (event) => this.tip.show(event, [label, `${usText(part.us)} µs, ${percent(part.us / this.model.sum)}`, "in " + entry.kernel.short]));
      leaf.addEventListener("pointerleave", () => this.tip.hide());
      leaf.addEventListener("click", () => (id !== null ? this.state.select("op", id, this) : this.state.select("kernel", entry.kernel.node, this)));
      this.leaves.push({leaf, ids: part.ids, kernel: entry.kernel});
      parts.push(leaf);
    });
  }

  selected() {
    const {selection, linked} = this.state;
    let any = false;
    for (const {leaf, ids, kernel} of this.leaves || []) {
      const own = selection && (selection.kind === "op" ? ids.includes(selection.id) : kernel.node === selection.id);
      leaf.classList.toggle("selected", Boolean(own));
      leaf.classList.toggle("linked", !own && (linked.kernels.has(kernel) || linked.readers.has(kernel)));
      any ||= Boolean(own) || linked.kernels.has(kernel);
    }
    this.element.classList.toggle("dimmed", any);
  }
}
