// SPDX-License-Identifier: Apache-2.0
// Key figures of a run, and all runs side by side.

import { busiest, CATEGORIES, hiddenCommunication, mean, runs } from "./data.js";
import { h, key, strip } from "./dom.js";
import * as f from "./format.js";
import { table } from "./table.js";

const figure = (name, value, note) =>
  h("div", { class: "figure" }, h("div", { class: "name" }, name), h("div", { class: "value" }, value), note ? h("div", { class: "note" }, note) : null);

function notices(run) {
  const s = run.summary, list = [];
  if (!s.finished) list.push(h("div", { class: "notice" }, h("b", {}, "The run did not finish. "), `These are its results up to ${f.time(s.time_ns)}; some may be missing.`));
  if (Array.isArray(s.invariants)) list.push(h("div", { class: "notice" }, h("b", {}, "The results break invariants of the model. "), s.invariants.join("; ")));
  if (s.warnings?.length) list.push(h("details", { class: "notice plain", open: s.warnings.length <= 3 }, h("summary", {}, `${s.warnings.length} warning${s.warnings.length > 1 ? "s" : ""}`), h("ul", {}, s.warnings.slice(0, 50).map((w) => h("li", {}, w)), s.warnings.length > 50 ? h("li", {}, `${s.warnings.length - 50} more in summary.json`) : null)));
  return list;
}

/** The last two parts of a path; the rest is on hover. */
const tail = (path) => path.split("/").slice(-2).join("/");

export function figures(run) {
  const s = run.summary, list = [figure("time", f.time(s.time_ns, 5), s.lower_bound_ns > 0 ? `lower bound ${f.time(s.lower_bound_ns)}` : "")];
  if (run.ranks) {
    const exposed = mean(run, "communication_ns"), hidden = hiddenCommunication(run);
    list.push(figure("compute", f.percent(mean(run, "compute_ns") / s.time_ns), "of the time, mean of the ranks"));
    list.push(figure("exposed communication", f.percent(exposed / s.time_ns), `${f.time(exposed)} a rank`));
    if (hidden !== null) list.push(figure("hidden communication", f.percent(hidden + exposed > 0 ? hidden / (hidden + exposed) : NaN), `of ${f.time(hidden + exposed)} under way a rank`));
    list.push(figure("idle", f.percent(mean(run, "idle_ns") / s.time_ns), "of the time, mean of the ranks"));
  }
  if (run.links) list.push(figure("busiest link", f.percent(busiest(run)), `of ${f.whole(run.links.of)} links`));
  if (s.footprint) list.push(figure("largest HBM footprint", f.bytes(s.footprint.peak_bytes), `rank ${s.footprint.rank} at ${f.time(s.footprint.peak_ns)}`));
  list.push(figure("simulated", `${f.whole(s.npus)} NPUs`, `${f.whole(s.messages)} messages in ${f.number(s.wall_s ?? 0, 3)} s`));
  return h("div", {}, notices(run), h("div", { class: "figures" }, list),
    h("p", { class: "soft small", title: [s.config, s.trace, run.path].filter(Boolean).join("\n") }, [s.notation, s.config && `configuration ${tail(s.config)}`, s.trace && `trace ${tail(s.trace)}`, `results ${tail(run.path)}`, `weft ${s.weft ?? "?"}`].filter(Boolean).join(" · ")));
}

/** Mean time of a rank by category, one bar a run, all to one scale. */
export function splitBars(list) {
  const shown = list.filter((r) => r.ranks);
  if (shown.length === 0) return null;
  const full = Math.max(...shown.map((r) => r.summary.time_ns)) || 1;
  return h("div", {}, h("h3", {}, "Time of a rank, mean"), key(CATEGORIES.map(([, name, c]) => [`var(--${c})`, name])),
    h("div", { class: "bars" }, shown.map((run) => [
      h("div", { class: "name", title: run.label }, run.label),
      strip(CATEGORIES.map(([column, name, c]) => [`var(--${c})`, `${run.label}: ${name}`, mean(run, column), `${f.time(mean(run, column))}, ${f.percent(mean(run, column) / run.summary.time_ns)} of the time`]), full),
      h("div", { class: "value" }, f.time(run.summary.time_ns))])));
}

/** [name, value of a run, text of a value, lower is better (null: neither)] */
const METRICS = [
  ["time", (r) => r.summary.time_ns, f.time, true],
  ["lower bound of the time", (r) => r.summary.lower_bound_ns, f.time, null],
  ["compute, mean of the ranks", (r) => mean(r, "compute_ns"), f.time, null],
  ["exposed local memory, mean", (r) => mean(r, "local_memory_ns"), f.time, true],
  ["exposed remote memory, mean", (r) => mean(r, "remote_memory_ns"), f.time, true],
  ["exposed communication, mean", (r) => mean(r, "communication_ns"), f.time, true],
  ["hidden communication, mean", hiddenCommunication, f.time, null],
  ["idle, mean", (r) => mean(r, "idle_ns"), f.time, true],
  ["bytes on links", (r) => r.summary.links?.bytes, f.bytes, null],
  ["busiest link", busiest, (v) => f.percent(v), null],
  ["messages", (r) => r.summary.messages, f.whole, null],
  ["largest HBM footprint", (r) => r.summary.footprint?.peak_bytes, f.bytes, true],
];

function operations() {
  const names = new Set(runs.flatMap((r) => Object.keys(r.summary.collectives ?? {})));
  return [...names].flatMap((op) => [
    [`${op}: time of all, summed`, (r) => r.summary.collectives?.[op]?.time_ns, f.time, true],
    [`${op}: bus bandwidth`, (r) => r.summary.collectives?.[op]?.busbw_GBps, (v) => `${f.number(v)} GB/s`, false],
  ]);
}

export function comparison() {
  const rows = [...METRICS, ...operations()]
    .map(([name, of, text, lower]) => ({ name, text, lower, values: runs.map((r) => of(r) ?? null) }))
    .filter((row) => row.values.some((v) => v !== null && v !== 0));
  const change = (row, i) => (row.values[0] > 0 && row.values[i] !== null && i > 0 ? row.values[i] / row.values[0] - 1 : null);
  const columns = [{ title: "figure", of: (r) => r.name }];
  runs.forEach((run, i) => {
    columns.push({ title: run.label, number: true, of: (r) => r.values[i], text: (v, r) => (v === null ? "–" : r.text(v)) });
    if (i > 0) columns.push({
      title: `against ${runs[0].label}`, number: true, of: (r) => change(r, i),
      text: (v) => (v === null ? "–" : v === 0 ? "same" : v >= 9 ? `× ${f.number(v + 1, 3)}` : `${v >= 0 ? "+" : "−"}${f.percent(Math.abs(v))}`),
      mark: (r) => (r.lower === null || Math.abs(change(r, i) ?? 0) < 0.0005 ? "" : change(r, i) < 0 === r.lower ? "better" : "worse"),
    });
  });
  const t = table(columns, { first: 100, label: "All runs side by side" });
  t.show(rows);
  return h("div", {}, h("p", { class: "soft" }, `Changes are against the first run, ${runs[0].label}. Green is better, red is worse.`), splitBars(runs), t.element, layers());
}

/** Exposed communication and compute of layers that several runs have. */
function layers() {
  const with_ = runs.filter((r) => r.layers);
  if (with_.length < 2) return null;
  const names = new Map();
  for (const run of with_)
    run.layers.layer.forEach((layer, i) => {
      const name = [run.layers.iteration[i], layer].filter(Boolean).join(" / ");
      const row = names.get(name) ?? { name, times: with_.map(() => null), exposed: with_.map(() => null) };
      const at = with_.indexOf(run);
      row.exposed[at] = run.layers.communication_ns[i];
      row.times[at] = ["compute_ns", "local_memory_ns", "remote_memory_ns", "communication_ns"].reduce((sum, c) => sum + run.layers[c][i], 0);
      names.set(name, row);
    });
  const columns = [{ title: "layer", of: (r) => r.name, cut: true }];
  const unit = f.common("time", [...names.values()].flatMap((r) => r.times));
  with_.forEach((run, i) => {
    columns.push({ title: `${run.label} (${unit.name})`, number: true, of: (r) => r.times[i], text: unit.text });
    columns.push({ title: `exposed comm. (${unit.name})`, number: true, of: (r) => r.exposed[i], text: unit.text });
  });
  const t = table(columns, { sort: 1, first: 15, label: "Layers of all runs" });
  t.show([...names.values()]);
  return h("div", {}, h("h3", {}, "Layers, mean of their ranks"), t.element);
}
