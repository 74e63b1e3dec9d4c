// Everything about what is selected: an operator with its kernels, a kernel with its operators.

class Details {
  constructor(state, model, difference) {
    Object.assign(this, {state, model, difference, element: document.getElementById("details")});
  }

  selected() {
    const {selection} = this.state;
    const of = {op: (id) => this.operator(this.model.ops[id]), kernel: (id) => this.kernel(this.model.kernelOfNode.get(id)),
                module: (id) => this.module(this.model.modules[id])};
    this.element.replaceChildren(...(selection ? of[selection.kind](selection.id) : this.nothing()));
    this.element.scrollTop = 0;
    // On a narrow window the details are below everything else.
    if (selection && matchMedia("(max-width: 900px)").matches) this.element.scrollIntoView({block: "start"});
  }

  nothing() {
    const {model} = this;
    const states = {timed: 0, folded: 0, retired: 0, lost: 0};
    for (const op of model.ops) ++states[stateOf(op)];
    const longest = model.kernels.toSorted((a, b) => b.us - a.us).slice(0, 8);
    const kinds = [...model.kinds].filter(([, {us}]) => us > 0).slice(0, kColours);
    return [
      el("h2", {}, "Overview"),
      el("p", {class: "quiet"}, `${plural(model.ops.length, "operator")} in ${plural(model.kernels.length, "kernel")}: ${states.timed} with a kernel` +
        (states.folded ? `, ${states.folded} folded at compile time` : "") + (states.retired ? `, ${states.retired} retired` : "") + (states.lost ? `, ${states.lost} in neither` : "") +
        ". Select one in the graph or a table."),
      el("p", {class: "quiet"}, "Keys: / searches, Escape clears, arrows walk and unfold in a table; in the graph they move, + − 0 zoom."),
      el("h3", {}, "Longest kernels"),
      this.list(longest.map((kernel) => this.kernelLink(kernel))),
      kinds.length ? el("h3", {}, "Kinds of operators, own time") : null,
      kinds.length ? this.list(kinds.map(([name, {us, place}]) => this.item(
        [el("i", {class: "dot", style: `background:var(--kind${place})`}), name], `${usText(us)} µs  ${percent(us / model.sum)}`, () => this.onKind?.(name)))) : null,
    ].filter(Boolean);
  }

  heading(kind, title, tip) {
    return [
      el("div", {class: "kind"}, el("span", {}, kind),
         el("button", {type: "button", class: "near", title: "Show it in the graph, near enough to read", onclick: () => this.onNear?.()}, "in the graph"),
         el("button", {type: "button", class: "close", title: "Clear the selection (Escape)", "aria-label": "Clear the selection",
                       onclick: () => this.state.clearSelection()}, "✕")),
      el("h2", {title: tip || null}, title)];
  }

  facts(rows) {
    const list = el("dl", {class: "facts"});
    for (const [name, value, tip] of rows) {
      if (value === null || value === undefined || value === "") continue;
      list.append(el("dt", {title: tip || null}, name), el("dd", {}, value));
    }
    return list;
  }

  list(items) {
    return el("ul", {class: "links"}, items.map((item) => el("li", {}, item)));
  }

  item(name, value, onclick, title) {
    return el("button", {type: "button", class: "link", onclick, title}, el("span", {class: "name"}, name), el("span", {class: "num"}, value));
  }

  kernelLink(kernel, note) {
    return this.item([kernel.title, note ? el("small", {}, " " + note) : ""].filter(Boolean), kernelTime(kernel),
                     () => this.state.select("kernel", kernel.node), kernel.name);
  }

  operatorLink(id, note = "", value = "") {
    const op = this.model.ops[id];
    return this.item([operatorLabel(op), note ? el("small", {}, " " + note) : ""].filter(Boolean), value, () => this.state.select("op", id), op.type);
  }

  operator(op) {
    const {model} = this;
    const entry = this.difference?.ops.get(op.id);
    const users = model.ops.filter((each) => each.inputs.includes(op.id));
    const own = op.time !== null && op.kernels.length ? op.belowNoise ? "< noise: too little to be measured" : `${usText(op.time)} µs  ${percent(op.time / model.sum)}` : null;
    return [
      ...this.heading("Operator " + op.id, op.brief || op.op, op.op),
      this.facts([
        ["source", !op.line ? null : op.file ? `${op.file}:${op.line}` : `line ${op.line}` + (op.column ? `, column ${op.column}` : "") + (model.json.source ? " of " + model.json.source : "")],
        ["name", op.source, "As the program was imported from called it"],
        ["module", op.module ? this.moduleLink(op.module) : null, "In the user's program"],
        ["line", op.where.file && !op.file ? `${op.where.file}:${op.where.line}` : null, op.where.text || "Of the user's program, as its exporter recorded it"],
        ["type", op.type],
        ["operands", op.inputTypes.join("; ")],
        ["work", op.flops ? withUnit(op.flops, "FLOP") : null, "Operations of its definition, from types"],
        ["traffic", op.bytes ? withUnit(op.bytes, "B") : null, "Its operands and its result, from types"],
        ["state", stateText(op)],
        ["unfused", op.unfusedUs === null ? null : usText(op.unfusedUs) + " µs", "In a build where every operator is a kernel of its own"],
        ["fused", op.kernels.length ? `${usText(fusedTime(op))} µs in ${plural(op.kernels.length, "kernel")}` : null, "Time of the kernels it is in, with what it shares them with"],
        ["inside", own, "Its own time in its kernels"],
        ["before", entry?.before != null && entry.delta !== null ? `${usText(entry.before)} µs, ${ratioText(entry.before, entry.after)}` : null],
        ["not fused", op.notFused],
      ]),
      ...this.attributes("Attributes", op.attrs),
      ...this.section("Kernels that compute it", op.kernels.map((kernel) => this.kernelLink(kernel))),
      ...this.section("Kernels that read a constant it was folded into", op.readers.map((kernel) => this.kernelLink(kernel))),
      ...this.section("Fused with", op.fusedWith.map((id) => this.operatorLink(id))),
      ...this.section("Reads", op.inputs.map((id) => this.operatorLink(id))),
      ...this.section("Is read by", users.slice(0, 40).map((each) => this.operatorLink(each.id))),
      ...[...new Set([...op.kernels, ...op.readers].map((kernel) => kernel.func))].slice(0, 2).flatMap((name) => this.code(name)),
    ];
  }

  moduleLink(path) {
    const module = this.model.modules.find((each) => each.path === path);
    return module ? el("button", {type: "button", class: "link", onclick: () => this.state.select("module", module.index)}, path) : path;
  }

  module(module) {
    const {model} = this, ids = operatorsIn(module);
    const whole = model.modules[0].us || 1, time = (us) => `${usText(us)} µs  ${percent(us / whole)}`;
    const alike = model.modules.filter((each) => module.alike > 1 && each !== module && each.parent === module.parent && each.firstAlike === module.firstAlike);
    const kernels = [...new Set(ids.flatMap((id) => model.ops[id].kernels))];
    return [
      ...this.heading("Module", module.path || module.name, module.path),
      this.facts([
        ["time", (module.estimated ? "~" : "") + time(module.us), "With the modules inside; ~: kernels that were not split count for their operators alike"],
        ["its own", module.children.length && module.ownUs ? time(module.ownUs) : null, "Of operators that are in no module inside it"],
        [kOwn, module.restUs ? time(module.restUs) : null, "Of kernels that several of its operators share"],
        ["compiler", module.addedUs ? time(module.addedUs) : null, "Kernels that the compiler made for its operators"],
        ["operators", String(ids.length)],
        ["kernels", String(kernels.length), "That compute them, perhaps with others"],
      ]),
      ...this.section("Inside", module.children.toSorted((a, b) => b.us - a.us).map((each) => this.moduleItem(each))),
      ...this.section(`Of the same structure`, alike.map((each) => this.moduleItem(each))),
      ...this.section("Operators", module.operators.map((id) => this.operatorLink(id, "", ownText(model.ops[id])))),
      ...this.section("Within", module.parent ? [this.moduleItem(module.parent)] : []),
    ];
  }

  moduleItem(module) {
    return this.item([module.name, el("small", {}, " " + alikeText(module))], moduleTime(module) + " µs", () => this.state.select("module", module.index), module.path);
  }

  kernel(kernel) {
    const {model} = this;
    const roof = roofOf(model, kernel), compiled = model.functions[kernel.func];
    const group = this.difference?.groupOf.get(kernel);
    return [
      ...this.heading("Kernel, node " + kernel.node, kernel.title, kernel.name),
      this.facts([
        ["name", kernel.name],
        ["basis", kernel.basis ? kernel.basis + (kernel.outOfRange ? ", a guess: " + kernel.outOfRange : "") : null],
        ["interval", kernel.low === null || kernel.outOfRange ? null : `${usText(kernel.low)} to ${usText(kernel.high)} µs`],
        [kernel.basis ? "time" : kernel.underLoad ? "least disturbed" : "median", `${kernelTime(kernel)} of all kernels`],
        ["+-", kernel.plusMinus === null ? null : `${usText(kernel.plusMinus)} µs, ${percent(kernel.plusMinus / (kernel.us || 1))}`,
         "Half of the 95 % interval: another process finds a median this close in 95 of 100 cases"],
        ["percentiles", kernel.p90 === null || kernel.underLoad ? null : `${usText(kernel.us)}, ${usText(kernel.p90)}, ${usText(kernel.p99)} µs`, "p50, p90 and p99 of its runs"],
        ["memory", kernel.liveBytes ? `${withUnit(kernel.liveBytes, "B")} needed, of it ${withUnit(kernel.resultBytes, "B")} its results` : null,
         "Of the workspace, while it runs"],
        ["before", group ? `${usText(group.old)} µs in ${plural(group.before.length, "kernel")}, now ${usText(group.now)} µs in ${group.after.length}: ${ratioText(group.old, group.now)}` : null],
        ["copy", isCopy(kernel) ? copyWay(kernel) : null, "From the memory of one device to that of another"],
        ["copied", isCopy(kernel) ? `${withUnit(kernel.resultBytes, "B")}${rateText([kernel]) && ", " + rateText([kernel])}` : null],
        ["made for", kernel.origins.length ? null : kernel.reason],
        ["compiler", kernel.compiler],
        ["template", compiled?.template],
        ["schedule", compiled?.params ? Object.entries(compiled.params).map(([name, value]) => `${name}=${valueText(value)}`).join("  ") : null, "Parameters of the template"],
        ["work", kernel.flops ? withUnit(kernel.flops, "FLOP") : null, "Operations it must do at least, from types"],
        ["traffic", kernel.bytes ? withUnit(kernel.bytes, "B") : null, "Bytes it must move at least, from types"],
        ["intensity", roof?.intensity ? roof.intensity.toPrecision(3) + " FLOP/B" : null],
        ["speed", roof ? roofText(roof) : null, "Held against the measured peaks of the machine"],
        ["result", kernel.dtype],
        ["spread", kernel.cv === null ? null : percent(kernel.cv) + " of its runs", "Standard deviation over mean"],
        ["stages", kernel.inside.length ? `sum to ${percent(kernel.stageSum)} of the kernel` + (kernel.trusted ? "" : ": its parts are estimates") : null],
        ["noise", kernel.noise ? percent(kernel.noise, 2) + " of the kernel" : null, "What two equal builds differ by: less than that cannot be told"],
      ]),
      ...this.samples(kernel),
      ...this.threads(kernel),
      ...this.section("Inside", kernel.inside.map((part) => {
        const value = partTime(kernel, part) + (part.below_noise ? "" : ` µs  ${percent(part.share || 0)}`);
        const label = partLabel(model, part), id = part.ids?.[0];
        return id === undefined ? el("span", {class: "link"}, el("span", {class: "name"}, label), el("span", {class: "num"}, value))
                                : this.item([label, el("small", {}, " " + part.method)], value, () => this.state.select("op", id), model.ops[id].type);
      })),
      ...(kernel.inside.length ? [] : this.section("Computes", kernel.origins.map((id) => this.operatorLink(id)))),
      ...this.section("Made for", kernel.origins.length ? [] : kernel.madeFor.map((id) => this.operatorLink(id))),
      ...this.section("Folded into its constants", kernel.folded.map((id) => this.operatorLink(id))),
      ...this.section("Reads from", kernel.from.map((each) => this.kernelLink(each))),
      ...this.section("Is read by", model.kernels.filter((each) => each.from.includes(kernel)).slice(0, 40).map((each) => this.kernelLink(each))),
      ...this.code(kernel.func),
    ];
  }

  section(title, items) {
    return items.length ? [el("h3", {}, title), this.list(items)] : [];
  }

  attributes(title, attrs) {
    const rows = Object.entries(attrs).map(([name, value]) => [name, valueText(value)]);
    return rows.length ? [el("h3", {}, title), this.facts(rows)] : [];
  }

  code(name) {
    const compiled = this.model.functions[name];
    if (!compiled?.relay) return [];
    const copy = el("button", {type: "button", class: "copy", onclick: () => {
      navigator.clipboard?.writeText(compiled.relay).then(() => { copy.textContent = "copied"; }, () => { copy.textContent = "not allowed"; });
    }}, "copy");
    return [el("h3", {}, "Relay of the kernel", copy), el("pre", {class: "relay", tabindex: 0}, ...relayPieces(compiled.relay))];
  }

  /// What several threads did in each stage, and sentences about the measurement.
  threads(kernel) {
    const on = kernel.onThreads;
    const notes = kernel.notes.map((note) => el("p", {class: "quiet"}, note));
    if (!on) return notes.length ? [el("h3", {}, "Notes"), ...notes] : [];
    const rows = (on.stages || []).map((stage) => [stage.stage || (stage.ids || []).map((id) => operatorLabel(this.model.ops[id])).join(", ") || kOwn, usText(stage.busy_us) + " µs busy"]);
    return [el("h3", {}, `Inside on ${plural(on.threads, "thread")}`),
            this.facts([["alone", `${usText(on.us)} µs, threads busy ${percent(on.utilisation)} of it`], ...rows]), ...notes];
  }

  /// Every run as a point, in the order of time, around the median.
  samples(kernel) {
    const {samples, guess} = kernel;
    if (samples.length < 3) return [];
    const low = Math.min(...samples), high = Math.max(...samples), width = 320, height = 54;
    const y = (us) => height - 6 - (high > low ? (us - low) / (high - low) : 0.5) * (height - 12);
    const strip = svg("svg", {class: "strip", viewBox: `0 0 ${width} ${height}`, role: "img", preserveAspectRatio: "none",
                              "aria-label": `${samples.length} runs from ${usText(low)} to ${usText(high)} microseconds`});
    strip.append(svg("line", {x1: 0, x2: width, y1: y(guess), y2: y(guess), class: "median"}));
    samples.forEach((us, i) => strip.append(svg("circle", {cx: 4 + i * (width - 8) / Math.max(1, samples.length - 1), cy: y(us), r: 2})));
    return [el("h3", {}, "Runs"), strip,
            el("p", {class: "quiet num"}, `${usText(low)} to ${usText(high)} µs in ${plural(samples.length, "run")}; ` + ((kernel.underLoad ? "the least disturbed " : "median ") + usText(kernel.us)))];
  }
}

/// Relay text in pieces: comments quiet, operators, variables and numbers in their colours.
function relayPieces(text) {
  const pieces = [];
  const kinds = [[/\/\*[\s\S]*?\*\//y, "c"], [/"(?:[^"\\]|\\.)*"/y, "s"], [/%[\w.$]+/y, "v"], [/\b[A-Za-z_][\w.]*(?=\()/y, "o"], [/\b\d[\w.]*/y, "n"]];
  let at = 0, plain = 0;
  while (at < text.length) {
    let found = null;
    for (const [pattern, kind] of kinds) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match) { found = [match[0], kind]; break; }
    }
    if (!found) {
      at += /\w/.test(text[at]) ? text.slice(at).match(/^\w+/)[0].length : 1;
      continue;
    }
    if (plain < at) pieces.push(text.slice(plain, at));
    pieces.push(el("span", {class: "r-" + found[1]}, found[0]));
    at += found[0].length;
    plain = at;
  }
  if (plain < text.length) pieces.push(text.slice(plain));
  return pieces;
}
