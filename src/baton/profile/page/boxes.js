// What the graph draws: a box per kernel with its operators as rows, or a box per operator of the source; both with
// places from layered().

const kMostRows = 8, kMostFolded = 2;
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

/// The time of an operator in one kernel: of parts that are its alone; null when there is none.
function partOf(kernel, id) {
  if (!kernel.inside.length) return kernel.origins.length === 1 ? kernel.us : null;
  const own = kernel.inside.filter((part) => part.ids?.length === 1 && part.ids[0] === id);
  return own.length ? sum(own, (part) => part.us || 0) : null;
}
