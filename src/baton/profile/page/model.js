// A report as it is embedded, with what the compact form leaves out, and the ways between operators and kernels.

const kOwn = "load, store, loop";

function readModel(json) {
  const model = {
    json,
    name: json.model || "model",
    endToEnd: json.end_to_end_us?.median ?? 0,
    endToEndPlusMinus: json.end_to_end_us?.plus_minus ?? null,
    sum: json.sum_us ?? 0,
    peaks: json.peaks || null,
    functions: json.functions || {},
    sources: json.sources || [],
    memory: json.memory || null,
    ops: (json.operators || []).map(readOperator),
    kernels: (json.kernels || []).map(readKernel),
    kernelOfNode: new Map(),
  };
  for (const kernel of model.kernels) model.kernelOfNode.set(kernel.node, kernel);
  const kernelsOf = (nodes) => nodes.map((node) => model.kernelOfNode.get(node)).filter(Boolean);
  for (const op of model.ops) {
    op.kernels = kernelsOf(op.nodes);
    op.readers = kernelsOf(op.foldedInto);
    for (const kernel of op.readers) if (!kernel.origins.includes(op.id)) kernel.folded.push(op.id);
  }
  for (const kernel of model.kernels) {
    kernel.from = kernelsOf(kernel.inputs);
    kernel.title ||= kernel.origins.length ? kernel.origins.map((id) => shortOp(model.ops[id].op)).join(" + ")
                                         : kernel.short.replaceAll("_", " ");
    kernel.split = splitOf(kernel);
  }
  for (const op of model.ops) {
    op.time = timeOf(op);
    op.plusMinus = op.time === null ? null : together(op.kernels.flatMap((kernel) => (kernel.inside.length ?
      kernel.inside.filter((part) => part.ids?.includes(op.id)).map((part) => part.plus_minus_us ?? null) : [kernel.plusMinus])));
    op.belowNoise = op.time === 0 && op.kernels.some((kernel) => kernel.inside.some((part) => part.below_noise && part.ids?.includes(op.id)));
  }
  addUnfused(model);
  model.places = devicesOf(model);
  model.links = linksOf(model);
  model.modules = readModules(model);
  model.comparison = readComparison(json.comparison);
  model.kinds = kindsOf(model);
  model.longest = largest(model.kernels, (kernel) => kernel.us);
  model.longestOp = largest(model.ops, (op) => op.time ?? 0);
  return model;
}

function readComparison(json) {
  if (!json) return null;
  const functions = (json.functions || []).map((each) => ({own_us: 0, nodes: [], others: [], why: "", ...each}));
  return {base: json.base || "", others: json.others || [], functions};
}

function readOperator(row) {
  return {
    id: row.id,
    op: row.op || "?",
    line: row.line || 0,
    file: row.file || "",
    brief: row.brief || "",
    inputTypes: row.input_types || [],
    flops: row.flops || 0,
    bytes: row.bytes || 0,
    column: row.column || 0,
    source: row.source || "",
    type: row.type || "",
    attrs: row.attrs || {},
    nodes: row.nodes || [],
    foldedInto: row.folded_into || [],
    fusedWith: row.fused_with || [],
    notFused: row.not_fused || "",
    inputs: row.inputs || [],
    insideUs: row.inside_us ?? null,
    unfusedUs: row.unfused_us ?? null,
    retired: row.retired || null,
    module: row.module || "",
    // The line of the user's program: as an exporter recorded it, else that of the text or of Python.
    where: row.source_line ? {file: row.source_line.file || "", line: row.source_line.line || 0, text: row.source_line.text || "", in: row.source_line.function || ""}
         : {file: row.file || "", line: row.line || 0, text: "", in: ""},
  };
}

function readKernel(row, index) {
  return {
    index,
    node: row.node,
    name: row.name,
    short: row.name.replace(/^tvmgen_default_/, "").replace(/^fused_/, ""),
    title: row.title || "",
    func: row.func_name || row.name,
    p90: row.p90_us ?? null,
    p99: row.p99_us ?? null,
    resultBytes: row.result_bytes || 0,
    liveBytes: row.live_bytes || 0,
    // A time that could not be measured is none: no area, bar, share or dot comes from it.
    us: row.median_us || 0,
    guess: row.median_us || 0,
    plusMinus: row.plus_minus_us ?? null,
    underLoad: row.under_load || row.unreliable || "",
    share: row.share || 0,
    samples: row.samples || [],
    inputs: row.inputs || [],
    calls: row.calls ?? null,          // of a program, where it is not 1
    origins: row.origins || [],
    madeFor: row.made_for || [],
    reason: row.reason || "",
    inside: row.inside || [],
    flops: row.flops || 0,
    bytes: row.bytes || 0,
    stageSum: row.stage_sum ?? 1,
    noise: row.noise || 0,
    trusted: row.trusted !== false,
    compiler: row.compiler || "",
    place: row.func_name === "__copy" ? kCopies : row.target || row.compiler || "",
    device: row.device || "",          // in whose memory its result lies; older reports do not say
    copiedFrom: row.copied_from || "",
    simulated: row.simulated || "",
    basis: row.basis || "", outOfRange: row.out_of_range || "", low: row.low_us ?? null, high: row.high_us ?? null,
    dtype: row.dtype || "",
    cv: row.cv ?? null,
    roofline: row.roofline ?? null,
    bound: row.bound || "",
    nominal: row.nominal === true,
    onThreads: row.on_threads || null,
    notes: row.inside_notes || [],
    folded: [],
  };
}

/// A kernel's time where it is said in words: a time that could not be measured is no number.
function kernelTime(kernel) {
  return `${usText(kernel.us)} µs  ${percent(kernel.share)}`;
}

function shortOp(name) {
  return name.replace(/^nn\./, "").replace(/^contrib_/, "");
}

/// The parts of a kernel's time for bars: {ids, label, us, share}, one per set of operators, in the order of the report.
function splitOf(kernel) {
  const parts = new Map();
  for (const part of kernel.inside) {
    const ids = part.ids || [];
    const key = ids.join();
    if (!parts.has(key)) parts.set(key, {ids, us: 0, share: 0});
    parts.get(key).us += part.us || 0;
    parts.get(key).share += part.share || 0;
  }
  if (!parts.size) return [{ids: kernel.origins, us: kernel.us, share: 1}];
  return [...parts.values()];
}

/// What is known of an operator's own time: its parts, or kernels that compute nothing else; null when it shares a
/// kernel that was not split.
function timeOf(op) {
  if (op.insideUs !== null) return op.insideUs;
  if (op.kernels.length && op.kernels.every((kernel) => kernel.origins.length === 1)) return sum(op.kernels, (kernel) => kernel.us);
  return null;
}

/// Half of the interval of a sum whose terms have these; null: none is known.
function together(halves) {
  const known = halves.filter((half) => half !== null);
  return known.length ? Math.hypot(...known) : null;
}

/// An operator's own time as text; ablation may have found too little to be measured.
function ownText(op) {
  return op.belowNoise ? "< noise" : usText(op.time);
}

/// The time of the kernels it is in: its own and that of what it is fused with; null: in none, or not known.
function fusedTime(op) {
  return op.kernels.length ? sum(op.kernels, (kernel) => kernel.us) : null;
}

function addUnfused(model) {
  model.unfused = model.json.unfused?.kernels || [];
  model.unfusedSum = model.json.unfused?.end_to_end_us || 0;
  model.hasUnfused = model.ops.some((op) => op.unfusedUs !== null);
}

/// "timed", "folded" or "retired".
function stateOf(op) {
  return op.kernels.length ? "timed" : op.retired ? "retired" : op.readers.length || op.foldedInto.length ? "folded" : "lost";
}

function stateText(op) {
  switch (stateOf(op)) {
    case "timed": return op.readers.length ? "in part folded into a constant" : "";
    case "folded": return "computed at compile time, read by " + plural(op.foldedInto.length, "kernel");
    case "retired": return (op.retired.reason || "retired") + (op.retired.pass ? " (" + op.retired.pass + ")" : "");
    default: return "no kernel and no reason in this report";
  }
}

/// Kinds of operators, longest first, each with the time that is its own and its place among the colours. Where a
/// kernel was not split, its operators count alike for the order.
function kindsOf(model) {
  const kinds = new Map();
  for (const op of model.ops) {
    const kind = kinds.get(op.op) || {us: 0, rank: 0};
    kind.us += op.time ?? 0;
    kind.rank += op.time ?? sum(op.kernels, (kernel) => kernel.us / kernel.origins.length);
    kinds.set(op.op, kind);
  }
  const sorted = [...kinds].sort(([a, x], [b, y]) => y.rank - x.rank || (a < b ? -1 : 1));
  return new Map(sorted.map(([name, {us}], place) => [name, {us, place}]));
}

const kColours = 10;
/// The custom property with the colour of a part of a kernel's time.
function kindColour(model, ids) {
  if (!ids.length) return "--own";
  const place = model.kinds.get(model.ops[ids[0]].op).place;
  return place < kColours ? "--kind" + place : "--kind-other";
}

/// What is met when going from a selection to the other side: rows and boxes that light up.
function linkedTo(model, selection) {
  const none = {ops: new Set(), kernels: new Set(), readers: new Set(), causes: new Set()};
  if (!selection) return none;
  if (selection.kind === "op") {
    const op = model.ops[selection.id];
    return {...none, kernels: new Set(op.kernels), readers: new Set(op.readers.filter((each) => !op.kernels.includes(each)))};
  }
  if (selection.kind === "module") {
    const ids = operatorsIn(model.modules[selection.id]);
    return {...none, ops: new Set(ids), kernels: new Set(ids.flatMap((id) => model.ops[id].kernels))};
  }
  const kernel = model.kernelOfNode.get(selection.id);
  return {...none, ops: new Set(kernel.origins), causes: new Set([...kernel.madeFor, ...kernel.folded].filter((id) => !kernel.origins.includes(id)))};
}

/// What a kernel does in its time, and which part of what this machine could do: as the report says, else from its
/// peaks. What is not known is null; so is everything for a kernel without work or time.
function roofOf(model, kernel) {
  const {flops, bytes, us} = kernel, {peaks} = model;
  if (!(us > 0) || !(flops > 0 || bytes > 0)) return null;
  const roof = {intensity: flops && bytes ? flops / bytes : null, gflops: flops ? flops / us / 1e3 : null, gbytes: bytes ? bytes / us / 1e3 : null,
                part: kernel.roofline, bound: kernel.bound, nominal: kernel.nominal};
  if (roof.part === null && peaks) {
    const compute = peaks.gflops > 0 ? (roof.gflops ?? 0) / peaks.gflops : 0;
    const memory = peaks.gbytes_per_s > 0 ? (roof.gbytes ?? 0) / peaks.gbytes_per_s : 0;
    roof.part = Math.max(compute, memory);
    roof.bound = compute >= memory ? "compute" : "memory";
  }
  return roof;
}

/// "62.9 GFLOP/s, 3.1 GB/s: 33 % of what compute allows".
function roofText(roof) {
  const speeds = [roof.gflops === null ? "" : roof.gflops.toPrecision(3) + " GFLOP/s", roof.gbytes === null ? "" : roof.gbytes.toPrecision(3) + " GB/s"];
  const part = roof.part === null ? "" : `: ${percent(roof.part, 0)} of what ${roof.bound} allows`;
  return speeds.filter(Boolean).join(", ") + part + (roof.nominal ? " (its algorithm does fewer operations than are counted)" : "");
}
