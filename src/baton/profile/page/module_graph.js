// The graph of modules: boxes that open. Each open module is laid out by itself and stands in the graph around it as one box, so
// that nothing foreign is within its frame; an edge leads between the two boxes that are next to each other in one frame.

const kFramePad = 14, kFrameTitle = 24;

/// `open`: indices of the modules that show what is inside them; the model itself is always open.
function moduleBoxes(model, aspect, open) {
  const boxes = frameBoxes(model, model.modules[0], aspect, open);
  boxes.drawn = boxes.edges.length > 0 || boxes.items.length < 2;
  return boxes;
}

/// Items are in the order of painting: a frame before what is in it.
function frameBoxes(model, module, aspect, open) {
  const inner = module.children.map((child) => (open.has(child.index) ? openBox(model, child, aspect, open) : {item: moduleBox(child, false)}));
  for (const id of module.operators) inner.push({item: {kind: "op", id, op: model.ops[id], rows: [], state: stateOf(model.ops[id]), w: 150, h: 2 * kPad + 2 * kTitle - 2}});
  const edges = edgesWithin(model, module);
  const {x, y, width, height, paths} = layered(inner.map(({item}) => item), edges, aspect);
  const boxes = {items: [], edges: [], paths: [...paths], width, height, fused: null, copied: null};
  const places = inner.map(({item, held}, i) => {
    item.x = x[i] - item.w / 2;
    item.y = y[i] - item.h / 2;
    const place = boxes.items.push(item) - 1;
    if (held) addHeld(boxes, held, item);
    return place;
  });
  boxes.edges.unshift(...edges.map(([from, to]) => [places[from], places[to]]));
  return boxes;
}

/// Behind the frame `item`, which is at its place.
function addHeld(boxes, held, item) {
  const left = item.x + kFramePad, top = item.y + kFrameTitle + kFramePad / 2, first = boxes.items.length;
  for (const each of held.items) boxes.items.push(Object.assign(each, {x: each.x + left, y: each.y + top}));
  boxes.edges.push(...held.edges.map(([from, to]) => [from + first, to + first]));
  boxes.paths.push(...held.paths.map((path) => path.map(([x, y, kind]) => [x + left, y + top, kind])));
}

function moduleBox(module, isOpen) {
  const ids = new Set(operatorsIn(module));
  return {kind: "module", id: module.index, module, open: isOpen, rows: [], w: 196, h: 2 * kPad + 2 * kTitle, ids,
          holds: (selection, linked) => !isOpen && (selection.kind === "op" ? ids.has(selection.id) : [...linked.ops].some((id) => ids.has(id)))};
}

function openBox(model, module, aspect, open) {
  const held = frameBoxes(model, module, aspect, open);
  const item = Object.assign(moduleBox(module, true), {w: Math.max(140, held.width + 2 * kFramePad), h: held.height + kFrameTitle + 1.5 * kFramePad});
  return {item, held};
}

/// Between the children and operators of a module, in that order: what reads the results of what.
function edgesWithin(model, module) {
  const place = new Map();
  module.children.forEach((child, i) => { for (const id of operatorsIn(child)) place.set(id, i); });
  module.operators.forEach((id, i) => place.set(id, module.children.length + i));
  const found = new Map();
  for (const [id, to] of place) {
    for (const input of model.ops[id].inputs) {
      const from = place.get(input);
      if (from !== undefined && from !== to) found.set(from + "," + to, [from, to]);
    }
  }
  return [...found.values()];
}

function paintModule(ctx, item, look, view, mark) {
  const {module} = item;
  paintOutline(ctx, item, look, view, mark, {radius: 9, border: look.edge});
  if (view.k < kTitlesFrom) return;
  const times = `${moduleTime(module)} µs   ${alikeText(module)}`;
  if (!item.open) return paintTitle(ctx, item, view, module.name + " ▸", times);
  const size = Math.max(12, Math.min(16, kSmallest / view.k));
  ctx.font = `600 ${size}px system-ui, sans-serif`;
  ctx.fillStyle = css(look.ink);
  ctx.textBaseline = "middle";
  ctx.fillText(fitted(ctx, item, "title", `${module.name} ▾   ${times}`, item.w - 16, ctx.font), item.x + 8, item.y + kFrameTitle / 2 + 3);
}

function moduleTip({module, open}) {
  return [module.path, `${moduleTime(module)} µs`, alikeText(module), open ? "double click closes it" : "double click opens it"].filter(Boolean);
}
