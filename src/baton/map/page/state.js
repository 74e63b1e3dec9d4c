// What is selected and which mapping is shown. One place; whoever draws listens. The address keeps it.

class MapState {
  constructor(model) {
    this.model = model;
    this.selection = null;  // {kind: "op", id}
    this.from = null;       // who selected: does not scroll itself
    this.shown = null;      // {of: "prices", index}: a point of a sweep; null: the mapping that was kept
    this.view = {picture: "graph", table: "models"};
    this.listeners = [];
    this.linked = {ops: new Set(), kernels: new Set(), readers: new Set(), causes: new Set()};
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  tell(what) {
    for (const listener of this.listeners) listener(what);
  }

  sweep(of) {
    return of === "prices" ? this.model.prices : this.model.sweeps.find((each) => each.of === of);
  }

  /// The mapping that is shown, as a point.
  get point() {
    return (this.shown && this.sweep(this.shown.of)?.points[this.shown.index]) || this.model.kept;
  }

  select(kind, id, from = null) {
    if (this.selection?.kind === kind && this.selection.id === id) return;
    Object.assign(this, {selection: {kind, id}, from});
    this.keep();
    this.tell("selection");
  }

  clearSelection() {
    if (!this.selection) return;
    Object.assign(this, {selection: null, from: null});
    this.keep();
    this.tell("selection");
  }

  showPoint(of, index) {
    this.shown = of ? {of, index} : null;
    this.keep();
    this.tell("shown");
  }

  show(change) {
    Object.assign(this.view, change);
    this.keep();
    this.tell("view");
  }

  /// #op=12&view=timeline&at=prices:3: kept without an entry in the history for every click.
  keep() {
    const parts = [];
    if (this.selection) parts.push("op=" + this.selection.id);
    if (this.view.picture !== "graph") parts.push("view=" + this.view.picture);
    if (this.view.table !== "models") parts.push("table=" + this.view.table);
    if (this.shown) parts.push(`at=${this.shown.of}:${this.shown.index}`);
    keepAddress(parts);
  }

  /// What the address says; what does not exist in this mapping is left alone.
  read() {
    const given = new URLSearchParams(location.hash.slice(1));
    const id = /^\d+$/.test(given.get("op") || "") ? Number(given.get("op")) : -1;
    const [of, index] = (given.get("at") || "").split(":");
    if (["graph", "timeline", "sweeps"].includes(given.get("view"))) this.view.picture = given.get("view");
    if (["models", "operators"].includes(given.get("table"))) this.view.table = given.get("table");
    this.selection = id >= 0 && id < this.model.ops.length ? {kind: "op", id} : null;
    this.shown = this.sweep(of)?.points[Number(index)] ? {of, index: Number(index)} : null;
  }
}
