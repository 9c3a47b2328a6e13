// SPDX-License-Identifier: Apache-2.0
// Where the time of each layer of the model went.

import { bars, categoryAxis, chart, shortened, valueAxis } from "./chart.js";
import { field, h, select } from "./dom.js";
import * as f from "./format.js";
import { rowsOf, table } from "./table.js";

const PARTS = [["compute_ns", "compute", "compute"], ["local_memory_ns", "exposed local memory", "local"], ["remote_memory_ns", "exposed remote memory", "remote"], ["communication_ns", "exposed communication", "exposed"]];
const WAITS = [["queue_ns", "queue", "queue"], ["network_ns", "network", "network"]];
const DRAWN = 24;
const total = (row) => PARTS.reduce((sum, [c]) => sum + row[c], 0);

export function layers(run) {
  const data = run.layers;
  const rows = rowsOf(data, data.layer.length).map((r) => ({ ...r, name: [r.iteration, r.layer].filter(Boolean).join(" / ") || "(no name)" }));
  const state = { text: "", order: "time", view: "time" };
  let shown = rows;
  const unit = f.common("time", rows.map(total)), waits = f.common("time", rows.flatMap((r) => [r.queue_ns, r.network_ns])), size = f.common("bytes", rows.map((r) => r.bytes));
  const times = (title, c, u) => ({ title: `${title} (${u.name})`, number: true, of: (r) => r[c], text: (v) => u.text(v) });
  const list = table([
    { title: "layer", of: (r) => r.name, cut: true }, { title: "ranks", number: true, of: (r) => r.ranks, text: f.whole },
    ...PARTS.map(([c, name]) => times(name, c, unit)),
    { title: "collectives", number: true, of: (r) => r.collectives, text: f.whole }, times("bytes", "bytes", size),
    times("collectives' time", "collective_time_ns", waits), times("queue", "queue_ns", waits), times("network", "network_ns", waits),
  ], { first: 20, label: "Layers" });
  const picture = chart(() => {
    const parts = state.view === "time" ? PARTS : WAITS;
    const drawn = shown.slice(0, DRAWN), scale = f.common("time", drawn.map((r) => parts.reduce((sum, [c]) => sum + r[c], 0)));
    return {
      tooltip: { formatter: (points) => {
        const row = drawn[points[0].dataIndex];
        return [row.name, `${f.whole(row.ranks)} ranks, mean`, ...parts.map(([c, name]) => `${name}: ${f.time(row[c])}`)].join("\n");
      } },
      xAxis: valueAxis(`time (${scale.name})`, { nameGap: 26 }),
      yAxis: categoryAxis(drawn.map((r) => shortened(r.name)), { inverse: true }),
      series: parts.map(([c, name, colorName]) => bars(name, colorName, drawn.map((r) => scale.of(r[c])), { barMaxWidth: 18 })),
    };
  }, { height: 70 + 20 * Math.min(DRAWN, rows.length), label: "Time of each layer by what its ranks did" });
  const note = h("p", { class: "soft small" });
  function refine() {
    const text = state.text.toLowerCase();
    shown = rows.filter((r) => r.name.toLowerCase().includes(text));
    if (state.order === "exposed") shown.sort((a, b) => b.communication_ns - a.communication_ns);
    if (state.order === "name") shown.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
    if (state.order === "time") shown.sort((a, b) => total(b) * b.ranks - total(a) * a.ranks);
    note.textContent = shown.length > DRAWN ? `The chart has the first ${DRAWN} of ${shown.length} layers.` : "";
    picture.update();
    list.show(shown);
  }
  refine();
  return h("div", {},
    h("p", { class: "soft" }, "Mean over the ranks that have nodes of the layer. Memory and communication count only where nothing hides them. Queue and network time of the layer's collectives are summed over their chunks."),
    h("div", { class: "controls" },
      select("show", [["time", "time of the ranks"], ["waits", "collectives: queue and network time"]], state.view, (v) => { state.view = v; picture.update(); }),
      select("order", [["time", "most time of all ranks first"], ["exposed", "most exposed communication first"], ["name", "name"]], state.order, (v) => { state.order = v; refine(); }),
      field("name has", { "data-test": "layer-filter" }, (v) => { state.text = v; refine(); })),
    picture.element, note, list.element,
    data.rest ? h("p", { class: "soft small" }, `Left out here: the ${f.whole(data.rest.layers)} layers with the least time, ${f.time(data.rest.rank_time_ns)} of rank time together; layers.csv has each.`) : null);
}
