// SPDX-License-Identifier: Apache-2.0
// The critical path (critical_path.json, critical_path.csv): its terms, its pieces in time, by node, layer, collective
// and link, and what would happen if something were faster.

import { field, h, key, select, strip } from "./dom.js";
import * as f from "./format.js";
import { rowsOf, table } from "./table.js";

/** In the order in which an architect asks; with what colours say elsewhere on the page. */
const TERMS = [
  ["compute", "compute"], ["local_memory", "local"], ["remote_memory", "remote"], ["queueing", "queue"], ["serialisation", "network"],
  ["latency", "exposed"], ["endpoint", "hidden"], ["reduction", "bad"], ["wait", "idle"], ["unrecorded", "line"],
];
const COLOR = Object.fromEntries(TERMS.map(([name, c]) => [name, `var(--${c})`]));
const words = (name) => name.replace(/_/g, " ");
const ns = (ps) => (ps === null || ps === undefined ? null : ps / 1000);
const termsOf = (object) => TERMS.map(([name]) => [name, ns(object[`${name}_ps`] ?? 0)]).filter(([, v]) => v > 0);

const LISTS = [["nodes", "By node"], ["layers", "By layer"], ["collectives", "By collective"], ["links", "By link"]];

function sums(path, name, title, leftOut) {
  const rows = path[name] ?? [];
  if (rows.length === 0) return null;
  const unit = f.common("time", rows.map((r) => ns(r.time_ps))), used = TERMS.filter(([term]) => rows.some((r) => r[`${term}_ps`] > 0));
  const list = table([
    { title: name.replace(/s$/, ""), of: (r) => r.name || "(no name)", cut: true },
    { title: `on the path (${unit.name})`, number: true, of: (r) => ns(r.time_ps), text: unit.text },
    { title: "share", number: true, of: (r) => r.time_ps / path.time_ps, text: (v) => f.percent(v) },
    ...used.map(([term]) => ({ title: `${words(term)} (${unit.name})`, number: true, of: (r) => ns(r[`${term}_ps`]), text: unit.text })),
  ], { sort: 1, first: 8, label: title });
  list.show(rows);
  return h("div", {}, h("h3", {}, title), list.element, leftOut ? h("p", { class: "soft small" }, `Left out here: ${f.whole(leftOut - rows.length)} of ${f.whole(leftOut)}; critical_path.json has each.`) : null);
}

function whatIf(path) {
  const levers = path.what_if?.levers?.filter((l) => l.on_path_ps > 0) ?? [];
  if (levers.length === 0) return null;
  const unit = f.common("time", levers.map((l) => ns(l.on_path_ps)));
  const list = table([
    { title: `${path.what_if.percent} % faster`, of: (l) => l.lever, cut: true },
    { title: `on the path (${unit.name})`, number: true, of: (l) => ns(l.on_path_ps), text: unit.text },
    { title: `the run ends sooner by (${unit.name})`, number: true, of: (l) => ns(l.falls_ps), text: unit.text },
    { title: "share", number: true, of: (l) => l.falls_ps / path.time_ps, text: (v) => f.percent(v, 2) },
    { title: "then limited by", of: (l) => l.limited_by || "the same path", cut: true },
  ], { sort: 2, first: 12, label: "What if" });
  list.show(levers);
  return h("div", {}, h("h3", {}, "What if"), h("p", { class: "soft" }, "To first order, and not further than the next path allows."), list.element);
}

/** Pieces in a row, as wide as they are long; neighbours that are too narrow to see join. */
function timeline(pieces, path) {
  const full = ns(path.time_ps) || 1, least = full / 600, parts = [];
  for (const p of pieces) {
    const last = parts[parts.length - 1], long = p.to - p.from;
    if (last && p.from > last.to) parts.push({ from: last.to, to: p.from, count: 0, term: "", times: {} });
    const top = parts[parts.length - 1];
    if (top && top.count > 0 && (long < least || top.to - top.from < least) && top.to - top.from < 4 * least) {
      top.to = p.to;
      ++top.count;
    } else parts.push({ from: p.from, to: p.to, count: 1, piece: p, times: {} });
    const own = parts[parts.length - 1];
    own.times[p.term] = (own.times[p.term] ?? 0) + long;
    own.term = Object.entries(own.times).sort((a, b) => b[1] - a[1])[0][0];
  }
  const about = (p) => {
    const span = `${f.time(p.from)} to ${f.time(p.to)}`;
    if (p.count === 0) return `${span}, not listed here`;
    if (p.count > 1) return [`${span}, ${p.count} pieces`, ...Object.entries(p.times).map(([t, v]) => `${words(t)}: ${f.time(v)}`)].join("\n");
    const q = p.piece;
    return [f.time(p.to - p.from), span, q.place, q.collective, q.name && `node ${q.node}: ${q.name}`, q.layer && `layer ${q.layer}`].filter(Boolean).join("\n");
  };
  return strip(parts.map((p) => [COLOR[p.term] ?? "transparent", words(p.term), p.to - p.from, about(p)]), full);
}

function piecesOf(run, number, path) {
  const data = run.path_pieces;
  if (!data) return null;
  const pieces = rowsOf(data, data.term.length).filter((p) => p.path === number).map((p) => ({ ...p, from: ns(p.from_ps - path.from_ps), to: ns(p.to_ps - path.from_ps) }));
  if (pieces.length === 0) return null;
  const unit = f.common("time", pieces.map((p) => p.to - p.from)), start = f.common("time", [ns(path.time_ps)]), state = { term: "", text: "" };
  const list = table([
    { title: `from (${start.name})`, number: true, of: (p) => p.from, text: start.text }, { title: `time (${unit.name})`, number: true, of: (p) => p.to - p.from, text: unit.text },
    { title: "term", of: (p) => words(p.term) }, { title: "place", of: (p) => p.place, cut: true }, { title: "collective", of: (p) => p.collective, cut: true },
    { title: "node", of: (p) => p.name, cut: true }, { title: "layer", of: (p) => p.layer, cut: true },
  ], { first: 10, label: "Pieces of the critical path" });
  const refine = () => list.show(pieces.filter((p) => (!state.term || p.term === state.term) && `${p.place} ${p.collective} ${p.name} ${p.layer}`.toLowerCase().includes(state.text.toLowerCase())));
  refine();
  return h("div", {}, h("h3", {}, "From the beginning to the end"), timeline(pieces, path),
    h("div", { class: "controls" }, select("term", [["", "all"], ...[...new Set(pieces.map((p) => p.term))].map((t) => [t, words(t)])], "", (v) => { state.term = v; refine(); }),
      field("place, collective, node or layer has", { "data-test": "path-filter" }, (v) => { state.text = v; refine(); })), list.element,
    data.of > data.term.length ? h("p", { class: "soft small" }, `Left out here: ${f.whole(data.of - data.term.length)} shorter pieces of ${f.whole(data.of)}; critical_path.csv has each.`) : null);
}

function one(run, path, number) {
  const terms = termsOf(path.terms ?? {}), total = ns(path.time_ps), left = run.critical_path.left_out ?? {};
  return h("div", {}, h("h3", {}, `${path.what ? `${path.what}: ` : ""}${f.time(total, 5)}, ends at NPU ${path.ends_at_npu}`),
    strip(terms.map(([name, v]) => [COLOR[name], words(name), v, `${f.time(v)}, ${f.percent(v / total)}`]), total),
    key(terms.map(([name, v]) => [COLOR[name], `${words(name)} ${f.time(v)} (${f.percent(v / total)})`])),
    piecesOf(run, number, path), whatIf(path), LISTS.map(([name, title]) => sums(path, name, title, left[`/paths/${number}/${name}`])));
}

export function criticalPath(run) {
  const data = run.critical_path, paths = data.paths ?? [];
  return h("div", {}, h("p", { class: "soft" }, "From the end of the run back to its beginning, always to what was last to let the next activity begin. Its terms add up to the time of the run."),
    data.forgotten > 0 ? h("p", { class: "soft" }, `The log of causes was full: ${f.whole(data.forgotten)} of ${f.whole(data.activities)} activities are forgotten; "unrecorded" is what they took.`) : null,
    paths.map((path, i) => one(run, path, i)), data.left_out?.["/paths"] ? h("p", { class: "soft small" }, `Left out here: further paths; critical_path.json has ${f.whole(data.left_out["/paths"])}.`) : null);
}
