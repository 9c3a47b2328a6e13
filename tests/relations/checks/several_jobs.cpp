// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

/// The nodes are in the files as drawn: an order drawn by rank would be another one on the same NPU.
Case draw(Random& random) {
  Case c;
  MachineLimits machine;
  machine.npus = 16;
  machine.fidelities = {"analytical", "message", "message", "packet"};
  do c.machine = draw_machine(random, machine);
  while (c.machine.dimensions.size() < 2);
  draw_collective_keys(random, c.machine, {});
  JobLimits job;
  job.works = 10;
  job.bytes = 64 << 10;
  c.job = draw_job_in_slices(random, c.machine, job);
  return c;
}

/// The works that are extra, as a job of their own.
Job extra_of(Job job) {
  for (Work& work : job.works) work.extra = !work.extra;
  return job.without_extra();
}

/// A job on a part of the machine: its traces and its file `name`.yaml. Rank 0, 1, .. are on the job's NPUs
/// from the last to the first, so that no rank has its NPU's number.
void place(const Case& c, Bench& bench, const std::string& name, const Job& job) {
  std::set<uint32_t> used;
  for (const Work& work : job.works) used.insert(work.ranks.begin(), work.ranks.end());
  const std::vector<uint32_t> npus(used.rbegin(), used.rend());
  std::vector<uint32_t> rank_of(c.machine.npus(), kGone);
  for (uint32_t r = 0; r < npus.size(); ++r) rank_of[npus[r]] = r;
  job.renumbered(rank_of).write(bench.folder() + "/" + name, static_cast<uint32_t>(npus.size()));
  bench.write(name + ".yaml",
              fmt::format("weft: 1\nworkload: {{trace: {0}, groups: {0}.groups.json, npus: [{1}]}}\n", name,
                          fmt::join(npus, ", ")));
}

/// When the collectives of collectives.csv were, by name.
std::string times(Bench& bench, const std::string& folder) {
  std::vector<std::string> lines;
  for (const auto& row : bench.csv(folder + "/collectives.csv"))
    lines.push_back(fmt::format("{} {} {}\n", row.at("name"), row.at("start_ns"), row.at("end_ns")));
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ""));
}

void check(const Case& c, Bench& bench) {
  const Job first = c.job->without_extra();
  const Job other = extra_of(*c.job);
  if (first.works.empty() || other.works.empty()) throw Skipped{"one of the jobs has no work"};
  bench.write("machine.yaml", c.machine.yaml());
  place(c, bench, "a", first);
  place(c, bench, "b", other);
  bench.run_files("machine.yaml", "", "both", {"--job", "a.yaml", "--job", "b.yaml"});
  bench.run_files("machine.yaml", "", "alone_a", {"--job", "a.yaml"});
  bench.run_files("machine.yaml", "", "alone_b", {"--job", "b.yaml"});
  for (const std::string job : {"a", "b"}) {
    for (const char* const file : {"ranks.csv", "collectives.csv", "phases.csv", "layers.csv"})
      require_equal(bench.read("alone_" + job + "/" + job + "/" + file),
                    bench.read("both/" + job + "/" + file), "a job depends on another one on other links",
                    fmt::format("job {} alone and beside, {}", job, file));
  }
  const RunResults whole = bench.run(c.machine, first, "whole", {"--no-fold"}, "whole");
  require_equal(times(bench, whole.folder), times(bench, "alone_a/a"),
                "a job on a part of the machine takes another time", "as a job on all NPUs and on its own");
}

}  // namespace

Relation several_jobs() {
  return {"several_jobs", "a job is the same beside another one on other links, and on all NPUs", draw,
          check};
}

}  // namespace weft::relations
