// SPDX-License-Identifier: Apache-2.0
// The effective configuration, line by line; lines that the first run does not have are marked.

import { runs } from "./data.js";
import { field, h } from "./dom.js";
import * as f from "./format.js";

/** Each line of YAML with the keys above it: "topology: dimensions:  - {..}". */
function paths(text) {
  const above = [];
  return text.split("\n").map((line) => {
    const depth = line.search(/\S/);
    while (above.length && above[above.length - 1][0] >= depth) above.pop();
    const path = [...above.map((a) => a[1]), line.trim()].join(" ");
    if (depth >= 0) above.push([depth, line.trim()]);
    return { line, path };
  });
}

export function config(run) {
  const lines = paths(run.effective.replace(/\n$/, "")), first = runs[0];
  const known = new Map();
  if (run !== first) for (const l of paths(first.effective)) known.set(l.path, (known.get(l.path) ?? 0) + 1);
  const text = h("pre", { tabindex: "0", "aria-label": "effective.yaml" });
  let differ = 0;
  const marked = lines.map((l) => {
    const left = known.get(l.path) ?? 0;
    if (left > 0) known.set(l.path, left - 1);
    const other = run !== first && left === 0 && l.line.trim() !== "";
    if (other) ++differ;
    return { ...l, other };
  });
  const show = (words) => {
    const wanted = marked.filter((l) => words === "" || l.path.toLowerCase().includes(words.toLowerCase()));
    text.replaceChildren(...wanted.map((l) => (l.other ? h("span", { class: "other" }, l.line) : `${l.line}\n`)));
  };
  show("");
  return h("div", {}, h("p", { class: "soft" }, "The complete configuration: defaults, file and --set together. It gives the same results again."),
    run !== first ? h("p", { class: "soft" }, `Marked: ${differ} line${differ === 1 ? "" : "s"} that ${first.label} does not have.`) : null,
    h("div", { class: "controls" }, field("line or key above has", { "data-test": "config-filter" }, show)), text,
    run.effective_bytes > run.effective.length + 4 ? h("p", { class: "soft small" }, `The page has the beginning of ${f.bytes(run.effective_bytes)}; effective.yaml has it all.`) : null);
}
