// SPDX-License-Identifier: Apache-2.0
// A heat map that the pointer and the keys read, and that grows: a large one is scrolled.

import { h, hideTip, showTip } from "./dom.js";
import { heat, isPrinting, onTheme } from "./theme.js";

const WIDEST = 560, HIGHEST = 420;
const LEAST_CELL = 3, FIRST_CELL = 24, LARGEST_CELL = 32;
/** From so many cells on a map has buttons to enlarge it. */
const MANY_CELLS = 1000;

/** The pixels of a cell with which the whole map is seen. */
const fitting = (panel) => Math.max(LEAST_CELL, Math.min(FIRST_CELL, Math.floor(Math.min(WIDEST / panel.width, HIGHEST / panel.height))));

/**
 * cells[y * width + x] is what a cell stands for, or null. `shade(cell)`: 0 to 1. `text(cell)`: what the hint says.
 * Returns {element, paint()}.
 */
export function heatMap(panel, shade, text) {
  const { width, height } = panel, whole = fitting(panel);
  let size = whole;
  const canvas = h("canvas", { class: "cells", tabindex: "0", role: "img", "aria-label": `${panel.title}: ${panel.about}` });
  const box = h("div", { class: "window" }, canvas);
  const at = { x: 0, y: 0 };
  function paint(cursor = false) {
    const cell = isPrinting() ? whole : size, gap = cell > 6 ? 1 : 0;
    const ratio = Math.max(1, Math.min(3, Math.round(devicePixelRatio) || 1));
    if (canvas.width !== width * cell * ratio || canvas.height !== height * cell * ratio) {
      canvas.width = width * cell * ratio;
      canvas.height = height * cell * ratio;
      canvas.style.width = `${width * cell}px`;
      canvas.style.height = `${height * cell}px`;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width * cell, height * cell);
    panel.cells.forEach((of, i) => {
      if (!of) return;
      pen.fillStyle = heat(shade(of));
      pen.fillRect((i % width) * cell, Math.floor(i / width) * cell, cell - gap, cell - gap);
    });
    if (!cursor) return;
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 2;
    pen.strokeRect(at.x * cell + 1, at.y * cell + 1, cell - 2, cell - 2);
  }
  /** `cursor`: the cell that stays where it is seen. */
  function enlarge(factor, cursor = false) {
    const wanted = factor === 0 ? whole : Math.max(whole, Math.min(LARGEST_CELL, Math.round(size * factor)));
    if (wanted !== size) {
      const left = at.x * size - box.scrollLeft, top = at.y * size - box.scrollTop;
      size = wanted;
      paint(cursor);
      box.scrollTo(at.x * size - left, at.y * size - top);
    }
    larger.disabled = size >= LARGEST_CELL;
    smaller.disabled = size <= whole;
  }
  const tell = (x, y) => {
    const cell = panel.cells[at.y * width + at.x];
    cell ? showTip(text(cell), x, y) : hideTip();
  };
  function point(e) {
    const edges = canvas.getBoundingClientRect();
    at.x = Math.max(0, Math.min(width - 1, Math.floor(((e.clientX - edges.left) / edges.width) * width)));
    at.y = Math.max(0, Math.min(height - 1, Math.floor(((e.clientY - edges.top) / edges.height) * height)));
  }
  canvas.addEventListener("pointermove", (e) => { point(e); tell(e.clientX, e.clientY); });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("dblclick", (e) => { point(e); enlarge(e.shiftKey ? 0.5 : 2); });
  function cursor() {
    paint(true);
    // Into the window first: the hint stands beside the cell.
    const { clientWidth, clientHeight } = box;
    box.scrollTo(Math.max((at.x + 1) * size - clientWidth, Math.min(box.scrollLeft, at.x * size)), Math.max((at.y + 1) * size - clientHeight, Math.min(box.scrollTop, at.y * size)));
    const edges = canvas.getBoundingClientRect();
    tell(edges.left + (at.x + 1) * size, edges.top + at.y * size);
  }
  canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) cursor(); });
  canvas.addEventListener("blur", () => { paint(); hideTip(); });
  canvas.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const zoom = { "+": 2, "=": 2, "-": 0.5, 0: 0 }[e.key];
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-width, 0], End: [width, 0] }[e.key];
    if (!move && zoom === undefined) return;
    e.preventDefault();
    if (zoom !== undefined) {
      enlarge(zoom, true);
    } else {
      at.x = Math.max(0, Math.min(width - 1, at.x + move[0]));
      at.y = Math.max(0, Math.min(height - 1, at.y + move[1]));
    }
    cursor();
  });
  const zoomed = (label, factor) => h("button", { class: "zoom", "aria-label": `${factor > 1 ? "enlarge" : "make smaller"}: ${panel.title}`, onclick: () => enlarge(factor) }, label);
  const larger = zoomed("+", 2), smaller = zoomed("−", 0.5);
  enlarge(1);
  paint();
  onTheme(() => { paint(); return canvas.isConnected; });
  const many = width * height >= MANY_CELLS && whole < LARGEST_CELL;
  return {
    element: h("figure", { class: "map" }, h("figcaption", {}, h("b", {}, panel.title), ` ${panel.about}`, many ? [" ", smaller, larger] : null), box), paint: () => paint(),
  };
}
