// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Case draw(Random& random) {
  Case c;
  MachineLimits machine;
  machine.trees = true;
  machine.npus = 12;
  machine.fidelities = {"analytical", "analytical", "message", "message", "packet"};
  c.machine = draw_machine(random, machine);
  draw_collective_keys(random, c.machine, {});
  JobLimits job;
  job.bytes = 64 << 10;
  c.job = draw_job(random, c.machine, job);
  const char* const names[] = {"layer{}.w{}", "iter{}.layer1.w{}", "model.layers.{}.w{}", "x{}.w{}",
                               "w{}_{}"};
  for (size_t i = 0; i < c.job->works.size(); ++i)
    c.job->works[i].name =
        fmt::format(fmt::runtime(names[random.below(std::size(names))]), random.below(3), i);
  return c;
}

uint64_t sum(const Rows& rows, const std::string& column) {
  uint64_t total = 0;
  for (const auto& row : rows) total += picoseconds(row.at(column));
  return total;
}

uint64_t count(const Rows& rows, const std::string& column) {
  uint64_t total = 0;
  for (const auto& row : rows) total += std::stoull(row.at(column));
  return total;
}

void same(uint64_t a, uint64_t b, const std::string& what) {
  require(a == b, what, fmt::format("{} and {}", a, b));
}

const char* const kCategories[] = {"compute_ns", "local_memory_ns", "remote_memory_ns", "communication_ns",
                                   "idle_ns"};

void check_ranks(const RunResults& run, const Rows& ranks) {
  for (const auto& row : ranks) {
    uint64_t total = 0;
    for (const char* category : kCategories) total += picoseconds(row.at(category));
    same(total, picoseconds(row.at("time_ns")), "a rank's categories do not add up to its time");
    same(run.time, picoseconds(row.at("time_ns")), "a rank's time is not that of the run");
    const uint64_t communicating = picoseconds(row.at("communicating_ns"));
    require(communicating >= picoseconds(row.at("communication_ns")) && communicating <= run.time,
            "a rank's communication is exposed for longer than it is under way", row.at("communicating_ns"));
  }
  for (const char* category : kCategories) {
    uint64_t most = 0;
    for (const auto& row : ranks) most = std::max(most, picoseconds(row.at(category)));
    const auto& told = run.summary.at("categories").at(category);
    same(most, picoseconds(told.at("max")),
         std::string("categories.") + category + ".max is not that of ranks.csv");
    const double mean = static_cast<double>(sum(ranks, category)) / static_cast<double>(ranks.size());
    require(std::abs(mean - static_cast<double>(picoseconds(told.at("mean")))) <= 1,
            std::string("categories.") + category + ".mean is not that of ranks.csv",
            fmt::format("{}", mean));
  }
}

void check_collectives(const RunResults& run, const Rows& rows, const Rows& phases) {
  std::map<std::string, Rows> by_op;
  for (const auto& row : rows) by_op[row.at("op")].push_back(row);
  const auto& told = run.summary.at("collectives");
  same(told.size(), by_op.size(), "summary.json has other operations than collectives.csv");
  for (const auto& [op, list] : by_op) {
    const auto& entry = told.at(op);
    same(entry.at("count"), list.size(), "collectives.count is not that of collectives.csv");
    same(entry.at("bytes"), count(list, "bytes"), "collectives.bytes is not that of collectives.csv");
    for (const char* column : {"time_ns", "queue_ns", "network_ns"})
      same(picoseconds(entry.at(column)), sum(list, column),
           std::string("collectives.") + column + " is not that of collectives.csv");
  }
  for (const auto& row : rows) {
    Rows own;
    for (const auto& phase : phases)
      if (phase.at("stream") == row.at("stream")) own.push_back(phase);
    for (const char* column : {"queue_ns", "network_ns"})
      same(picoseconds(row.at(column)), sum(own, column),
           std::string("the phases' ") + column + " does not add up to the collective's");
    same(picoseconds(row.at("end_ns")) - picoseconds(row.at("start_ns")), picoseconds(row.at("time_ns")),
         "a collective's time is not its end less its start");
  }
}

void check_links(const RunResults& run, const Rows& links) {
  const auto& told = run.summary.at("links");
  same(told.at("count"), links.size(), "links.count is not that of links.csv");
  same(told.at("bytes"), count(links, "bytes"), "links.bytes is not that of links.csv");
  same(picoseconds(told.at("busy_ns")), sum(links, "busy_ns"), "links.busy_ns is not that of links.csv");
  for (const auto& row : links)
    require(picoseconds(row.at("busy_ns")) <= run.time, "a link is busy longer than the run", row.at("name"));
}

void check_layers(const Rows& layers, const Rows& ranks, const Rows& collectives) {
  for (const char* column : {"compute_ns", "local_memory_ns", "remote_memory_ns", "communication_ns"}) {
    double total = 0;
    double tolerance = 1;
    for (const auto& row : layers) {
      const double members = std::stod(row.at("ranks"));
      total += static_cast<double>(picoseconds(row.at(column))) * members;
      tolerance += members;  // a mean is printed to the picosecond
    }
    const auto told = static_cast<double>(sum(ranks, column));
    require(std::abs(total - told) <= tolerance,
            std::string("the layers' ") + column + " does not add up to the ranks'",
            fmt::format("{} and {}", total, told));
  }
  same(count(layers, "collectives"), collectives.size(),
       "the layers' collectives are not those of collectives.csv");
  same(count(layers, "bytes"), count(collectives, "bytes"),
       "the layers' bytes are not those of collectives.csv");
  same(sum(layers, "collective_time_ns"), sum(collectives, "time_ns"),
       "the layers' collective_time_ns is not that of collectives.csv");
}

void check(const Case& c, Bench& bench) {
  const RunResults run = bench.run(c.machine, *c.job);
  const auto table = [&](const char* file) { return bench.csv(run.folder + "/" + file); };
  const Rows ranks = table("ranks.csv"), collectives = table("collectives.csv");
  same(ranks.size(), c.machine.npus(), "ranks.csv has not a row for each rank");
  check_ranks(run, ranks);
  check_collectives(run, collectives, table("phases.csv"));
  check_links(run, table("links.csv"));
  check_layers(table("layers.csv"), ranks, collectives);
  uint64_t sends = 0, memory = 0, nodes = 0;
  for (const Work& work : c.job->works) {
    nodes += work.ranks.size();
    sends += work.kind == Work::Kind::message ? 1 : 0;
    if (work.kind == Work::Kind::load || work.kind == Work::Kind::store)
      memory += work.amount * work.ranks.size();
  }
  same(run.summary.at("nodes"), nodes, "summary.json has not the traces' nodes");
  same(run.summary.at("messages"), count(collectives, "messages") + sends,
       "messages are not those of the collectives and the sends");
  same(run.summary.at("memory_bytes"), memory, "memory_bytes are not those of the traces");
  require(run.summary.at("invariants") == "ok", "an invariant is broken",
          run.summary.at("invariants").dump());
}

}  // namespace

Relation sums() {
  return {"sums", "what summary.json says is the sum of the rows in the tables", draw, check};
}

}  // namespace weft::relations
