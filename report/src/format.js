// SPDX-License-Identifier: Apache-2.0
// Numbers with units, as people read them.

const TIMES = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]];
const SIZES = [["B", 1], ["KiB", 1024], ["MiB", 1024 ** 2], ["GiB", 1024 ** 3], ["TiB", 1024 ** 4]];

const unitOf = (units, most) => {
  let chosen = units[0];
  for (const unit of units) if (Math.abs(most) >= unit[1]) chosen = unit;
  return chosen;
};

/** Four significant digits, with commas; small numbers are not written as powers. */
export function number(value, digits = 4, padded = false) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  const decimals = Math.min(9, Math.max(0, digits - 1 - size));
  return value.toLocaleString("en-US", { minimumFractionDigits: padded ? decimals : 0, maximumFractionDigits: decimals });
}

const scaled = (units) => (value, digits = 4) => {
  if (value === null || value === undefined) return "–";
  const [name, factor] = unitOf(units, value);
  return `${number(value / factor, digits, factor > 1)} ${name}`;
};
export const time = scaled(TIMES);
export const bytes = scaled(SIZES);
export const percent = (fraction, digits = 1) =>
  fraction === null || fraction === undefined || !Number.isFinite(fraction) ? "–" : `${(100 * fraction).toFixed(digits)} %`;
export const whole = (value) => (value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en-US"));
export const plain = (value) => (value === null || value === undefined ? "" : String(value));

/** One unit for all values of a column or axis: {name, of(value) -> number in it, text(value)}. */
export function common(kind, values) {
  let most = 0;
  for (const v of values) if (v !== null && v !== undefined && Math.abs(v) > most) most = Math.abs(v);
  const [name, factor] = unitOf(kind === "bytes" ? SIZES : TIMES, most);
  const decimals = Math.max(0, 4 - Math.max(0, Math.floor(Math.log10(most / factor || 1)) + 1));
  return {
    name,
    of: (v) => v / factor,
    text: (v) =>
      v === null || v === undefined
        ? "–"
        : v === 0 ? "0" : (v / factor).toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
  };
}

/** "0-3, 7" as a test of whole numbers; null for a text that is none, which allows everything. */
export function ranges(text) {
  const parts = text.split(/[\s,]+/).filter((p) => p !== "");
  if (parts.length === 0) return null;
  const list = parts.map((p) => /^(\d+)(?:-(\d+))?$/.exec(p));
  if (list.some((m) => m === null)) return undefined;
  return list.map((m) => [Number(m[1]), Number(m[2] ?? m[1])]);
}
