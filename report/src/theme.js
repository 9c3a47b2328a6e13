// SPDX-License-Identifier: Apache-2.0
// Light, dark and print. Whoever paints in colours that CSS does not set registers with onTheme().

const painters = new Set();
const dark = matchMedia("(prefers-color-scheme: dark)");
let chosen = null, printing = false;

export const theme = () => (printing ? "light" : chosen ?? (dark.matches ? "dark" : "light"));
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
export const isPrinting = () => printing;

/** `paint` is called now, and whenever colours or the width change. It may return false: then no more. */
export function onTheme(paint) {
  painters.add(paint);
}
function apply() {
  document.documentElement.dataset.theme = theme();
  for (const paint of painters) if (paint() === false) painters.delete(paint);
}
export function start() {
  document.documentElement.dataset.theme = theme();
  dark.addEventListener("change", apply);
  const print = (on) => {
    if (printing === on) return;
    printing = on;
    apply();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  matchMedia("print").addEventListener("change", (e) => print(e.matches));
  let width = innerWidth, timer = 0;
  addEventListener("resize", () => {
    if (innerWidth === width || printing) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(apply, 150);
  });
}
export function toggle() {
  chosen = theme() === "dark" ? "light" : "dark";
  apply();
}

/** How busy, 0 to 1, as a colour: pale to strong on light, dim to bright on dark. */
const RAMPS = {
  light: [[247, 248, 250], [253, 219, 160], [246, 150, 74], [206, 72, 40], [122, 17, 40]],
  dark: [[38, 43, 51], [92, 52, 66], [176, 74, 60], [240, 142, 62], [255, 231, 150]],
};
export function heat(value) {
  const ramp = RAMPS[theme()];
  const at = Math.max(0, Math.min(1, value)) * (ramp.length - 1);
  const i = Math.min(ramp.length - 2, Math.floor(at)), f = at - i;
  return `rgb(${ramp[i].map((c, k) => Math.round(c + (ramp[i + 1][k] - c) * f)).join(",")})`;
}
