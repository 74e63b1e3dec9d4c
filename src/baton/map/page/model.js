// A mapping as it is embedded, with what the compact form leaves out.

const kBackendColours = [...kPlaceColours, "--kind4", "--kind7", "--kind9"];
const kMeanings = {
  link: {title: "Speed of links", axis: "links so many times as fast", text: (factor) => `links ${factorText(factor)} as fast`},
  devices: {title: "Number of devices", axis: "so many of each device", text: (factor) => plural(factor, "device") + " of each kind"},
  memory: {title: "Memory of devices", axis: "memory so many times as large", text: (factor) => `memory ${factorText(factor)} as large`},
  compute: {title: "Speed of devices", axis: "devices so many times as fast", text: (factor) => `devices ${factorText(factor)} as fast`},
  prices: {title: "Price of transfers", axis: "transfers so many times as dear", text: (factor) => `transfers at ${factorText(1 / factor)} their price`},
};

/// "×0.032": in two digits.
function factorText(factor) {
  return "×" + (factor >= 99.5 ? factor.toFixed(0) : String(Number(factor.toPrecision(2))));
}

function readMapping(json) {
  const onDevice = (name) => (json.links || []).some((link) => link.from === name || link.to === name);
  const backends = (json.backends || []).map((name, index) => ({
    name, index, colour: kBackendColours[index % kBackendColours.length], device: index && onDevice(name) ? name : "cpu"}));
  const numberOf = (name) => backends.findIndex((each) => each.name === name);
  const mapped = json.mapping?.operators || [];
  const ops = (json.operators || []).map((row, i) => ({
    id: row.id, op: row.op || "?", name: row.name || "", label: mapped[i]?.operator || row.op || "?", line: row.line || 0, file: row.file || "",
    brief: row.brief || "", type: row.type || "", flops: row.flops || 0, retired: row.retired || "", inputs: row.inputs || [], readsInput: row.reads_input === true, returned: row.returned === true,
    backend: numberOf(mapped[i]?.backend), variant: mapped[i]?.variant || "", us: mapped[i]?.us || 0, alternatives: mapped[i]?.alternatives || [], why: mapped[i]?.why || "", readers: []}));
  for (const op of ops) for (const id of op.inputs) if (id !== op.id) ops[id]?.readers.push(op.id);
  const models = (json.models || []).map((row) => ({
    name: row.name, single: row.single === true, regions: row.regions || 0, modelled: row.modelled_us || 0, measured: row.measured_us || 0, verified: row.verified_us || 0,
    whyNot: row.why_not || "", operators: row.operators || {}}));
  const model = {
    json, name: json.model || "model", backends, ops, models, links: json.links || [],
    chosen: models.find((each) => each.name === json.chosen), bestSingle: models.find((each) => each.name === json.best_single),
    queues: (json.queues || []).map((row) => ({name: row.name, busy: row.busy_us || 0, spans: row.spans || [], operators: row.operators || []})),
    prices: readSweep("prices", json.prices), sweeps: Object.entries(json.sweeps || {}).map(([of, each]) => readSweep(of, each)),
  };
  model.kept = keptOf(model);
  // Towards dearer transfers, as the slider goes.
  model.prices.points.reverse();
  return model;
}

/// The surest time of a mapping: measured after it was chosen, or to choose one, or else by the prices.
function timeOfModel(model) {
  return model.verified || model.measured || model.modelled;
}

/// The time by which mappings are compared, 0 for those that are not: rounds that choose flatter what they choose.
function comparedTime(json, model) {
  return json.predicted ? model.modelled : model.verified;
}

function readSweep(of, json) {
  const points = (json?.points || []).map((row) => ({
    of, factor: row.factor, us: row.best_us || 0, single: row.best_single || "", singleUs: row.best_single_us || 0, speedup: row.speedup || 1, moved: row.moved || 0,
    backendOf: row.backend_of || [], backendUs: row.backend_us || {}, transfers: {count: row.transfers || 0, bytes: row.transfer_bytes || 0, us: row.transfer_us || 0}}));
  return {of, base: json?.base_us || 0, points, note: json?.note || "", partial: json?.partial || ""};
}

/// What the mapping that was kept does, in the form of a point.
function keptOf(model) {
  const {json, ops, backends, queues, chosen, bestSingle} = model;
  const backendUs = {};
  for (const op of ops) if (op.backend >= 0) backendUs[backends[op.backend].name] = (backendUs[backends[op.backend].name] || 0) + op.us;
  const links = queues.filter((queue) => isLink(queue));
  return {of: "", us: chosen ? timeOfModel(chosen) : 0, single: bestSingle?.name || "", singleUs: bestSingle ? timeOfModel(bestSingle) : 0, speedup: json.speedup || 1,
          backendOf: ops.map((op) => op.backend), backendUs, transfers: {count: sum(links, (link) => link.spans.length), bytes: null, us: sum(links, (link) => link.busy)}};
}

function isLink(queue) {
  return queue.name.includes(" - ");
}

/// How many operators a point gives to another backend than `before`.
function movedFrom(point, before) {
  let count = 0;
  point.backendOf.forEach((backend, id) => { count += backend >= 0 && before.backendOf[id] >= 0 && backend !== before.backendOf[id]; });
  return count;
}

/// How many operators each backend computes, in the order of the backends.
function countsOf(point, model) {
  const counts = model.backends.map(() => 0);
  for (const backend of point.backendOf) if (backend >= 0) ++counts[backend];
  return counts;
}

function shortOp(name) {
  return name.replace(/^nn\./, "").replace(/^contrib_/, "");
}

/// "%12 conv2d", "line 3 add".
function opLabel(op) {
  const place = op.name || (op.line ? `line ${op.line}` : `#${op.id}`);
  return `${place}  ${shortOp(op.op)}`;
}

/// Why no kernel computes an operator.
function absentText(op) {
  return op.retired || "folded into a constant, or dropped";
}

/// The points of a sweep as spans in which an operator is in one place: [{backend, first, last}].
function staysOf(points, id) {
  const stays = [];
  points.forEach((point, i) => {
    const backend = point.backendOf[id] ?? -1;
    if (stays.length && stays.at(-1).backend === backend) stays.at(-1).last = i;
    else stays.push({backend, first: i, last: i});
  });
  return stays;
}
