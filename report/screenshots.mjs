// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Pictures of the page for the documentation; scripts/screenshots.sh calls it.
//
//   node screenshots.mjs PACKAGES CHROMIUM PAGE OUT [SELECTOR..] [--dark] [--run N]

import { createRequire } from "node:module";
import path from "node:path";

const [packages, chromium, file, out, ...rest] = process.argv.slice(2);
const puppeteer = createRequire(path.resolve(packages, "package.json"))("puppeteer-core");
const selectors = rest.filter((a) => !a.startsWith("--") && !/^\d+$/.test(a));
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage();
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: rest.includes("--dark") ? "dark" : "light" }]);
  await page.setViewport({ width: 1000, height: 800 });
  await page.goto(`file://${path.resolve(file)}`);
  if (rest.includes("--run")) await page.select("header select", rest[rest.indexOf("--run") + 1]);
  await page.addStyleTag({ content: "header.top { position: static !important; }" });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  // From the top of the first to the bottom of the last of them.
  const clip = await page.evaluate((names) => {
    const boxes = names.map((n) => document.querySelector(n).getBoundingClientRect());
    const top = Math.min(...boxes.map((b) => b.top)) + scrollY, bottom = Math.max(...boxes.map((b) => b.bottom)) + scrollY;
    return { x: 0, y: Math.max(0, top - 10), width: innerWidth, height: bottom - top + 20 };
  }, selectors);
  await page.screenshot({ path: out, clip, captureBeyondViewport: true });
} finally {
  await browser.close();
}
