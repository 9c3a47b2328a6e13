// SPDX-License-Identifier: Apache-2.0
// A small machine as nodes and links. Both directions of a link are drawn side by side.

import { h, s, withTip } from "./dom.js";
import { heat, onTheme } from "./theme.js";
import { npuOf, placesOf, sizesOf } from "./topology.js";

export const MOST_DRAWN = 64;
const STEP = 100;

function neighbours(links) {
  const of = new Map();
  const add = (a, b) => {
    if (!of.has(a)) of.set(a, new Set());
    of.get(a).add(b);
  };
  for (const l of links) {
    add(l.from, l.to);
    add(l.to, l.from);
  }
  return of;
}

/** How many links a node is away from the nearest NPU. */
function levels(of) {
  const level = new Map([...of.keys()].filter((n) => npuOf(n) !== null).map((n) => [n, 0]));
  let ring = [...level.keys()];
  while (ring.length) {
    const next = [];
    for (const n of ring)
      for (const peer of of.get(n))
        if (!level.has(peer)) {
          level.set(peer, level.get(n) + 1);
          next.push(peer);
        }
    ring = next;
  }
  return level;
}

const mean = (points) => [points.reduce((t, p) => t + p[0], 0) / points.length, points.reduce((t, p) => t + p[1], 0) / points.length];

/** Places in units of STEP: NPUs by their dimensions or on a circle, switches among their neighbours or in rows above. */
function layout(links, summary) {
  const of = neighbours(links), level = levels(of);
  const npus = [...of.keys()].filter((n) => npuOf(n) !== null).sort((a, b) => npuOf(a) - npuOf(b));
  const deepest = Math.max(0, ...level.values()), sizes = sizesOf(summary.notation, summary.npus);
  const place = new Map();
  const rows = deepest >= 2 && !(sizes && sizes.filter((n) => n > 1).length > 1);
  if (rows) {
    npus.forEach((n, i) => place.set(n, [i, deepest]));
    for (let d = 1; d <= deepest; ++d) {
      const own = [...level.keys()].filter((n) => level.get(n) === d).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      const wide = npus.length / own.length;
      own.forEach((n, i) => place.set(n, [(i + 0.5) * wide - 0.5, deepest - d]));
    }
    // Leaves of a wide tree stand closer, and its rows further apart.
    const tall = Math.max(1.8, npus.length / 14), wide = npus.length > 16 ? 0.5 : 1;
    for (const p of place.values()) {
      p[0] *= wide;
      p[1] *= tall;
    }
    return place;
  }
  if (sizes && sizes.filter((n) => n > 1).length > 1) {
    const grid = placesOf(sizes, summary.npus);
    for (const n of npus) place.set(n, grid.of(npuOf(n)));
  } else {
    const radius = Math.max(1.2, npus.length / 5.5);
    npus.forEach((n, i) => place.set(n, [radius * Math.sin((2 * Math.PI * i) / npus.length), -radius * Math.cos((2 * Math.PI * i) / npus.length)]));
  }
  for (let d = 1; d <= deepest; ++d)
    for (const n of [...level.keys()].filter((m) => level.get(m) === d)) {
      const below = [...of.get(n)].filter((m) => level.get(m) < d && place.has(m));
      const p = mean(below.map((m) => place.get(m)));
      if (below.length === 1) p[1] += 0.6;
      // Not on another node: further along a spiral until there is room.
      for (let k = 1, q = p; ; ++k) {
        if (![...place.values()].some((o) => Math.hypot(o[0] - q[0], o[1] - q[1]) < 0.42)) {
          place.set(n, q);
          break;
        }
        q = [p[0] + 0.14 * Math.sqrt(k) * Math.cos(2.4 * k), p[1] + 0.14 * Math.sqrt(k) * Math.sin(2.4 * k)];
      }
    }
  return place;
}

/** From a to b, bent to the right of the way so that the other direction is beside it; more for long ways. */
function curve(a, b, lane) {
  const dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy) || 1;
  const bend = 7 + 5 * lane + (length > 1.3 * STEP ? 0.1 * length : 0);
  const x = (a[0] + b[0]) / 2 - (dy / length) * bend, y = (a[1] + b[1]) / 2 + (dx / length) * bend;
  return `M${a[0].toFixed(1)},${a[1].toFixed(1)}Q${x.toFixed(1)},${y.toFixed(1)} ${b[0].toFixed(1)},${b[1].toFixed(1)}`;
}

const short = (name) => {
  const npu = npuOf(name);
  const own = name.replace(/^switch_/, "");
  return npu !== null ? String(npu) : own.length > 12 ? `${own.slice(0, 10)}…` : own;
};

export function machine(links, summary, top, text) {
  const place = layout(links, summary);
  const points = new Map([...place].map(([n, p]) => [n, [p[0] * STEP, p[1] * STEP]]));
  const xs = [...points.values()].map((p) => p[0]), ys = [...points.values()].map((p) => p[1]);
  const box = [Math.min(...xs) - 60, Math.min(...ys) - 60, Math.max(...xs) - Math.min(...xs) + 120, Math.max(...ys) - Math.min(...ys) + 120];
  const lanes = new Map();
  const edges = [...links].sort((a, b) => a.busy - b.busy).filter((l) => points.has(l.from) && points.has(l.to)).map((link) => {
    const pair = `${link.from} ${link.to}`, lane = lanes.get(pair) ?? 0;
    lanes.set(pair, lane + 1);
    const path = s("path", { class: "edge", d: curve(points.get(link.from), points.get(link.to), lane) });
    withTip(path, () => text(link));
    return { link, path };
  });
  const nodes = [...points].map(([name, [x, y]]) => {
    const npu = npuOf(name) !== null;
    return s("g", {}, npu ? s("circle", { class: "node", cx: x, cy: y, r: 15 }) : s("rect", { class: "node", x: x - 6.2 * Math.max(3, short(name).length) / 2 - 6, y: y - 11, width: 6.2 * Math.max(3, short(name).length) + 12, height: 22, rx: 4 }),
      s("text", { x, y }, short(name)), s("title", {}, npu ? `NPU ${npuOf(name)}` : name));
  });
  const drawing = s("svg", { class: "machine", viewBox: box.join(" "), role: "img", "aria-label": `${summary.notation || "the machine"}: NPUs as circles, switches as boxes, links coloured by how busy they were` }, edges.map((e) => e.path), nodes);
  drawing.style.maxWidth = `${Math.round(Math.min(1200, Math.max(360, box[2] * 1.15)))}px`;
  const paint = () => {
    for (const { link, path } of edges) {
      const share = top() > 0 ? link.busy / top() : 0;
      path.style.stroke = heat(0.12 + 0.88 * share);
      path.style.strokeWidth = 1.5 + 4 * Math.min(1, share);
    }
    return true;
  };
  paint();
  onTheme(() => { paint(); return drawing.isConnected; });
  return {
    element: h("div", {}, drawing), paint,
    only: (wanted) => edges.forEach(({ link, path }) => path.classList.toggle("faint", !wanted(link))),
  };
}
