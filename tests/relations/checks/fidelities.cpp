// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Case draw(Random& random) {
  Case c;
  MachineLimits machine;
  machine.trees = true;
  machine.fidelities = {"analytical"};
  c.machine = draw_machine(random, machine);
  draw_orderly_collective(random, c);
  return c;
}

void check(const Case& c, Bench& bench) {
  const auto at = [&](const std::string& fidelity, const std::string& switching) {
    Machine machine = c.machine;
    machine.set_all("fidelity", fidelity);
    machine.set_all("switching", switching);
    return bench
        .collective(machine, *c.collective,
                    switching == "cut_through" && fidelity == "message" ? "machine"
                    : fidelity == "analytical"                          ? "analytical"
                                                                        : "store_and_forward")
        .time;
  };
  const uint64_t analytical = at("analytical", "cut_through");
  const uint64_t cut_through = at("message", "cut_through");
  const uint64_t store_and_forward = at("message", "store_and_forward");
  require(analytical <= cut_through + cut_through / 100, "analytical is slower than message (cut_through)",
          fmt::format("{} ps and {} ps", analytical, cut_through));
  require(cut_through <= store_and_forward + store_and_forward / 100,
          "cut_through is slower than store_and_forward",
          fmt::format("{} ps and {} ps", cut_through, store_and_forward));
}

}  // namespace

Relation fidelities() {
  return {"fidelities",
          "analytical <= message with cut_through <= message with store_and_forward, within 1 %", draw,
          check};
}

}  // namespace weft::relations
