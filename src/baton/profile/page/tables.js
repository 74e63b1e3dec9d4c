// The two tables: kernels with what is in them, operators with their three times; and both for a difference.

/// `plusMinus`: half of the 95 % interval of `total`, drawn as a whisker; null: not known.
function bar(parts, total, longest, plusMinus = null) {
  const box = el("span", {class: "bars", style: `width:${Math.max(1, 100 * total / longest)}%`});
  for (const {part, colour, title} of parts) {
    if (part <= 0) continue;
    box.append(el("i", {style: `flex-grow:${part};background:var(${colour})`, title}));
  }
  if (plusMinus === null || !(total > 0)) return box;
  const at = (us) => Math.min(100, Math.max(0, 100 * us / longest));
  const from = at(total - plusMinus), to = at(total + plusMinus);
  return el("span", {class: "measured"}, box, el("i", {class: "whisker", style: `left:${from.toFixed(2)}%;width:${(to - from).toFixed(2)}%`,
    title: `${usText(total)} ± ${usText(plusMinus)} µs (95 %)`}));
}

function operatorLabel(op) {
  return [op.op, placeText(op)].filter(Boolean).join(" ");
}

/// "nn.conv2d line 5  [pad]  as nn.contrib_conv2d_NCHWc", as in the terminal.
function partLabel(model, part) {
  const ids = part.ids || [];
  const names = ids.length ? ids.slice(0, 3).map((id) => operatorLabel(model.ops[id])).join(", ") + (ids.length > 3 ? ` and ${ids.length - 3} more` : "") : "";
  const stage = part.stage ? `  [${part.stage}]` : "";
  const label = part.label && part.label !== kOwn && ids.length === 1 && part.label !== model.ops[ids[0]].op ? "  as " + part.label : "";
  return (names || part.label || kOwn) + stage + label + (part.rest && names ? "  with " + kOwn : "");
}

function partTime(kernel, part) {
  return part.below_noise ? "< noise" : (kernel.trusted ? "" : "~") + usText(part.us || 0);
}

function nameCell(main, more, tip) {
  return el("span", {class: "name", title: tip || main}, main, more ? el("small", {}, " " + more) : null);
}

function kernelChildren(model, kernel) {
  const rows = kernel.inside.map((part, i) => ({
    key: `${kernel.node}.${i}`, kind: part.ids?.length ? "op" : "", id: part.ids?.[0] ?? null, level: 1, parent: kernel, part,
  }));
  const plain = (id, i, look, note) => ({key: `${kernel.node}${look}${i}`, kind: "op", id, level: 1, parent: kernel, note, look});
  if (!kernel.inside.length) rows.push(...kernel.origins.map((id, i) => plain(id, i, "", "not split")));
  else rows.push(...kernel.origins.filter((id) => !kernel.inside.some((part) => part.ids?.includes(id))).map((id, i) => plain(id, i, "", "in other rows")));
  rows.push(...kernel.folded.map((id, i) => plain(id, i, "folded", "folded into a constant it reads")));
  if (!kernel.origins.length) rows.push(...kernel.madeFor.map((id, i) => plain(id, i, "made", kernel.reason || "made for it")));
  return rows;
}

function kernelTable(state, model) {
  const isKernel = (row) => row.level === 0;
  const roof = new Map(model.kernels.map((kernel) => [kernel, roofOf(model, kernel)]));
  const number = (of, text) => ({value: (row) => (isKernel(row) ? of(row.kernel) : null), cell: (row) => {
    const value = isKernel(row) ? of(row.kernel) : null;
    return value === null ? "" : text(value);
  }});
  const parts = (kernel) => kernel.split.map((each) => ({part: each.us, colour: kindColour(model, each.ids),
    title: (each.ids.length ? each.ids.map((id) => model.ops[id].op).join(", ") : kOwn) + ": " + usText(each.us) + " µs"}));
  const hasAny = (column) => model.kernels.some((kernel) => ![null, undefined, ""].includes(column.value({level: 0, kernel})));
  const columns = [
    {key: "node", label: "node", tip: "Number of the node in graph.json; rows begin in the order of execution", width: 56, num: true,
     value: (row) => (isKernel(row) ? row.kernel.node : null)},
    {key: "name", label: "kernel", tip: "A kernel; unfolded, the operators of the source it computes", fold: true,
     value: (row) => row.kernel?.short ?? "", cell: (row) => {
       if (isKernel(row)) return nameCell(row.kernel.title, row.kernel.compiler ? "for " + row.kernel.compiler : "", row.kernel.name);
       const label = row.part ? partLabel(model, row.part) : operatorLabel(model.ops[row.id]);
       return nameCell(label, row.note, row.id !== null ? model.ops[row.id].type : "");
     }},
    {key: "calls", drop: 5, label: "calls", tip: "In a run: loops call a kernel several times; its time is that of all calls", width: 66, num: true,
     ...number((kernel) => kernel.calls, (value) => String(+value.toFixed(1)))},
    {key: "bar", drop: 6, label: "time", tip: "The median, in the colours of the operators' kinds where the kernel was split", width: 170,
     value: (row) => row.kernel?.us ?? 0, num: true, cell: (row) => {
       if (isKernel(row)) return bar(parts(row.kernel), row.kernel.us, model.longest, row.kernel.plusMinus);
       if (!row.part || row.part.below_noise) return null;
       return bar([{part: 1, colour: kindColour(model, row.part.ids || [])}], row.part.us || 0, model.longest, row.part.plus_minus_us ?? null);
     }},
    {key: "us", label: "µs", tip: "Median of the runs, microseconds of wall clock; ~: the stages do not sum to the kernel, so its parts are estimates",
     width: 86, num: true, value: (row) => row.kernel?.us ?? null,
     cell: (row) => (isKernel(row) ? usText(row.kernel.us) : row.part ? partTime(row.parent, row.part) : "")},
    {key: "share", drop: 7, label: "share", tip: "Of the sum of all kernels; unfolded, of the kernel", width: 72, num: true, value: (row) => row.kernel?.share ?? null,
     cell: (row) => (isKernel(row) ? percent(row.kernel.share) : row.part && !row.part.below_noise ? percent(row.part.share || 0) : "")},
    {key: "gflops", drop: 3, label: "GFLOP/s", tip: "Operations it must do at least, over its time", width: 82, num: true,
     ...number((kernel) => roof.get(kernel)?.gflops ?? null, (value) => value.toFixed(value < 10 ? 2 : 1))},
    {key: "intensity", drop: 1, label: "FLOP/B", tip: "Arithmetic intensity: operations over bytes that must be moved at least", width: 76, num: true,
     ...number((kernel) => roof.get(kernel)?.intensity ?? null, (value) => value.toPrecision(3))},
    {key: "roof", drop: 4, label: "of roof", tip: "Of what the machine could do at this intensity: measured peaks of arithmetic and memory", width: 76, num: true,
     ...number((kernel) => roof.get(kernel)?.part ?? null, (value) => percent(value, 0))},
    {key: "how", drop: 2, label: "how", tip: "Template of the kernel's schedule; unfolded, how the part was measured (docs/design/0004-inside-time.md)", width: 118,
     value: (row) => (isKernel(row) ? model.functions[row.kernel.func]?.template ?? "" : ""),
     cell: (row) => (isKernel(row) ? model.functions[row.kernel.func]?.template ?? "" : row.part?.method ?? "")},
  ].filter((column) => !["calls", "gflops", "intensity", "roof", "how"].includes(column.key) || hasAny(column));
  const top = () => {
    const passing = state.passes().kernels;
    return model.kernels.filter((kernel) => passing.has(kernel)).map((kernel) => ({
      key: "k" + kernel.node, kind: "kernel", id: kernel.node, level: 0, kernel, look: kernel.origins.length ? "" : "made",
      children: kernel.inside.length + kernel.origins.length + kernel.folded.length + kernel.madeFor.length ? () => kernelChildren(model, kernel) : null,
    }));
  };
  return new Grid(state, {name: "kernels", columns, top});
}

function operatorTable(state, model, difference) {
  const longest = model.longestOp;
  const entry = (row) => (row.gone ? {before: ownOrFused(row.op), after: null, delta: null} : difference?.ops.get(row.id));
  const note = (op, gone) => (gone ? "only in the first profile" : stateText(op) || op.notFused);
  const time = (of) => ({num: true, value: (row) => of(row.op), cell: (row) => usText(of(row.op))});
  const columns = [
    {key: "line", label: "line", tip: "Line of the source that the operator begins in", width: 56, num: true, value: (row) => row.op.line || null},
    {key: "name", label: "operator", tip: "The operator as the user gave it", value: (row) => row.op.op,
     cell: (row) => nameCell(row.op.brief || row.op.op, row.op.source || row.op.file.split("/").at(-1), row.op.type)},
    {key: "nodes", drop: 3, label: "kernels", tip: "Nodes of graph.json that compute it; in brackets those that read a constant it was folded into", width: 104,
     value: (row) => row.op.nodes[0] ?? row.op.foldedInto[0] ?? null, cell: (row) => nodesText(row.op)},
    ...(model.hasUnfused ? [{key: "unfused", drop: 5, label: "unfused µs", tip: "Its time in a build where every operator is a kernel of its own", width: 108, ...time((op) => op.unfusedUs)}] : []),
    ...(difference ? diffColumns(entry) : [
      {key: "fused", drop: 6, label: "fused µs", tip: "Time of the kernels it is in: its own and that of what it is fused with", width: 86, ...time(fusedTime)},
      {key: "inside", label: "inside µs", tip: "Its own time in these kernels: all of it where it is alone, else as measured by markers and ablation", width: 86, num: true,
       value: (row) => row.op.time, cell: (row) => ownText(row.op)},
      {key: "bar", drop: 4, label: "own time", tip: "The time inside, beside the longest one", width: 150, num: true, value: (row) => row.op.time,
       cell: (row) => (row.op.time ? bar([{part: 1, colour: kindColour(model, [row.id])}], row.op.time, longest, row.op.plusMinus) : null)},
      {key: "share", drop: 1, label: "share", tip: "Of the sum of all kernels", width: 72, num: true, value: (row) => row.op.time,
       cell: (row) => (row.op.time ? percent(row.op.time / model.sum) : "")},
    ]),
    {key: "why", drop: 2, label: "note", tip: "Why it has no time of its own, or why it is in no kernel with what uses it", width: 230,
     value: (row) => note(row.op, row.gone), cell: (row) => nameCell(note(row.op, row.gone), "")},
  ];
  const top = () => {
    const passing = state.passes().ops;
    const gone = difference && !state.filtered ? difference.onlyBefore : [];
    return [...model.ops.filter((op) => passing.has(op.id)).map((op) => ({key: "o" + op.id, kind: "op", id: op.id, level: 0, op, look: stateOf(op)})),
            ...gone.map((op) => ({key: "gone" + op.id, kind: "", id: null, level: 0, op, gone: true, look: "gone"}))];
  };
  return new Grid(state, {name: "operators", columns, top});
}

function nodesText(op) {
  const few = (nodes) => nodes.slice(0, 3).join(" ") + (nodes.length > 3 ? " …" : "");
  return few(op.nodes) + (op.foldedInto.length ? (op.nodes.length ? " " : "") + "(" + few(op.foldedInto) + ")" : "");
}
