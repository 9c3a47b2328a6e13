// SPDX-License-Identifier: Apache-2.0
// A table that is sorted by its headers and shows some rows at first.

import { h } from "./dom.js";

const FIRST = 25;
const PRINTED = 40;

/**
 * columns: {title, of(row) -> value to sort by, text(row, value), number: right-aligned, cut: long names, tip(row)}.
 * Returns {element, show(rows)}. `detail(row)`: an element that a click on the row opens below it.
 */
export function table(columns, { sort = -1, down = true, detail = null, first = FIRST, label = "" } = {}) {
  let rows = [], order = { column: sort, down }, shown = first;
  const head = h("tr"), body = h("tbody"), more = h("div", { class: "controls" });
  const element = h("div", {}, h("div", { class: "scroll" }, h("table", { "aria-label": label }, h("thead", {}, head), body)), more);

  const headers = columns.map((c, i) => {
    const cell = h("th", { class: c.number ? "n" : "", scope: "col" });
    const button = h("button", { onclick: () => {
      order = { column: i, down: order.column === i ? !order.down : !!c.number };
      draw();
    } }, c.title);
    cell.append(button);
    head.append(cell);
    return { cell, button };
  });

  function sorted() {
    if (order.column < 0) return rows;
    const of = columns[order.column].of, sign = order.down ? -1 : 1;
    return rows.map((row, i) => [of(row), i, row]).sort(([a, i], [b, k]) => {
      const empty = (a === null || a === undefined) - (b === null || b === undefined);
      if (empty) return empty;
      return (a < b ? -sign : a > b ? sign : 0) || i - k;
    }).map((entry) => entry[2]);
  }

  function line(row, place) {
    const cells = columns.map((c) => {
      const value = c.of(row), text = c.text ? c.text(value, row) : value === null || value === undefined ? "" : String(value);
      const classes = [c.number ? "n" : "", c.cut ? "cut" : "", c.mark ? c.mark(row) : ""].filter(Boolean).join(" ");
      return h("td", { class: classes, title: c.cut ? text : c.tip ? c.tip(row) : null }, text);
    });
    const tr = h("tr", { class: (detail ? "pick" : "") + (place >= PRINTED ? " beyond-print" : "") }, cells);
    if (detail) {
      tr.tabIndex = 0;
      tr.setAttribute("aria-expanded", "false");
      const toggle = () => {
        if (tr.nextSibling?.classList?.contains("open")) {
          tr.nextSibling.remove();
          tr.setAttribute("aria-expanded", "false");
        } else {
          tr.after(h("tr", { class: "open" }, h("td", { colspan: columns.length }, detail(row))));
          tr.setAttribute("aria-expanded", "true");
        }
      };
      tr.addEventListener("click", toggle);
      tr.addEventListener("keydown", (e) => {
        if (e.key !== "Enter" && e.key !== " ") return;
        e.preventDefault();
        toggle();
      });
    }
    return tr;
  }

  function draw() {
    headers.forEach(({ cell, button }, i) => {
      cell.setAttribute("aria-sort", order.column !== i ? "none" : order.down ? "descending" : "ascending");
      button.textContent = columns[i].title + (order.column !== i ? "" : order.down ? " ▾" : " ▴");
    });
    const all = sorted();
    body.replaceChildren(...all.slice(0, shown).map(line));
    more.replaceChildren();
    if (all.length > shown)
      more.append(h("button", { class: "more", onclick: () => { shown = shown * 4; draw(); } }, `Show more (${shown} of ${all.length.toLocaleString("en-US")} rows)`));
    if (all.length === 0) body.append(h("tr", {}, h("td", { colspan: columns.length, class: "soft" }, "Nothing matches the filter.")));
  }

  return { element, show(list) { rows = list; draw(); } };
}

/** Objects of equal members as a table, whatever the members are. */
export function rowsOf(columns, count) {
  const list = [];
  for (let i = 0; i < count; ++i) {
    const row = { index: i };
    for (const [name, values] of Object.entries(columns)) if (Array.isArray(values)) row[name] = values[i];
    list.push(row);
  }
  return list;
}
