// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A machine without a trace: collectives of all ranks and single messages, with what must hold of each.

#ifndef WEFT_TESTS_SUPPORT_MACHINE_H
#define WEFT_TESTS_SUPPORT_MACHINE_H

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sc_models/machine.h"
#include "workload/collectives/bounds.h"
#include "workload/collectives/plan.h"

namespace weft::test {

inline constexpr CollectiveOp kEveryOp[] = {
    CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
    CollectiveOp::all_to_all, CollectiveOp::broadcast,  CollectiveOp::reduce,
    CollectiveOp::gather,     CollectiveOp::scatter,    CollectiveOp::barrier};

/// A machine and what its ranks tell.
struct BareMachine final : NmuClient {
  explicit BareMachine(const std::string& name, Config c)
      : config(std::move(c)), plans(config), system(name.c_str(), config, *this, weft::Machine::Options{}) {}

  Config config;
  collectives::Group world;
  collectives::PlanBuilder plans;
  weft::Machine system;
  uint32_t done = 0;
  uint32_t streams = 0;
  Picoseconds finished = 0;
  struct Arrival {
    uint32_t source, destination;
    uint64_t bytes;
    Picoseconds at;
    TimeSplit split;
  };
  std::vector<Arrival> arrivals;
  std::vector<std::pair<uint32_t, uint32_t>> injected;

  void collective_done(NpuId, const collectives::CollectiveDone& d) override {
    ++done;
    finished = std::max(finished, d.finished);
  }
  void message_injected(NpuId rank, NpuId destination, const MessageId&) override {
    injected.emplace_back(index(rank), index(destination));
  }
  void message_arrived(NpuId rank, const Completion& c) override {
    arrivals.push_back({index(c.source), index(rank), c.bytes, system.nmu(index(rank)).now(), c.split});
  }

  /// Runs one collective on all ranks (or a group); a line a failure.
  std::string run(CollectiveOp op, uint64_t bytes, uint32_t root = 0,
                  const collectives::Group* group = nullptr) {
    collectives::CollectiveRequest request;
    request.op = op;
    request.bytes = bytes;
    request.group = group != nullptr ? group : &world;
    request.root = root;
    const auto plan = plans.plan(request);
    run(plan);
    const std::string what =
        std::string(system.name()) + " " + to_string(op) + " of " + std::to_string(bytes);
    std::string failures;
    if (done != plan->members())
      failures +=
          what + ": " + std::to_string(done) + " ranks of " + std::to_string(plan->members()) + " done\n";
    for (const std::string& broken : system.check_conservation()) failures += what + ": " + broken + "\n";
    const Picoseconds bound = collectives::lower_bound(config, *plan);
    if (time < bound)
      failures += what + ": " + std::to_string(time) + " ps, bound " + std::to_string(bound) + "\n";
    if (bound == 0) failures += what + ": the bound is 0\n";
    return failures;
  }
  Picoseconds time = 0;

  /// Runs one collective; its time.
  Picoseconds run(const std::shared_ptr<const collectives::CollectivePlan>& plan) {
    done = 0;
    finished = 0;
    const Picoseconds start = sc_core::sc_time_stamp().value();
    const auto& ranks = plan->request().group->ranks;
    ++streams;
    for (uint32_t i = 0; i < plan->members(); ++i)
      system.nmu(ranks.empty() ? i : ranks[i]).start_collective(streams, plan);
    do {
      sc_core::sc_start();
    } while (done != plan->members() && system.rescue());
    time = finished - start;
    return time;
  }

  /// One message, alone; its time.
  Picoseconds send(uint32_t source, uint32_t destination, uint64_t bytes) {
    const Picoseconds start = sc_core::sc_time_stamp().value();
    const size_t before = arrivals.size();
    system.nmu(source).send(NpuId{destination}, 1, static_cast<uint32_t>(before), bytes);
    sc_core::sc_start();
    if (arrivals.size() != before + 1) return kNever;
    const Arrival& a = arrivals.back();
    if (a.source != source || a.destination != destination || a.bytes != bytes) return kNever;
    if (injected.back() != std::make_pair(source, destination)) return kNever;
    return a.at - start;
  }
};

}  // namespace weft::test

#endif
