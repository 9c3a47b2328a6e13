// SPDX-License-Identifier: Apache-2.0
// Collectives: phases with queue and network time, percentiles, the longest ones.

import { bars, categoryAxis, chart, shortened, valueAxis } from "./chart.js";
import { field, h, key, select, strip } from "./dom.js";
import * as f from "./format.js";
import { rowsOf, table } from "./table.js";
import { color } from "./theme.js";

const DRAWN = 20;
const CURVES = ["compute", "exposed", "local", "remote", "queue", "network", "idle"];

function phases(run) {
  const rows = run.phases;
  const name = (r) => `${r.op} ${r.phase} ${r.what.startsWith(r.op) ? r.what.slice(r.op.length).trim() : r.what}`;
  const drawn = rows.slice(0, DRAWN), all = f.common("time", rows.flatMap((r) => [r.queue_ns, r.network_ns]));
  const picture = chart(() => {
    const scale = f.common("time", drawn.map((r) => r.queue_ns + r.network_ns));
    return {
      tooltip: { formatter: (points) => {
        const r = drawn[points[0].dataIndex];
        return [name(r), `${f.whole(r.collectives)} collectives`, `queue: ${f.time(r.queue_ns)}`, `network: ${f.time(r.network_ns)}`].join("\n");
      } },
      xAxis: valueAxis(`time summed over chunks (${scale.name})`, { nameGap: 26 }),
      yAxis: categoryAxis(drawn.map((r) => shortened(name(r), 40)), { inverse: true }),
      series: [bars("queue: chunks wait for the phase", "queue", drawn.map((r) => scale.of(r.queue_ns)), { barMaxWidth: 18 }), bars("network: chunks are in it", "network", drawn.map((r) => scale.of(r.network_ns)), { barMaxWidth: 18 })],
    };
  }, { height: 76 + 24 * drawn.length, label: "Queue and network time of each phase" });
  const list = table([
    { title: "operation", of: (r) => r.op }, { title: "phase", of: (r) => r.phase }, { title: "what", of: (r) => r.what, cut: true },
    { title: "collectives", number: true, of: (r) => r.collectives, text: f.whole },
    { title: `queue (${all.name})`, number: true, of: (r) => r.queue_ns, text: all.text }, { title: `network (${all.name})`, number: true, of: (r) => r.network_ns, text: all.text },
    { title: "queue's share", number: true, of: (r) => r.queue_ns / (r.queue_ns + r.network_ns || 1), text: (v) => f.percent(v) },
  ], { first: 12, label: "Phases" });
  list.show(rows);
  return h("div", {}, h("h3", {}, "Phases"), picture.element, rows.length > DRAWN ? h("p", { class: "soft small" }, `The chart has the first ${DRAWN} of ${rows.length} phases.`) : null, list.element);
}

function percentiles(run) {
  const data = run.percentiles, rows = data.rows.map((r) => ({ ...r, ...(r.time_ns ?? {}) })), unit = f.common("time", rows.map((r) => r.max));
  const time = (title) => ({ title: `${title} (${unit.name})`, number: true, of: (r) => r[title], text: unit.text });
  const list = table([
    { title: "operation", of: (r) => r.op }, { title: "size", number: true, of: (r) => r.bytes, text: (v) => f.bytes(v) }, { title: "ranks", number: true, of: (r) => r.ranks, text: f.whole },
    { title: "count", number: true, of: (r) => r.count, text: f.whole }, ...["min", "p50", "p90", "p95", "p99", "max"].map(time),
    { title: "bus bandwidth p50 (GB/s)", number: true, of: (r) => r.busbw_GBps?.p50, text: (v) => f.number(v) },
  ], { first: 12, label: "Percentiles of the time of collectives" });
  list.show(rows);
  const curves = Object.entries(data.curves), most = Math.max(...curves.map(([, c]) => c[c.length - 1])), scale = f.common("time", [most]);
  const picture = chart(() => ({
    tooltip: { axisPointer: { type: "line" }, formatter: (points) => [`${points[0].axisValue} % of the collectives take at most`, ...points.map((p) => `${p.seriesName}: ${f.time(curves[p.seriesIndex][1][p.dataIndex])}`)].join("\n") },
    xAxis: categoryAxis([...Array(101).keys()], { name: "% of the collectives", nameLocation: "middle", nameGap: 26, axisLabel: { interval: 9, color: color("soft") } }),
    yAxis: valueAxis(`take at most (${scale.name})`),
    series: curves.map(([op, values], i) => ({ name: op, type: "line", step: "end", showSymbol: false, data: values.map(scale.of), lineStyle: { width: 2, color: color(CURVES[i % CURVES.length]) }, itemStyle: { color: color(CURVES[i % CURVES.length]) } })),
  }), { height: 240, label: "Distribution of the time of collectives" });
  return h("div", {}, h("h3", {}, "Percentiles"), picture.element, list.element, data.of > rows.length ? h("p", { class: "soft small" }, `Left out here: ${data.of - rows.length} kinds with the least time; collectives.csv has every collective.`) : null);
}

const SPLIT = [["message_queue_ns", "queue"], ["message_serialise_ns", "serialise"], ["message_latency_ns", "latency"], ["message_endpoint_ns", "endpoint"], ["message_reduce_ns", "reduce"]];

function detail(run, row) {
  const own = run.longest.phases?.[row.index] ?? [], full = own.reduce((sum, p) => sum + p[2] + p[3], 0) || 1;
  return h("div", {}, h("div", { class: "bars" }, own.map(([phase, what, queue, network]) => [
    h("div", { class: "name" }, `${phase} ${what}`),
    strip([["var(--queue)", "queue", queue, f.time(queue)], ["var(--network)", "network", network, f.time(network)]], full),
    h("div", { class: "value" }, `${f.time(queue)} + ${f.time(network)}`)])),
  own.length ? key([["var(--queue)", "queue"], ["var(--network)", "network"]]) : null,
  h("p", { class: "small" }, `${f.whole(row.messages)} messages, their time summed: ` + SPLIT.map(([c, name]) => `${name} ${f.time(row[c])}`).join(", ") + "."),
  h("p", { class: "small soft" }, `${row.name || "(no name)"} · stream ${row.stream} · ${row.group ? `group ${row.group}` : "all ranks"} · ${f.whole(row.chunks)} chunks${row.folded_ranks ? ` · ${f.whole(row.folded_ranks)} ranks folded` : ""}${row.fidelity_rule ? ` · fidelity rule ${row.fidelity_rule}` : ""}`));
}

function longest(run) {
  const data = run.longest, rows = rowsOf(data, data.op.length), ops = [...new Set(data.op)];
  const unit = f.common("time", rows.map((r) => r.time_ns)), start = f.common("time", [run.summary.time_ns]), waits = f.common("time", rows.flatMap((r) => [r.queue_ns, r.network_ns]));
  const state = { op: "", text: "" };
  const list = table([
    { title: "collective", of: (r) => r.name, cut: true }, { title: "operation", of: (r) => r.op }, { title: "group", of: (r) => r.group || "all", cut: true },
    { title: "size", number: true, of: (r) => r.bytes, text: (v) => f.bytes(v) }, { title: "ranks", number: true, of: (r) => r.ranks, text: f.whole },
    { title: `start (${start.name})`, number: true, of: (r) => r.start_ns, text: start.text },
    { title: `time (${unit.name})`, number: true, of: (r) => r.time_ns, text: (v, r) => (v === null ? (r.start_ns === null ? "not started" : "not finished") : unit.text(v)) },
    { title: "efficiency", number: true, of: (r) => r.efficiency, text: (v) => f.percent(v) }, { title: "bus bw. (GB/s)", number: true, of: (r) => r.busbw_GBps, text: (v) => f.number(v) },
    { title: `queue (${waits.name})`, number: true, of: (r) => r.queue_ns, text: waits.text }, { title: `network (${waits.name})`, number: true, of: (r) => r.network_ns, text: waits.text },
  ], { first: 12, label: "The longest collectives", detail: (row) => detail(run, row) });
  const refine = () => list.show(rows.filter((r) => (!state.op || r.op === state.op) && `${r.name} ${r.group}`.toLowerCase().includes(state.text.toLowerCase())));
  refine();
  return h("div", {}, h("h3", {}, "The longest collectives"), h("p", { class: "soft" }, "A row opens its phases."),
    h("div", { class: "controls" }, select("operation", [["", "all"], ...ops.map((o) => [o, o])], "", (v) => { state.op = v; refine(); }), field("name or group has", { "data-test": "collective-filter" }, (v) => { state.text = v; refine(); })),
    list.element, data.of > rows.length ? h("p", { class: "soft small" }, `Left out here: ${f.whole(data.of - rows.length)} shorter ones of ${f.whole(data.of)}; collectives.csv has each.`) : null);
}

export function collectives(run) {
  return h("div", {}, h("p", { class: "soft" }, "Queue and network time are summed over chunks, mean over ranks. As chunks wait side by side, the sum may be more than the collective's time."),
    run.phases?.length ? phases(run) : null, percentiles(run), longest(run));
}
