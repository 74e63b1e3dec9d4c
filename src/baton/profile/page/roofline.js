// Work per byte against work per second, both logarithmic; a dot per kernel, its area by time. The roof is what this
// machine was measured to do: memory, cache, arithmetic.

class Roofline {
  constructor(state, model, tip) {
    Object.assign(this, {state, model, tip});
    this.element = el("div", {class: "chart"});
    this.points = model.kernels.map((kernel) => ({kernel, roof: roofOf(model, kernel)})).filter(({roof}) => roof && roof.intensity !== null)
      .sort((a, b) => b.kernel.us - a.kernel.us);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  draw() {
    const {clientWidth: width, clientHeight: height} = this.element;
    if (!width || !height) return;
    const {model, points} = this, {peaks} = model;
    if (!points.length) {
      this.element.replaceChildren(el("p", {class: "graph-note"}, "No kernel of this profile has a time, operations and bytes."));
      return;
    }
    const frame = {left: 62, right: width - 18, top: 16, bottom: height - 44};
    const logs = (values) => values.filter((value) => value > 0).map(Math.log10);
    const xs = logs([...points.map(({roof}) => roof.intensity), peaks ? peaks.gflops / peaks.gbytes_per_s : 0]);
    const ys = logs([...points.map(({roof}) => roof.gflops), peaks?.gflops ?? 0]);
    const range = {x: [Math.min(...xs) - 0.25, Math.max(...xs) + 0.35], y: [Math.min(...ys) - 0.25, Math.max(...ys) + 0.25]};
    this.x = (value) => frame.left + (Math.log10(value) - range.x[0]) / (range.x[1] - range.x[0]) * (frame.right - frame.left);
    this.y = (value) => frame.bottom - (Math.log10(value) - range.y[0]) / (range.y[1] - range.y[0]) * (frame.bottom - frame.top);
    const chart = svg("svg", {class: "roofline", width, height, role: "group", "aria-label": "Roofline"});
    this.axes(chart, frame, range);
    if (peaks) this.roofs(chart, frame, range, peaks);
    const dots = svg("g", {class: "dots"});
    for (const point of points) dots.append(this.dot(point));
    chart.append(dots);
    const out = model.kernels.length - points.length;
    const words = [peaks ? "" : "The peaks of the machine were not measured, so there is no roof.", out ? plural(out, "kernel") + " without floating-point work not shown." : ""];
    const note = words.filter(Boolean).join(" ");
    this.element.replaceChildren(chart, ...(note ? [el("p", {class: "graph-note"}, note)] : []));
    this.selected();
  }

  axes(chart, frame, range) {
    const text = (value) => (value >= 1000 || value < 0.01 ? value.toExponential(0).replace("e+", "e") : String(Number(value.toPrecision(2))));
    for (let power = Math.ceil(range.x[0]); power <= range.x[1]; ++power) {
      const x = this.x(10 ** power);
      chart.append(svg("line", {x1: x, x2: x, y1: frame.top, y2: frame.bottom, class: "tick"}),
                   svg("text", {x, y: frame.bottom + 16, "text-anchor": "middle"}, text(10 ** power)));
    }
    for (let power = Math.ceil(range.y[0]); power <= range.y[1]; ++power) {
      const y = this.y(10 ** power);
      chart.append(svg("line", {x1: frame.left, x2: frame.right, y1: y, y2: y, class: "tick"}),
                   svg("text", {x: frame.left - 8, y: y + 4, "text-anchor": "end"}, text(10 ** power)));
    }
    const middle = (frame.top + frame.bottom) / 2;
    chart.append(svg("text", {x: (frame.left + frame.right) / 2, y: frame.bottom + 36, "text-anchor": "middle", class: "axis"}, "FLOP per byte"),
                 svg("text", {x: 16, y: middle, "text-anchor": "middle", class: "axis", transform: `rotate(-90 16 ${middle})`}, "GFLOP per second"));
  }

  roofs(chart, frame, range, peaks) {
    const left = 10 ** range.x[0], right = 10 ** range.x[1], bottom = 10 ** range.y[0];
    const slope = (gbytes, kind, label) => {
      if (!(gbytes > 0)) return;
      const from = Math.max(left, bottom / gbytes), knee = Math.min(right, peaks.gflops / gbytes);
      if (from >= knee) return;
      chart.append(svg("line", {x1: this.x(from), y1: this.y(from * gbytes), x2: this.x(knee), y2: this.y(knee * gbytes), class: "roof " + kind}));
      const at = from * (knee / from) ** 0.2;
      const angle = Math.atan2(this.y(knee * gbytes) - this.y(from * gbytes), this.x(knee) - this.x(from)) * 180 / Math.PI;
      chart.append(svg("text", {x: this.x(at), y: this.y(at * gbytes) - 6, class: "roof-label", transform: `rotate(${angle} ${this.x(at)} ${this.y(at * gbytes) - 6})`}, label));
    };
    slope(peaks.gbytes_per_s, "memory", `memory ${peaks.gbytes_per_s.toPrecision(3)} GB/s`);
    slope(peaks.cache_gbytes_per_s, "cache", `cache ${peaks.cache_gbytes_per_s?.toPrecision(3)} GB/s`);
    slope(peaks.l3_gbytes_per_s, "cache", `L3 ${peaks.l3_gbytes_per_s?.toPrecision(3)} GB/s`);
    const y = this.y(peaks.gflops), knee = Math.max(left, peaks.gflops / Math.max(peaks.gbytes_per_s, peaks.cache_gbytes_per_s || 0, peaks.l3_gbytes_per_s || 0));
    chart.append(svg("line", {x1: this.x(knee), x2: frame.right, y1: y, y2: y, class: "roof compute"}),
                 svg("text", {x: frame.right, y: y - 6, "text-anchor": "end", class: "roof-label"}, `${peaks.name ? peaks.name + ", " : ""}${peaks.gflops.toPrecision(4)} GFLOP/s`));
  }

  dot({kernel, roof}) {
    const radius = 3 + 15 * Math.sqrt(kernel.us / this.model.longest);
    const dot = svg("circle", {cx: this.x(roof.intensity), cy: this.y(roof.gflops), r: radius, tabindex: 0, role: "button", "data-kernel": kernel.node,
                               style: `--dot:var(${kindColour(this.model, kernel.origins)})`,
                               "aria-label": `${kernel.title}, ${usText(kernel.us)} microseconds`});
    dot.addEventListener("click", () => this.state.select("kernel", kernel.node, this));
    dot.addEventListener("keydown", (event) => { if (event.key === "Enter") this.state.select("kernel", kernel.node, this); });
    const tip = [...kernelTip(kernel), `${roof.intensity.toPrecision(3)} FLOP/B, ${roofText(roof)}`];
    dot.addEventListener("pointermove", (event) => this.tip.show(event, tip));
    dot.addEventListener("pointerleave", () => this.tip.hide());
    return dot;
  }

  selected() {
    const {selection, linked} = this.state, passing = this.state.passes().kernels;
    for (const dot of this.element.querySelectorAll("circle[data-kernel]")) {
      const kernel = this.model.kernelOfNode.get(Number(dot.dataset.kernel));
      const chosen = selection?.kind === "kernel" && selection.id === kernel.node;
      dot.classList.toggle("selected", chosen);
      dot.classList.toggle("linked", linked.kernels.has(kernel));
      dot.classList.toggle("reader", linked.readers.has(kernel));
      dot.classList.toggle("out", !passing.has(kernel));
    }
    this.element.firstElementChild?.classList.toggle("dimmed", Boolean(selection && (selection.kind === "kernel" || linked.kernels.size + linked.readers.size)));
  }
}
