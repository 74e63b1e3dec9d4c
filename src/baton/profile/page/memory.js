// Memory over a run: what the results that are still needed occupy while each kernel runs.

class MemoryChart {
  constructor(state, model) {
    Object.assign(this, {state, model});
    const {memory} = model, most = Math.max(memory.workspace_bytes || 0, largest(model.kernels, (kernel) => kernel.liveBytes));
    const width = 1000, height = 300, step = width / Math.max(1, model.kernels.length);
    const y = (bytes) => height - (height - 12) * bytes / most;
    const chart = svg("svg", {class: "memory-chart", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
                              "aria-label": `Workspace by kernel, at most ${withUnit(memory.peak_bytes, "B")} at once`});
    this.bars = model.kernels.map((kernel, i) => {
      const bar = svg("rect", {x: i * step, y: y(kernel.liveBytes), width: Math.max(0.5, step - 0.5), height: height - y(kernel.liveBytes), "data-kernel": kernel.node},
                      svg("title", {}, `${kernel.title}\n${withUnit(kernel.liveBytes, "B")} needed, of it ${withUnit(kernel.resultBytes, "B")} its results`));
      bar.addEventListener("click", () => state.select("kernel", kernel.node, this));
      return bar;
    });
    chart.append(...this.bars);
    if (memory.workspace_bytes) chart.append(svg("line", {x1: 0, x2: width, y1: y(memory.workspace_bytes), y2: y(memory.workspace_bytes), class: "workspace"}));
    const words = [["constants", memory.constants_bytes, "Weights, as they are packed for the kernels"],
                   ["inputs", memory.inputs_bytes, "Of the model"],
                   ["workspace", memory.workspace_bytes, "Allocated for the results of all kernels; the line"],
                   ["needed at once", memory.peak_bytes, "The highest bar: results that are still read, or are the model's"]];
    this.element = el("div", {class: "chart memory"},
                      el("dl", {class: "memory-facts"}, words.map(([name, bytes, hint]) => el("div", {title: hint}, el("dt", {}, name), el("dd", {}, withUnit(bytes || 0, "B"))))),
                      chart, el("p", {class: "quiet"}, "One bar per kernel, in the order of execution. Select one to see it."));
    this.selected();
  }

  selected() {
    const {selection, linked} = this.state;
    this.model.kernels.forEach((kernel, i) => {
      this.bars[i].classList.toggle("selected", selection?.kind === "kernel" && selection.id === kernel.node);
      this.bars[i].classList.toggle("linked", linked.kernels.has(kernel));
    });
  }
}
