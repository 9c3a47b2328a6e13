// SPDX-License-Identifier: Apache-2.0
// Elements, the hint under the pointer, and small controls. Text is always set as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") element.style.cssText = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const tip = () => document.getElementById("tip");

/** Shows a text (lines allowed) beside a point of the window. */
export function showTip(text, x, y) {
  const box = tip();
  if (box.textContent !== text) box.textContent = text;
  box.hidden = false;
  const width = box.offsetWidth, height = box.offsetHeight;
  box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
  box.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18}px`;
}
export function hideTip() {
  tip().hidden = true;
}

/** Gives an element a hint, for pointer and keyboard. */
export function withTip(element, text) {
  element.addEventListener("pointermove", (e) => showTip(text(), e.clientX, e.clientY));
  element.addEventListener("pointerleave", hideTip);
  element.addEventListener("focus", () => {
    const box = element.getBoundingClientRect();
    showTip(text(), box.left + box.width / 2, box.bottom - 12);
  });
  element.addEventListener("blur", hideTip);
  return element;
}

export function select(label, options, value, change) {
  const box = h("select", { onchange: () => change(box.value) },
    options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
  return h("label", {}, label, box);
}

export function field(label, attributes, change) {
  const box = h("input", { type: "search", spellcheck: "false", ...attributes, oninput: () => change(box.value, box) });
  return h("label", {}, label, box);
}

export const key = (entries) => h("div", { class: "key" }, entries.map(([color, text]) => h("span", {}, h("i", { style: `background:${color}` }), text)));

/** A bar of shares; entries: [css color, name, value, text]. `full`: what the whole width stands for. */
export function strip(entries, full) {
  const bar = h("div", { class: "strip" });
  for (const [color, name, value, text] of entries) {
    if (!(value > 0)) continue;
    const part = h("span", { style: `background:${color};width:${(100 * value) / full}%`, "aria-label": `${name}: ${text}`, role: "img" });
    bar.append(withTip(part, () => `${name}: ${text}`));
  }
  return bar;
}
