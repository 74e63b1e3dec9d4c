// Two profiles of one model, joined by origin: operators by id, operator and line or name; kernels through the operators they compute.

/// {ops: by id of the new report, groups, sums}. `before` and `after` are models.
function differenceOf(before, after) {
  const key = (op) => op.id + " " + op.op + " " + (op.line || op.source);
  const old = new Map(before.ops.map((op) => [key(op), op]));
  const ops = new Map(), partner = new Map();
  for (const op of after.ops) {
    const other = old.get(key(op)) ?? null;
    ops.set(op.id, {before: other ? ownOrFused(other) : null, after: ownOrFused(op), other, noise: noiseOf(other?.plusMinus ?? null, op.plusMinus),
                    differs: after.json.verdicts?.operators[op.id]});
    if (other) partner.set(other.id, op.id);
  }
  const onlyBefore = before.ops.filter((op) => !partner.has(op.id));
  const groups = groupsOf(before, after, partner);
  for (const entry of ops.values()) entry.delta = deltaOf(entry);
  return {
    before, after, ops, onlyBefore, groups,
    endToEndDiffers: after.json.verdicts?.end_to_end, sumDiffers: after.json.verdicts?.sum,
    onlyAfter: after.ops.filter((op) => !ops.get(op.id).other),
    groupOf: new Map(groups.flatMap((group) => group.after.map((kernel) => [kernel, group]))),
    mostOp: largest(ops.values(), (entry) => Math.abs(entry.delta ?? 0)),
    most: largest(groups, (group) => Math.abs(group.delta)),
  };
}

/// An operator's own time; where only its kernels are known, theirs counts for nothing here.
function ownOrFused(op) {
  if (op.time !== null) return op.time;
  return op.kernels.length ? null : 0;
}

function deltaOf({before, after}) {
  return before === null || after === null ? null : after - before;
}

/// Kernels of both sides that are connected through operators: the smallest sets whose times can be compared.
function groupsOf(before, after, partner) {
  const parent = new Map();
  const root = (id) => {
    let at = id;
    while (parent.has(at) && parent.get(at) !== at) at = parent.get(at);
    parent.set(id, at);
    return at;
  };
  const keyed = [];
  const add = (kernel, side, ids) => {
    const own = ids.length ? ids.map((id) => "op" + id) : [side + kernel.node];
    for (const id of own) if (!parent.has(id)) parent.set(id, id);
    for (const id of own) parent.set(root(id), root(own[0]));
    keyed.push([kernel, side, own[0]]);
  };
  const named = (kernel) => kernel.origins.length ? kernel.origins : kernel.madeFor.map((id) => `${id} for ${kernel.reason}`);
  for (const kernel of after.kernels) add(kernel, "after", named(kernel));
  for (const kernel of before.kernels)
    add(kernel, "before", named(kernel).map((id) => {
      const [number, why] = String(id).split(/ (.*)/);
      const other = partner.get(Number(number)) ?? "gone" + number;
      return why ? `${other} ${why}` : other;
    }));
  const groups = new Map();
  for (const [kernel, side, id] of keyed) {
    const at = root(id);
    if (!groups.has(at)) groups.set(at, {before: [], after: []});
    groups.get(at)[side].push(kernel);
  }
  return [...groups.values()].map((group, index) => {
    const time = (kernels) => sum(kernels, (kernel) => kernel.us);
    const old = time(group.before), now = time(group.after);
    return {...group, index, old, now, delta: old === null || now === null ? null : now - old,
            noise: noiseOf(plusMinusOf(group.before), plusMinusOf(group.after)), differs: differsOf(after.json.verdicts, group)};
  });
}

/// What the table of the terminal says of these kernels; undefined: nothing was said.
function differsOf(verdicts, group) {
  const said = verdicts && [...group.before.map((kernel) => verdicts.before[kernel.node]), ...group.after.map((kernel) => verdicts.after[kernel.node])];
  return said?.find((each) => each !== undefined);
}

/// Half of the interval of a sum of kernels; null: not known.
function plusMinusOf(kernels) {
  return together(kernels.map((kernel) => kernel.plusMinus));
}

/// By how much two times may differ by chance, from the intervals of both: each is that of a second measurement.
function noiseOf(a, b) {
  const known = [a, b].filter((value) => value !== null);
  return known.length ? Math.sqrt(sum(known, (value) => value * value) / known.length) : 0;
}

function ratioText(old, now) {
  if (old === null || now === null) return "";
  if (!(old > 0)) return now > 0 ? "new" : "";
  if (!(now > 0)) return "gone";
  return signed((now - old) / old, (value) => (value * 100).toFixed(1) + " %");
}

/// "faster", "slower" or "", as the table of the terminal says (`differs`). Where it says nothing, what lies within
/// the intervals, one percent or a hundredth of a microsecond is neither.
function verdict(old, now, noise = 0, differs = undefined) {
  if (old === null || now === null || old === now || differs === false) return "";
  if (differs === undefined && Math.abs(now - old) < Math.max(0.01, 0.01 * old, noise)) return "";
  return now < old ? "faster" : "slower";
}
