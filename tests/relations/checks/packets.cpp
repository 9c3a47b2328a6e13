// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

// One chunk, or one dimension, as for the fidelities: a chunk that comes a little later must not change the
// schedule.
Case draw(Random& random) {
  Case c;
  MachineLimits machine;
  machine.npus = 16;
  machine.fidelities = {"packet"};
  machine.odd_rates = false;
  c.machine = draw_machine(random, machine);
  for (Dimension& d : c.machine.dimensions) {
    d.keys["latency"] = fmt::format("{} us", random.between(50, 200));
    d.keys["switching"] = "cut_through";
    d.keys["bandwidth"] = fmt::format("{} GB/s", random.between(5, 400));
    if (random.chance(20)) d.keys["credit_latency"] = fmt::format("{} us", random.between(1, 50));
  }
  draw_orderly_collective(random, c);
  c.collective->bytes = std::min<uint64_t>(c.collective->bytes, random.between(1, 8 << 10));
  if (random.chance(40)) c.machine.keys["packet.packet_size"] = fmt::format("{} B", 64u << random.below(5));
  if (random.chance(30)) c.machine.keys["packet.vcs"] = std::to_string(2 * random.between(1, 4));
  if (random.chance(30)) c.machine.keys["packet.header"] = fmt::format("{} B", random.between(1, 64));
  if (random.chance(20)) c.machine.keys["packet.vc_alloc_cycles"] = std::to_string(random.between(1, 5));
  if (random.chance(20)) c.machine.keys["packet.switching"] = "flit_interleaved";
  return c;
}

/// Picoseconds of a byte on the slowest link, rounded up.
uint64_t slowest(const Machine& machine) {
  uint64_t most = 0;
  for (const Dimension& d : machine.dimensions)
    most = std::max(most, 1000 / number(d.keys.at("bandwidth")) + 1);
  return most;
}

void check(const Case& c, Bench& bench) {
  uint64_t hop = ~uint64_t{0};
  for (const Dimension& d : c.machine.dimensions) {
    const auto latency = d.keys.find("latency");
    if (latency == d.keys.end() || latency->second.find(" us") == std::string::npos)
      throw Skipped{"no long latency"};
    if (d.keys.count("bandwidth") == 0 || d.keys.at("bandwidth").find(" GB/s") == std::string::npos)
      throw Skipped{"rate"};
    hop = std::min(hop, number(latency->second) * 1000000);
  }
  if (hop == 0) throw Skipped{"no latency"};
  Job job;
  Work work;
  work.kind = Work::Kind::collective;
  work.name = "c";
  work.op = c.collective->op;
  work.amount = c.collective->bytes;
  work.root = c.collective->root;
  work.ranks.resize(c.machine.npus());
  std::iota(work.ranks.begin(), work.ranks.end(), 0u);
  job.works.push_back(work);
  Machine messages = c.machine;
  messages.set_all("fidelity", "message");
  messages.set_all("switching", "cut_through");
  const RunResults packet = bench.run(c.machine, job);
  const RunResults message = bench.run(messages, job, "messages", {}, "messages");
  uint64_t busy = 0;
  for (const auto& row : bench.csv(packet.folder + "/links.csv"))
    busy = std::max(busy, picoseconds(row.at("busy_ns")));
  // Nothing on the longest way has more hops than latencies fit into the time. At each hop a router takes
  // some cycles, a packet its serialisation, and it may wait for all else that the busiest link carries.
  const uint64_t hops = message.time / hop + 1;
  const uint64_t cycles = 12 + 4 * number(c.machine.get("packet.vc_alloc_cycles", "1"));
  const uint64_t bytes = number(c.machine.get("packet.packet_size", "256 B")) + 64 + 16 * cycles;
  const uint64_t tolerance = hops * (bytes * slowest(c.machine) + busy);
  if (tolerance > message.time / 10) throw Skipped{"the latency does not dominate"};
  const uint64_t difference =
      packet.time > message.time ? packet.time - message.time : message.time - packet.time;
  require(
      difference <= tolerance,
      packet.time > message.time ? "packets are slower than messages" : "packets are faster than messages",
      fmt::format("packets {} ps, messages {} ps, may differ by {} ps", packet.time, message.time,
                  tolerance));
}

}  // namespace

Relation packets() {
  return {"packets", "packets take the time of messages where latency dominates", draw, check};
}

}  // namespace weft::relations
