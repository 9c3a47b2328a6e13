// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>
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

// Memories begin anew before each size, too. In a job they do not: a bank is as the one before has left it.
Case draw_sizes(Random& random) {
  Case c = draw_any(random);
  if (!random.chance(30)) return c;
  Settings& keys = c.machine.keys;
  keys["collectives.reduction"] = "hbm";
  if (random.chance(25)) return c;
  keys["hbm.model"] = "banked";
  keys["hbm.preset"] = random.pick({"HBM2", "HBM2E", "HBM3", "HBM3E", "HBM4"});
  keys["hbm.stacks"] = std::to_string(random.between(1, 3));
  if (random.chance(30)) keys["hbm.refresh"] = random.pick({"per_bank", "none"});
  if (random.chance(20)) keys["hbm.streams"] = "detailed";
  if (random.chance(20)) keys["hbm.page_policy"] = "closed";
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

bool has_packets(const Machine& machine) {
  return std::any_of(machine.dimensions.begin(), machine.dimensions.end(), [](const Dimension& d) {
    const auto fidelity = d.keys.find("fidelity");
    return fidelity != d.keys.end() && fidelity->second == "packet";
  });
}

/// No two messages of the collective go over one link at a time, so no arbiter has a choice.
bool arbiters_have_no_choice(const Case& c) {
  for (const Dimension& d : c.machine.dimensions) {
    const bool power = (d.size & (d.size - 1)) == 0;
    if (d.tree() || d.kind == "Mesh" || (d.kind == "Switch" && !power)) return false;
  }
  for (const auto& [key, value] : c.machine.keys) {
    if (key.rfind("collectives.", 0) == 0 && key != "collectives.chunks" && key != "collectives.reduction")
      return false;
  }
  const std::string& op = c.collective->op;
  const uint64_t chunks = number(c.machine.get("collectives.chunks", "4"));
  return (op == "all_reduce" || op == "all_gather" || op == "reduce_scatter") &&
         c.collective->bytes % (4 * c.machine.npus() * std::max<uint64_t>(1, chunks)) == 0;
}

/// All links carry a flit in the same time, which is the routers' clock: there is one dimension.
bool one_rate(const Machine& machine) {
  return machine.dimensions.size() == 1;
}

/// How far the times may be apart where arbiters have a choice: nothing on the longest way has more hops than
/// latencies fit into the time, and at each hop it may wait for all that the busiest link carries, or not.
uint64_t tolerance(const Case& c, uint64_t time, uint64_t busy) {
  uint64_t hop = ~uint64_t{0};
  for (const Dimension& d : c.machine.dimensions) {
    const auto latency = d.keys.find("latency");
    if (latency == d.keys.end() || latency->second.find(" us") == std::string::npos)
      throw Skipped{"no long latency"};
    hop = std::min(hop, number(latency->second) * 1000000);
  }
  if (hop == 0) throw Skipped{"no latency"};
  const uint64_t apart = (time / hop + 1) * busy;
  if (apart > time / 10) throw Skipped{"the latency does not dominate"};
  return apart;
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
  const uint64_t a = measured(bench, alone, kMicros);
  const uint64_t b = measured(bench, second, kMicros);
  const std::string kind = "a collective's time depends on one that ended before";
  const bool no_choice = arbiters_have_no_choice(c);
  if (!has_packets(c.machine) || (no_choice && one_rate(c.machine))) {
    require_same_time(a, b, kind, "alone and after " + op);
    return;
  }
  uint64_t busy = 0;
  for (const auto& row : bench.csv(alone.folder + "/links.csv"))
    busy = std::max(busy, picoseconds(row.at("busy_ns")));
  // Packets of one message are in several VCs, which take turns. Where flits do not come at the clock's rate,
  // whose turn it is moves a packet by a flit of 16 of its 256 bytes, at most.
  const uint64_t apart = no_choice ? c.machine.dimensions.size() * busy / 16 : tolerance(c, a, busy);
  require((a > b ? a - b : b - a) <= apart, kind,
          fmt::format("alone {} ps, after {} {} ps, may differ by {} ps", a, op, b, apart));
}

// Routers are hardware: their arbiters stand where the collective before has left them. So with packets
// either no arbiter has a choice, or the latency dominates and the times may be a little apart.
Case draw_traces(Random& random) {
  Case c = draw_any(random);
  c.choices["op"] = random.below(5);
  if (!has_packets(c.machine)) return c;
  c.machine.keys.clear();
  CollectiveLimits limits;
  limits.side_by_side = false;
  limits.in_switch = false;
  limits.orders = false;
  limits.fixed_chunks = true;
  if (random.chance(50)) {
    for (Dimension& d : c.machine.dimensions) {
      if (d.tree() || d.kind == "Mesh") d.kind = random.pick({"Ring", "FullyConnected"});
      if (d.kind == "Switch") d.size = 1u << random.between(1, 2);
    }
    limits.algorithms = false;
    draw_collective_keys(random, c.machine, limits);
    c.collective->op = random.pick({"all_reduce", "all_gather", "reduce_scatter"});
    c.collective->root = 0;
    c.collective->bytes =
        4 * c.machine.npus() * number(c.machine.get("collectives.chunks", "4")) * random.between(1, 4096);
    return c;
  }
  for (Dimension& d : c.machine.dimensions) d.keys["latency"] = fmt::format("{} us", random.between(50, 200));
  limits.chunks = 1;
  draw_collective_keys(random, c.machine, limits);
  c.collective->bytes = std::min<uint64_t>(c.collective->bytes, random.between(1, 8 << 10));
  return c;
}

}  // namespace

Relation sizes() {
  return {"sizes", "with --sizes A,B the second size takes the time that it takes alone", draw_sizes,
          check_sizes};
}

Relation after_another() {
  return {"after_another",
          "a collective that starts when all others are over takes the time that it takes alone", draw_traces,
          check_traces};
}

}  // namespace weft::relations
