// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

// How the extra work is unrelated.
enum Mode : uint64_t {
  on_idle_ranks,  ///< compute and memory on ranks that take no part
  beside,         ///< compute on the same ranks, which nothing waits for, with slots for all of it
  other_slices    ///< also communication, among ranks that differ from those of the job in one coordinate
};

Work extra_compute(Random& random, const std::vector<uint32_t>& ranks, size_t number) {
  Work work;
  work.name = fmt::format("extra{}", number);
  work.extra = true;
  work.ranks = {random.pick(ranks)};
  work.amount = random.chance(50) ? random.below(300) : random.between(1000, 100000);
  return work;
}

Case draw(Random& random) {
  Case c;
  MachineLimits machine;
  machine.npus = 16;
  machine.fidelities = {"analytical", "message", "message", "packet"};
  c.machine = draw_machine(random, machine);
  draw_collective_keys(random, c.machine, {});
  uint64_t mode = random.below(3);
  if (c.machine.dimensions.size() < 2 && mode == other_slices) mode = beside;
  JobLimits job;
  job.works = 10;
  job.bytes = 64 << 10;
  job.memory = mode != beside;
  if (mode == other_slices) {
    c.job = draw_job_in_slices(random, c.machine, job);
  } else {
    if (mode == on_idle_ranks) {
      for (uint32_t r = 0; r < c.machine.npus(); ++r)
        if (r < 2 || random.chance(60)) job.ranks.push_back(r);
      if (job.ranks.size() == c.machine.npus() && job.ranks.size() > 2) job.ranks.pop_back();
    }
    c.job = draw_job(random, c.machine, job);
    std::vector<uint32_t> others;
    for (uint32_t r = 0; r < c.machine.npus(); ++r)
      if (mode == beside || std::find(job.ranks.begin(), job.ranks.end(), r) == job.ranks.end())
        others.push_back(r);
    for (size_t n = 1 + random.below(3); n-- > 0 && !others.empty();)
      c.job->works.push_back(extra_compute(random, others, n));
  }
  if (random.chance(30)) c.job->order = 1 + random.below(1000);
  return c;
}

/// What collectives.csv says of the job's own collectives.
std::string told(Bench& bench, const RunResults& run, const Job& job, const std::set<std::string>& columns) {
  std::set<std::string> names;
  for (const Work& work : job.works)
    if (!work.extra && work.kind == Work::Kind::collective) names.insert(work.name);
  std::vector<std::string> lines;
  for (const auto& row : bench.csv(run.folder + "/collectives.csv")) {
    if (names.count(row.at("name")) == 0) continue;
    std::string line = row.at("name");
    for (const std::string& column : columns) line += fmt::format(" {}={}", column, row.at(column));
    lines.push_back(line + "\n");
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ""));
}

/// What ranks.csv says of the ranks that have nothing else to do.
std::string told_of_ranks(Bench& bench, const RunResults& run, const Job& job) {
  std::set<std::string> busy;
  for (const Work& work : job.works)
    for (const uint32_t rank : work.ranks)
      if (work.extra) busy.insert(std::to_string(rank));
  std::string text;
  for (const auto& row : bench.csv(run.folder + "/ranks.csv"))
    if (busy.count(row.at("rank")) == 0)
      text += fmt::format("rank {}: compute {} memory {} communication {}\n", row.at("rank"),
                          row.at("compute_ns"), row.at("local_memory_ns"), row.at("communication_ns"));
  return text;
}

void check(const Case& c, Bench& bench) {
  Machine machine = c.machine;
  machine.keys["npu.compute_slots"] = "64";
  const auto own = [](const Work& w) { return !w.extra; };
  if (std::all_of(c.job->works.begin(), c.job->works.end(), own)) throw Skipped{"nothing is extra"};
  if (std::none_of(c.job->works.begin(), c.job->works.end(), own)) throw Skipped{"all is extra"};
  const RunResults alone = bench.run(machine, c.job->without_extra(), "alone", {"--no-fold"}, "alone");
  const RunResults with = bench.run(machine, *c.job, "machine", {"--no-fold"});
  const std::set<std::string> times = {"start_ns", "end_ns"};
  require_equal(told(bench, alone, *c.job, times), told(bench, with, *c.job, times),
                "a collective's time depends on unrelated work", "alone and with the other work");
  require_equal(told_of_ranks(bench, alone, *c.job), told_of_ranks(bench, with, *c.job),
                "a rank's time depends on unrelated work", "alone and with the other work");
}

}  // namespace

Relation unrelated() {
  return {"unrelated", "compute elsewhere or beside, and communication on other wires, changes no time", draw,
          check};
}

}  // namespace weft::relations
