// What the graph draws: a box per kernel with its operators as rows, or a box per operator of the source; both with
// places from layered().

const kTitle = 17, kRow = 16, kPad = 6, kMostRows = 8, kMostFolded = 2;
const kCopyHeight = 26;  // a copy is a label on the edge between two devices, and no box

/// {items, edges, paths, width, height, drawn}: `drawn` is false where the report holds no edges; then the order is shown.
function kernelBoxes(model, aspect) {
  const items = model.kernels.map((kernel) => {
    if (isCopy(kernel)) return {kind: "kernel", id: kernel.node, kernel, rows: [], w: 150, h: kCopyHeight};
    const rows = kernel.origins.slice(0, kMostRows).map((id) => ({op: id, kind: "own", text: shortOp(model.ops[id].op), us: partOf(kernel, id)}));
    if (kernel.origins.length > kMostRows) rows.push({op: null, kind: "more", text: `and ${kernel.origins.length - kMostRows} more`, us: null});
    for (const id of kernel.folded.slice(0, kMostFolded)) rows.push({op: id, kind: "folded", text: shortOp(model.ops[id].op) + " folded", us: null});
    if (kernel.folded.length > kMostFolded)
      rows.push({op: null, kind: "more", text: `and ${kernel.folded.length - kMostFolded} folded`, us: null});
    return {kind: "kernel", id: kernel.node, kernel, rows, w: 196, h: 2 * kPad + 2 * kTitle + rows.length * kRow};
  });
  const edges = model.kernels.flatMap((kernel) => kernel.from.map((source) => [source.index, kernel.index]));
  const boxes = placed(items, edges, aspect);
  boxes.copied = boxes.edges.map(([from, to]) => boxes.drawn && (isCopy(items[from].kernel) || isCopy(items[to].kernel)));
  return boxes;
}

function operatorBoxes(model, aspect) {
  const items = model.ops.map((op) => ({kind: "op", id: op.id, op, rows: [], state: stateOf(op), w: 150, h: 2 * kPad + 2 * kTitle - 2}));
  const edges = model.ops.flatMap((op) => op.inputs.filter((id) => id !== op.id && id < model.ops.length).map((id) => [id, op.id]));
  const boxes = placed(items, edges, aspect);
  boxes.fused = edges.map(([from, to]) => model.ops[from].kernels.some((kernel) => model.ops[to].kernels.includes(kernel)));
  return boxes;
}

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

/// The time of an operator in one kernel: of parts that are its alone; null when there is none.
function partOf(kernel, id) {
  if (!kernel.inside.length) return kernel.origins.length === 1 && !kernel.unreliable ? kernel.us : null;
  const own = kernel.inside.filter((part) => part.ids?.length === 1 && part.ids[0] === id);
  return own.length ? sum(own, (part) => part.us || 0) : null;
}

/// What is under a point of the drawing: {item, op} or null; rows only count where they can be read.
function boxAt(boxes, x, y, withRows) {
  for (const item of boxes.items) {
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
    else if (item.kind === "kernel" && linked.kernels.has(item.kernel)) lit.linked.add(item);
    else if (item.kind === "op" && linked.ops.has(item.id)) lit.linked.add(item);
    else if (item.kind === "kernel" ? linked.readers.has(item.kernel) : linked.causes.has(item.id)) lit.weak.add(item);
  }
  return lit;
}
