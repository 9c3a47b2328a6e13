// SPDX-License-Identifier: Apache-2.0
// Where the time of each rank went, and how much of its communication was exposed.

import { bars, categoryAxis, chart, valueAxis } from "./chart.js";
import { CATEGORIES, ranksAreNpus } from "./data.js";
import { field, h, select } from "./dom.js";
import * as f from "./format.js";
import { heatMap } from "./heatmap.js";
import { table } from "./table.js";
import { placesOf, positionOf, sizesOf } from "./topology.js";

const MOST_BARS = 128;

const VIEWS = {
  split: { title: "where the time goes", series: CATEGORIES },
  communication: { title: "communication: exposed and hidden", series: [["communication_ns", "exposed communication", "exposed"], ["hidden_ns", "hidden communication", "hidden"]] },
};

function meanOf(rows, columns, more) {
  const bin = { rows, ...more };
  for (const [c] of columns) bin[c] = rows.reduce((sum, r) => sum + (r[c] ?? 0), 0) / rows.length;
  return bin;
}

/** Rows side by side in one bar: its mean. */
function binned(rows, columns) {
  const size = Math.max(1, Math.ceil(rows.length / MOST_BARS)), out = [];
  for (let i = 0; i < rows.length; i += size) out.push(meanOf(rows.slice(i, i + size), columns));
  return { bins: out, size };
}

/** A bar for the rows of each position in a dimension, or of several consecutive ones. */
function byPosition(rows, columns, sizes, dimension) {
  const step = Math.ceil(sizes[dimension] / MOST_BARS), parts = new Map();
  for (const row of rows) {
    const at = Math.floor(positionOf(sizes, dimension, row.rank) / step);
    parts.has(at) ? parts.get(at).push(row) : parts.set(at, [row]);
  }
  const name = (at) => (step === 1 ? `${at}` : `${at * step}–${Math.min((at + 1) * step, sizes[dimension]) - 1}`);
  return { bins: [...parts].sort((a, b) => a[0] - b[0]).map(([at, part]) => meanOf(part, columns, { position: name(at) })), size: Math.max(...[...parts.values()].map((p) => p.length)) };
}

/** Each rank where its NPU stands, coloured by the share of its time in one category. */
function rankMap(run, rows, sizes, category) {
  const places = placesOf(sizes, rows.length), cells = new Array(places.width * places.height).fill(null), time = run.summary.time_ns;
  for (const row of rows) {
    const [x, y] = places.of(row.rank);
    cells[y * places.width + x] = row;
  }
  const panel = { title: "each rank", about: `where its NPU is: ${places.about}`, width: places.width, height: places.height, cells };
  const most = () => Math.max(...rows.map((r) => r[category()])), share = (v) => (time > 0 ? v / time : 0);
  return heatMap(panel, (r) => (most() > 0 ? r[category()] / most() : 0), (r) => [`rank ${r.rank}`, ...CATEGORIES.map(([c, name]) => `${name}: ${f.time(r[c])} (${f.percent(share(r[c]))})`)].join("\n"));
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
  const state = { view: "split", order: "rank", group: "", map: "communication_ns" };
  const sizes = ranksAreNpus(run) ? sizesOf(run.summary.notation, run.summary.npus) : null;
  const groups = sizes && sizes.filter((n) => n > 1).length > 1 ? sizes.map((n, d) => d).filter((d) => sizes[d] > 1) : [];
  const bins = (series) => (state.group === "" ? binned(shown, series) : byPosition(shown, series, sizes, Number(state.group)));
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
    const { bins: list, size } = bins(series);
    const scale = f.common("time", list.map((b) => series.reduce((sum, [c]) => sum + b[c], 0)));
    const label = (bin) => (bin.position !== undefined ? bin.position : bin.rows.length === 1 ? nameOf(bin.rows[0]) : state.order === "rank" ? `${bin.rows[0].rank}–${bin.rows[bin.rows.length - 1].last}` : `${nameOf(bin.rows[0])} and ${bin.rows.length - 1} more`);
    return {
      tooltip: { formatter: (points) => {
        const bin = list[points[0].dataIndex];
        if (bin.position !== undefined) return [`position ${bin.position} in dimension ${state.group}: mean of ${bin.rows.length} ranks`, ...series.map(([c, name]) => `${name}: ${f.time(bin[c])}`)].join("\n");
        return [`rank${bin.rows.length > 1 || share > 1 ? "s" : ""} ${label(bin)}${size > 1 || share > 1 ? ", mean" : ""}`, ...series.map(([c, name]) => `${name}: ${f.time(bin[c])}`)].join("\n");
      } },
      xAxis: categoryAxis(list.map(label), { name: state.group !== "" ? `position in dimension ${state.group} (a bar is the mean of its ranks)` : share > 1 || size > 1 ? `rank (a bar is the mean of ${size * share})` : "rank", nameLocation: "middle", nameGap: 26 }),
      yAxis: valueAxis(`time (${scale.name})`),
      series: series.map(([c, name, colorName]) => bars(name, colorName, list.map((b) => scale.of(b[c])), { barCategoryGap: list.length > 60 ? "0%" : "20%" })),
    };
  }, {
    height: 300, label: "Time of each rank by what it did",
    pick: ([x]) => {
      const { bins: list, size } = bins(VIEWS[state.view].series), bin = list[Math.round(x)];
      if (!bin || size === 1 || state.order !== "rank" || state.group !== "") return;
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
  const map = sizes && rows.length > MOST_BARS ? rankMap(run, rows, sizes, () => state.map) : null;
  return h("div", {},
    h("p", { class: "soft" }, "At each instant a rank's time counts once: as compute, else as exposed memory, else as exposed communication, else as idle."),
    h("div", { class: "controls" },
      select("show", views.map(([k, v]) => [k, v.title]), state.view, (v) => { state.view = v; picture.update(); }),
      select("order", order, state.order, (v) => { state.order = v; refine(); }),
      groups.length ? select("bars", [["", "consecutive ranks"], ...groups.map((d) => [String(d), `by position in dimension ${d}`])], "", (v) => { state.group = v; picture.update(); }) : null, filter, message),
    picture.element,
    map ? h("div", {}, h("div", { class: "controls" }, select("map", CATEGORIES.map(([c, name]) => [c, name]), state.map, (v) => { state.map = v; map.paint(); }), h("span", { class: "soft small" }, "Pale: none of the time; strong: the rank with most of it. Point at a cell, or use the arrow keys; + and − enlarge the map and make it smaller.")), map.element) : null,
    share > 1 ? h("p", { class: "soft small" }, `Each row stands for ${share} consecutive ranks and is their mean: ${f.whole(data.of)} ranks in all; ranks.csv has each.`) : null,
    !data.communicating_ns ? h("p", { class: "soft small" }, "ranks.csv has no column communicating_ns, so hidden communication is not known; run again with this version of Weft.") : null,
    list.element);
}
