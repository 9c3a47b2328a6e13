// SPDX-License-Identifier: Apache-2.0
// From the names of links to places on a plane.

const MOST_PORTS = 8;
const MOST_COLUMNS = 256;
const MOST_CELLS = 65536;

/** "nmu12" -> 12; null for what is no NPU. */
export function npuOf(name) {
  const m = /^nmu(\d+)$/.exec(name);
  return m ? Number(m[1]) : null;
}

/** The sizes of the dimensions, NPU 0's first; null if the notation does not say them. */
export function sizesOf(notation, npus) {
  const sizes = [...String(notation ?? "").matchAll(/[A-Za-z]+\((\d+)/g)].map((m) => Number(m[1]));
  return sizes.length > 0 && sizes.reduce((a, b) => a * b, 1) === npus ? sizes : null;
}

/**
 * Where NPU i stands: dimension 0 to the right, dimension 1 down; further ones as tiles, which together are about
 * square. Without dimensions row by row.
 */
export function placesOf(sizes, npus) {
  const long = (sizes ?? []).filter((n) => n > 1);
  if (long.length < 2) {
    const width = Math.max(1, npus <= 32 ? npus : Math.ceil(Math.sqrt(npus)));
    return { width, height: Math.ceil(npus / width), tileWidth: width, about: "NPUs row by row", of: (i) => [i % width, Math.floor(i / width)] };
  }
  const [w, t] = long, tiles = npus / (w * t), across = Math.min(tiles, Math.max(1, Math.round(Math.sqrt((tiles * t) / w)))), gap = tiles > 1 ? 1 : 0;
  return {
    width: across * (w + gap) - gap, height: Math.ceil(tiles / across) * (t + gap) - gap,
    about: tiles > 1 ? "first dimension to the right, second down; a tile for each place in the others" : "first dimension to the right, second down",
    of: (i) => {
      const tile = Math.floor(i / (w * t)), x = i % w, y = Math.floor(i / w) % t;
      return [(tile % across) * (w + gap) + x, Math.floor(tile / across) * (t + gap) + y];
    },
  };
}

const busier = (a, b) => (!a ? b : a.busy >= b.busy ? a : b);
const natural = (a, b) => a.localeCompare(b, "en", { numeric: true });

/** The busiest of several links in one cell. */
function joined(links) {
  const top = links.reduce(busier, null);
  if (links.length === 1) return top;
  const count = links.reduce((n, l) => n + l.links, 0);
  return {
    ...top, links: count, mean_busy: links.reduce((sum, l) => sum + l.mean_busy * l.links, 0) / count,
    bytes: links.reduce((sum, l) => sum + l.bytes, 0), messages: links.reduce((sum, l) => sum + l.messages, 0),
    queued_ns: links.reduce((sum, l) => sum + l.queued_ns, 0), paused_ns: links.reduce((sum, l) => sum + l.paused_ns, 0),
  };
}

function gridPanel(dimension, title, about, byNpu, places, npus) {
  const cells = new Array(places.width * places.height).fill(null);
  for (const [npu, links] of byNpu) {
    if (npu >= npus) continue;
    const [x, y] = places.of(npu);
    cells[y * places.width + x] = joined(links);
  }
  return { dimension, title, about, width: places.width, height: places.height, cells };
}

/** Links that leave NPUs: a map for each port where there are few, else one with the busiest. */
function npuPanels(dimension, links, places, npus) {
  const ports = [...new Set(links.map((l) => l.port))].sort(natural);
  const perNpu = new Map();
  for (const l of links) {
    const i = npuOf(l.from);
    if (!perNpu.has(i)) perNpu.set(i, []);
    perNpu.get(i).push(l);
  }
  const most = Math.max(...[...perNpu.values()].map((own) => own.length));
  // Rings have ends and meshes borders: a port that half of the NPUs have is one of all.
  const shared = ports.every((port) => 2 * links.filter((l) => l.port === port).length >= perNpu.size);
  if (ports.length <= MOST_PORTS && shared)
    return ports.map((port) => {
      const own = links.filter((l) => l.port === port), map = new Map(own.map((l) => [npuOf(l.from), [l]]));
      return gridPanel(dimension, `dimension ${dimension}, ${port.replace(/^d\d+_/, "")}`, `of ${own.length.toLocaleString("en-US")} NPUs`, map, places, npus);
    });
  if (most === 1) return [gridPanel(dimension, `dimension ${dimension}, from NPUs`, `of ${perNpu.size.toLocaleString("en-US")} NPUs`, perNpu, places, npus)];
  if (most * perNpu.size <= 4096) return [matrixPanel(dimension, `dimension ${dimension}, from NPUs`, links)];
  return [gridPanel(dimension, `dimension ${dimension}, from NPUs`, `the busiest of an NPU's ${most} links`, perNpu, places, npus)];
}

/** A row for each node, a column for each of its links. */
function matrixPanel(dimension, title, links) {
  const nodes = new Map();
  for (const l of links) {
    if (!nodes.has(l.from)) nodes.set(l.from, []);
    nodes.get(l.from).push(l);
  }
  const names = [...nodes.keys()].sort(natural), most = Math.max(...names.map((n) => nodes.get(n).length));
  for (const own of nodes.values()) own.sort((a, b) => natural(a.to, b.to) || natural(a.port, b.port));
  if (most <= MOST_COLUMNS && most * names.length <= MOST_CELLS && names.length <= 512) {
    const cells = new Array(most * names.length).fill(null);
    names.forEach((n, y) => nodes.get(n).forEach((l, x) => { cells[y * most + x] = l; }));
    return { dimension, title, about: `a row a node (${names.length}), a column a link (${most})`, width: most, height: names.length, cells };
  }
  const width = Math.ceil(Math.sqrt(names.length)), height = Math.ceil(names.length / width), cells = new Array(width * height).fill(null);
  names.forEach((n, i) => { cells[i] = joined(nodes.get(n)); });
  return { dimension, title, about: `the busiest link of each of ${names.length.toLocaleString("en-US")} nodes`, width, height, cells };
}

export function panelsOf(links, places, npus) {
  const panels = [];
  const dimensions = [...new Set(links.map((l) => l.dimension))].sort((a, b) => a - b);
  for (const d of dimensions) {
    const own = links.filter((l) => l.dimension === d), fromNpus = own.filter((l) => npuOf(l.from) !== null), others = own.filter((l) => npuOf(l.from) === null);
    if (fromNpus.length) panels.push(...npuPanels(d, fromNpus, places, npus));
    if (others.length) panels.push(matrixPanel(d, `dimension ${d}, from switches and memories`, others));
  }
  return panels;
}
