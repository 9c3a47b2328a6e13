// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Case draw(Random& random) {
  Case c;
  MachineLimits machine;
  machine.npus = 16;
  machine.fidelities = {"analytical", "message", "packet"};
  machine.odd_rates = false;
  // A reduction can delay one member and not another. Then messages can change their order on a link. Only
  // machines are drawn on which every member does the same.
  do c.machine = draw_machine(random, machine);
  while (!lockstep(c.machine));
  draw_orderly_collective(random, c);
  c.collective->bytes = std::min<uint64_t>(c.collective->bytes, 256 << 10);
  c.collective->op = random.pick({"all_reduce", "reduce_scatter", "reduce"});
  if (c.collective->op != "reduce") c.collective->root = 0;
  Settings& keys = c.machine.keys;
  keys["collectives.reduction"] = "hbm";
  // Reductions of several chunks take turns in the slots of the memory: a list schedule (docs/testing.md,
  // Anomalies). Half of the cases have one chunk, so that a faster memory cannot change whose turn it is.
  if (random.chance(50)) keys["collectives.chunks"] = "1";
  if (random.chance(25)) {
    keys["hbm.model"] = "banked";
    keys["hbm.preset"] = random.pick({"HBM2", "HBM3", "HBM4"});
    return c;
  }
  keys["hbm.bandwidth"] = fmt::format("{} GB/s", random.between(1, 4000));
  keys["hbm.latency"] = fmt::format("{} ns", random.between(0, 500));
  keys["hbm.outstanding"] = std::to_string(random.between(1, 8));
  return c;
}

void check(const Case& c, Bench& bench) {
  Machine without = c.machine;
  without.keys["collectives.reduction"] = "none";
  const std::vector<std::string> every = {"--no-fold"};
  const uint64_t in_memory = bench.collective(c.machine, *c.collective, "machine", every).time;
  const uint64_t free = bench.collective(without, *c.collective, "without", every).time;
  require(in_memory >= free, "a collective is faster with reductions in memory",
          fmt::format("{} ps, without {} ps", in_memory, free));
  if (c.machine.get("hbm.model", "bandwidth") == "banked") return;
  if (c.machine.get("collectives.chunks", "") != "1") return;
  Machine fast = c.machine;
  fast.keys["hbm.bandwidth"] = times(fast.keys["hbm.bandwidth"], 2);
  const uint64_t quick = bench.collective(fast, *c.collective, "faster", every).time;
  require(quick <= in_memory, "a collective is slower with a faster memory",
          fmt::format("{} ps, then {} ps", in_memory, quick));
}

}  // namespace

Relation reductions() {
  return {"reductions",
          "reductions in memory never make a collective faster, nor does a faster memory make one of one "
          "chunk slower",
          draw, check};
}

}  // namespace weft::relations
