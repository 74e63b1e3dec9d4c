// A graph on a canvas: drag to move, wheel or pinch to zoom, click to select, double click to come near.
// With the keyboard: arrows move, + and - zoom, 0 shows all, Enter takes what is in the middle.
// Who derives from GraphView says what the boxes are (makeBoxes, noun, note), how they are painted (painter, see
// paintFrame) and what stands beside the pointer (tipLines). A box: {kind, id, x, y, w, h, rows}.

const kTitle = 17, kRow = 16, kPad = 6;

class GraphView {
  constructor(state, kind, tip) {
    Object.assign(this, {state, kind, tip});
    this.canvas = el("canvas", {tabindex: 0, role: "img", class: "graph", "data-graph": kind});
    this.ctx = this.canvas.getContext("2d");
    this.note = el("p", {class: "graph-note", hidden: true});
    this.element = el("div", {class: "graph-box"}, this.canvas, this.note);
    this.view = {x: 0, y: 0, k: 1};
    this.pointers = new Map();
    this.hover = null;
    this.fitting = true;  // until somebody moves it, the whole is shown
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  prepare(aspect) {
    this.boxes = this.makeBoxes(aspect);
    this.lit = litBoxes(this.boxes, this.state);
    this.note.hidden = this.boxes.drawn;
    this.canvas.setAttribute("aria-label", `Graph of ${plural(this.boxes.items.length, this.noun())}; the tables below hold the same as text`);
  }

  resize() {
    const {clientWidth: width, clientHeight: height} = this.element;
    if (!width || !height) return;
    if (!this.boxes) this.prepare(width / Math.max(1, height));
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.size = {width, height, ratio};
    if (this.fitting) this.fit();
    if (this.wanted) this.reveal();
    if (this.approaching) this.approach();
    this.paintNow();
  }

  fit() {
    const {width, height} = this.size, margin = 20, foot = 10;  // below stand the legend and notes
    const k = Math.max(0.005, Math.min((width - 2 * margin) / this.boxes.width, (height - 2 * margin - foot) / this.boxes.height, 1.15));
    this.view = {k, x: (width - this.boxes.width * k) / 2, y: (height - foot - this.boxes.height * k) / 2};
    this.fitting = true;
    this.paint();
  }

  zoom(factor, x = this.size.width / 2, y = this.size.height / 2) {
    const k = Math.min(3, Math.max(0.008, this.view.k * factor));
    const real = k / this.view.k;
    this.view = {k, x: x - (x - this.view.x) * real, y: y - (y - this.view.y) * real};
    this.fitting = false;
    this.paint();
  }

  move(x, y) {
    this.view.x += x;
    this.view.y += y;
    this.fitting = false;
    this.paint();
  }

  paint() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => this.paintNow());
  }

  paintNow() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (!this.size || !this.boxes) return;
    this.look ||= readLook();
    paintFrame(this.ctx, {...this.size, scale: this.size.ratio, boxes: this.boxes, view: this.view, look: this.look, lit: this.lit, hover: this.hover}, this.painter());
  }

  recolour() {
    this.look = null;
    this.paint();
  }

  selected() {
    if (!this.boxes) return;
    this.lit = litBoxes(this.boxes, this.state);
    this.wanted = this.state.from !== this;
    if (this.wanted && this.size) this.reveal();
    this.paint();
  }

  /// Brings the first box that lights up into sight.
  reveal() {
    this.wanted = false;
    const item = [...this.lit.chosen, ...this.lit.linked, ...this.lit.weak][0];
    if (!item) return;
    const left = item.x * this.view.k + this.view.x, top = item.y * this.view.k + this.view.y;
    const inside = left > 0 && top > 0 && left + item.w * this.view.k < this.size.width && top + item.h * this.view.k < this.size.height;
    if (!inside) this.centre(item, this.view.k);
  }

  centre(item, k) {
    this.fitting = false;
    this.view = {k, x: this.size.width / 2 - (item.x + item.w / 2) * k, y: this.size.height / 2 - (item.y + item.h / 2) * k};
    this.paint();
  }

  /// Near enough to read it.
  approach() {
    this.approaching = !this.size;
    if (this.approaching) return;
    const item = [...this.lit.chosen, ...this.lit.linked, ...this.lit.weak][0];
    if (item) this.centre(item, 1);
  }

  /// What a double click on a box does.
  enter(item) {
    this.centre(item, 1);
  }

  /// Where a box is on the canvas, in pixels.
  placeOf(kind, id) {
    const item = this.boxes?.items.find((each) => each.kind === kind && each.id === id);
    return item && {x: (item.x + item.w / 2) * this.view.k + this.view.x, y: (item.y + kPad + kTitle) * this.view.k + this.view.y};
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - this.view.x) / this.view.k, y = (event.clientY - box.top - this.view.y) / this.view.k;
    return boxAt(this.boxes, x, y, this.view.k >= kRowsFrom);
  }

  choose(found) {
    if (!found) return this.state.clearSelection();
    if (found.op !== null) this.state.select("op", found.op, this);
    else this.state.select(found.item.kind, found.item.id, this);
  }

  listen() {
    const {canvas, pointers} = this;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, {x: event.clientX, y: event.clientY, moved: 0});
    });
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerup", (event) => {
      const pointer = pointers.get(event.pointerId);
      pointers.delete(event.pointerId);
      if (pointer && pointer.moved < 5 && !pointers.size) this.choose(this.at(event));
    });
    canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : event.ctrlKey ? 0.01 : 0.0016)), event.clientX - box.left, event.clientY - box.top);
    }, {passive: false});
    canvas.addEventListener("dblclick", (event) => {
      const found = this.at(event);
      if (found) this.enter(found.item);
      else this.fit();
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  moved(event) {
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) return this.point(this.at(event), event);
    const before = [...this.pointers.values()].map(({x, y}) => ({x, y}));
    const dx = event.clientX - pointer.x, dy = event.clientY - pointer.y;
    Object.assign(pointer, {x: event.clientX, y: event.clientY, moved: pointer.moved + Math.abs(dx) + Math.abs(dy)});
    if (this.pointers.size === 2) {
      const after = [...this.pointers.values()], box = this.canvas.getBoundingClientRect();
      const apart = ([a, b]) => Math.max(10, Math.hypot(a.x - b.x, a.y - b.y));
      this.zoom(apart(after) / apart(before), (after[0].x + after[1].x) / 2 - box.left, (after[0].y + after[1].y) / 2 - box.top);
    } else if (pointer.moved >= 5) {
      this.move(dx, dy);
    }
  }

  point(found, event) {
    if ((found?.item ?? null) !== this.hover) {
      this.hover = found?.item ?? null;
      this.paint();
    }
    this.canvas.style.cursor = found ? "pointer" : "grab";
    if (!found) return this.tip.hide();
    this.tip.show(event, this.tipLines(found));
  }

  key(event) {
    const step = 60;
    const moves = {ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step]};
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (moves[event.key]) this.move(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else if (event.key === "Enter") {
      const x = (this.size.width / 2 - this.view.x) / this.view.k, y = (this.size.height / 2 - this.view.y) / this.view.k;
      this.choose(boxAt(this.boxes, x, y, false));
    } else return;
    event.preventDefault();
  }
}

/// The boxes where layered() puts them; `drawn` is false where there are no edges: then their order is shown.
function placed(items, edges, aspect) {
  const drawn = edges.length > 0 || items.length < 2;
  const used = drawn ? edges : items.slice(1).map((_, i) => [i, i + 1]);
  const {x, y, width, height, paths} = layered(items, used, aspect);
  items.forEach((item, i) => {
    item.x = x[i] - item.w / 2;
    item.y = y[i] - item.h / 2;
  });
  return {items, edges: used, paths, width, height, drawn, fused: null, copied: null};
}

/// What is under a point of the drawing: {item, op} or null; rows only count where they can be read.
function boxAt(boxes, x, y, withRows) {
  for (let i = boxes.items.length - 1; i >= 0; --i) {  // the innermost of boxes within each other
    const item = boxes.items[i];
    if (x < item.x || x > item.x + item.w || y < item.y || y > item.y + item.h) continue;
    const row = withRows ? Math.floor((y - item.y - kPad - 2 * kTitle) / kRow) : -1;
    return {item, op: row >= 0 && row < item.rows.length ? item.rows[row].op : null};
  }
  return null;
}

/// Boxes that light up for the selection: {chosen, linked, weak} sets of items.
function litBoxes(boxes, state) {
  const lit = {chosen: new Set(), linked: new Set(), weak: new Set()};
  const {selection, linked} = state;
  if (!selection) return lit;
  for (const item of boxes.items) {
    if (item.kind === selection.kind && item.id === selection.id) lit.chosen.add(item);
    else if (item.holds) item.holds(selection, linked) && lit.linked.add(item);
    else if (item.kind === "kernel" && linked.kernels.has(item.kernel)) lit.linked.add(item);
    else if (item.kind === "op" && linked.ops.has(item.id)) lit.linked.add(item);
    else if (item.kind === "kernel" ? linked.readers.has(item.kernel) : linked.causes.has(item.id)) lit.weak.add(item);
  }
  return lit;
}
