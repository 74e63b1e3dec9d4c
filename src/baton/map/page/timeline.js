// One input on the devices and links of the mapping that was kept: a lane per queue, over time.

const kLane = 30, kAxis = 22, kLaneNames = 214, kLeastLabel = 34;

class Timeline {
  constructor(state, tip) {
    Object.assign(this, {state, tip});
    this.chart = el("div", {class: "timeline-chart"});
    this.element = el("div", {class: "chart timeline"}, this.chart, el("p", {class: "quiet"}, this.text()));
    this.tools = [];
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  get end() {
    return largest(this.state.model.queues, (queue) => queue.spans.at(-1)?.[1] ?? 0);
  }

  text() {
    const {json, queues, chosen} = this.state.model;
    const serial = sum(queues, (queue) => queue.busy), busiest = queues.toSorted((a, b) => b.busy - a.busy)[0];
    if (!busiest) return "No kernel has a known time.";
    return `${chosen?.name ?? ""}, one input, by the times of its kernels and copies: ${timeText(this.end)} with devices and links side by side, ` +
           `${timeText(serial)} one after the other${json.objective === "serial" ? ", which is how the executor runs it" : ""}. ` +
           `The busiest queue is ${busiest.name}: a stream of inputs takes ${timeText(busiest.busy)} per input. Click on a kernel to select its operator.`;
  }

  draw() {
    const {clientWidth} = this.element, {queues} = this.state.model;
    if (!clientWidth || (this.width === clientWidth && this.marks)) return;
    this.width = clientWidth;
    const width = Math.max(360, clientWidth - 30), room = width - kLaneNames - 8, height = kLane * queues.length + kAxis, end = this.end;
    const at = (us) => kLaneNames + room * us / end;
    const chart = svg("svg", {class: "lanes", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Queues over time: what each device and link does when"});
    for (const us of ticksOf(0, end, Math.max(2, Math.floor(room / 110)))) {
      chart.append(svg("line", {x1: at(us), x2: at(us), y1: 0, y2: height - kAxis, class: "tick"}));
      const text = svg("text", {x: at(us), y: height - 6, class: "tick-label", "text-anchor": us === 0 ? "start" : "middle"});
      text.textContent = us === 0 ? "0" : tickText(us);
      chart.append(text);
    }
    this.marks = [];
    queues.forEach((queue, row) => this.lane(chart, queue, row, at, width, end));
    this.chart.replaceChildren(chart);
    this.selected();
  }

  lane(chart, queue, row, at, width, end) {
    const {model} = this.state, y = kLane * row;
    const name = svg("text", {x: 0, y: y + kLane / 2 - 1, class: "lane-name"}), busy = svg("text", {x: 0, y: y + kLane / 2 + 11, class: "lane-busy"});
    name.textContent = queue.name.length > 28 ? queue.name.slice(0, 27) + "…" : queue.name;
    name.append(svg("title", {}, queue.name));
    busy.textContent = `${timeText(queue.busy)} busy, ${percent(queue.busy / end, 0)}`;
    chart.append(name, busy, svg("line", {x1: 0, x2: width, y1: y + kLane, y2: y + kLane, class: "lane"}));
    queue.spans.forEach(([begin, until], i) => {
      const ids = (queue.operators[i] || []).filter((id) => model.ops[id]);
      const first = model.ops[ids[0]];
      const colour = isLink(queue) || !first || first.backend < 0 ? (isLink(queue) ? kCopyColour : "--own") : model.backends[first.backend].colour;
      const length = Math.max(1, at(until) - at(begin));
      const mark = svg("rect", {x: at(begin), y: y + 4, width: length, height: kLane - 8, style: `fill:var(${colour})`, "data-span": `${row}:${i}`});
      const names = ids.map((id) => opLabel(model.ops[id]));
      const lines = [isLink(queue) ? "transfer for " + (names.join(", ") || "the caller") : names.join(", ") || "change of layout",
                     `${queue.name}: ${usText(begin)} to ${usText(until)} µs, ${usText(until - begin)} µs`];
      mark.addEventListener("pointermove", (event) => this.tip.show(event, lines));
      mark.addEventListener("pointerleave", () => this.tip.hide());
      if (first) mark.addEventListener("click", () => this.state.select("op", first.id, this));
      chart.append(mark);
      if (length >= kLeastLabel && first && !isLink(queue)) this.label(chart, mark, first, colour, at(begin), length, y);
      this.marks.push({mark, ids: new Set(ids)});
    });
  }

  /// The operator's name, as far as it fits.
  label(chart, mark, op, colour, x, length, y) {
    const most = Math.floor((length - 6) / 6.4), name = shortOp(op.op);
    if (most < 3) return;
    const text = svg("text", {x: x + 4, y: y + kLane / 2 + 4, class: "span-label", style: `fill:${inkOn(colourOf(colour))}`});
    text.textContent = name.length > most ? name.slice(0, most - 1) + "…" : name;
    chart.append(text);
  }

  selected() {
    for (const {mark, ids} of this.marks || []) mark.classList.toggle("selected", this.state.selection !== null && ids.has(this.state.selection.id));
  }

  recolour() {
    this.width = 0;
    this.draw();
  }
}

/// "1.5 ms": without zeros at the end.
function tickText(us) {
  const text = timeText(us);
  return text.includes(".") ? text.replace(/\.?0+ /, " ") : text;
}

/// Round numbers from `low` to `high`, about `count` of them.
function ticksOf(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  const ticks = [];
  for (let at = Math.ceil(low / step) * step; at <= high * (1 + 1e-9); at += step) ticks.push(Number(at.toPrecision(12)));
  return ticks;
}
