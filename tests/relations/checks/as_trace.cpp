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
  machine.fidelities = {"analytical", "analytical", "message", "message", "packet"};
  machine.npus = 24;
  c.machine = draw_machine(random, machine);
  draw_collective_keys(random, c.machine, {});
  c.collective = draw_collective(random, c.machine, 256 << 10);
  if (random.chance(5)) c.collective->op = "barrier";
  return c;
}

void check(const Case& c, Bench& bench) {
  const CollectiveResult command = bench.collective(c.machine, *c.collective);
  Job job = job_of(c.machine, *c.collective);
  const RunResults trace = bench.run(c.machine, job);
  require_same_time(command.time, trace.time, "a collective as a trace takes another time",
                    "weft collective and run");
  require(command.messages == trace.summary.at("messages"), "a collective as a trace has other messages",
          fmt::format("{} and {}", command.messages, trace.summary.at("messages").dump()));
  // The group of all ranks by its list.
  job.groups["all"] = job.works[0].ranks;
  job.works[0].group = "all";
  const RunResults listed = bench.run(c.machine, job, "listed", {}, "listed");
  require_same_time(command.time, listed.time, "a group of all ranks takes another time than all ranks",
                    "all ranks, and a group that lists them");
}

}  // namespace

Relation as_trace() {
  return {"as_trace", "weft collective is the same as a trace of one collective on all ranks", draw, check};
}

}  // namespace weft::relations
