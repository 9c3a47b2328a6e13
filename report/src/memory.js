// SPDX-License-Identifier: Apache-2.0
// What the tensors of each rank take in its HBM.

import { bars, categoryAxis, chart, valueAxis } from "./chart.js";
import { h } from "./dom.js";
import * as f from "./format.js";
import { rowsOf, table } from "./table.js";
import { color } from "./theme.js";

const DRAWN = 64;

export function memory(run) {
  const data = run.footprint, rows = rowsOf(data, data.rank.length), size = f.common("bytes", rows.map((r) => r.peak_bytes)), time = f.common("time", [run.summary.time_ns]);
  const drawn = rows.slice(0, DRAWN), capacity = Math.max(0, ...rows.map((r) => r.capacity_bytes ?? 0));
  const picture = chart(() => {
    const scale = f.common("bytes", [...drawn.map((r) => r.peak_bytes), capacity]);
    const series = [bars("from the beginning to the end", "compute", drawn.map((r) => scale.of(r.initial_bytes))), bars("more at the peak", "queue", drawn.map((r) => scale.of(r.peak_bytes - r.initial_bytes)))];
    if (capacity) series.push({ name: "capacity of the HBM", type: "line", symbol: "none", data: drawn.map((r) => (r.capacity_bytes ? scale.of(r.capacity_bytes) : null)), lineStyle: { type: "dashed", color: color("bad") }, itemStyle: { color: color("bad") } });
    return {
      tooltip: { formatter: (points) => {
        const r = drawn[points[0].dataIndex];
        return [`rank ${r.rank}`, `peak ${f.bytes(r.peak_bytes)} at ${f.time(r.peak_ns)}`, `initial ${f.bytes(r.initial_bytes)}`, r.capacity_bytes ? `capacity ${f.bytes(r.capacity_bytes)}` : "", ...r.largest.split("; ").filter(Boolean).map((t) => t.replace(/=(\d+)$/, (_, b) => `: ${f.bytes(Number(b))}`))].filter(Boolean).join("\n");
      } },
      xAxis: categoryAxis(drawn.map((r) => r.rank), { name: "rank, the largest peak first", nameLocation: "middle", nameGap: 26 }), yAxis: valueAxis(scale.name), series,
    };
  }, { height: 260, label: "Peak footprint of each rank" });
  const list = table([
    { title: "rank", number: true, of: (r) => r.rank }, { title: "source", of: (r) => r.source }, { title: "tensors", number: true, of: (r) => r.tensors, text: f.whole },
    { title: `initial (${size.name})`, number: true, of: (r) => r.initial_bytes, text: size.text }, { title: `peak (${size.name})`, number: true, of: (r) => r.peak_bytes, text: size.text }, { title: `at (${time.name})`, number: true, of: (r) => r.peak_ns, text: time.text },
    { title: `capacity (${size.name})`, number: true, of: (r) => r.capacity_bytes, text: (v) => (v === null ? "unlimited" : size.text(v)) }, { title: `over for (${time.name})`, number: true, of: (r) => r.over_ns, text: time.text }, { title: "largest tensors at the peak", cut: true, of: (r) => r.largest },
  ], { first: 10, label: "Footprints" });
  list.show(rows);
  return h("div", {}, picture.element, rows.length > DRAWN ? h("p", { class: "soft small" }, `The chart has the ${DRAWN} largest of ${f.whole(data.of)} ranks.`) : null, list.element);
}
