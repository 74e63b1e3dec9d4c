// A layered drawing of a graph, from above to below, folded into columns where it would be a thread: a chain of a
// thousand kernels then fills the screen like text in a newspaper.
//
//   layered(sizes, edges, aspect): sizes [{w, h}], edges [[from, to]] -> {x, y (centres), width, height, paths}
//
// Layers by the longest path; long edges get a place of their own in every layer they pass; places in a layer by the
// means of their neighbours, as near to them as the others allow (pool adjacent violators). All of it is linear in
// nodes and places, but for sorting.

const kGapX = 26, kGapY = 34, kGapColumn = 70, kPassWidth = 10;
const kSweeps = 6, kWide = 16;  // a layer of more nodes than that becomes several rows

function layered(sizes, edges, aspect) {
  const count = sizes.length;
  if (!count) return {x: [], y: [], width: 0, height: 0, paths: []};
  const graph = withoutCycles(count, edges);
  const layer = inRows(layersOf(edges, graph), aspect);
  const places = placesOf(sizes, edges, graph, layer);
  order(places);
  const x = positions(places);
  return columns(sizes, edges, places, x, aspect);
}

/// Edges that go forward in some order of the nodes; the others are drawn, but pull nothing.
function withoutCycles(count, edges) {
  const out = Array.from({length: count}, () => []), into = new Int32Array(count);
  const forward = edges.map(([from, to]) => from !== to && from < count && to < count);
  edges.forEach(([from, to], i) => {
    if (!forward[i]) return;
    out[from].push(i);
    ++into[to];
  });
  const topological = [], waiting = [], done = new Uint8Array(count);
  for (let node = 0; node < count; ++node) if (!into[node]) waiting.push(node);
  let next = 0, oldest = 0;
  while (topological.length < count) {
    if (next === waiting.length) {  // a cycle: the first node that is left goes on, what leads to it is cut
      while (done[oldest]) ++oldest;
      edges.forEach(([from, to], i) => { if (to === oldest && !done[from]) forward[i] = false; });
      waiting.push(oldest);
    }
    const node = waiting[next++];
    if (done[node]) continue;
    done[node] = 1;
    topological.push(node);
    for (const i of out[node]) if (forward[i] && --into[edges[i][1]] === 0) waiting.push(edges[i][1]);
  }
  return {topological, forward, out};
}

/// The longest way from above. What has no way from above stands right above the first that needs it.
function layersOf(edges, {topological, forward, out}) {
  const layer = new Int32Array(topological.length), fed = new Uint8Array(topological.length);
  for (const node of topological)
    for (const i of out[node]) {
      if (!forward[i]) continue;
      layer[edges[i][1]] = Math.max(layer[edges[i][1]], layer[node] + 1);
      fed[edges[i][1]] = 1;
    }
  for (const node of topological) {
    if (fed[node]) continue;
    let first = Infinity;
    for (const i of out[node]) if (forward[i]) first = Math.min(first, layer[edges[i][1]]);
    if (first < Infinity) layer[node] = first - 1;
  }
  return layer;
}

/// Layers that are too wide, as several rows below each other: nothing leads from one of their nodes to another.
function inRows(layer, aspect) {
  const members = [];
  layer.forEach((each, node) => (members[each] ||= []).push(node));
  let next = 0;
  for (const nodes of members) {
    if (!nodes) continue;
    const inRow = nodes.length > kWide ? Math.max(kWide, Math.ceil(Math.sqrt(nodes.length * aspect / 2))) : nodes.length;
    nodes.forEach((node, i) => { layer[node] = next + Math.floor(i / inRow); });
    next += Math.ceil(nodes.length / inRow);
  }
  return layer;
}

/// The longest edges that still get places: all of them in most graphs; where everything reads everything, places would
/// crowd out the nodes, and the longest are drawn straight.
function longestWithPlaces(edges, forward, layer) {
  const bySpan = [];
  edges.forEach(([from, to], i) => {
    const span = layer[to] - layer[from];
    if (forward[i]) bySpan[span] = (bySpan[span] || 0) + 1;
  });
  let left = 3 * layer.length + 300, longest = 1;
  for (let span = 2; span < bySpan.length && left >= 0; ++span) {
    left -= (bySpan[span] || 0) * (span - 1);
    if (left >= 0) longest = span;
  }
  return longest;
}

/// Nodes and the places of long edges, by layer: {width[], up[], down[], layers[][], chains: edge -> places between}.
function placesOf(sizes, edges, {topological, forward}, layer) {
  const places = {width: sizes.map((size) => size.w), up: [], down: [], layers: [], layer: Array.from(layer), chains: new Map()};
  for (let node = 0; node < sizes.length; ++node) {
    places.up.push([]);
    places.down.push([]);
  }
  for (const node of topological) (places.layers[layer[node]] ||= []).push(node);
  for (let i = 0; i < places.layers.length; ++i) places.layers[i] ||= [];
  const join = (above, below) => {
    places.down[above].push(below);
    places.up[below].push(above);
  };
  const longest = longestWithPlaces(edges, forward, layer);
  edges.forEach(([from, to], i) => {
    if (!forward[i] || layer[to] - layer[from] > longest) return;
    const chain = [];
    let last = from;
    for (let at = layer[from] + 1; at < layer[to]; ++at) {
      const place = places.width.length;
      places.width.push(kPassWidth);
      places.layer.push(at);
      places.up.push([]);
      places.down.push([]);
      places.layers[at].push(place);
      join(last, place);
      chain.push(place);
      last = place;
    }
    join(last, to);
    places.chains.set(i, chain);
  });
  return places;
}

/// Fewer crossings: every layer in the order of the means of its neighbours, downwards and upwards in turn.
function order(places) {
  const at = new Float64Array(places.width.length);
  const number = (layer) => layer.forEach((place, i) => { at[place] = i; });
  places.layers.forEach(number);
  const means = new Float64Array(places.width.length);
  for (let sweep = 0; sweep < kSweeps; ++sweep) {
    const downwards = sweep % 2 === 0;
    const neighbours = downwards ? places.up : places.down;
    const layers = downwards ? places.layers : [...places.layers].reverse();
    for (const layer of layers) {
      if (layer.length < 2) continue;
      for (const place of layer) means[place] = neighbours[place].length ? sum(neighbours[place], (each) => at[each]) / neighbours[place].length : at[place];
      layer.sort((a, b) => means[a] - means[b] || at[a] - at[b]);
      number(layer);
    }
  }
}

/// The places of a layer as near to `wanted` as their widths allow: blocks that touch move as one.
function settle(layer, width, wanted, weight, x) {
  const blocks = [];
  let offset = 0;
  layer.forEach((place, i) => {
    if (i) offset += (width[layer[i - 1]] + width[place]) / 2 + kGapX * (width[place] > kPassWidth || width[layer[i - 1]] > kPassWidth ? 1 : 0.4);
    let block = {first: i, sum: (wanted[place] - offset) * weight[place], weight: weight[place]};
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).weight > block.sum / block.weight) {
      const before = blocks.pop();
      block = {first: before.first, sum: before.sum + block.sum, weight: before.weight + block.weight};
    }
    blocks.push(block);
  });
  offset = 0;
  let block = 0;
  layer.forEach((place, i) => {
    if (i) offset += (width[layer[i - 1]] + width[place]) / 2 + kGapX * (width[place] > kPassWidth || width[layer[i - 1]] > kPassWidth ? 1 : 0.4);
    if (block + 1 < blocks.length && blocks[block + 1].first === i) ++block;
    x[place] = offset + blocks[block].sum / blocks[block].weight;
  });
}

function positions(places) {
  const count = places.width.length;
  const x = new Float64Array(count), wanted = new Float64Array(count);
  const weight = places.width.map((width) => (width > kPassWidth ? 1 : 2));  // long edges like to be straight
  for (const layer of places.layers) settle(layer, places.width, wanted, weight, x);
  for (let sweep = 0; sweep < 2 * kSweeps; ++sweep) {
    const downwards = sweep % 2 === 0;
    const layers = downwards ? places.layers : [...places.layers].reverse();
    const last = sweep >= 2 * kSweeps - 2;  // at the end both sides count
    for (const layer of layers) {
      for (const place of layer) {
        const near = last ? [...places.up[place], ...places.down[place]] : downwards ? places.up[place] : places.down[place];
        wanted[place] = near.length ? sum(near, (each) => x[each]) / near.length : x[place];
      }
      // What has no neighbours at all stands beside the others.
      const held = layer.filter((place) => places.up[place].length + places.down[place].length);
      const middle = held.length ? sum(held, (place) => wanted[place]) / held.length : 0;
      for (const place of layer) {
        if (places.up[place].length + places.down[place].length) continue;
        wanted[place] = middle;
        weight[place] = 1e-3;
      }
      settle(layer, places.width, wanted, weight, x);
    }
  }
  return x;
}

/// Where to begin new columns, so that the whole fills a screen of that shape best: tried for several numbers of them.
function cutsOf(places, heights, spans, aspect) {
  const total = sum(heights, (height) => height + kGapY);
  const width = spans.map(([low, high]) => high - low).sort((a, b) => a - b)[Math.floor(spans.length * 0.9)] + kGapColumn;
  const guess = Math.sqrt(aspect * total / width);
  const crossing = places.layers.map((layer) => sum(layer, (place) => places.up[place].length));
  let best = [], least = Infinity;
  for (let wanted = 1; wanted <= Math.min(60, 1.6 * guess + 1); ++wanted) {
    const cuts = cutInto(wanted, heights, crossing, total);
    const score = extent(cuts, heights, spans, aspect);
    if (score < least) [best, least] = [cuts, score];
  }
  return best;
}

/// About `wanted` columns of one height, cut where few edges pass.
function cutInto(wanted, heights, crossing, total) {
  const cuts = [], column = total / wanted;
  if (wanted < 2) return cuts;
  let y = 0, best = -1, cost = Infinity;
  for (let i = 1; i < heights.length; ++i) {
    y += heights[i - 1] + kGapY;
    const off = Math.abs(y - column) / column;
    if (off < 0.2 && crossing[i] + off * 6 < cost) [best, cost] = [i, crossing[i] + off * 6];
    if (y <= column * 1.2 && !(y > column && best < 0)) continue;
    i = best < 0 ? i : best;
    cuts.push(i);
    [y, best, cost] = [0, -1, Infinity];
  }
  return cuts;
}

/// How large a screen of that shape must be to show it all.
function extent(cuts, heights, spans, aspect) {
  let width = 0, tallest = 0;
  [0, ...cuts].forEach((first, i) => {
    let low = Infinity, high = -Infinity, height = 0;
    for (let at = first; at < (cuts[i] ?? heights.length); ++at) {
      low = Math.min(low, spans[at][0]);
      high = Math.max(high, spans[at][1]);
      height += heights[at] + kGapY;
    }
    width += high - low + kGapColumn;
    tallest = Math.max(tallest, height);
  });
  return Math.max(width / aspect, tallest);
}

function columns(sizes, edges, places, x, aspect) {
  const count = sizes.length;
  const heights = places.layers.map((layer) => Math.max(8, ...layer.map((place) => (place < count ? sizes[place].h : 0))));
  const spans = places.layers.map((layer) => (layer.length ? [x[layer[0]] - places.width[layer[0]] / 2, x[layer.at(-1)] + places.width[layer.at(-1)] / 2] : [0, 0]));
  const cuts = cutsOf(places, heights, spans, aspect);
  const y = new Float64Array(x.length), half = new Float64Array(x.length), columnOf = new Int32Array(places.layers.length);
  const bounds = [];
  let left = 0, height = 0;
  [0, ...cuts].forEach((first, column, starts) => {
    const end = starts[column + 1] ?? places.layers.length;
    let low = Infinity, high = -Infinity, top = 0;
    for (let i = first; i < end; ++i)
      for (const place of places.layers[i]) {
        low = Math.min(low, x[place] - places.width[place] / 2);
        high = Math.max(high, x[place] + places.width[place] / 2);
      }
    for (let i = first; i < end; ++i) {
      columnOf[i] = column;
      for (const place of places.layers[i]) {
        x[place] += left - low;
        y[place] = top + heights[i] / 2;
        half[place] = (place < count ? sizes[place].h : heights[i]) / 2;
      }
      top += heights[i] + kGapY;
    }
    bounds.push({left, right: left + high - low, bottom: top - kGapY});
    left += high - low + kGapColumn;
    height = Math.max(height, top - kGapY);
  });
  const points = {x, y, half, column: (place) => columnOf[places.layer[place]]};
  const paths = edges.map((edge, i) => pathOf(edge, places.chains.get(i), points, bounds));
  return {x, y, width: left - kGapColumn, height, paths};
}

/// [[x, y, kind]]: "M" begins, "C" curves down to it, "S" does so over any distance, "L" is straight, "R" a rounded corner.
function pathOf([from, to], chain, {x, y, half, column}, bounds) {
  const path = [[x[from], y[from] + half[from], "M"]];
  let last = from;
  for (const place of [...(chain || []), to]) {
    const here = column(place), before = column(last);
    const top = y[place] - half[place];
    if (here === before + 1) {  // below the column, up between the two, in from above
      const {bottom, right} = bounds[before], lane = from * 7 % 10 / 10;  // several edges do not lie on each other
      const gutter = right + kGapColumn * (0.35 + 0.3 * lane), below = bottom + 10 + 14 * lane, above = -10 - 14 * lane;
      path.push([x[last], below, "R"], [gutter, below, "R"], [gutter, above, "R"], [x[place], above, "R"], [x[place], top, "L"]);
    } else {
      path.push([x[place], top, here === before ? "C" : "S"]);
    }
    if (place !== to) path.push([x[place], y[place] + half[place], "L"]);
    last = place;
  }
  return path;
}
