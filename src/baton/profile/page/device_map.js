// Devices as boxes, and copies as edges between them. The device that takes part in most copies stands on the left, the
// others below each other on its right; what goes between these is drawn on their right.

const kBoxWidth = 190, kBoxRow = 16, kMapGap = 34, kMapWay = 236, kArcWay = 250, kArcLabel = 64, kLeastBox = 66, kMapMargin = 26;

class DeviceMap {
  constructor(state, model) {
    Object.assign(this, {state, model, chosen: null});
    this.boxes = this.placed();
    this.edges = new Map();
    const {boxes} = this, between = this.model.links.filter((link) => !this.ofHub(link));
    const most = largest(model.links, (link) => link.bytes);
    const width = 2 * kBoxWidth + kMapWay + (between.length ? kArcWay : 0) + 2;
    const height = Math.max(...[...boxes.values()].map((box) => box.y + box.h)) + kMapMargin;
    const drawing = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Devices, and copies between them"});
    for (const link of model.links) drawing.append(this.edge(link, 1.4 + 4 * Math.sqrt(link.bytes / most), between.indexOf(link)));
    for (const box of boxes.values()) drawing.append(this.box(box));
    this.list = el("div", {class: "copies-of"});
    this.element = el("div", {class: "device-map"}, el("div", {class: "scroll-x"}, drawing), this.list);
    this.choose(model.links.length === 1 ? model.links[0] : null);
  }

  ofHub({from, to}) {
    return (from === this.hub) !== (to === this.hub);
  }

  /// device -> {name, places, x, y, w, h}.
  placed() {
    const {places, links} = this.model, boxes = new Map(), ends = new Map();
    const add = (name) => { if (!boxes.has(name)) boxes.set(name, {name, places: [], w: kBoxWidth}); return boxes.get(name); };
    for (const place of places)
      if (place.name !== kCopies)
        for (const name of new Set(place.kernels.map(deviceOf)))
          add(name).places.push({...place, kernels: place.kernels.filter((kernel) => deviceOf(kernel) === name)});
    for (const {from, to, copies} of links)
      for (const name of new Set([from, to])) {
        add(name);
        ends.set(name, (ends.get(name) || 0) + copies.length);
      }
    this.hub = [...boxes.keys()].reduce((best, name) => ((ends.get(name) || 0) > (ends.get(best) || 0) ? name : best));
    for (const box of boxes.values()) box.h = Math.max(kLeastBox, 30 + 2 * kBoxRow * Math.max(1, box.places.length));
    let y = kMapMargin;
    for (const box of boxes.values()) {
      if (box.name === this.hub) continue;
      Object.assign(box, {x: kBoxWidth + kMapWay, y});
      y += box.h + kMapGap;
    }
    const hub = boxes.get(this.hub);
    const ofHub = links.filter((link) => this.ofHub(link));
    const endOf = (link) => (link.from === this.hub ? boxes.get(link.to).y : boxes.get(link.from).y + 1);
    hub.h = Math.max(hub.h, 22 * (ofHub.length + 1));
    Object.assign(hub, {x: 1, y: Math.max(kMapMargin, (kMapMargin + y - kMapGap - hub.h) / 2)});
    this.hubEnds = new Map(ofHub.toSorted((a, b) => endOf(a) - endOf(b)).map((link, i) => [link, hub.y + hub.h * (i + 1) / (ofHub.length + 1)]));
    return boxes;
  }

  box({name, places, x, y, w, h}) {
    const simulated = places.some((place) => place.kernels.some((kernel) => kernel.simulated));
    const texts = places.flatMap((place, i) => [
      svg("rect", {x: x + 10, y: y + 30 + 2 * kBoxRow * i, width: 9, height: 9, rx: 2, style: `fill:var(${place.colour})`}),
      svg("text", {x: x + 25, y: y + 39 + 2 * kBoxRow * i}, `${briefPlace(place.name)}, ${plural(place.kernels.length, "call")}`),
      svg("text", {x: x + 25, y: y + 39 + 2 * kBoxRow * i + kBoxRow - 1, class: "quiet"}, timeOfAll(place.kernels))]);
    return svg("g", {"data-device": name}, svg("title", {}, [name, ...places.map((place) => place.name)].join("\n")),
               svg("rect", {class: "device", x, y, width: w, height: h, rx: 6}),
               svg("text", {x: x + 10, y: y + 19, style: "font-weight:650"}, name + (simulated ? " (simulated)" : "")),
               ...(places.length ? texts : [svg("text", {x: x + 10, y: y + 42, class: "quiet"}, "no kernel runs here")]));
  }

  /// Ends of the two directions lie apart, and each has its numbers where it meets the box on the right.
  edge(link, thickness, arc) {
    const from = this.boxes.get(link.from), to = this.boxes.get(link.to), {copies} = link;
    const words = [`${copies.length === 1 ? "1 copy" : copies.length + " copies"}, ${withUnit(link.bytes, "B")}`, [timeOfAll(copies), rateText(copies)].filter(Boolean).join(", ")];
    const middle = (box) => box.y + box.h / 2, head = 5 + thickness;
    let path, point, label;
    if (this.ofHub(link)) {
      const out = link.from === this.hub, hub = out ? from : to, other = out ? to : from;
      const y = middle(other) + (out ? -11 : 11), yHub = this.hubEnds.get(link);
      const left = hub.x + hub.w + (out ? 0 : head), right = other.x - (out ? head : 0), bend = left + 60;
      path = `M${left} ${yHub} C${bend} ${yHub} ${bend - 30} ${y} ${bend + 30} ${y} L${right} ${y}`;
      point = out ? [other.x, y, -head] : [hub.x + hub.w, yHub, head];
      label = {x: other.x - 16, ys: out ? [y - 23, y - 8] : [y + 18, y + 32], anchor: "end"};
    } else {
      const x = from.x + from.w, a = middle(from) + 8, b = middle(to) - 8 + (from === to ? -14 : 0), reach = 46 + 14 * (arc % 4);
      path = `M${x} ${a} C${x + reach} ${a} ${x + reach} ${b} ${x + head} ${b}`;
      point = [x, b, head];
      label = {x: x + kArcLabel, ys: [(a + b) / 2 - 3 + 30 * ((arc % 2) - 0.5), (a + b) / 2 + 11 + 30 * ((arc % 2) - 0.5)], anchor: "start"};
    }
    const [px, py, back] = point;
    const edge = svg("g", {class: "link-edge", role: "button", tabindex: 0, "data-link": `${link.from} → ${link.to}`, "aria-label": `${link.from} to ${link.to}: ${words.join(", ")}`},
                     svg("title", {}, `${link.from} → ${link.to}: ${words.join(", ")}\nfor ${operatorsText(this.model, [...new Set(copies.flatMap(causesOf))])}`),
                     svg("path", {d: path, class: "reach"}), svg("path", {d: path, style: `stroke-width:${thickness.toFixed(2)}`}),
                     svg("polygon", {points: `${px},${py} ${px + back},${py - head * 0.7} ${px + back},${py + head * 0.7}`}),
                     ...words.map((text, i) => svg("text", {x: label.x, y: label.ys[i], "text-anchor": label.anchor, class: i ? "quiet" : null}, text)));
    const choose = () => this.choose(this.chosen === link ? null : link);
    edge.addEventListener("click", choose);
    edge.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      choose();
      event.preventDefault();
    });
    this.edges.set(link, edge);
    return edge;
  }

  /// Lists the copies of an edge, the longest first, with the operators that they are for.
  choose(link) {
    this.chosen = link;
    for (const [each, edge] of this.edges) {
      edge.classList.toggle("selected", each === link);
      edge.setAttribute("aria-pressed", String(each === link));
    }
    this.items = new Map();
    if (!link) return this.list.replaceChildren(el("p", {class: "quiet"}, "Edges are copies during a run. Select one to see them, and what they are for."));
    const items = link.copies.toSorted((a, b) => b.us - a.us || b.resultBytes - a.resultBytes).map((copy) => {
      const item = el("button", {type: "button", class: "link", "data-kernel": copy.node, title: copyTip(copy, this.model).join("\n"), onclick: () => this.state.select("kernel", copy.node, this)},
                      el("span", {class: "name"}, "for " + (operatorsText(this.model, causesOf(copy), 2) || "no operator")), el("span", {class: "num"}, copyText(copy)));
      this.items.set(copy, item);
      return el("li", {}, item);
    });
    this.list.replaceChildren(el("h3", {}, `${link.from} → ${link.to}, the longest first`), el("ul", {class: "links"}, items));
    this.mark();
  }

  mark() {
    const {selection, linked} = this.state;
    for (const [copy, item] of this.items) {
      item.classList.toggle("selected", selection?.kind === "kernel" && selection.id === copy.node);
      item.classList.toggle("linked", linked.kernels.has(copy) || (selection?.kind === "op" && causesOf(copy).includes(selection.id)));
    }
  }

  selected() {
    const {selection} = this.state;
    const link = selection?.kind === "kernel" && this.model.links.find((each) => each.copies.some((copy) => copy.node === selection.id));
    if (link && link !== this.chosen) this.choose(link);
    this.mark();
  }
}
