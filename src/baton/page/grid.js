// A table of which only what is in sight exists: 3,000 rows scroll like 30. Rows are of one height; they can be sorted,
// unfolded, and follow the selection. Where there is no room for all columns, those with the lowest `drop` go first. A row: {key, kind: "op" | "kernel" | "", id, level, children: () => rows or null}.

const kRowHeight = 26;

class Grid {
  /// columns: [{key, label, tip, width, num, value(row), cell(row)}]; top(): the rows of the first level, unsorted.
  constructor(state, {name, columns, top, sort}) {
    Object.assign(this, {state, name, columns, top, sort: sort || {key: null, down: false}});
    this.open = new Set();
    this.body = el("tbody");
    this.heads = new Map(columns.map((column) => [column.key, this.head(column)]));
    this.cols = el("colgroup");
    this.headRow = el("tr");
    this.table = el("table", {class: "grid", role: "treegrid", "aria-label": name, "data-grid": name}, this.cols, el("thead", {}, this.headRow), this.body);
    this.element = el("div", {class: "scroll", tabindex: 0}, this.table);
    this.element.addEventListener("scroll", () => this.later(), {passive: true});
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => { this.fit(); this.later(); }).observe(this.element);
    addEventListener("beforeprint", () => { this.printing = true; this.draw(); });
    addEventListener("afterprint", () => { this.printing = false; this.draw(); });
    this.fit();
    this.arrange();
  }

  /// Which columns there is room for.
  fit() {
    const width = this.element.clientWidth || 1e4;
    const room = width - (width > 600 ? 320 : 120);  // the name needs the rest
    const shown = [...this.columns];
    while (sum(shown, (column) => column.width || 0) > room) {
      const first = shown.reduce((best, column) => ((column.drop ?? Infinity) < (best.drop ?? Infinity) ? column : best));
      if (first.drop === undefined) break;
      shown.splice(shown.indexOf(first), 1);
    }
    if (this.shown && shown.length === this.shown.length) return;
    this.shown = shown;
    this.cols.replaceChildren(...shown.map((column) => el("col", {style: column.width ? `width:${column.width}px` : null})));
    this.headRow.replaceChildren(...shown.map((column) => this.heads.get(column.key)));
    const {scrollTop} = this.element;
    this.draw();
    this.element.scrollTop = scrollTop;
  }

  head(column) {
    const button = el("button", {type: "button", title: column.tip, onclick: () => this.sortBy(column)}, column.label);
    return el("th", {scope: "col", class: column.num ? "num c-" + column.key : "c-" + column.key}, button);
  }

  sortBy(column) {
    if (this.sort.key !== column.key) this.sort = {key: column.key, down: Boolean(column.num)};
    else if (this.sort.down === Boolean(column.num)) this.sort = {key: column.key, down: !column.num};
    else this.sort = {key: null, down: false};
    this.arrange();
    this.draw();
  }

  /// The flat list of rows, after a change of sorting, filter or what is open.
  arrange() {
    const column = this.columns.find((each) => each.key === this.sort.key);
    const top = this.top().filter((row) => !row.hidden);
    if (column) {
      const sign = this.sort.down ? -1 : 1;
      const valued = top.map((row, i) => [row, column.value(row), i]);
      const empty = (value) => value === null || value === undefined || value === "";
      valued.sort((a, b) => (empty(a[1]) - empty(b[1])) || (a[1] < b[1] ? -sign : a[1] > b[1] ? sign : 0) || a[2] - b[2]);
      top.splice(0, top.length, ...valued.map(([row]) => row));
    }
    this.rows = [];
    for (const row of top) this.unfold(row);
    for (const [key, th] of this.heads) th.setAttribute("aria-sort", key !== this.sort.key ? "none" : this.sort.down ? "descending" : "ascending");
    this.table.setAttribute("aria-rowcount", this.rows.length + 1);
    this.element.classList.toggle("empty", !this.rows.length);
  }

  unfold(row) {
    this.rows.push(row);
    if (row.children && this.open.has(row.key)) for (const child of row.children()) this.unfold(child);
  }

  toggle(row) {
    if (!row.children) return;
    if (!this.open.delete(row.key)) this.open.add(row.key);
    this.arrange();
    this.draw();
  }

  toggleAll() {
    const all = this.top().filter((row) => row.children);
    const opening = all.some((row) => !this.open.has(row.key));
    this.open = new Set(opening ? all.map((row) => row.key) : []);
    this.arrange();
    this.draw();
  }

  later() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    if (!this.element.isConnected) return;  // it is drawn when it is shown
    const height = this.element.clientHeight || 400, count = this.rows.length;
    const first = this.printing ? 0 : Math.max(0, Math.floor(this.element.scrollTop / kRowHeight) - 6);
    const end = this.printing ? count : Math.min(count, first + Math.ceil(height / kRowHeight) + 14);
    const space = (rows) => el("tr", {class: "space", "aria-hidden": "true", style: `height:${rows * kRowHeight}px`});
    const shown = this.rows.slice(first, end).map((row, i) => this.rowOf(row, first + i));
    this.body.replaceChildren(space(first), ...shown, space(Math.max(0, count - end)));
  }

  rowOf(row, index) {
    const {selection, linked} = this.state;
    const classes = [row.level ? "child" : "top", row.look || ""];
    const chosen = selection && selection.kind === row.kind && selection.id === row.id;
    if (chosen) classes.push("selected");
    else if (row.kind === "kernel" && row.kernel && linked.kernels.has(row.kernel)) classes.push("linked");
    else if (row.kind === "op" && linked.ops.has(row.id)) classes.push("linked");
    else if (row.kernel && row.kind === "kernel" && linked.readers.has(row.kernel)) classes.push("reader");
    else if (row.kind === "op" && linked.causes.has(row.id)) classes.push("reader");
    const tr = el("tr", {id: this.name + "-row-" + index, class: classes.join(" ").trim(), "aria-level": row.level + 1, "aria-rowindex": index + 2,
                         "aria-selected": chosen ? "true" : "false", "aria-expanded": row.children ? String(this.open.has(row.key)) : null,
                         "data-index": index, [`data-${row.kind || "row"}`]: row.id ?? ""});
    for (const column of this.shown) {
      const cell = el("td", {class: (column.num ? "num " : "") + "c-" + column.key});
      const content = column.cell ? column.cell(row) : column.value(row);
      if (column.fold) cell.append(this.fold(row));
      if (content !== null && content !== undefined) cell.append(content);
      tr.append(cell);
    }
    return tr;
  }

  fold(row) {
    const style = `margin-left:${row.level * 16}px`;
    if (!row.children) return el("span", {class: "fold", style});
    const open = this.open.has(row.key);
    return el("button", {type: "button", class: "fold", style, tabindex: -1, "aria-label": open ? "Fold" : "Unfold"}, open ? "▾" : "▸");
  }

  click(event) {
    const tr = event.target.closest("tr[data-index]");
    if (!tr) return;
    const row = this.rows[Number(tr.dataset.index)];
    if (event.target.closest("button.fold")) return this.toggle(row);
    if (row.kind) this.state.select(row.kind, row.id, this);
  }

  /// The place of the selection among the rows, or of the first row it leads to; -1.
  place(linkedToo) {
    const {selection, linked} = this.state;
    if (!selection) return -1;
    const own = this.rows.findIndex((row) => row.kind === selection.kind && row.id === selection.id);
    if (own >= 0 || !linkedToo) return own;
    return this.rows.findIndex((row) => (row.kind === "kernel" && (linked.kernels.has(row.kernel) || linked.readers.has(row.kernel))) ||
                                        (row.kind === "op" && linked.ops.has(row.id)));
  }

  selected() {
    this.fit();
    if (!this.body.firstChild) this.draw();  // before, there is nothing to scroll
    const at = this.place(true);
    if (at >= 0 && this.state.from !== this) this.scrollTo(at, true);
    this.draw();
    const own = this.place(false);
    if (own >= 0) this.element.setAttribute("aria-activedescendant", this.name + "-row-" + own);
    else this.element.removeAttribute("aria-activedescendant");
  }

  scrollTo(at, centred) {
    const top = at * kRowHeight, room = this.element.clientHeight - kRowHeight * 1.2;
    const {scrollTop} = this.element;
    if (top >= scrollTop && top + kRowHeight <= scrollTop + room) return;
    this.element.scrollTop = centred ? top - room / 2 : top < scrollTop ? top : top + kRowHeight - room;
  }

  key(event) {
    const at = this.place(false), row = this.rows[at];
    const page = Math.max(1, Math.floor(this.element.clientHeight / kRowHeight) - 2);
    const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.target.closest("thead") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) this.step(at, moves[event.key]);
    else if (event.key === "ArrowRight" && row?.children && !this.open.has(row.key)) this.toggle(row);
    else if (event.key === "ArrowLeft" && row?.children && this.open.has(row.key)) this.toggle(row);
    else if ((event.key === "Enter" || event.key === " ") && row?.children) this.toggle(row);
    else return;
    event.preventDefault();
  }

  step(at, by) {
    const last = this.rows.length - 1;
    let next = at < 0 && by === 1 ? Math.max(0, this.place(true)) : Math.max(0, Math.min(last, at + by));
    const onwards = by < 0 ? -1 : 1;
    while (this.rows[next] && !this.rows[next].kind) next += onwards;  // rows that are nobody's
    const row = this.rows[next];
    if (!row) return;
    this.scrollTo(next, false);
    this.state.select(row.kind, row.id, this);
  }
}
