// SPDX-License-Identifier: Apache-2.0
// How busy each link was, drawn over the topology.

import { field, h, hideTip, select, showTip } from "./dom.js";
import * as f from "./format.js";
import { machine, MOST_DRAWN } from "./machine.js";
import { table } from "./table.js";
import { heat, onTheme } from "./theme.js";
import { npuOf, panelsOf, placesOf, sizesOf } from "./topology.js";

export function linkText(l, seconds) {
  return [`${l.from} · ${l.port} → ${l.to}`, `${f.percent(l.busy)} busy${l.links > 1 ? `: the busiest of ${l.links} links, mean ${f.percent(l.mean_busy)}` : ""}`,
    `${f.bytes(l.bytes)} in ${f.whole(l.messages)} messages${seconds > 0 ? `, ${f.number(l.bytes / seconds)} GB/s on average` : ""}`,
    `messages waited ${f.time(l.queued_ns)}, summed`, l.paused_ns > 0 ? `paused ${f.time(l.paused_ns)}` : ""].filter(Boolean).join("\n");
}

function links(data) {
  return data.from.map((from, i) => ({
    from: data.nodes[from], to: data.nodes[data.to[i]], port: data.ports[data.port[i]], dimension: data.dimension[i], busy: data.busy[i], bytes: data.bytes[i],
    messages: data.messages[i], queued_ns: data.queued_ns[i], paused_ns: data.paused_ns[i], links: data.links?.[i] ?? 1, mean_busy: data.mean_busy?.[i] ?? data.busy[i],
  }));
}

/** One heat map: cells[y][x] is a link or null. The pointer and the arrow keys read it. */
function map(panel, top, text) {
  const width = panel.width, height = panel.height;
  const size = Math.max(3, Math.min(24, Math.floor(Math.min(560 / width, 420 / height))));
  const canvas = h("canvas", { class: "cells", tabindex: "0", role: "img", "aria-label": `${panel.title}: ${panel.about}` });
  const at = { x: 0, y: 0 };
  const gap = size > 6 ? 1 : 0, ratio = Math.max(1, Math.min(3, Math.round(devicePixelRatio) || 1));
  canvas.width = width * size * ratio;
  canvas.height = height * size * ratio;
  canvas.style.width = `${width * size}px`;
  canvas.style.height = `${height * size}px`;
  function paint(cursor = false) {
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width * size, height * size);
    panel.cells.forEach((cell, i) => {
      if (!cell) return;
      pen.fillStyle = heat(top() > 0 ? cell.busy / top() : 0);
      pen.fillRect((i % width) * size, Math.floor(i / width) * size, size - gap, size - gap);
    });
    if (!cursor) return;
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 2;
    pen.strokeRect(at.x * size + 1, at.y * size + 1, size - 2, size - 2);
  }
  const tell = (x, y) => {
    const cell = panel.cells[at.y * width + at.x];
    cell ? showTip(text(cell), x, y) : hideTip();
  };
  canvas.addEventListener("pointermove", (e) => {
    const box = canvas.getBoundingClientRect();
    at.x = Math.max(0, Math.min(width - 1, Math.floor(((e.clientX - box.left) / box.width) * width)));
    at.y = Math.max(0, Math.min(height - 1, Math.floor(((e.clientY - box.top) / box.height) * height)));
    tell(e.clientX, e.clientY);
  });
  canvas.addEventListener("pointerleave", hideTip);
  const cursor = () => {
    paint(true);
    const box = canvas.getBoundingClientRect();
    tell(box.left + (at.x + 1) * size, box.top + at.y * size);
  };
  canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) cursor(); });
  canvas.addEventListener("blur", () => { paint(); hideTip(); });
  canvas.addEventListener("keydown", (e) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-width, 0], End: [width, 0] }[e.key];
    if (!move) return;
    e.preventDefault();
    at.x = Math.max(0, Math.min(width - 1, at.x + move[0]));
    at.y = Math.max(0, Math.min(height - 1, at.y + move[1]));
    cursor();
  });
  paint();
  onTheme(() => { paint(); return canvas.isConnected; });
  return { element: h("figure", { class: "map" }, h("figcaption", {}, h("b", {}, panel.title), ` ${panel.about}`), canvas), paint };
}

function ramp(top) {
  const canvas = h("canvas", { width: 160, height: 12, "aria-hidden": "true" }), end = h("span");
  const paint = () => {
    const pen = canvas.getContext("2d");
    for (let x = 0; x < 160; ++x) {
      pen.fillStyle = heat(x / 159);
      pen.fillRect(x, 0, 1, 12);
    }
    end.textContent = f.percent(top());
  };
  onTheme(() => { paint(); return canvas.isConnected; });
  paint();
  return { element: h("span", { class: "ramp small" }, "busy: 0 %", canvas, end), paint };
}

export function linkSection(run) {
  const data = run.links, all = links(data), seconds = run.summary.time_ns;
  const text = (l) => linkText(l, seconds);
  const busiest = Math.max(...data.dimensions.map((d) => d.busy_max), 0);
  const state = { dimension: "", text: "", scale: busiest > 0 && busiest < 0.5 ? "busiest" : "whole" };
  const top = () => (state.scale === "whole" ? 1 : busiest || 1);
  const npus = new Set(data.nodes.filter((n) => npuOf(n) !== null)).size;
  const painters = [];
  const places = placesOf(sizesOf(run.summary.notation, run.summary.npus), run.summary.npus);
  const panels = panelsOf(all, places, run.summary.npus).map((p) => {
    const own = map(p, top, text);
    painters.push(own.paint);
    return { ...own, dimension: p.dimension };
  });
  const legend = ramp(top);
  painters.push(legend.paint);
  const drawing = npus > 0 && npus <= MOST_DRAWN && !data.summed_by_node ? machine(all, run.summary, top, text) : null;
  if (drawing) painters.push(drawing.paint);
  const queued = f.common("time", all.map((l) => l.queued_ns)), size = f.common("bytes", all.map((l) => l.bytes));
  const list = table([
    { title: "from", of: (l) => l.from, cut: true }, { title: "port", of: (l) => l.port, cut: true }, { title: "to", of: (l) => l.to, cut: true }, { title: "dimension", number: true, of: (l) => l.dimension },
    { title: "busy", number: true, of: (l) => l.busy, text: (v) => f.percent(v) }, { title: `bytes (${size.name})`, number: true, of: (l) => l.bytes, text: size.text },
    { title: "messages", number: true, of: (l) => l.messages, text: f.whole }, { title: `messages waited (${queued.name})`, number: true, of: (l) => l.queued_ns, text: queued.text },
  ], { sort: 4, first: 10, label: "Links" });
  const moved = f.common("bytes", data.dimensions.map((d) => d.bytes)), waited = f.common("time", data.dimensions.map((d) => d.queued_ns));
  const sums = table([
    { title: "dimension", number: true, of: (d) => d.dimension }, { title: "links", number: true, of: (d) => d.links, text: f.whole }, { title: `bytes (${moved.name})`, number: true, of: (d) => d.bytes, text: moved.text },
    { title: "busy, mean", number: true, of: (d) => d.busy_mean, text: (v) => f.percent(v) }, { title: "p50", number: true, of: (d) => d.busy_p50, text: (v) => f.percent(v) },
    { title: "p99", number: true, of: (d) => d.busy_p99, text: (v) => f.percent(v) }, { title: "busiest", number: true, of: (d) => d.busy_max, text: (v) => f.percent(v) },
    { title: `messages waited (${waited.name})`, number: true, of: (d) => d.queued_ns, text: waited.text },
  ], { label: "Dimensions" });
  sums.show(data.dimensions);
  function refine() {
    const wanted = (l) => state.dimension === "" || String(l.dimension) === state.dimension;
    const words = state.text.toLowerCase();
    for (const p of panels) p.element.hidden = !wanted(p);
    list.show(all.filter((l) => wanted(l) && `${l.from} ${l.port} ${l.to}`.toLowerCase().includes(words)));
    drawing?.only((l) => wanted(l) && `${l.from} ${l.port} ${l.to}`.toLowerCase().includes(words));
  }
  refine();
  const left = [];
  if (data.summed_by_node) left.push(`The machine has ${f.whole(data.of)} links: a cell or row is the busiest one of a node and dimension; links.csv has each.`);
  if (data.rows_of > all.length) left.push(`Left out here: ${f.whole(data.rows_of - all.length)} less busy rows of ${f.whole(data.rows_of)}; links.csv has each.`);
  return h("div", {}, sums.element,
    h("div", { class: "controls" },
      select("dimension", [["", "all"], ...data.dimensions.map((d) => [String(d.dimension), String(d.dimension)])], "", (v) => { state.dimension = v; refine(); }),
      select("scale", [["whole", "0 to 100 %"], ["busiest", `0 to the busiest (${f.percent(busiest)})`]], state.scale, (v) => { state.scale = v; painters.forEach((p) => p()); }),
      field("from, port or to has", { "data-test": "link-filter" }, (v) => { state.text = v; refine(); })), legend.element,
    left.map((t) => h("p", { class: "soft small" }, t)),
    drawing ? h("div", {}, h("h3", {}, "The machine"), drawing.element) : null,
    h("h3", {}, "Heat maps"), h("p", { class: "soft small" }, `A cell is a link; in maps of NPUs it stands where its sender is: ${places.about}. Point at a cell, or use the arrow keys on a map, to read it.`), h("div", { class: "panels" }, panels.map((p) => p.element)),
    h("h3", {}, "Links"), list.element);
}
