// SPDX-License-Identifier: Apache-2.0
// From the names of links to places on a plane.

const MOST_PORTS = 8;
const MOST_COLUMNS = 256;
const MOST_CELLS = 65536;
/** Up to so many links from switches are told by sender; of more, those to NPUs stand where their NPU is. */
const MOST_ROW = 512;

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

/** NPU i's position in a dimension; dimension 0 counts fastest. */
export function positionOf(sizes, dimension, i) {
  return Math.floor(i / sizes.slice(0, dimension).reduce((a, b) => a * b, 1)) % sizes[dimension];
}

/** Places by some of the dimensions: NPUs that differ in the others only share a cell. */
function placesBy(sizes, [across, down], npus) {
  const width = sizes[across], height = down === undefined ? 1 : sizes[down];
  return {
    width, height, grouped: npus / (width * height),
    about: down === undefined ? `its position in dimension ${across}, to the right` : `its position in dimension ${across} to the right, in dimension ${down} down`,
    of: (i) => [positionOf(sizes, across, i), down === undefined ? 0 : positionOf(sizes, down, i)],
  };
}

/** Ways to group NPUs: by their position in one or two dimensions. None where that would be every NPU. */
export function groupsOf(sizes) {
  const npus = (sizes ?? []).reduce((a, b) => a * b, 1), long = (sizes ?? []).map((n, d) => (n > 1 ? d : -1)).filter((d) => d >= 0), groups = [];
  const add = (title, ...dimensions) => {
    const places = placesBy(sizes, dimensions, npus);
    if (places.grouped > 1) groups.push({ key: dimensions.join("x"), title, places });
  };
  long.forEach((a, i) => long.slice(i + 1).forEach((b) => add(`by dimensions ${a} and ${b}`, a, b)));
  long.forEach((d) => add(`by dimension ${d}`, d));
  return groups;
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

/** `byNpu`: links by the NPU where they stand. NPUs may share a cell. */
function gridPanel(dimension, title, about, byNpu, places, npus) {
  const lists = new Map();
  for (const [npu, links] of byNpu) {
    if (npu >= npus) continue;
    const [x, y] = places.of(npu), at = y * places.width + x;
    lists.has(at) ? lists.get(at).push(...links) : lists.set(at, [...links]);
  }
  const cells = new Array(places.width * places.height).fill(null);
  for (const [at, links] of lists) cells[at] = joined(links);
  return { dimension, title, about, width: places.width, height: places.height, cells };
}

/** The links by the NPU that `of` tells. */
function byNpu(links, of) {
  const map = new Map();
  for (const l of links) {
    const i = npuOf(of(l));
    if (!map.has(i)) map.set(i, []);
    map.get(i).push(l);
  }
  return map;
}

/** Links that leave NPUs: a map for each port where there are few, else one with the busiest. */
function npuPanels(dimension, links, places, npus) {
  const ports = [...new Set(links.map((l) => l.port))].sort(natural);
  const perNpu = byNpu(links, (l) => l.from);
  const most = Math.max(...[...perNpu.values()].map((own) => own.length));
  // Rings have ends and meshes borders: a port that half of the NPUs have is one of all.
  const shared = () => ports.every((port) => 2 * links.filter((l) => l.port === port).length >= perNpu.size);
  if (ports.length <= MOST_PORTS && shared())
    return ports.map((port) => {
      const own = links.filter((l) => l.port === port), map = byNpu(own, (l) => l.from);
      return gridPanel(dimension, `dimension ${dimension}, ${port.replace(/^d\d+_/, "")}`, `of ${own.length.toLocaleString("en-US")} NPUs`, map, places, npus);
    });
  if (most === 1) return [gridPanel(dimension, `dimension ${dimension}, from NPUs`, `of ${perNpu.size.toLocaleString("en-US")} NPUs`, perNpu, places, npus)];
  if (most * perNpu.size <= 4096 && !places.grouped) return [matrixPanel(dimension, `dimension ${dimension}, from NPUs`, links)];
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
    const down = others.length > MOST_ROW ? others.filter((l) => npuOf(l.to) !== null) : [], rest = down.length ? others.filter((l) => npuOf(l.to) === null) : others;
    if (down.length) panels.push(gridPanel(d, `dimension ${d}, to NPUs`, `${down.length.toLocaleString("en-US")} links to NPUs from switches and memories`, byNpu(down, (l) => l.to), places, npus));
    if (rest.length) panels.push(matrixPanel(d, `dimension ${d}, from switches and memories`, rest));
  }
  return panels;
}
