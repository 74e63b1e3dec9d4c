// One frame of the graph. Far away boxes are patches of heat; nearer they get a title, then their rows.

const kTitlesFrom = 0.22, kRowsFrom = 0.55;  // in screen pixels per unit
const kSmallest = 9.5;                       // of letters, in screen pixels

function readLook() {
  const names = ["--bg", "--panel", "--ink", "--quiet", "--line", "--edge", "--heat", "--select", "--link", "--faster", "--slower", "--fused", "--kind0", "--kind1", "--kind2", "--kind3",
                 "--kind5", "--kind6", "--kind8"];
  return Object.fromEntries(names.map((name) => [name.slice(2), colourOf(name)]));
}

/// Where the kernel runs, as a stripe; nothing where all run in one place, and for copies, which run between two.
function paintPlace(ctx, item, look, model) {
  if (!item.kernel || model.places.length < 2 || isCopy(item.kernel)) return;
  ctx.fillStyle = css(look[model.places.find((place) => place.name === item.kernel.place).colour.slice(2)]);
  ctx.fillRect(item.x, item.y + 3, 7, item.h - 6);
}

/// The colour of a box: its share of the longest, or how much faster or slower it became.
function heatOf(item, model, look, difference) {
  if (difference) {
    const entry = item.kind === "kernel" ? difference.groupOf.get(item.kernel) : difference.ops.get(item.id);
    const old = item.kind === "kernel" ? entry?.old : entry?.before, now = item.kind === "kernel" ? entry?.now : entry?.after;
    const kind = entry ? verdict(old ?? null, now ?? null, entry.noise) : "";
    if (!kind) return look.panel;
    const most = item.kind === "kernel" ? difference.most : difference.mostOp;
    return mix(look.panel, look[kind], 0.25 + 0.75 * Math.sqrt(Math.abs(entry.delta) / most));
  }
  if (item.kind === "kernel" && isCopy(item.kernel)) return mix(look.panel, look[kCopyColour.slice(2)], 0.3);
  const us = item.kind === "kernel" ? item.kernel.us : item.op.time;
  if (!us) return look.panel;
  return mix(look.panel, look.heat, 0.06 + 0.86 * Math.sqrt(us / (item.kind === "kernel" ? model.longest : model.longestOp)));
}

function paint(ctx, {boxes, view, width, height, look, lit, state, difference, scale, hover}) {
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  ctx.fillStyle = css(look.bg);
  ctx.fillRect(0, 0, width, height);
  ctx.setTransform(scale * view.k, 0, 0, scale * view.k, scale * view.x, scale * view.y);
  const seen = {left: -view.x / view.k, top: -view.y / view.k, right: (width - view.x) / view.k, bottom: (height - view.y) / view.k};
  const passing = state.filtered ? state.passes() : null;
  const anyLit = lit.chosen.size + lit.linked.size + lit.weak.size > 0;
  paintEdges(ctx, boxes, view, seen, look, lit, anyLit);
  const far = view.k < kTitlesFrom, plain = [];
  for (const item of boxes.items) {
    if (item.x > seen.right || item.x + item.w < seen.left || item.y > seen.bottom || item.y + item.h < seen.top) continue;
    const passes = !passing || (item.kind === "kernel" ? passing.kernels.has(item.kernel) : passing.ops.has(item.id));
    const mark = lit.chosen.has(item) ? "select" : lit.linked.has(item) ? "link" : lit.weak.has(item) ? "weak" : hover === item ? "hover" : "";
    ctx.globalAlpha = passes ? (anyLit && !mark ? 0.55 : 1) : 0.12;
    if (item.look !== look) Object.assign(item, {look, fill: heatOf(item, state.model, look, difference)});
    if (far && !mark) {
      ctx.fillStyle = css(item.fill);
      ctx.fillRect(item.x, item.y, item.w, item.h);
      plain.push(item);
    } else {
      paintBox(ctx, item, view, look, mark, state, difference);
    }
    paintPlace(ctx, item, look, state.model);
  }
  ctx.globalAlpha = anyLit || passing ? 0.4 : 1;
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

function paintBox(ctx, item, view, look, mark, state, difference) {
  const copy = item.kind === "kernel" && isCopy(item.kernel);
  const dashed = copy ? false : item.kind === "op" ? item.state !== "timed" : !item.kernel.origins.length;
  ctx.beginPath();
  ctx.roundRect(item.x, item.y, item.w, item.h, copy ? item.h / 2 : 6);
  ctx.fillStyle = css(item.fill);
  ctx.fill();
  ctx.strokeStyle = css(mark === "select" ? look.select : mark === "link" || mark === "weak" ? look.link : mark === "hover" ? look.ink : copy ? look[kCopyColour.slice(2)] : look.line);
  ctx.lineWidth = mark && mark !== "hover" ? Math.max(2.5, 2.5 / view.k) : Math.max(1, 0.7 / view.k);
  ctx.setLineDash(mark === "weak" ? [6, 4] : dashed ? [4, 3] : []);
  ctx.stroke();
  ctx.setLineDash([]);
  if (view.k < kTitlesFrom) return;
  if (copy) return paintCopy(ctx, item, view);
  const ink = inkOn(item.fill), near = view.k >= kRowsFrom;
  const size = near ? 12 : Math.max(12, kSmallest / view.k), line = near ? kTitle : size * 1.25;
  const title = item.kind === "kernel" ? item.kernel.title : shortOp(item.op.op);
  const left = item.x + (near ? 8 : 4 / view.k), room = item.w - 2 * (left - item.x);
  const lines = [[`600 ${size}px system-ui, sans-serif`, "title", title], [`${size - (near ? 1 : 0)}px system-ui, sans-serif`, "time", timeLine(item, difference, near)]];
  const fits = near ? 2 : Math.max(1, Math.min(2, Math.floor((item.h - 2) / line)));
  let y = near ? item.y + kPad + line / 2 : item.y + (item.h - fits * line) / 2 + line / 2;
  ctx.fillStyle = ink;
  ctx.textBaseline = "middle";
  for (const [font, slot, text] of lines.slice(0, fits)) {
    ctx.font = font;
    const shown = fitted(ctx, item, slot, text, room, font);
    ctx.fillText(shown, left, y);
    if (slot === "title" && item.state === "retired") ctx.fillRect(left, y, ctx.measureText(shown).width, 1);
    y += line;
  }
  if (!near) return;
  item.rows.forEach((row, i) => paintRow(ctx, item, row, item.y + kPad + 2 * kTitle + i * kRow, ink, look, state));
}

function timeLine(item, difference, near) {
  if (item.kind === "kernel") {
    const {kernel} = item, group = difference?.groupOf.get(kernel);
    if (kernel.unreliable) return "unreliable";
    if (!near) return group ? ratioText(group.old, group.now) : shortTime(kernel.us);
    return `${usText(kernel.us)} µs   ` + (group ? ratioText(group.old, group.now) : percent(kernel.share));
  }
  const {op} = item;
  const where = op.line ? "line " + op.line : "#" + op.id;
  const entry = difference?.ops.get(op.id);
  if (item.state !== "timed") return near ? where + "   " + item.state : item.state;
  if (op.time === null) return where;
  const change = entry && entry.delta !== null ? ratioText(entry.before, entry.after) : "";
  return near ? `${where}   ${ownText(op)}${op.belowNoise ? "" : " µs"}   ${change}` : change || (op.belowNoise ? "" : shortTime(op.time));
}

/// The label of an edge between two devices: its bytes and its time.
function paintCopy(ctx, item, view) {
  const size = view.k >= kRowsFrom ? 12 : Math.max(12, kSmallest / view.k);
  if (size > item.h) return;
  ctx.font = `${size}px system-ui, sans-serif`;
  ctx.fillStyle = inkOn(item.fill);
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  const room = item.w - 16, both = copyText(item.kernel);
  const text = ctx.measureText(both).width <= room ? both : withUnit(item.kernel.resultBytes, "B");
  ctx.fillText(fitted(ctx, item, "copy", text, room, ctx.font), item.x + item.w / 2, item.y + item.h / 2);
  ctx.textAlign = "left";
}

function paintRow(ctx, item, row, y, ink, look, state) {
  if (row.us && item.kernel.us) {  // its part of the kernel lies behind it
    ctx.fillStyle = ink;
    ctx.globalAlpha *= 0.13;
    ctx.fillRect(item.x + 4, y, (item.w - 8) * Math.min(1, row.us / item.kernel.us), kRow - 1.5);
    ctx.globalAlpha /= 0.13;
  }
  const chosen = row.op !== null && (state.selection?.kind === "op" ? state.selection.id === row.op : false);
  if (chosen) {
    ctx.fillStyle = css(look.select);
    ctx.beginPath();
    ctx.roundRect(item.x + 4, y, item.w - 8, kRow - 1, 3);
    ctx.fill();
  }
  ctx.fillStyle = chosen ? inkOn(look.select) : ink;
  ctx.font = (row.kind === "own" ? "" : "italic ") + "11px system-ui, sans-serif";
  const time = row.us === null ? "" : usText(row.us);
  const room = time ? ctx.measureText(time).width + 6 : 0;
  ctx.fillText(fitted(ctx, row, "text", row.text, item.w - 24 - room), item.x + 12, y + kRow / 2);
  if (time) ctx.fillText(time, item.x + item.w - 8 - room + 6, y + kRow / 2);
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
