// Tables of a difference: old, new, what lies between, and the check that all of it was told.

/// A bar to the left for what became faster, to the right for what became slower.
function deltaBar(delta, most, kind) {
  const width = Math.min(50, 50 * Math.abs(delta) / most);
  return el("span", {class: "delta"}, el("i", {class: kind, style: `width:${width}%;${delta < 0 ? "right" : "left"}:50%`}));
}

function deltaText(old, now, noise, differs) {
  if (old === null || now === null) return null;
  const kind = verdict(old, now, noise, differs);
  const sign = kind === "faster" ? "▼ " : kind === "slower" ? "▲ " : "";
  return el("span", {class: kind}, sign + signed(now - old, usText));
}

/// For operators: `entry(row)` is {before, after, delta}.
function diffColumns(entry) {
  const of = (row) => entry(row) || {before: null, after: null, delta: null};
  return [
    {key: "old", drop: 4, label: "old µs", tip: "Its own time in the first profile; empty where its kernel was not split", width: 86, num: true,
     value: (row) => of(row).before, cell: (row) => usText(of(row).before)},
    {key: "new", drop: 5, label: "new µs", tip: "Its own time in the second profile", width: 86, num: true, value: (row) => of(row).after, cell: (row) => usText(of(row).after)},
    {key: "delta", label: "change µs", tip: "New less old; ▼ faster, ▲ slower, by more than chance", width: 104, num: true, value: (row) => of(row).delta,
     cell: (row) => deltaText(of(row).before, of(row).after, of(row).noise, of(row).differs)},
    {key: "ratio", drop: 3, label: "change", tip: "Of the old time", width: 84, num: true,
     value: (row) => (of(row).before ? of(row).delta / of(row).before : null),
     cell: (row) => (row.gone ? "gone" : of(row).delta === null || stateOf(row.op) === "retired" ? "" : ratioText(of(row).before, of(row).after))},
  ];
}

function groupTable(state, difference) {
  const kernelText = (kernels) => kernels.map((kernel) => kernel.title).join("; ");
  const columns = [
    {key: "node", label: "node", tip: "Nodes of the new graph.json", width: 70, num: true, value: (row) => row.after[0]?.node ?? null,
     cell: (row) => row.after.slice(0, 2).map((kernel) => kernel.node).join(" ") + (row.after.length > 2 ? " …" : "")},
    {key: "name", label: "kernels", tip: "Kernels of both profiles that are connected through operators: what can be compared", fold: true,
     value: (row) => kernelText(row.after.length ? row.after : row.before),
     cell: (row) => row.level ? nameCell(row.kernel.title, row.side, row.kernel.name)
       : nameCell(kernelText(row.after.length ? row.after : row.before), row.before.length === 1 && row.after.length === 1 ? "" : `${row.before.length} → ${row.after.length} kernels`)},
    {key: "bar", drop: 2, label: "change", tip: "Left: faster; right: slower", width: 150, num: true, value: (row) => row.delta,
     cell: (row) => (row.level ? null : deltaBar(row.delta, difference.most, verdict(row.old, row.now, row.noise, row.differs)))},
    {key: "old", drop: 4, label: "old µs", tip: "Sum of their medians in the first profile", width: 90, num: true, value: (row) => row.old, cell: (row) => (row.old === null ? "" : usText(row.old))},
    {key: "new", drop: 5, label: "new µs", tip: "Sum of their medians in the second profile", width: 90, num: true, value: (row) => row.now, cell: (row) => (row.now === null ? "" : usText(row.now))},
    {key: "delta", label: "change µs", tip: "New less old; ▼ faster, ▲ slower, by more than chance", width: 110, num: true, value: (row) => row.delta,
     cell: (row) => (row.level ? null : deltaText(row.old, row.now, row.noise, row.differs))},
    {key: "ratio", drop: 3, label: "change", tip: "Of the old time", width: 88, num: true, value: (row) => (row.old ? row.delta / row.old : null),
     cell: (row) => (row.level ? "" : ratioText(row.old, row.now))},
  ];
  const top = () => {
    const passing = state.filtered ? state.passes().kernels : null;
    return difference.groups.filter((group) => !passing || group.after.some((kernel) => passing.has(kernel))).map((group) => ({
      ...group, key: "g" + group.index, level: 0, kernel: group.after[0], kind: group.after.length ? "kernel" : "", id: group.after[0]?.node ?? null,
      look: verdict(group.old, group.now, group.noise, group.differs) && "is-" + verdict(group.old, group.now, group.noise, group.differs),
      children: () => [...group.before.map((kernel) => groupChild(kernel, "old")), ...group.after.map((kernel) => groupChild(kernel, "new"))],
    }));
  };
  return new Grid(state, {name: "kernels", columns, top});
}

function groupChild(kernel, side) {
  return {key: side + kernel.node, level: 1, kernel, side, kind: side === "new" ? "kernel" : "", id: side === "new" ? kernel.node : null,
          before: [], after: [kernel], old: side === "old" ? kernel.us : null, now: side === "new" ? kernel.us : null, delta: null};
}

/// Sums of all rows beside the sums of the reports: nothing was lost by joining.
function sumCheck(difference) {
  const old = sum(difference.groups, (group) => group.old), now = sum(difference.groups, (group) => group.now);
  const near = (a, b) => Math.abs(a - b) <= 1e-3 * Math.max(1, Math.abs(b));
  const holds = near(old, difference.before.sum) && near(now, difference.after.sum);
  const lost = difference.onlyBefore.length + difference.onlyAfter.length;
  return el("span", {class: holds ? "check" : "check bad", title: "The rows of this table, added up, against the sums of both profiles"},
            `rows sum to ${timeText(old)} → ${timeText(now)} (${ratioText(old, now)})` +
            (holds ? ", as both profiles say" : `, the profiles to ${timeText(difference.before.sum)} → ${timeText(difference.after.sum)}: they differ`) +
            (lost ? `; ${plural(lost, "operator")} on one side only` : ""));
}
