// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

/// What may be wrong with a case; most are refused by validate, and some are right after all.
enum Oddity : uint64_t {
  none,
  invalid_node,
  remote_without_memory,
  no_programs,
  algorithm_of_other_operation,
  in_switch_elsewhere,
  more_than_memory,
  long_compute,
  long_transfer,
  kOddities
};

Case draw(Random& random) {
  Case c;
  MachineLimits machine;
  machine.trees = true;
  machine.npus = 12;
  machine.fidelities = {"analytical", "message", "packet"};
  c.machine = draw_machine(random, machine);
  draw_collective_keys(random, c.machine, {});
  Settings& keys = c.machine.keys;
  if (random.chance(20)) keys["packet.buffer_flits"] = std::to_string(random.between(1, 64));
  if (random.chance(20)) keys["packet.vcs"] = std::to_string(random.between(1, 8));
  if (random.chance(20)) keys["packet.vcs"] = "auto";
  if (random.chance(20)) keys["packet.flow_control"] = "pfc";
  if (random.chance(20))
    keys["packet.routing"] = random.pick({"dimension_order", "minimal_adaptive", "shortest_path", "up_down"});
  if (random.chance(20)) keys["packet.vc_classes"] = random.pick({"dateline", "switched_dateline", "bubble"});
  if (random.chance(10)) keys["packet.forwarding"] = "software";
  if (random.chance(10)) keys["packet.virtual_networks"] = "2";
  if (random.chance(10)) keys["collectives.dimension_scheduling"] = "rg";
  if (random.chance(10)) keys["run.data"] = "functional";
  if (random.chance(10)) keys["hbm.model"] = "banked";
  if (random.chance(10)) keys["collectives.reduction"] = "hbm";
  if (random.chance(20)) keys["nmu.injection_bandwidth"] = fmt::format("{} GB/s", random.between(1, 100));
  if (random.chance(20)) keys["nmu.injection_queue"] = std::to_string(random.between(1, 4));
  JobLimits job;
  job.works = 6;
  job.bytes = 8 << 10;
  c.job = draw_job(random, c.machine, job);
  c.choices["oddity"] = random.chance(50) ? none : random.below(kOddities);
  c.choices["at"] = random.below(c.job->works.size());
  return c;
}

void apply(uint64_t oddity, Machine& machine, Job& job, size_t at) {
  Settings& keys = machine.keys;
  Work& work = job.works[at];
  const auto on_one = [&work](Work::Kind kind) {
    work.kind = kind;
    work.ranks.resize(1);
    work.group.clear();
  };
  switch (oddity) {
    case invalid_node:
      return on_one(Work::Kind::invalid);
    case remote_without_memory:
      on_one(Work::Kind::remote_load);
      work.amount = 4096;
      return;
    case no_programs:
      keys["collectives.all_reduce"] = "custom:programs/none";
      return;
    case algorithm_of_other_operation:
      keys["collectives.gather"] = "double_binary_tree";
      keys["collectives.all_to_all"] = "halving_doubling";
      return;
    case in_switch_elsewhere:
      keys["collectives.all_gather"] = "in_switch";
      return;
    case more_than_memory:
      on_one(Work::Kind::load);
      work.amount = uint64_t{1} << 50;
      return;
    case long_compute:
      on_one(Work::Kind::compute);
      work.amount = 18000000000000;  // 18e18 ps, within what a trace may say
      return;
    case long_transfer:
      for (Dimension& d : machine.dimensions) d.keys["bandwidth"] = "1 MB/s", d.keys["fidelity"] = "message";
      if (work.kind == Work::Kind::collective || work.kind == Work::Kind::message)
        work.amount = uint64_t{1} << 45;
      return;
    default:
      return;
  }
}

void check(const Case& c, Bench& bench) {
  Machine machine = c.machine;
  Job job = *c.job;
  if (job.works.empty()) throw Skipped{"no work"};
  apply(c.choice("oddity"), machine, job, std::min<size_t>(c.choice("at"), job.works.size() - 1));
  machine.keys["workload.trace"] = "job";
  machine.keys["workload.groups"] = "job.groups.json";
  bench.write("machine.yaml", machine.yaml());
  job.write(bench.folder() + "/job", machine.npus());
  const Ran validate = bench.weft({"validate", "machine.yaml"});
  const Ran run = bench.weft({"run", "machine.yaml", "--out", "out"});
  require(validate.status == 0 || validate.status == 2 || validate.status == 3,
          fmt::format("validate ends with {}", validate.status), validate.error());
  if (validate.status == 0) {
    // A stall, or what the run says with the time at which it found it.
    const bool found_on_the_way = run.status == 4 || run.error().rfind("weft: error: at ", 0) == 0;
    require(run.status == 0 || found_on_the_way, "validate accepts what run refuses", run.error());
    // Whether packets that can wait for each other in a circle do so, only the run knows.
    require(run.status != 4 || validate.err.find("can deadlock") != std::string::npos,
            "a stall of which validate has not warned", run.error());
  } else {
    require(run.status == validate.status, "validate refuses what run accepts",
            fmt::format("validate: {}, run: {}", validate.error(), run.error()));
    require_equal(validate.error(), run.error(), "validate and run refuse for other reasons",
                  "validate and run");
  }
}

}  // namespace

Relation validated() {
  return {"validated", "what validate accepts runs, or fails for a reason that only a run can know", draw,
          check};
}

}  // namespace weft::relations
