// One frame of a graph on a canvas. Far away boxes are patches of colour; nearer they get a title, then their rows.

const kTitlesFrom = 0.22, kRowsFrom = 0.55;  // in screen pixels per unit
const kSmallest = 9.5;                       // of letters, in screen pixels

/// Colours of devices, and of copies between them.
const kCopyColour = "--kind5";
const kPlaceColours = ["--kind0", "--kind2", "--kind3", "--kind1", "--kind6", "--kind8"];

function readLook() {
  const names = ["--bg", "--panel", "--ink", "--quiet", "--line", "--edge", "--heat", "--select", "--link", "--faster", "--slower", "--fused", "--kind0", "--kind1", "--kind2", "--kind3",
                 "--kind4", "--kind5", "--kind6", "--kind7", "--kind8", "--kind9"];
  return Object.fromEntries(names.map((name) => [name.slice(2), colourOf(name)]));
}

/// `item.open`: it holds the boxes behind it. `painter`: fill(item, look) is a box's colour; passes(item), whether a filter lets it through; box(ctx, item, look, view,
/// mark) paints one that is near, and stripe(ctx, item, look) what stands on it from any distance.
function paintFrame(ctx, {boxes, view, width, height, look, lit, scale, hover}, painter) {
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  ctx.fillStyle = css(look.bg);
  ctx.fillRect(0, 0, width, height);
  ctx.setTransform(scale * view.k, 0, 0, scale * view.k, scale * view.x, scale * view.y);
  const seen = {left: -view.x / view.k, top: -view.y / view.k, right: (width - view.x) / view.k, bottom: (height - view.y) / view.k};
  const anyLit = lit.chosen.size + lit.linked.size + lit.weak.size > 0;
  const far = view.k < kTitlesFrom, plain = [];
  const paintItem = (item) => {
    if (item.x > seen.right || item.x + item.w < seen.left || item.y > seen.bottom || item.y + item.h < seen.top) return;
    const mark = lit.chosen.has(item) ? "select" : lit.linked.has(item) ? "link" : lit.weak.has(item) ? "weak" : hover === item ? "hover" : "";
    ctx.globalAlpha = painter.passes(item) ? (anyLit && !mark ? 0.55 : 1) : 0.12;
    if (item.look !== look) Object.assign(item, {look, fill: painter.fill(item, look)});
    if (far && !mark) {
      ctx.fillStyle = css(item.fill);
      ctx.fillRect(item.x, item.y, item.w, item.h);
      plain.push(item);
    } else {
      painter.box(ctx, item, look, view, mark);
    }
    painter.stripe(ctx, item, look);
  };
  // What holds other boxes is behind the edges between them.
  for (const item of boxes.items) if (item.open) paintItem(item);
  ctx.globalAlpha = 1;
  paintEdges(ctx, boxes, view, seen, look, lit, anyLit);
  for (const item of boxes.items) if (!item.open) paintItem(item);
  ctx.globalAlpha = anyLit || painter.filtered ? 0.4 : 1;
  ctx.beginPath();
  for (const item of plain) ctx.rect(item.x, item.y, item.w, item.h);
  ctx.strokeStyle = css(look.line);
  ctx.lineWidth = Math.max(1, 0.7 / view.k);
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function paintEdges(ctx, boxes, view, seen, look, lit, anyLit) {
  if (!boxes.drawn) return;
  const near = (i) => {
    const [from, to] = boxes.edges[i];
    return lit.chosen.has(boxes.items[from]) || lit.chosen.has(boxes.items[to]) || (lit.linked.has(boxes.items[from]) && lit.linked.has(boxes.items[to]));
  };
  const draw = (wanted) => {
    ctx.beginPath();
    boxes.paths.forEach((path, i) => { if (wanted(i)) trace(ctx, path, seen); });
    ctx.stroke();
  };
  const thin = Math.max(1.1, 0.8 / view.k);
  ctx.lineJoin = "round";
  ctx.strokeStyle = css(look.edge, anyLit ? 0.4 : 0.9);
  ctx.lineWidth = thin;
  draw((i) => !(anyLit && near(i)) && !boxes.fused?.[i] && !boxes.copied?.[i]);
  if (boxes.fused) {
    ctx.strokeStyle = css(look.fused, anyLit ? 0.5 : 0.9);
    ctx.lineWidth = 3 * thin;
    draw((i) => boxes.fused[i] && !(anyLit && near(i)));
  }
  if (boxes.copied) {
    ctx.strokeStyle = css(look[kCopyColour.slice(2)], anyLit ? 0.5 : 0.9);
    ctx.lineWidth = 2.4 * thin;
    draw((i) => boxes.copied[i] && !(anyLit && near(i)));
  }
  if (!anyLit) return;
  ctx.strokeStyle = css(look.link);
  ctx.lineWidth = 2 * thin;
  draw(near);
}

function trace(ctx, path, seen) {
  let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
  for (const [x, y] of path) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  if (left > seen.right || right < seen.left || top > seen.bottom || bottom < seen.top) return;
  let lastX = 0, lastY = 0;
  for (let i = 0; i < path.length; ++i) {
    const [x, y, kind] = path[i];
    if (kind === "M") ctx.moveTo(x, y);
    else if (kind === "L") ctx.lineTo(x, y);
    else if (kind === "R") ctx.arcTo(x, y, path[i + 1][0], path[i + 1][1], 9);
    else if (kind === "C") ctx.bezierCurveTo(lastX, (lastY + y) / 2, x, (lastY + y) / 2, x, y);
    else ctx.bezierCurveTo(lastX, lastY + 60, x, y - 60, x, y);
    lastX = x;
    lastY = y;
  }
}

/// The outline of a box and its colour; `border`: the colour of its line where nothing marks it.
function paintOutline(ctx, item, look, view, mark, {dashed = false, radius = 6, border = look.line} = {}) {
  ctx.beginPath();
  ctx.roundRect(item.x, item.y, item.w, item.h, radius);
  ctx.fillStyle = css(item.fill);
  ctx.fill();
  ctx.strokeStyle = css(mark === "select" ? look.select : mark === "link" || mark === "weak" ? look.link : mark === "hover" ? look.ink : border);
  ctx.lineWidth = mark && mark !== "hover" ? Math.max(2.5, 2.5 / view.k) : Math.max(1, 0.7 / view.k);
  ctx.setLineDash(mark === "weak" ? [6, 4] : dashed ? [4, 3] : []);
  ctx.stroke();
  ctx.setLineDash([]);
}

/// The title and the line below it, as far as there is room; `struck`: the title is crossed out.
function paintTitle(ctx, item, view, title, below, struck = false) {
  const near = view.k >= kRowsFrom;
  const size = near ? 12 : Math.max(12, kSmallest / view.k), line = near ? kTitle : size * 1.25;
  const left = item.x + (near ? 8 : 4 / view.k) + (item.indent || 0), room = item.x + item.w - left - (near ? 8 : 4 / view.k);
  const lines = [[`600 ${size}px system-ui, sans-serif`, "title", title], [`${size - (near ? 1 : 0)}px system-ui, sans-serif`, "time", below]];
  const fits = near ? 2 : Math.max(1, Math.min(2, Math.floor((item.h - 2) / line)));
  let y = near ? item.y + kPad + line / 2 : item.y + (item.h - fits * line) / 2 + line / 2;
  ctx.fillStyle = inkOn(item.fill);
  ctx.textBaseline = "middle";
  for (const [font, slot, text] of lines.slice(0, fits)) {
    ctx.font = font;
    const shown = fitted(ctx, item, slot, text, room, font);
    ctx.fillText(shown, left, y);
    if (slot === "title" && struck) ctx.fillRect(left, y, ctx.measureText(shown).width, 1);
    y += line;
  }
}

/// The text, cut to `room`; kept with its owner.
function fitted(ctx, owner, slot, text, room, font = "") {
  const kept = (owner.fitted ||= {})[slot];
  if (kept && kept.text === text && kept.room === room && kept.font === font) return kept.shown;
  let shown = text;
  if (ctx.measureText(text).width > room) {
    let low = 0, high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (ctx.measureText(text.slice(0, middle) + "…").width <= room) low = middle;
      else high = middle - 1;
    }
    shown = text.slice(0, low) + "…";
  }
  owner.fitted[slot] = {text, room, font, shown};
  return shown;
}
