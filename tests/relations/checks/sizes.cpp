// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <numeric>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Case draw_any(Random& random) {
  Case c;
  MachineLimits machine;
  machine.trees = true;
  machine.npus = 16;
  machine.fidelities = {"analytical", "analytical", "message", "message", "packet"};
  c.machine = draw_machine(random, machine);
  draw_collective_keys(random, c.machine, {});
  if (random.chance(15))
    c.machine.keys["nmu.injection_bandwidth"] = fmt::format("{} GB/s", random.between(1, 100));
  c.collective = draw_collective(random, c.machine, 256 << 10);
  c.choices["before"] = draw_bytes(random, 512 << 10);
  return c;
}

void check_sizes(const Case& c, Bench& bench) {
  const uint64_t before = c.choice("before");
  if (before == 0) throw Skipped{"nothing before"};
  const std::string sizes = fmt::format("{} B,{} B", before, c.collective->bytes);
  const CollectiveResult alone = bench.collective(c.machine, *c.collective, "machine", {"--no-fold"});
  const CollectiveResult second =
      bench.collective(c.machine, *c.collective, "machine", {"--no-fold", "--sizes", sizes});
  require_same_time(alone.time, second.time, "a size's time depends on the size before it",
                    "alone and second");
}

/// The collective on all ranks at once: a long compute ends at the same time everywhere.
Job after_compute(const Case& c, uint64_t before, const std::string& op_before, uint64_t micros) {
  Job job;
  std::vector<uint32_t> all(c.machine.npus());
  std::iota(all.begin(), all.end(), 0u);
  Work wait;
  wait.name = "wait";
  wait.ranks = all;
  wait.amount = micros;
  job.works.push_back(wait);
  Work work;
  work.kind = Work::Kind::collective;
  work.ranks = all;
  if (before != 0) {
    work.name = "before";
    work.op = op_before;
    work.amount = before;
    job.works.push_back(work);
  }
  work.name = "measured";
  work.op = c.collective->op;
  work.amount = c.collective->bytes;
  work.root = c.collective->root;
  work.after = {0};
  if (before != 0) work.after.push_back(1);
  job.works.push_back(work);
  return job;
}

uint64_t measured(Bench& bench, const RunResults& run, uint64_t micros) {
  for (const auto& row : bench.csv(run.folder + "/collectives.csv")) {
    if (row.at("name") != "measured") continue;
    if (picoseconds(row.at("start_ns")) != micros * 1000000)
      throw Skipped{"the one before took longer than the wait"};
    return picoseconds(row.at("time_ns"));
  }
  throw Broken{"no row of the collective", "collectives.csv"};
}

void check_traces(const Case& c, Bench& bench) {
  constexpr uint64_t kMicros = 1000000;
  const char* const ops[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"};
  const uint64_t before = c.choice("before");
  if (before == 0) throw Skipped{"nothing before"};
  const std::string op = ops[c.choice("op") % std::size(ops)];
  const RunResults alone =
      bench.run(c.machine, after_compute(c, 0, "", kMicros), "alone", {"--no-fold"}, "alone");
  const RunResults second =
      bench.run(c.machine, after_compute(c, before, op, kMicros), "machine", {"--no-fold"});
  require_same_time(measured(bench, alone, kMicros), measured(bench, second, kMicros),
                    "a collective's time depends on one that ended before", "alone and after " + op);
}

Case draw_traces(Random& random) {
  Case c = draw_any(random);
  c.choices["op"] = random.below(5);
  return c;
}

}  // namespace

Relation sizes() {
  return {"sizes", "with --sizes A,B the second size takes the time that it takes alone", draw_any,
          check_sizes};
}

Relation after_another() {
  return {"after_another", "a collective that starts when all is over takes the time that it takes alone",
          draw_traces, check_traces};
}

}  // namespace weft::relations
