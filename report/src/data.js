// SPDX-License-Identifier: Apache-2.0
// The data of the page, as sc_main/report/page_data.cpp writes them.

export const data = JSON.parse(document.getElementById("data").textContent);
export const runs = data.runs;

/** Where a rank's time goes: [column, name, colour]. They add up to the run's time. */
export const CATEGORIES = [
  ["compute_ns", "compute", "compute"],
  ["local_memory_ns", "exposed local memory", "local"],
  ["remote_memory_ns", "exposed remote memory", "remote"],
  ["communication_ns", "exposed communication", "exposed"],
  ["idle_ns", "idle", "idle"],
];

const sum = (values) => values.reduce((a, b) => a + b, 0);

/** Mean over the ranks. Rows may stand for several ranks; the last one for fewer. */
export function mean(run, column) {
  const ranks = run.ranks;
  if (!ranks?.[column]) return null;
  const weight = (i) => Math.min(ranks.ranks_a_row, ranks.of - i * ranks.ranks_a_row);
  return sum(ranks[column].map((v, i) => v * weight(i))) / ranks.of;
}
export const hiddenCommunication = (run) =>
  run.ranks?.communicating_ns ? Math.max(0, mean(run, "communicating_ns") - mean(run, "communication_ns")) : null;
export const busiest = (run) => (run.links ? Math.max(...run.links.dimensions.map((d) => d.busy_max)) : null);

/** Rank r ran on NPU r. A list `workload.npus` may put it elsewhere. */
export function ranksAreNpus(run) {
  if (run.job || run.ranks?.ranks_a_row !== 1 || run.ranks.of !== run.summary.npus) return false;
  const own = /^workload:(.*(?:\n[ \t].*)*)/m.exec(run.effective ?? "");
  return !/\bnpus:/.test(own?.[1] ?? "");
}
