// What stands in the boxes of a profile's graph: heat by time, the device as a stripe, titles, operators as rows.

/// Where the kernel runs, as a stripe; nothing where all run in one place, and for copies, which run between two.
function paintPlace(ctx, item, look, model) {
  if (!item.kernel || model.places.length < 2 || isCopy(item.kernel)) return;
  ctx.fillStyle = css(look[model.places.find((place) => place.name === item.kernel.place).colour.slice(2)]);
  ctx.fillRect(item.x, item.y + 3, 7, item.h - 6);
}

/// The colour of a box: its share of the longest, or how much faster or slower it became.
function heatOf(item, model, look, difference) {
  if (item.kind === "module") return item.open ? mix(look.panel, look.bg, 0.6) : mix(look.panel, look.heat, 0.06 + 0.86 * Math.sqrt(item.module.us / (model.modules[0].us || 1)));
  if (difference) {
    const entry = item.kind === "kernel" ? difference.groupOf.get(item.kernel) : difference.ops.get(item.id);
    const old = item.kind === "kernel" ? entry?.old : entry?.before, now = item.kind === "kernel" ? entry?.now : entry?.after;
    const kind = entry ? verdict(old ?? null, now ?? null, entry.noise, entry.differs) : "";
    if (!kind) return look.panel;
    const most = item.kind === "kernel" ? difference.most : difference.mostOp;
    return mix(look.panel, look[kind], 0.25 + 0.75 * Math.sqrt(Math.abs(entry.delta) / most));
  }
  if (item.kind === "kernel" && isCopy(item.kernel)) return mix(look.panel, look[kCopyColour.slice(2)], 0.3);
  const us = item.kind === "kernel" ? item.kernel.us : item.op.time;
  if (!us) return look.panel;
  return mix(look.panel, look.heat, 0.06 + 0.86 * Math.sqrt(us / (item.kind === "kernel" ? model.longest : model.longestOp)));
}

/// What paintFrame() asks for.
function profilePainter(state, difference) {
  const passing = state.filtered ? state.passes() : null;
  return {
    filtered: passing !== null,
    passes: (item) => !passing || (item.kind === "kernel" ? passing.kernels.has(item.kernel) : item.kind === "op" ? passing.ops.has(item.id) :
      [...item.ids].some((id) => passing.ops.has(id))),
    fill: (item, look) => heatOf(item, state.model, look, difference),
    stripe: (ctx, item, look) => paintPlace(ctx, item, look, state.model),
    box: (ctx, item, look, view, mark) => paintBox(ctx, item, view, look, mark, state, difference),
  };
}

function paintBox(ctx, item, view, look, mark, state, difference) {
  if (item.kind === "module") return paintModule(ctx, item, look, view, mark);
  const copy = item.kind === "kernel" && isCopy(item.kernel);
  const dashed = copy ? false : item.kind === "op" ? item.state !== "timed" : !item.kernel.origins.length;
  paintOutline(ctx, item, look, view, mark, copy ? {radius: item.h / 2, border: look[kCopyColour.slice(2)]} : {dashed});
  if (view.k < kTitlesFrom) return;
  if (copy) return paintCopy(ctx, item, view);
  const near = view.k >= kRowsFrom;
  paintTitle(ctx, item, view, item.kind === "kernel" ? item.kernel.title : shortOp(item.op.op), timeLine(item, difference, near), item.state === "retired");
  if (!near) return;
  item.rows.forEach((row, i) => paintRow(ctx, item, row, item.y + kPad + 2 * kTitle + i * kRow, inkOn(item.fill), look, state));
}

function timeLine(item, difference, near) {
  if (item.kind === "kernel") {
    const {kernel} = item, group = difference?.groupOf.get(kernel);
    if (!near) return group ? ratioText(group.old, group.now) : shortTime(kernel.us);
    return `${usText(kernel.us)} µs   ` + (group ? ratioText(group.old, group.now) : percent(kernel.share));
  }
  const {op} = item;
  const where = lineOrName(op) || "#" + op.id;
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
