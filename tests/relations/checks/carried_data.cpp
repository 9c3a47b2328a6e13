// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

uint64_t unit(const Machine& machine) {
  return 4 * uint64_t{machine.npus()} * std::max<uint64_t>(1, number(machine.get("collectives.chunks", "4")));
}

// Blocks differ by whole elements instead of bytes where sizes do not divide, so only sizes that do are
// drawn.
Case draw(Random& random) {
  Case c;
  MachineLimits machine;
  machine.npus = 16;
  machine.fidelities = {"analytical", "message", "message", "packet"};
  c.machine = draw_machine(random, machine);
  CollectiveLimits limits;
  limits.fixed_chunks = true;
  limits.chunks = 4;
  draw_collective_keys(random, c.machine, limits);
  c.collective = draw_collective(random, c.machine);
  c.collective->bytes = unit(c.machine) * random.between(1, 64);
  c.choices["element"] = random.below(3);
  return c;
}

void check(const Case& c, Bench& bench) {
  if (c.collective->bytes % unit(c.machine) != 0) throw Skipped{"the size does not divide"};
  const char* const elements[] = {"fp32", "bf16", "int32"};
  const CollectiveResult sizes = bench.collective(c.machine, *c.collective, "machine", {"--no-fold"});
  const CollectiveResult data = bench.collective(c.machine, *c.collective, "machine",
                                                 {"--no-fold", "--data", elements[c.choice("element") % 3]});
  require_same_time(sizes.time, data.time, "data changes the time", "sizes only, and with elements");
  require(sizes.messages == data.messages, "data changes the messages",
          fmt::format("{} and {}", sizes.messages, data.messages));
}

}  // namespace

Relation carried_data() {
  return {"carried_data", "run.data: functional changes no time, and every element is right", draw, check};
}

}  // namespace weft::relations
