// SPDX-License-Identifier: Apache-2.0
// How busy each link was, drawn over the topology.

import { field, h, select } from "./dom.js";
import * as f from "./format.js";
import { heatMap } from "./heatmap.js";
import { machine, MOST_DRAWN } from "./machine.js";
import { table } from "./table.js";
import { heat, onTheme } from "./theme.js";
import { groupsOf, npuOf, panelsOf, placesOf, sizesOf } from "./topology.js";

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
  const state = { dimension: "", text: "", group: "", measure: "busy", scale: busiest > 0 && busiest < 0.5 ? "busiest" : "whole" };
  const top = () => (state.scale === "whole" ? 1 : busiest || 1);
  const npus = new Set(data.nodes.filter((n) => npuOf(n) !== null)).size;
  const shade = (l) => (top() > 0 ? l[state.measure] / top() : 0);
  const sizes = sizesOf(run.summary.notation, run.summary.npus), groups = groupsOf(sizes);
  const painters = [], maps = h("div", { class: "panels" }), about = h("p", { class: "soft small" });
  let panels = [];
  /** The maps anew: what a cell stands for has changed. */
  function layOut() {
    const places = groups.find((g) => g.key === state.group)?.places ?? placesOf(sizes, run.summary.npus);
    panels = panelsOf(all, places, run.summary.npus).map((p) => ({ ...heatMap(p, shade, text), dimension: p.dimension }));
    maps.replaceChildren(...panels.map((p) => p.element));
    about.textContent = `A cell is ${places.grouped ? `all links of a group of ${f.whole(places.grouped)} NPUs` : "a link"}; in maps of NPUs it stands where its NPU is: ${places.about}. Point at a cell, or use the arrow keys on a map, to read it; + and − enlarge a map and make it smaller, as a double click does.`;
  }
  layOut();
  painters.push(() => panels.forEach((p) => p.paint()));
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
      groups.length ? select("group", [["", "every NPU"], ...groups.map((g) => [g.key, g.title])], "", (v) => { state.group = v; layOut(); refine(); }) : null,
      groups.length || data.summed_by_node ? select("colour", [["busy", "busiest link"], ["mean_busy", "mean of the links"]], "busy", (v) => { state.measure = v; painters.forEach((p) => p()); }) : null,
      select("scale", [["whole", "0 to 100 %"], ["busiest", `0 to the busiest (${f.percent(busiest)})`]], state.scale, (v) => { state.scale = v; painters.forEach((p) => p()); }),
      field("from, port or to has", { "data-test": "link-filter" }, (v) => { state.text = v; refine(); })), legend.element,
    left.map((t) => h("p", { class: "soft small" }, t)),
    drawing ? h("div", {}, h("h3", {}, "The machine"), drawing.element) : null,
    h("h3", {}, "Heat maps"), about, maps,
    h("h3", {}, "Links"), list.element);
}
