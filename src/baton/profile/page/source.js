// The program, line by line, with the time of each line beside it.

/// Its line, or the name that an importer gave it; empty: neither.
function lineOrName(op) {
  return op.line ? "line " + op.line : op.source;
}

function placeText(op) {
  return op.line && op.file ? `${op.file.split("/").at(-1)}:${op.line}` : lineOrName(op);
}

/// An operator's time for its line: its own where it is known, else an equal portion of kernels that were not split;
/// what could not be measured gives none.
function lineTime(op) {
  return op.time ?? sum(op.kernels, (kernel) => kernel.us / kernel.origins.length);
}

/// "net.py:31": the line of the user's program.
function whereText(op) {
  const {file, line} = op.where;
  return !line ? "" : file ? `${file.split("/").at(-1)}:${line}` : "line " + line;
}

/// Texts with lines of operators: those that came with the report, and of other files the lines that are known.
function sourcesOf(model) {
  const known = new Set(model.sources.map((source) => source.file || ""));
  const others = new Map();
  for (const {where} of model.ops) {
    if (!where.line || !where.file || known.has(where.file)) continue;
    if (!others.has(where.file)) others.set(where.file, new Map());
    others.get(where.file).set(where.line, where.text + (where.in ? `   # in ${where.in}` : ""));
  }
  return [...model.sources.map((source) => ({file: source.file || "", lines: source.text.replace(/\n$/, "").split("\n").map((text, i) => [i + 1, text])})),
          ...[...others].map(([file, lines]) => ({file, lines: [...lines].sort(([a], [b]) => a - b)}))];
}

function hasSource(model) {
  return model.sources.length > 0 || model.ops.some((op) => op.where.file && op.where.line);
}

const kLinesInBlock = 200;  // what is far from the window is laid out later, block by block

class SourceView {
  constructor(state, model) {
    Object.assign(this, {state, model, rows: new Map()});
    this.name = "source";
    this.element = el("div", {class: "scroll source", tabindex: 0, "aria-label": "The program, with the time of each line"});
    const byLine = new Map();
    for (const op of model.ops) {
      if (!op.where.line) continue;
      const key = op.where.file + "\n" + op.where.line;
      if (!byLine.has(key)) byLine.set(key, []);
      byLine.get(key).push(op);
    }
    // As the report says; older ones do not.
    const said = new Map((model.json.lines || []).map((row) => [(row.file || "") + "\n" + row.line, row.us || 0]));
    const times = new Map([...byLine].map(([key, ops]) => [key, said.get(key) ?? sum(ops, lineTime)]));
    const longest = largest([...times.values()], (us) => us);
    for (const source of sourcesOf(model)) {
      this.element.append(el("h3", {}, source.file || model.json.source || "Relay"));
      const {lines} = source;
      for (let at = 0; at < lines.length; at += kLinesInBlock) {
        const block = el("div", {class: "lines"});
        for (const [number, text] of lines.slice(at, at + kLinesInBlock)) block.append(this.line(source, number, text, byLine, times, longest));
        this.element.append(block);
      }
    }
    this.selected();
  }

  line(source, number, text, byLine, times, longest) {
    const key = source.file + "\n" + number, ops = byLine.get(key) || [], us = times.get(key) || 0;
    const row = el("div", {class: "line" + (ops.length ? " has-ops" : ""), "data-line": number,
                           title: ops.length ? ops.map((op) => `${op.brief || op.op}: ${usText(lineTime(op))} µs`).slice(0, 12).join("\n") : null},
                   el("span", {class: "no"}, String(number)),
                   el("span", {class: "time"}, us > 0 ? usText(us) : ""),
                   el("span", {class: "meter"}, us > 0 ? el("i", {style: `width:${Math.max(1, 100 * us / longest)}%;background:var(${kindColour(this.model, [ops[0].id])})`}) : null),
                   el("code", {}, ...(source.file ? [text] : relayPieces(text))));
    if (ops.length) {
      row.addEventListener("click", () => this.state.select("op", ops.toSorted((a, b) => lineTime(b) - lineTime(a))[0].id, this));
      for (const op of ops) this.rows.set(op.id, row);
    }
    return row;
  }

  selected() {
    const {selection, linked} = this.state;
    for (const row of this.marked || []) row.classList.remove("selected", "linked");
    this.marked = new Set();
    const mark = (id, look) => {
      const row = this.rows.get(id);
      if (!row) return;
      row.classList.add(look);
      this.marked.add(row);
    };
    for (const id of linked.ops) mark(id, "linked");
    if (selection?.kind === "op") mark(selection.id, "selected");
    if (this.state.from !== this) this.marked.values().next().value?.scrollIntoView({block: "nearest"});
  }
}
