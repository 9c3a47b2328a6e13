// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The page of `weft report` in a real Chromium: it draws, says what the files say, and can be used.
//
//   node page_test.mjs WEFT PACKAGES SOURCE      exit 77: skipped (without Chromium and with CI=true: an error)

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const [weft, packages, source] = process.argv.slice(2);

function skip(why, status = 77) {
  console.log(`${status === 77 ? "skipped" : "error, with CI=true"}: ${why}`);
  process.exit(status);
}
const chromium = [process.env.WEFT_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((f) => f && existsSync(f));
if (!chromium) skip("no Chromium; scripts/setup.sh installs it, or name one in WEFT_CHROMIUM", process.env.CI === "true" ? 1 : 77);
if (!existsSync(path.join(packages, "installed"))) skip(`${packages} has no packages; scripts/report_packages.sh installs them`);
if (spawnSync(weft, ["report", "nothing"], { encoding: "utf8" }).stderr.includes("built without the page")) skip("this weft was built without the page", process.env.CI === "true" ? 1 : 77);
const puppeteer = createRequire(path.resolve(packages, "package.json"))("puppeteer-core");

const work = mkdtempSync(path.join(os.tmpdir(), "weft-report-"));
function run(...args) {
  const ran = spawnSync(weft, args, { cwd: work, encoding: "utf8" });
  assert.equal(ran.status, 0, `weft ${args.join(" ")}\n${ran.stderr}`);
  return ran.stdout;
}
const file = (...parts) => path.join(work, ...parts);
const csv = (name) => {
  const [head, ...rows] = readFileSync(file(name), "utf8").trim().split("\n").map((l) => l.split(","));
  return rows.map((r) => Object.fromEntries(head.map((h, i) => [h, r[i]])));
};
const edit = (name, change) => writeFileSync(file(name), change(readFileSync(file(name), "utf8")));

const kEvil = `x</script><img src=x onerror="window.hacked=1">'"&`;
const kTraces = ["--trace", "trace/llm", "--groups", "trace/llm.groups.json"];

function makeRuns() {
  run("generate", "llm", "--tp", "2", "--dp", "2", "--pp", "2", "--layers", "4", "--hidden", "1024", "--seq", "512", "--batch", "8", "--microbatches", "4", "--out", "trace");
  const machine = path.join(source, "configs/examples/quickstart.yaml");
  run("run", machine, ...kTraces, "--set", "run.footprint=on", "--out", "before");
  run("run", machine, ...kTraces, "--set", "collectives.chunks=2", "--out", 'a "b" <i>&');
  run("report", "before", "-o", "one.html");
  run("report", "before", 'a "b" <i>&', "-o", "two.html");
  // Names that try to leave their place.
  mkdirSync(file("evil"));
  for (const name of ["summary.json", "ranks.csv", "phases.csv", "links.csv", "effective.yaml", "collectives.csv", "layers.csv"]) writeFileSync(file("evil", name), readFileSync(file("before", name)));
  const field = `"${kEvil.replaceAll('"', '""')}"`;
  edit("evil/layers.csv", (t) => t.replace(",gradients,", `,${field},`));
  edit("evil/collectives.csv", (t) => t.replaceAll("mb3.backward.gradients.all_reduce", field));
  edit("evil/effective.yaml", (t) => `${t}# ${kEvil}\n`);
  edit("evil/summary.json", (t) => t.replace('"finished": true', '"finished": false').replace('"warnings": []', `"warnings": [${JSON.stringify(kEvil)}]`));
  edit("evil/links.csv", (t) => t.replaceAll("nmu7", kEvil.replaceAll('"', '""')).replace(/^(.*x<\/script>.*)$/gm, (line) => line.split(",").map((f) => (f.includes("<") ? `"${f}"` : f)).join(",")));
  const terms = { compute_ps: 60000, queueing_ps: 40000, latency_ps: 0 };
  writeFileSync(file("evil/critical_path.json"), JSON.stringify({
    weft_critical_path: 1, activities: 9, forgotten: 0,
    paths: [{
      what: "", from_ps: 0, time_ps: 100000, ends_at_npu: 3, pieces: 2, terms,
      links: [{ name: "job.nmu0.d0_to1", time_ps: 40000, ...terms, compute_ps: 0 }], collectives: [], layers: [],
      nodes: [{ name: `rank 0 node 7 ${kEvil}`, time_ps: 60000, ...terms, queueing_ps: 0 }], other_paths: [{ name: "ends at npu2", to_spare_ps: 10 }],
      what_if: { percent: 10, levers: [{ lever: "compute", on_path_ps: 60000, falls_ps: 5454, alone_ps: 5454, time_ps: 94546, limited_by: "" }] },
    }],
  }));
  writeFileSync(file("evil/critical_path.csv"), "path,from_ps,to_ps,time_ps,term,place,collective,chunk,phase,rank,node,name,layer\n" +
    `0,0,60000,60000,compute,npu0,,,,0,7,${field},\n0,60000,100000,40000,queueing,job.nmu0.d0_to1,all_reduce 1,0,0,,,,\n`);
  run("report", "evil", "-o", "evil.html");
  // Two jobs on one machine, and a run that a signal ended before anything ran.
  run("generate", "llm", "--tp", "4", "--layers", "2", "--hidden", "256", "--seq", "128", "--batch", "4", "--out", "four");
  for (const [name, npus] of [["a", "[0, 2, 4, 6]"], ["b", "[1, 3, 5, 7]"]]) writeFileSync(file(`${name}.yaml`), `weft: 1\nworkload: {trace: four/llm, groups: four/llm.groups.json, npus: ${npus}}\n`);
  run("run", path.join(source, "configs/examples/ring8.yaml"), "--job", "a.yaml", "--job", "b.yaml", "--out", "both");
  run("report", "both", "-o", "both.html");
  mkdirSync(file("ended"));
  for (const name of ["ranks.csv", "collectives.csv", "layers.csv"]) writeFileSync(file("ended", name), readFileSync(file("before", name), "utf8").split("\n")[0] + "\n");
  writeFileSync(file("ended", "summary.json"), JSON.stringify({ weft_summary: 1, weft: "0.1.0", npus: 8, finished: false, time_ns: 0, lower_bound_ns: 0, upper_bound_ns: null, collectives: {}, messages: 0, warnings: [], wall_s: 0.1 }));
  run("report", "ended", "-o", "ended.html");
  // 4,096 ranks.
  run("generate", "llm", "--tp", "8", "--dp", "32", "--pp", "16", "--layers", "16", "--hidden", "256", "--seq", "128", "--batch", "32", "--microbatches", "1", "--out", "big");
  writeFileSync(file("big.yaml"), "weft: 1\ntopology:\n  notation: Ring(16)_Ring(16)_Ring(16)\n  dimensions:\n    - {bandwidth: 100 GB/s, latency: 300 ns}\n    - {bandwidth: 100 GB/s, latency: 300 ns}\n    - {bandwidth: 50 GB/s, latency: 500 ns}\nnpu: {peak: 312 TFLOPS, memory_bandwidth: 2 TB/s}\n");
  run("run", "big.yaml", "--trace", "big/llm", "--groups", "big/llm.groups.json", "--out", "large");
  run("report", "large", "-o", "large.html");
  // .. of one switch with as many ports.
  writeFileSync(file("flat.yaml"), "weft: 1\ntopology:\n  notation: Switch(4096)\n  dimensions: [{bandwidth: 100 GB/s, latency: 300 ns}]\nnpu: {peak: 312 TFLOPS, memory_bandwidth: 2 TB/s}\n");
  run("run", "flat.yaml", "--trace", "big/llm", "--groups", "big/llm.groups.json", "--out", "flat");
  run("report", "flat", "-o", "flat.html");
}

let browser;
async function open(name, { width = 1280, theme = "light" } = {}) {
  const page = await browser.newPage(), problems = [];
  page.on("console", (m) => { if (["error", "warn", "warning"].includes(m.type())) problems.push(m.text()); });
  page.on("pageerror", (e) => problems.push(e.stack ?? e.message));
  page.on("request", (r) => { if (!/^(file|data):/.test(r.url())) problems.push(`asks the network for ${r.url()}`); });
  await page.setViewport({ width, height: 800 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  await page.goto(`file://${file(name)}`, { waitUntil: "load", timeout: 120000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { page, problems, text: (selector) => page.$eval(selector, (e) => e.textContent), count: (selector) => page.$$eval(selector, (e) => e.length), close: async () => {
    assert.deepEqual(problems, [], name);
    await page.close();
  } };
}
/** How many colours a canvas has: an empty one has one. */
const colors = (handle) => handle.evaluate((canvas) => {
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 24) | (data[i + 1] << 16) | (data[i + 2] << 8) | data[i + 3]);
  return seen.size;
});
const tipText = (page) => page.$eval("#tip", (e) => (e.hidden ? "" : e.textContent));
const fill = async (page, name, text) => {
  await page.$eval(`[data-test="${name}"]`, (e) => { e.value = ""; e.focus(); });
  await page.keyboard.type(text);
  if (text === "") await page.$eval(`[data-test="${name}"]`, (e) => e.dispatchEvent(new Event("input")));
};
const rowsOf = (page, label) => page.$$eval(`table[aria-label="${label}"] tbody tr`, (rows) => rows.map((r) => [...r.children].map((c) => c.textContent)));

const tests = {
  async "draws every section, without errors and without the network"() {
    const p = await open("one.html");
    for (const id of ["overview", "ranks", "layers", "collectives", "links", "memory", "config"]) assert.equal(await p.count(`section#${id}`), 1, id);
    const canvases = await p.page.$$(".chart canvas");
    assert.equal(canvases.length, 5);
    for (const canvas of canvases) assert.ok((await colors(canvas)) > 10);
    for (const canvas of await p.page.$$("canvas.cells")) assert.ok((await colors(canvas)) > 1);
    assert.match(await p.text("footer"), /Apache ECharts [\d.]+ \(Apache License 2\.0\)/);
    assert.equal(await p.page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "wider than a laptop");
    await p.close();
  },
  async "says what the files say"() {
    const p = await open("one.html");
    const summary = JSON.parse(readFileSync(file("before/summary.json"))), ranks = csv("before/ranks.csv");
    const share = (column) => ranks.reduce((sum, r) => sum + Number(r[column]), 0) / ranks.length / summary.time_ns;
    const figures = await p.page.$$eval(".figure", (all) => Object.fromEntries(all.map((e) => [e.children[0].textContent, e.children[1].textContent])));
    assert.equal(figures.time, `${(summary.time_ns / 1e6).toFixed(4)} ms`);
    assert.equal(figures.compute, `${(100 * share("compute_ns")).toFixed(1)} %`);
    assert.equal(figures["exposed communication"], `${(100 * share("communication_ns")).toFixed(1)} %`);
    const hidden = share("communicating_ns") - share("communication_ns");
    assert.equal(figures["hidden communication"], `${((100 * hidden) / share("communicating_ns")).toFixed(1)} %`);
    const busiest = Math.max(...csv("before/links.csv").map((l) => Number(l.busy_fraction)));
    assert.equal(figures["busiest link"], `${(100 * busiest).toFixed(1)} %`);
    const shown = await rowsOf(p.page, "Ranks");
    assert.equal(shown.length, ranks.length);
    shown.forEach((row, i) => assert.equal(Number(row[1]).toFixed(3), (Number(ranks[i].compute_ns) / 1e6).toFixed(3)));
    const times = csv("before/collectives.csv").filter((c) => c.op === "all_reduce" && c.bytes === "1048576" && c.ranks === "2").map((c) => Number(c.time_ns)).sort((a, b) => a - b);
    const own = (await rowsOf(p.page, "Percentiles of the time of collectives")).find((r) => r[1] === "1.000 MiB");
    assert.equal(Number(own[3]), times.length);
    assert.ok(Math.abs(Number(own[6]) - times[Math.ceil(0.9 * times.length) - 1] / 1e3) < 0.05, `p90 ${own[6]}`);
    await p.close();
  },
  async "a cell of a heat map tells its link, by pointer and by keyboard"() {
    const p = await open("one.html"), links = csv("before/links.csv");
    const check = (text) => {
      const [, from, port, to] = /^(\S+) · (\S+) → (\S+)\n/.exec(text);
      const link = links.find((l) => l.name === `job.${from}.${port}` && l.to === to);
      assert.ok(link, text);
      assert.ok(text.includes(`${(100 * Number(link.busy_fraction)).toFixed(1)} % busy`), text);
      return link.name;
    };
    const canvas = await p.page.$("canvas.cells");
    await canvas.scrollIntoView();
    const box = await canvas.boundingBox();
    await p.page.mouse.move(box.x + 5, box.y + 5);
    const first = check(await tipText(p.page));
    await p.page.mouse.move(box.x + box.width - 6, box.y + box.height - 6);
    assert.notEqual(check(await tipText(p.page)), first);
    await p.page.mouse.move(2, 2);
    assert.equal(await tipText(p.page), "");
    await p.page.focus('[data-test="link-filter"]');
    let focused = "";
    for (let i = 0; i < 200 && focused !== "cells"; ++i) {
      await p.page.keyboard.press("Tab");
      focused = await p.page.evaluate(() => document.activeElement.className);
    }
    assert.equal(focused, "cells", "Tab reaches a map");
    await p.page.keyboard.press("Home");
    const at = check(await tipText(p.page));
    await p.page.keyboard.press("ArrowRight");
    assert.notEqual(check(await tipText(p.page)), at);
    await p.close();
  },
  async "the drawn machine tells its links"() {
    const p = await open("one.html");
    assert.equal(await p.count("svg.machine .edge"), csv("before/links.csv").length);
    assert.equal(await p.count("svg.machine circle.node"), 8);
    assert.equal(await p.count("svg.machine rect.node"), 4);
    await p.page.$eval("svg.machine .edge", (e) => e.dispatchEvent(new PointerEvent("pointermove", { clientX: 100, clientY: 100 })));
    assert.match(await tipText(p.page), / → .*\n.* busy/);
    await p.close();
  },
  async "a bar tells its rank"() {
    const p = await open("one.html"), chart = await p.page.$("#ranks .chart");
    await chart.scrollIntoView();
    const canvas = await chart.$("canvas"), box = await chart.boundingBox(), before = await canvas.evaluate((c) => c.toDataURL());
    await p.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await p.page.waitForFunction((c, old) => c.toDataURL() !== old, { timeout: 60000, polling: 100 }, canvas, before);
    await p.close();
  },
  async "filters and order"() {
    const p = await open("one.html");
    await fill(p.page, "rank-filter", "1-2, 5");
    assert.deepEqual((await rowsOf(p.page, "Ranks")).map((r) => r[0]), ["1", "2", "5"]);
    await fill(p.page, "rank-filter", "1-x");
    assert.match(await p.text("#ranks .controls [role=status]"), /write for example/);
    await fill(p.page, "link-filter", "d1_up");
    const ups = await rowsOf(p.page, "Links");
    assert.equal(ups.length, 8);
    assert.ok(ups.every((r) => r[1] === "d1_up"));
    assert.equal(await p.count("svg.machine .edge:not(.faint)"), 8);
    await fill(p.page, "layer-filter", "layer2");
    assert.deepEqual((await rowsOf(p.page, "Layers")).map((r) => r[0]), ["layer2"]);
    await fill(p.page, "collective-filter", "no such name");
    assert.match((await rowsOf(p.page, "The longest collectives"))[0][0], /Nothing matches/);
    await fill(p.page, "config-filter", "peak");
    assert.equal((await p.text("pre")).trim(), "peak: 312 TFLOPS");
    const busy = async () => (await rowsOf(p.page, "Links")).map((r) => parseFloat(r[4]));
    await fill(p.page, "link-filter", "nmu0");
    assert.deepEqual(await busy(), (await busy()).sort((a, b) => b - a));
    await p.page.$$eval('table[aria-label="Links"] th button', (all) => all.find((b) => b.textContent.startsWith("busy")).click());
    assert.deepEqual(await busy(), (await busy()).sort((a, b) => a - b));
    await p.close();
  },
  async "Enter opens a collective's phases"() {
    const p = await open("one.html");
    await p.page.focus('table[aria-label="The longest collectives"] tbody tr');
    await p.page.keyboard.press("Enter");
    assert.match(await p.text("tr.open"), /P0 .*messages, their time summed: queue/);
    await p.page.keyboard.press("Enter");
    assert.equal(await p.count("tr.open"), 0);
    await p.close();
  },
  async "light, dark, and light in print"() {
    const back = (p) => p.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await open("one.html"), dark = await open("one.html", { theme: "dark" });
    assert.equal(await back(light), "rgb(255, 255, 255)");
    assert.notEqual(await back(dark), "rgb(255, 255, 255)");
    await light.page.bringToFront();
    await light.page.focus("#theme");
    await light.page.keyboard.press("Enter");
    assert.equal(await back(light), await back(dark));
    // From here on dark by choice, which print does not heed.
    const chart = () => light.page.$eval(".chart canvas", (c) => c.toDataURL()), becomes = (theme) => light.page.waitForFunction((t) => document.documentElement.dataset.theme === t, { timeout: 60000, polling: 100 }, theme);
    const drawnDark = await chart();
    await light.page.emulateMediaType("print");
    await becomes("light");
    assert.equal(await back(light), "rgb(255, 255, 255)");
    assert.notEqual(await chart(), drawnDark);
    assert.equal(await light.page.$eval("nav", (e) => getComputedStyle(e).display), "none");
    await light.page.emulateMediaType("screen");
    await becomes("dark");
    const pdf = Buffer.from(await light.page.pdf({ format: "A4" })).toString("latin1");
    const pages = (pdf.match(/\/Type \/Page\b/g) ?? []).length;
    assert.ok(pages >= 3 && pages <= 12, `${pages} pages`);
    await light.close();
    await dark.close();
  },
  async "several runs side by side"() {
    const p = await open("two.html"), read = (name) => JSON.parse(readFileSync(file(name, "summary.json")));
    const a = read("before").time_ns, b = read('a "b" <i>&').time_ns, rows = await rowsOf(p.page, "All runs side by side");
    const time = rows.find((r) => r[0] === "time");
    assert.equal(time[3], `${b >= a ? "+" : "−"}${Math.abs(100 * (b / a - 1)).toFixed(1)} %`);
    assert.match(await p.text('table[aria-label="All runs side by side"] thead'), /a "b" <i>&/);
    await p.page.select("header select", "1");
    assert.match(await p.text("#config"), /Marked: \d+ lines? that before does not have/);
    assert.ok((await p.page.$$eval("pre .other", (all) => all.map((e) => e.textContent.trim()))).includes("chunks: 2"));
    await p.close();
  },
  async "names cannot leave their place; a run that did not finish says so"() {
    const p = await open("evil.html");
    assert.equal(await p.page.evaluate(() => window.hacked), undefined);
    assert.equal(await p.count("img"), 0);
    assert.ok((await rowsOf(p.page, "Layers")).some((r) => r[0] === kEvil));
    assert.match(await p.text(".notice"), /did not finish/);
    assert.ok((await p.text("pre")).includes(kEvil));
    const path = await p.text("#path");
    assert.match(path, /compute 60 ns \(60\.0 %\)/);
    assert.match(path, /queueing 40 ns \(40\.0 %\)/);
    assert.equal(await p.count("#path .strip"), 2);
    assert.ok((await rowsOf(p.page, "Pieces of the critical path")).some((r) => r.includes(kEvil)));
    assert.deepEqual((await rowsOf(p.page, "What if")).map((r) => r[0]), ["compute"]);
    await p.close();
  },
  async "several jobs on one machine"() {
    const p = await open("both.html");
    assert.deepEqual(await p.page.$$eval("header select option", (all) => all.map((o) => o.textContent)), ["both", "both / a", "both / b"]);
    assert.equal(await p.count("#ranks"), 1, "the first run with ranks is shown");
    assert.equal(await p.count("#links"), 0);
    await p.page.select("header select", "0");
    assert.equal(await p.count("#links"), 1);
    assert.equal(await p.count("#ranks"), 0);
    await p.close();
  },
  async "a run that ended before it began"() {
    const p = await open("ended.html");
    assert.match(await p.text(".notice"), /did not finish/);
    assert.equal(await p.count("section[id]"), 1);
    assert.doesNotMatch(await p.text("main"), /NaN|undefined|Infinity/);
    await p.close();
  },
  async "4,096 ranks"() {
    assert.ok(statSync(file("large.html")).size < 6e6, `${statSync(file("large.html")).size} bytes`);
    const p = await open("large.html");
    assert.ok((await p.page.$$eval("*", (all) => all.length)) < 10000, "elements");
    const links = csv("large/links.csv");
    assert.match((await p.text("#overview")).replace(/,/g, ""), new RegExp(`of ${links.length} links`));
    assert.equal(await p.count("#links canvas.cells"), 6);
    assert.equal(await p.count("#ranks canvas.cells"), 1);
    await fill(p.page, "rank-filter", "4090-4095");
    assert.deepEqual((await rowsOf(p.page, "Ranks")).map((r) => r[0]), ["4090", "4091", "4092", "4093", "4094", "4095"]);
    const canvas = await p.page.$("#links canvas.cells");
    await canvas.scrollIntoView();
    const box = await canvas.boundingBox();
    await p.page.mouse.move(box.x + 1, box.y + 1);
    assert.match(await tipText(p.page), /^nmu0 · d0_minus → nmu15\n/);
    await p.close();
  },
  async "4,096 ranks: a map is enlarged, and its keys still read it"() {
    const p = await open("large.html"), canvas = await p.page.$("#links canvas.cells"), figure = await p.page.$("#links figure.map");
    const width = () => canvas.evaluate((c) => c.clientWidth), shown = () => figure.$eval(".window", (e) => [e.clientWidth, e.scrollLeft, e.scrollTop]);
    const [smaller, larger] = await figure.$$("button.zoom");
    const whole = await width(), [seen] = await shown();
    assert.ok(whole <= seen, "at first the whole map is seen");
    assert.equal(await smaller.evaluate((b) => b.disabled), true);
    await larger.evaluate((b) => b.click());
    await larger.evaluate((b) => b.click());
    assert.ok((await width()) >= 3 * whole, `${await width()} of ${whole}`);
    assert.equal(await p.page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "a large map scrolls in its window");
    assert.ok((await colors(canvas)) > 1);
    // The cell at the far end comes into the window, and tells its link.
    await p.page.focus("#links button.zoom:not([disabled])");
    for (let i = 0; i < 4 && !(await canvas.evaluate((c) => c === document.activeElement)); ++i) await p.page.keyboard.press("Tab");
    await p.page.keyboard.press("End");
    for (let i = 0; i < 66; ++i) await p.page.keyboard.press("ArrowDown");
    assert.match(await tipText(p.page), /^nmu4095 · d0_minus → nmu4094\n/);
    const [, left, top] = await shown();
    assert.ok(left > 0 && top > 0, `${left} ${top}`);
    await p.page.keyboard.press("0");
    assert.equal(await width(), whole);
    assert.match(await tipText(p.page), /^nmu4095 /);
    await p.close();
  },
  async "4,096 ranks: grouped by dimension"() {
    const p = await open("large.html"), links = csv("large/links.csv");
    const group = async (section, label, value) => {
      const box = await p.page.evaluateHandle((s, l) => [...document.querySelectorAll(`#${s} .controls label`)].find((e) => e.firstChild.textContent === l).querySelector("select"), section, label);
      await box.asElement().select(value);
    };
    await group("links", "group", "2");
    assert.equal(await p.count("#links canvas.cells"), 6);
    const canvas = await p.page.$("#links canvas.cells");
    await canvas.scrollIntoView();
    const box = await canvas.boundingBox();
    await p.page.mouse.move(box.x + (box.width * 5.5) / 16, box.y + box.height / 2);
    // Position 5 in dimension 2: NPUs 1280 to 1535.
    const own = links.filter((l) => { const m = /^job\.nmu(\d+)\.d0_minus$/.exec(l.name); return m && Math.floor(Number(m[1]) / 256) === 5; });
    assert.equal(own.length, 256);
    const busy = own.map((l) => Number(l.busy_fraction)), mean = busy.reduce((a, b) => a + b, 0) / 256, text = await tipText(p.page);
    assert.ok(text.includes(`${(100 * Math.max(...busy)).toFixed(1)} % busy: the busiest of 256 links, mean ${(100 * mean).toFixed(1)} %`), text);
    assert.ok(text.includes(`in ${own.reduce((sum, l) => sum + Number(l.messages), 0).toLocaleString("en-US")} messages`), text);
    await group("links", "group", "0x2");
    assert.deepEqual(await p.page.$eval("#links canvas.cells", (c) => c.clientWidth === c.clientHeight), true);
    await group("links", "dimension", "1");
    assert.equal(await p.page.$$eval("#links figure.map", (all) => all.filter((e) => !e.hidden).length), 2);
    const bars = () => p.page.$eval("#ranks .chart canvas", (c) => c.toDataURL()), before = await bars();
    await group("ranks", "bars", "1");
    assert.notEqual(await bars(), before);
    const ranks = await p.page.$("#ranks canvas.cells");
    await ranks.scrollIntoView();
    const edges = await ranks.boundingBox();
    await p.page.mouse.move(edges.x + 1, edges.y + 1);
    const row = csv("large/ranks.csv")[0];
    assert.match(await tipText(p.page), /^rank 0\n/);
    assert.ok((await tipText(p.page)).includes(`(${((100 * Number(row.compute_ns)) / JSON.parse(readFileSync(file("large/summary.json"))).time_ns).toFixed(1)} %)`));
    const painted = () => ranks.evaluate((c) => c.toDataURL()), old = await painted();
    await group("ranks", "map", "compute_ns");
    assert.notEqual(await painted(), old);
    await p.close();
  },
  async "4,096 ranks at one switch: its ports are seen, each at its NPU"() {
    const p = await open("flat.html"), links = csv("flat/links.csv");
    const titles = await p.page.$$eval("#links figure.map b", (all) => all.map((e) => e.textContent));
    assert.equal(titles.length, 2);
    assert.match(titles[1], /^dimension 0, to NPUs$/);
    const canvas = (await p.page.$$("#links canvas.cells"))[1];
    await canvas.scrollIntoView();
    const box = await canvas.boundingBox(), told = new Set();
    for (const [x, y] of [[0.5, 0.5], [10.5, 20.5], [63.5, 63.5]]) {
      await p.page.mouse.move(box.x + (box.width * x) / 64, box.y + (box.height * y) / 64);
      const text = await tipText(p.page), to = Math.floor(y) * 64 + Math.floor(x);
      const link = links.find((l) => l.to === `nmu${to}`);
      assert.ok(text.includes(` → nmu${to}\n${(100 * Number(link.busy_fraction)).toFixed(1)} % busy`), text);
      told.add(text);
    }
    assert.equal(told.size, 3);
    await p.close();
  },
  async "a narrow window"() {
    const p = await open("one.html", { width: 700 });
    assert.equal(await p.page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
    await p.close();
  },
};

let failed = 0;
try {
  makeRuns();
  browser = await puppeteer.launch({ executablePath: chromium, headless: true, protocolTimeout: 300000, userDataDir: file("profile"), args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`ok      ${name}`);
    } catch (e) {
      ++failed;
      console.log(`FAILED  ${name}\n${e.stack}`);
    }
  }
} finally {
  await browser?.close();
  rmSync(work, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
