// What is selected, filtered and shown. One place; whoever draws listens. The address keeps it.

class State {
  constructor(model) {
    this.model = model;
    this.selection = null;  // {kind: "op", id}, {kind: "kernel", id: node} or {kind: "module", id: index}
    this.from = null;       // who selected: does not scroll itself
    this.filter = {op: "", name: "", share: 0};
    this.view = {picture: "graph", table: "kernels"};
    this.listeners = [];
    this.linked = linkedTo(model, null);
    this.passing = null;
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  tell(what) {
    for (const listener of this.listeners) listener(what);
  }

  select(kind, id, from = null) {
    const same = this.selection && this.selection.kind === kind && this.selection.id === id;
    if (same) return;
    this.setSelection({kind, id}, from);
    this.keep();
  }

  clearSelection() {
    if (!this.selection) return;
    this.setSelection(null, null);
    this.keep();
  }

  setSelection(selection, from) {
    this.selection = selection;
    this.from = from;
    this.linked = linkedTo(this.model, selection);
    this.tell("selection");
  }

  setFilter(change) {
    Object.assign(this.filter, change);
    this.passing = null;
    this.tell("filter");
  }

  get filtered() {
    return this.filter.op !== "" || this.filter.name !== "" || this.filter.share > 0;
  }

  show(change) {
    Object.assign(this.view, change);
    this.keep();
    this.tell("view");
  }

  /// Sets of what the filter lets through.
  passes() {
    if (this.passing) return this.passing;
    const {op, name, share} = this.filter;
    const wanted = name.toLowerCase();
    const kernels = new Set(), ops = new Set();
    for (const kernel of this.model.kernels) {
      if (kernel.share * 100 < share) continue;
      if (wanted && !kernel.name.toLowerCase().includes(wanted)) continue;
      if (op && !kernel.origins.some((id) => this.model.ops[id].op === op)) continue;
      kernels.add(kernel);
    }
    for (const each of this.model.ops) {
      if (op && each.op !== op) continue;
      if ((wanted || share > 0) && ![...each.kernels, ...(share > 0 ? [] : each.readers)].some((kernel) => kernels.has(kernel))) continue;
      ops.add(each.id);
    }
    this.passing = {kernels, ops};
    return this.passing;
  }

  /// #op=12&view=roofline: kept without an entry in the history for every click.
  keep() {
    const parts = [];
    if (this.selection) parts.push(`${this.selection.kind}=${this.selection.id}`);
    if (this.view.picture !== "graph") parts.push("view=" + this.view.picture);
    if (this.view.table !== "kernels") parts.push("table=" + this.view.table);
    keepAddress(parts);
  }

  /// What the address says; what does not exist in this report is left alone.
  read() {
    const given = new URLSearchParams(location.hash.slice(1));
    const number = (key) => (/^\d+$/.test(given.get(key) || "") ? Number(given.get(key)) : null);
    const op = number("op"), node = number("kernel"), module = number("module");
    if (["graph", "roofline", "treemap", "devices", "flame", "source"].includes(given.get("view"))) this.view.picture = given.get("view");
    if (["kernels", "operators", "comparison", "modules", "program"].includes(given.get("table"))) this.view.table = given.get("table");
    if (op !== null && op < this.model.ops.length) this.setSelection({kind: "op", id: op}, null);
    else if (node !== null && this.model.kernelOfNode.has(node)) this.setSelection({kind: "kernel", id: node}, null);
    else if (module !== null && module < this.model.modules.length) this.setSelection({kind: "module", id: module}, null);
  }
}
