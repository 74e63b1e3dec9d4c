// The modules of the user's program, docs/design/0045-views.md: a tree whose parts add up; as a table, as a flame graph, and as
// areas. Their times come with the report.

function readModules(model) {
  const rows = [];
  for (const [index, row] of (model.json.modules || []).entries()) {
    const parent = rows[row.parent] || null;
    const module = {index, parent, path: row.path || "", name: row.name || (parent ? "" : model.name), us: row.us || 0, ownUs: row.own_us || 0,
                    restUs: row.rest_us || 0, addedUs: row.added_us || 0, estimated: row.estimated === true, operators: row.operators || [],
                    alike: row.alike || 1, firstAlike: row.first_alike ?? index, children: [], depth: parent ? parent.depth + 1 : 0};
    parent?.children.push(module);
    rows.push(module);
  }
  // Colours where the model divides: not in the one module that holds nearly all of it.
  let top = rows[0];
  for (let next = top; next; next = top.children.find((child) => child.us > 0.9 * top.us)) top = next;
  (top?.children || []).forEach((module, i) => { module.colour = i < kColours ? "--kind" + i : "--kind-other"; });
  for (const module of rows) module.colour ||= module.parent?.colour || "--own";
  return rows;
}

/// The operators of a module and of those inside it.
function operatorsIn(module) {
  const ids = [], todo = [module];
  while (todo.length) {
    const each = todo.pop();
    ids.push(...each.operators);
    todo.push(...each.children);
  }
  return ids.sort((a, b) => a - b);
}

function moduleTime(module) {
  return (module.estimated ? "~" : "") + usText(module.us);
}

function alikeText(module) {
  return module.alike > 1 ? `×${module.alike} alike` : "";
}

/// What a module has beside its children: [{name, us, look}].
function ownParts(module) {
  const own = module.children.length ? [{name: "its own operators", us: module.ownUs}] : [];
  return [...own, {name: kOwn, us: module.restUs}, {name: "made by the compiler", us: module.addedUs}].filter((part) => part.us > 0);
}

// ---- The table.

function moduleChildren(model, module, level) {
  return [
    ...module.children.map((child) => moduleRow(model, child, level)),
    ...module.operators.map((id) => ({key: "mo" + id, kind: "op", id, level, op: model.ops[id], look: stateOf(model.ops[id])})),
    ...[{name: kOwn, us: module.restUs}, {name: "made by the compiler", us: module.addedUs}].filter((part) => part.us > 0)
      .map((part) => ({key: `mp${module.index}.${part.name}`, kind: "", id: null, level, part, look: "made"})),
  ];
}

function moduleRow(model, module, level = 0) {
  return {key: "m" + module.index, kind: "module", id: module.index, level, module, children: () => moduleChildren(model, module, level + 1)};
}

function moduleTable(state, model) {
  const total = model.modules[0].us || 1;
  const time = (row) => (row.module || row.part)?.us ?? row.op.time;
  const columns = [
    {key: "name", label: "module", tip: "A module of the user's program; unfolded, those inside it and its operators", fold: true,
     value: (row) => row.module?.path ?? "", cell: (row) => (row.module ? nameCell(row.module.name, alikeText(row.module), row.module.path)
       : row.part ? nameCell(row.part.name, "") : nameCell(row.op.brief || row.op.op, placeText(row.op) || row.op.source, row.op.type))},
    {key: "bar", drop: 3, label: "time", tip: "Beside the whole model's", width: 240, num: true, value: time, cell: (row) => (time(row) > 0 ?
      bar([{part: 1, colour: row.module ? row.module.colour : row.part ? "--own" : kindColour(model, [row.id])}], time(row), total) : null)},
    {key: "us", label: "µs", tip: "A module's parts add up to it; ~: kernels that were not split count for their operators alike", width: 96, num: true,
     value: time, cell: (row) => (row.module ? moduleTime(row.module) : row.op ? ownText(row.op) : usText(row.part.us))},
    {key: "share", label: "share", tip: "Of the sum of all kernels", width: 72, num: true, value: time, cell: (row) => (time(row) > 0 ? percent(time(row) / total) : "")},
    {key: "count", drop: 2, label: "operators", tip: "With those of the modules inside", width: 98, num: true,
     value: (row) => (row.module ? operatorsIn(row.module).length : null)},
    {key: "where", drop: 1, label: "source", tip: "The line of the user's program", width: 190, value: (row) => (row.op ? whereText(row.op) : "")},
  ];
  const grid = new Grid(state, {name: "modules", columns, top: () => [moduleRow(model, model.modules[0])]});
  grid.open.add("m0");
  grid.arrange();
  return grid;
}

// ---- Pictures.

const kFlameRow = 21, kFlameLeast = 1.5, kFlameText = 34;  // pixels

/// A flame graph from above to below, or areas within each other, over the modules; a double click comes nearer.
class ModuleMap {
  constructor(state, model, tip) {
    Object.assign(this, {state, model, tip, root: model.modules[0], cells: []});
    this.inner = el("div", {class: "module-map"});
    this.element = el("div", {class: "scroll modules", tabindex: 0, "aria-label": "The modules by their time; the table of modules holds the same as text"}, this.inner);
    this.shapes = {flame: () => this.flame(), areas: () => this.areas()};
    this.buttons = [["flame", "Flame", "Widths by time, a line for each level"], ["areas", "Areas", "Areas by time, within each other"]].map(
      ([key, label, hint]) => el("button", {type: "button", class: "choice", title: hint, "data-shape": key, onclick: () => this.show(key)}, label));
    this.whole = el("button", {type: "button", title: "The whole model", onclick: () => this.near(this.model.modules[0])}, "whole model");
    this.tools = [el("span", {class: "choices", role: "group", "aria-label": "How modules are drawn"}, this.buttons), this.whole];
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.show("flame");
  }

  show(shape) {
    this.shape = shape;
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.shape === shape));
    this.draw();
  }

  near(module) {
    this.root = module;
    this.draw();
  }

  draw() {
    if (!this.element.clientWidth || !this.element.clientHeight) return;
    this.whole.disabled = this.root.depth === 0;
    this.cells = [];
    this.inner.replaceChildren();
    if (this.root.us > 0) this.shapes[this.shape]();
    else this.inner.append(el("p", {class: "graph-note"}, "Nothing has time here."));
    this.selected();
  }

  cell(module, name, us, {x, y, w, h}, look) {
    const box = el("button", {type: "button", class: "module-cell " + look, tabindex: -1, "data-module": module.index,
                              style: `left:${x.toFixed(1)}px;top:${y.toFixed(1)}px;width:${Math.max(0.5, w - 1).toFixed(1)}px;height:${Math.max(0.5, h - 1).toFixed(1)}px;--kind:var(${look === "rest" ? "--own" : module.colour})`});
    if (w > kFlameText && h > 12) box.append(el("span", {}, name, el("small", {}, ` ${alikeText(module)} ${shortTime(us)}`)));
    const lines = [module.path || this.model.name, ...(name === module.name ? [] : [name]), `${usText(us)} µs, ${percent(us / (this.model.modules[0].us || 1))}`, alikeText(module)];
    box.addEventListener("pointermove", (event) => this.tip.show(event, lines.filter(Boolean)));
    box.addEventListener("pointerleave", () => this.tip.hide());
    box.addEventListener("click", () => this.state.select("module", module.index, this));
    box.addEventListener("dblclick", () => this.near(module));
    this.cells.push({box, module});
    this.inner.append(box);
  }

  flame() {
    const scale = this.element.clientWidth / this.root.us;
    let deepest = 0;
    const todo = [[this.root, 0]];
    while (todo.length) {
      const [module, x] = todo.pop(), y = (module.depth - this.root.depth) * kFlameRow;
      deepest = Math.max(deepest, y + kFlameRow);
      this.cell(module, module.name, module.us, {x, y, w: module.us * scale, h: kFlameRow}, "");
      let at = x;
      for (const child of module.children) {
        if (child.us * scale >= kFlameLeast) todo.push([child, at]);
        at += child.us * scale;
      }
      if (!module.children.length) continue;
      for (const part of ownParts(module)) {
        if (part.us * scale >= kFlameLeast) this.cell(module, part.name, part.us, {x: at, y: y + kFlameRow, w: part.us * scale, h: kFlameRow}, "rest");
        at += part.us * scale;
      }
    }
    this.inner.style.height = deepest + kFlameRow + "px";
  }

  areas() {
    const {clientWidth: w, clientHeight: h} = this.element;
    this.inner.style.height = h + "px";
    const todo = [[this.root, {x: 0, y: 0, w, h}]];
    while (todo.length) {
      const [module, box] = todo.pop();
      if (box.w < 3 || box.h < 3) continue;
      this.cell(module, module.name, module.us, box, module.children.length ? "frame" : "");
      if (!module.children.length || box.w < 12 || box.h < kKindTitle + 8) continue;
      const inner = {x: box.x + 2, y: box.y + kKindTitle, w: box.w - 4, h: box.h - kKindTitle - 2};
      const parts = [...module.children.map((child) => ({child, us: child.us})), ...ownParts(module)].filter((part) => part.us > 0).sort((a, b) => b.us - a.us);
      squarified(parts, inner, (part, area) => {
        if (part.child) todo.push([part.child, area]);
        else if (area.w > 3 && area.h > 3) this.cell(module, part.name, part.us, area, "rest");
      });
    }
  }

  selected() {
    const {selection, linked} = this.state;
    const holds = selection?.kind === "module" ? () => false : (module) => module.operators.some((id) => linked.ops.has(id) || (selection?.kind === "op" && id === selection.id));
    for (const {box, module} of this.cells) {
      box.classList.toggle("selected", selection?.kind === "module" && selection.id === module.index);
      box.classList.toggle("linked", selection !== null && holds(module));
    }
  }
}
