// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The page of `weft report`: sections of one run, which is chosen at the top, and all runs side by side.

import { collectives } from "./collectives.js";
import { config } from "./config.js";
import { data, runs } from "./data.js";
import { h, hideTip, select } from "./dom.js";
import { layers } from "./layers.js";
import { linkSection } from "./links.js";
import { memory } from "./memory.js";
import { comparison, figures, splitBars } from "./overview.js";
import { criticalPath } from "./path.js";
import { ranks } from "./ranks.js";
import { start, toggle } from "./theme.js";

/** [id, title, there is something to show, its content, what is said otherwise] */
const SECTIONS = [
  ["overview", "Overview", () => true, (run) => h("div", {}, figures(run), runs.length === 1 ? splitBars([run]) : null)],
  ["ranks", "Ranks", (run) => run.ranks, ranks, "There is no ranks.csv in this folder."],
  ["layers", "Layers", (run) => run.layers, layers, "No layers: the names of the trace's nodes do not tell any."],
  ["collectives", "Collectives", (run) => run.longest, collectives, "No collectives."],
  ["links", "Links", (run) => run.links, linkSection, "No links: those of a machine with several jobs are with the machine, which is a run of its own here."],
  ["path", "Critical path", (run) => run.critical_path, criticalPath, "No critical path: the run was not asked for it (critical_path.json)."],
  ["memory", "Memory footprint", (run) => run.footprint, memory, "No footprint: the traces name no tensors, and run.footprint is not on."],
  ["config", "Configuration", (run) => run.effective, config, "There is no effective.yaml in this folder."],
];

const content = h("div");

function show(run) {
  hideTip();
  const missing = [];
  const parts = SECTIONS.map(([id, title, has, make, without]) => {
    if (!has(run)) {
      missing.push(without);
      return null;
    }
    return h("section", { id, "aria-label": title }, h("h2", {}, title), make(run));
  });
  content.replaceChildren(...parts.filter(Boolean), missing.length ? h("section", {}, h("p", { class: "soft small" }, missing.join(" "))) : "");
  for (const link of document.querySelectorAll("nav a")) link.hidden = link.hash !== "#compare" && !document.querySelector(link.hash);
}

function build() {
  const nav = h("nav", { "aria-label": "Sections" }, runs.length > 1 ? h("a", { href: "#compare" }, "All runs") : null, SECTIONS.map(([id, title]) => h("a", { href: `#${id}` }, title)));
  const first = runs.find((r) => r.ranks) ?? runs[0];
  const choose = runs.length > 1 ? select("run", runs.map((r, i) => [String(i), r.label]), String(runs.indexOf(first)), (v) => show(runs[Number(v)])) : null;
  document.title = `Weft report: ${runs.map((r) => r.label).join(", ")}`;
  document.getElementById("page").append(
    h("header", { class: "top" }, h("h1", {}, "Weft report"), nav,
      h("div", { class: "controls" }, choose, h("button", { onclick: toggle, id: "theme", title: "Light or dark" }, "Light / dark"), h("button", { onclick: () => print() }, "Print"))),
    h("main", {}, runs.length > 1 ? h("section", { id: "compare", "aria-label": "All runs" }, h("h2", {}, "All runs"), comparison()) : null, content,
      h("footer", {}, `Made by weft ${data.weft} · charts by Apache ECharts ${ECHARTS_VERSION} (Apache License 2.0) with ZRender (BSD 3-Clause) and tslib (0BSD) · times are simulated times`)));
  show(first);
}

start();
build();
