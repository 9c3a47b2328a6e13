// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

// More of something: chunks carry the same bytes, more compute never ends a chain earlier, and a machine of
// half the speed takes twice the time.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Job one_collective(const Case& c) {
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
  return job;
}

// The chunks of double_binary_tree go two different ways, those of round_robin and themis take different
// orders, and on a Mesh the two directions of two queues have other hops.
Case draw_chunks(Random& random) {
  Case c;
  MachineLimits machine;
  machine.npus = 16;
  c.machine = draw_machine(random, machine);
  CollectiveLimits limits;
  limits.orders = false;
  draw_collective_keys(random, c.machine, limits);
  c.machine.keys.erase("collectives.queues_per_dimension");
  c.machine.keys["collectives.chunks"] = std::to_string(random.between(1, 4));
  for (auto& [key, value] : c.machine.keys)
    for (size_t at; (at = value.find("double_binary_tree")) != std::string::npos;)
      value.replace(at, 18, "ring");
  c.choices["other"] = random.between(1, 8);
  c.collective = draw_collective(random, c.machine);
  c.collective->bytes = c.machine.npus() * random.between(1, 100) * 840;  // 840: 1 to 8 divide it
  return c;
}

void check_chunks(const Case& c, Bench& bench) {
  const uint64_t more = c.choice("other");
  if (more == 0 || c.collective->bytes % (840 * c.machine.npus()) != 0)
    throw Skipped{"the chunks do not divide"};
  Machine other = c.machine;
  other.keys["collectives.chunks"] = std::to_string(more);
  const auto bytes = [&](const RunResults& run) {
    std::map<std::string, uint64_t> sums;
    for (const auto& row : bench.csv(run.folder + "/links.csv"))
      sums[row.at("dimension")] += std::stoull(row.at("bytes"));
    std::string text;
    for (const auto& [dimension, sum] : sums) text += fmt::format("dimension {}: {} B\n", dimension, sum);
    return text;
  };
  const RunResults a = bench.run(c.machine, one_collective(c));
  const RunResults b = bench.run(other, one_collective(c), "other", {}, "other");
  require_equal(bytes(a), bytes(b), "other chunks carry other bytes", "links.csv");
}

Case draw_chain(Random& random) {
  Case c;
  MachineLimits machine;
  machine.kinds = {"Ring", "FullyConnected"};
  machine.npus = 12;
  c.machine = draw_machine(random, machine);
  CollectiveLimits limits;
  limits.algorithms = false;
  limits.orders = false;
  limits.side_by_side = false;
  limits.chunks = 1;
  draw_collective_keys(random, c.machine, limits);
  c.job.emplace();
  std::vector<uint32_t> all(c.machine.npus());
  std::iota(all.begin(), all.end(), 0u);
  for (uint64_t n = random.between(2, 7); n-- > 0;) {
    Work work;
    work.name = fmt::format("w{}", c.job->works.size());
    if (!c.job->works.empty()) work.after = {c.job->works.size() - 1};
    work.ranks = all;
    if (random.chance(40)) {
      if (random.chance(70)) work.ranks = {static_cast<uint32_t>(random.below(c.machine.npus()))};
      work.amount = random.between(1, 100);
    } else {
      work.kind = Work::Kind::collective;
      work.op = random.pick({"all_reduce", "all_gather", "reduce_scatter"});
      work.amount = draw_bytes(random);
    }
    c.job->works.push_back(work);
  }
  Work last = c.job->works.back();
  last.kind = Work::Kind::compute;
  last.op.clear();
  last.after = {c.job->works.size() - 1};
  last.name = "last";
  last.amount = 5;
  last.ranks = all;
  // On every rank each work waits for the one before it that the rank has.
  c.job->works.push_back(last);
  for (size_t i = 0; i < c.job->works.size(); ++i) {
    c.job->works[i].after.clear();
    for (size_t k = 0; k < i; ++k) c.job->works[i].after.push_back(k);
  }
  c.choices["factor"] = random.between(2, 10);
  return c;
}

void check_chain(const Case& c, Bench& bench) {
  Job slower = *c.job;
  for (Work& work : slower.works) {
    if (work.kind != Work::Kind::compute) continue;
    work.amount *= std::max<uint64_t>(c.choice("factor"), 2);
    break;
  }
  const RunResults a = bench.run(c.machine, *c.job);
  const RunResults b = bench.run(c.machine, slower, "machine", {}, "slower");
  require(a.time <= b.time, "more compute ends a chain earlier",
          fmt::format("{} ps, then {} ps", a.time, b.time));
}

// Times that no rounding touches: whole picoseconds a byte, and numbers that divide.
Case draw_scaled(Random& random) {
  Case c;
  MachineLimits machine;
  machine.npus = 16;
  machine.odd_rates = false;
  c.machine = draw_machine(random, machine);
  for (Dimension& d : c.machine.dimensions) {
    d.keys["bandwidth"] = random.pick({"1 GB/s", "10 GB/s", "50 GB/s", "100 GB/s", "250 GB/s", "500 GB/s"});
    d.keys["latency"] = fmt::format("{} ns", random.below(2000));
    d.keys.erase("links_per_npu");
  }
  draw_collective_keys(random, c.machine, {});
  c.machine.keys.erase("collectives.reduction");
  // Sums of loads decide, in floating point.
  if (c.machine.get("collectives.order", "").rfind("themis", 0) == 0)
    c.machine.keys.erase("collectives.order");
  c.collective = draw_collective(random, c.machine);
  return c;
}

void check_scaled(const Case& c, Bench& bench) {
  Machine slow = c.machine;
  for (Dimension& d : slow.dimensions) {
    if (d.keys.count("links_per_npu") != 0) throw Skipped{"parallel links"};
    d.keys["bandwidth"] = half(d.keys.at("bandwidth"));
    const auto latency = d.keys.find("latency");
    d.keys["latency"] = latency == d.keys.end() ? "1000 ns" : times(latency->second, 2);
  }
  const auto endpoint = slow.keys.find("nmu.endpoint_delay");
  if (endpoint != slow.keys.end()) endpoint->second = times(endpoint->second, 2);
  const uint64_t a = bench.collective(c.machine, *c.collective).time;
  const uint64_t b = bench.collective(slow, *c.collective, "slower").time;
  const auto difference = static_cast<int64_t>(b) - static_cast<int64_t>(2 * a);
  require(std::abs(difference) <= static_cast<int64_t>(a / 1000000) + 1,
          "half the speed is not twice the time", fmt::format("{} ps, then {} ps", a, b));
}

}  // namespace

Relation chunks_keep_bytes() {
  return {"chunks_keep_bytes", "more chunks carry the same bytes over each dimension", draw_chunks,
          check_chunks};
}
Relation more_compute() {
  return {"more_compute", "more compute never ends a chain earlier", draw_chain, check_chain};
}
Relation scaled() {
  return {"scaled", "half the bandwidth and twice the latency take twice the time", draw_scaled,
          check_scaled};
}

}  // namespace weft::relations
