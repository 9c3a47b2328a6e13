// SPDX-License-Identifier: Apache-2.0
// Where the time of each rank went, and how much of its communication was exposed.

import { bars, categoryAxis, chart, valueAxis } from "./chart.js";
import { CATEGORIES } from "./data.js";
import { field, h, select } from "./dom.js";
import * as f from "./format.js";
import { table } from "./table.js";

const MOST_BARS = 128;

const VIEWS = {
  split: { title: "where the time goes", series: CATEGORIES },
  communication: { title: "communication: exposed and hidden", series: [["communication_ns", "exposed communication", "exposed"], ["hidden_ns", "hidden communication", "hidden"]] },
};

/** Rows side by side in one bar: its mean. */
function binned(rows, columns) {
  const size = Math.max(1, Math.ceil(rows.length / MOST_BARS)), out = [];
  for (let i = 0; i < rows.length; i += size) {
    const part = rows.slice(i, i + size), bin = { rows: part };
    for (const [c] of columns) bin[c] = part.reduce((sum, r) => sum + (r[c] ?? 0), 0) / part.length;
    out.push(bin);
  }
  return { bins: out, size };
}

const nameOf = (row) => (row.last > row.rank ? `${row.rank}–${row.last}` : `${row.rank}`);

export function ranks(run) {
  const data = run.ranks, share = data.ranks_a_row;
  const rows = data.rank.map((rank, i) => {
    const row = { rank, last: i + 1 < data.rank.length ? Math.min(rank + share - 1, data.rank[i + 1] - 1) : Math.max(rank, rank + (data.of - i * share) - 1) };
    for (const [c] of CATEGORIES) row[c] = data[c][i];
    if (data.communicating_ns) row.hidden_ns = Math.max(0, data.communicating_ns[i] - row.communication_ns);
    return row;
  });
  const state = { view: "split", order: "rank", ranges: null };
  const message = h("span", { class: "soft small", role: "status" });
  const columns = [
    { title: share > 1 ? "ranks" : "rank", number: true, of: (r) => r.rank, text: (v, r) => nameOf(r) },
    ...CATEGORIES.map(([c, name]) => ({ title: `${name} (${unit(c).name})`, number: true, of: (r) => r[c], text: (v) => unit(c).text(v) })),
  ];
  if (data.communicating_ns) columns.push({ title: `hidden communication (${unit("communication_ns").name})`, number: true, of: (r) => r.hidden_ns, text: (v) => unit("communication_ns").text(v) });
  function unit() {
    return f.common("time", [run.summary.time_ns]);
  }
  let shown = rows;
  const list = table(columns, { first: 10, label: "Ranks" });

  const picture = chart(() => {
    const view = VIEWS[state.view], series = view.series;
    const { bins, size } = binned(shown, series);
    const scale = f.common("time", bins.map((b) => series.reduce((sum, [c]) => sum + b[c], 0)));
    const label = (bin) => (bin.rows.length === 1 ? nameOf(bin.rows[0]) : state.order === "rank" ? `${bin.rows[0].rank}–${bin.rows[bin.rows.length - 1].last}` : `${nameOf(bin.rows[0])} and ${bin.rows.length - 1} more`);
    return {
      tooltip: { formatter: (points) => {
        const bin = bins[points[0].dataIndex];
        return [`rank${bin.rows.length > 1 || share > 1 ? "s" : ""} ${label(bin)}${size > 1 || share > 1 ? ", mean" : ""}`, ...series.map(([c, name]) => `${name}: ${f.time(bin[c])}`)].join("\n");
      } },
      xAxis: categoryAxis(bins.map(label), { name: share > 1 || size > 1 ? `rank (a bar is the mean of ${size * share})` : "rank", nameLocation: "middle", nameGap: 26 }),
      yAxis: valueAxis(`time (${scale.name})`),
      series: series.map(([c, name, colorName]) => bars(name, colorName, bins.map((b) => scale.of(b[c])), { barCategoryGap: bins.length > 60 ? "0%" : "20%" })),
    };
  }, {
    height: 300, label: "Time of each rank by what it did",
    pick: ([x]) => {
      const { bins, size } = binned(shown, VIEWS[state.view].series);
      const bin = bins[Math.round(x)];
      if (!bin || size === 1) return;
      if (state.order !== "rank") return;
      filter.querySelector("input").value = `${bin.rows[0].rank}-${bin.rows[bin.rows.length - 1].last}`;
      refine();
    },
  });

  function refine() {
    const text = filter.querySelector("input").value, wanted = f.ranges(text);
    message.textContent = wanted === undefined ? 'write for example "0-63, 128"' : "";
    if (wanted === undefined) return;
    shown = wanted === null ? rows : rows.filter((r) => wanted.some(([a, b]) => r.last >= a && r.rank <= b));
    if (shown.length === 0) {
      message.textContent = "no such rank";
      shown = rows;
    }
    if (state.order !== "rank") shown = [...shown].sort((a, b) => (b[state.order] ?? 0) - (a[state.order] ?? 0));
    picture.update();
    list.show(shown);
  }
  const filter = field("ranks", { placeholder: `all of 0-${rows[rows.length - 1].last}`, "data-test": "rank-filter" }, refine);
  const views = Object.entries(VIEWS).filter(([k]) => k !== "communication" || data.communicating_ns);
  const order = [["rank", "rank"], ...CATEGORIES.map(([c, name]) => [c, `longest ${name} first`])];
  list.show(rows);
  return h("div", {},
    h("p", { class: "soft" }, "At each instant a rank's time counts once: as compute, else as exposed memory, else as exposed communication, else as idle."),
    h("div", { class: "controls" },
      select("show", views.map(([k, v]) => [k, v.title]), state.view, (v) => { state.view = v; picture.update(); }),
      select("order", order, state.order, (v) => { state.order = v; refine(); }), filter, message),
    picture.element,
    share > 1 ? h("p", { class: "soft small" }, `Each row stands for ${share} consecutive ranks and is their mean: ${f.whole(data.of)} ranks in all; ranks.csv has each.`) : null,
    !data.communicating_ns ? h("p", { class: "soft small" }, "ranks.csv has no column communicating_ns, so hidden communication is not known; run again with this version of Weft.") : null,
    list.element);
}
