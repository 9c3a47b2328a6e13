// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

enum What : uint64_t { bandwidth, latency, both };

Case draw(Random& random) {
  Case c;
  MachineLimits machine;
  machine.fidelities = {"analytical", "message"};
  machine.odd_rates = false;
  c.machine = draw_machine(random, machine);
  draw_orderly_collective(random, c);
  c.choices["what"] = random.below(3);
  return c;
}

void check(const Case& c, Bench& bench) {
  Machine fast = c.machine;
  const uint64_t what = c.choice("what");
  for (Dimension& d : fast.dimensions) {
    if (what != latency) d.keys["bandwidth"] = times(d.keys["bandwidth"], 2);
    if (what == bandwidth) continue;
    const auto found = d.keys.find("latency");
    d.keys["latency"] = found == d.keys.end() ? "250 ns" : half(found->second);
  }
  const uint64_t slow = bench.collective(c.machine, *c.collective).time;
  const uint64_t quick = bench.collective(fast, *c.collective, "faster").time;
  require(quick <= slow, "a collective is slower on faster links",
          fmt::format("{} ps, then {} ps", slow, quick));
}

}  // namespace

Relation faster() {
  return {"faster", "twice the bandwidth, half the latency, or both, never make a collective slower", draw,
          check};
}

}  // namespace weft::relations
