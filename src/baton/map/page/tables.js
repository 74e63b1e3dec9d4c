// The tables: mappings that were compared, and operators.

function modelTable(state) {
  const {model} = state, compared = (each) => comparedTime(model.json, each), base = model.bestSingle ? compared(model.bestSingle) : 0;
  const speed = (each) => (compared(each) > 0 && base > 0 && !each.whyNot ? base / compared(each) : null);
  const columns = [
    {key: "name", label: "who computes it", tip: "One backend, with the processor for what it does not take; or a mixture", value: (row) => row.model.name,
     cell: (row) => el("span", {class: "name", title: row.model.whyNot || null}, row.model.name, row.model === model.chosen ? el("b", {class: "kept"}, " kept") : "",
                       row.model.whyNot ? el("small", {}, "  " + row.model.whyNot) : "")},
    {key: "regions", drop: 1, label: "regions", tip: "Beside the processor's", width: 76, num: true, value: (row) => row.model.regions},
    {key: "modelled", label: "modelled µs", tip: "By the prices of kernels and copies", width: 120, num: true, value: (row) => row.model.modelled || null, cell: (row) => (row.model.modelled ? usText(row.model.modelled) : "")},
    {key: "measured", label: "measured µs", tip: model.json.predicted ? "Nothing was run" : "Built and run, all in turns", width: 120, num: true, value: (row) => row.model.measured || null,
     cell: (row) => (row.model.measured ? usText(row.model.measured) : "")},
    {key: "verified", drop: 1, label: "verified µs", tip: "The mapping chosen and its rivals, measured again after the choice", width: 120, num: true, value: (row) => row.model.verified || null,
     cell: (row) => (row.model.verified ? usText(row.model.verified) : "")},
    {key: "speed", label: "speed-up", tip: "Over the best single backend", width: 92, num: true, value: (row) => speed(row.model), cell: (row) => (speed(row.model) ? speed(row.model).toFixed(3) + "×" : "")},
    {key: "bar", drop: 2, label: "operators", tip: "How many operators each backend computes", width: 190, value: (row) => Object.keys(row.model.operators).length, cell: (row) => (row.model.whyNot ? "" : divisionBar(row.model, model))},
  ];
  const top = () => model.models.map((each, i) => ({key: "m" + i, kind: "", id: i, level: 0, model: each, look: each === model.chosen ? "is-kept" : ""}));
  return new Grid(state, {name: "models", columns, top});
}

/// How many operators each backend computes, as a bar.
function divisionBar(row, model) {
  const counts = model.backends.map((backend) => row.operators[backend.name] || 0);
  const words = model.backends.map((backend, i) => (counts[i] ? `${backend.name} ${counts[i]}` : "")).filter(Boolean).join(", ");
  return el("span", {class: "bars", style: "width:170px", title: words, "aria-label": words},
            model.backends.flatMap((backend, i) => (counts[i] ? [el("i", {style: `flex-grow:${counts[i]};background:var(${backend.colour})`})] : [])));
}

function backendName(backend) {
  return backend ? [el("i", {class: "dot", style: `background:var(${backend.colour})`}), backend.name] : el("span", {class: "quiet"}, "no kernel");
}

/// The backend that would be the next best, among others than the operator's own.
function nextBest(op, model) {
  const own = model.backends[op.backend]?.name;
  return op.alternatives.filter((each) => each.backend !== own).toSorted((a, b) => a.more_us - b.more_us)[0] ?? null;
}

function operatorGrid(state) {
  const {model} = state;
  const shownBackend = (op) => model.backends[state.point.backendOf[op.id]];
  const columns = [
    {key: "line", drop: 1, label: "line", tip: "In the source", width: 56, num: true, value: (row) => row.op.line || null},
    {key: "name", label: "operator", tip: "What the user wrote", value: (row) => row.op.op, cell: (row) => el("span", {class: "name", title: row.op.type || null}, row.op.label)},
    {key: "backend", label: "backend", tip: "In the mapping that is shown", width: 150, value: (row) => shownBackend(row.op)?.name ?? "", cell: (row) => el("span", {}, backendName(shownBackend(row.op)))},
    {key: "us", label: "µs", tip: "Its share of its kernel, in the mapping that was kept", width: 78, num: true, value: (row) => row.op.us || null, cell: (row) => (row.op.us ? usText(row.op.us) : "")},
    {key: "next", drop: 3, label: "else on", tip: "Where the whole model would lose least", width: 130, value: (row) => nextBest(row.op, model)?.backend ?? "",
     cell: (row) => nextBest(row.op, model)?.backend ?? ""},
    {key: "more", drop: 2, label: "more µs", tip: "That the best mapping with it there would take", width: 88, num: true, value: (row) => nextBest(row.op, model)?.more_us ?? null,
     cell: (row) => { const next = nextBest(row.op, model); return next ? usText(Math.max(0, next.more_us)) : ""; }},
  ];
  const top = () => model.ops.map((op) => ({key: "o" + op.id, kind: "op", id: op.id, level: 0, op, look: op.backend < 0 ? "folded" : ""}));
  return new Grid(state, {name: "operators", columns, top});
}
