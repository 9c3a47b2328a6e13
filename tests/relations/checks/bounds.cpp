// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <numeric>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Case draw_machine_keys(Random& random, uint32_t npus) {
  Case c;
  MachineLimits machine;
  machine.trees = true;
  machine.npus = npus;
  machine.fidelities = {"analytical", "message", "message", "packet"};
  c.machine = draw_machine(random, machine);
  draw_collective_keys(random, c.machine, {});
  if (random.chance(25))
    c.machine.keys["nmu.injection_bandwidth"] = fmt::format("{} GB/s", random.between(1, 100));
  if (random.chance(15)) c.machine.keys["nmu.injection_queue"] = std::to_string(random.between(1, 4));
  return c;
}

Case draw_collectives(Random& random) {
  Case c = draw_machine_keys(random, 24);
  const Collective drawn = draw_collective(random, c.machine, 256 << 10);
  Work work;
  work.kind = Work::Kind::collective;
  work.name = "c";
  work.op = drawn.op;
  work.amount = drawn.bytes;
  work.root = drawn.root;
  work.ranks.resize(c.machine.npus());
  std::iota(work.ranks.begin(), work.ranks.end(), 0u);
  c.job.emplace();
  c.job->works.push_back(work);
  return c;
}

Case draw_jobs(Random& random) {
  Case c = draw_machine_keys(random, 12);
  JobLimits job;
  job.bytes = 128 << 10;
  c.job = draw_job(random, c.machine, job);
  return c;
}

void check(const Case& c, Bench& bench) {
  const RunResults run = bench.run(c.machine, *c.job);
  const uint64_t lower = picoseconds(run.summary.at("lower_bound_ns"));
  const uint64_t upper = picoseconds(run.summary.at("upper_bound_ns"));
  require(lower <= run.time, "the time is below the lower bound",
          fmt::format("{} ps, bound {} ps", run.time, lower));
  require(run.time <= upper, "the time is above the upper bound",
          fmt::format("{} ps, bound {} ps", run.time, upper));
  for (const auto& row : bench.csv(run.folder + "/collectives.csv")) {
    require(
        picoseconds(row.at("lower_bound_ns")) <= picoseconds(row.at("time_ns")),
        "a collective is faster than its lower bound",
        fmt::format("{}: {} ns, bound {} ns", row.at("name"), row.at("time_ns"), row.at("lower_bound_ns")));
  }
}

}  // namespace

Relation bounds_of_collectives() {
  return {"bounds_collectives", "the time of a collective lies within the printed bounds", draw_collectives,
          check};
}

Relation bounds_of_jobs() {
  return {"bounds_jobs", "the time of a job lies within the printed bounds", draw_jobs, check};
}

}  // namespace weft::relations
