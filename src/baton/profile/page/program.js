// What a program of the virtual machine did beside its kernels: the parts of a run, loops, branches.

/// The rows, longest first within each kind: {what, kind, count, other, us}.
function programRows(program) {
  const count = (value) => (value === undefined ? 0 : value), placed = (name, line) => name + (line ? `, line ${line}` : "");
  const byTime = (rows) => rows.sort((a, b) => b.us - a.us);
  return [
    ...byTime((program.parts || []).map((part) => ({what: part.name, kind: "beside kernels", us: count(part.us),
      count: part.name === "control" ? count(program.instructions) : null, unit: "instructions"}))),
    ...byTime((program.loops || []).map((loop) => ({what: placed("@" + loop.function, loop.line), kind: "loop", us: count(loop.us), count: count(loop.iterations),
      unit: "turns", each: count(loop.us_per_iteration), entries: count(loop.entries)}))),
    ...byTime((program.branches || []).flatMap((branch) => [[branch.taken, branch.taken_us, "taken"], [branch.not_taken, branch.not_taken_us, "not taken"]].map(
      ([times, us, way]) => ({what: `${placed(branch.what, branch.line)} in @${branch.function}: ${way}`, kind: "branch", us: count(us), count: count(times), unit: "times"})))),
  ];
}

function programTable(state, model) {
  const rows = programRows(model.json.program), whole = model.endToEnd || 1;
  const columns = [
    {key: "name", label: "of a run", tip: "What lies between kernels; functions that call themselves, with all that they call; the ways of branches, without recursive calls",
     value: ({row}) => row.what, cell: ({row}) => nameCell(row.what, row.entries > 1 ? `entered ${row.entries} times` : "")},
    {key: "kind", drop: 3, label: "kind", tip: "Loops hold kernels, and what lies between them: their times are no part of the sum", width: 110, value: ({row}) => row.kind},
    {key: "count", drop: 2, label: "how often", tip: "In a run", width: 130, num: true, value: ({row}) => row.count, cell: ({row}) => (row.count === null ? "" : `${+row.count.toFixed(1)} ${row.unit}`)},
    {key: "each", drop: 1, label: "µs each", tip: "Of a turn", width: 84, num: true, value: ({row}) => row.each ?? null, cell: ({row}) => usText(row.each)},
    {key: "us", label: "µs", tip: "Of a run", width: 86, num: true, value: ({row}) => row.us, cell: ({row}) => usText(row.us)},
    {key: "share", label: "share", tip: "Of the run end to end", width: 72, num: true, value: ({row}) => row.us, cell: ({row}) => percent(row.us / whole)},
  ];
  return new Grid(state, {name: "program", columns, top: () => rows.map((row, i) => ({key: "p" + i, kind: "", id: null, level: 0, row}))});
}
