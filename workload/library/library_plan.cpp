// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/library/library_plan.h"

#include <algorithm>
#include <cmath>

#include "workload/library/plan_costs.h"

namespace weft::library {
namespace {

/// A plan with the scales of a calibration in it, and the time of each algorithm.
struct Scaled : PlanCosts {
  Scaled(const LibraryPlan& plan_, const LibraryParameters& parameters)
      : PlanCosts(plan_, parameters), plan(plan_) {}

  double ring() const {
    const auto share = static_cast<double>(plan.bytes) / plan.channels;
    const auto loop = static_cast<double>(plan.loop_bytes);
    const double full = std::floor(share / loop);
    const double rest = share - full * loop;
    double time = full * ring_loop(static_cast<double>(plan.chunk_bytes));
    if (rest > 0) time += ring_loop(rest / plan.ranks);
    return time;
  }
  /// All steps wait for each other: either a chunk's way decides, or the NIC through which all of them go.
  double ring_loop(double chunk) const {
    const double step = ring_step(plan, chunk);
    const double more = crossing(chunk);
    if (more <= 0) return plan.steps * step;
    const double busy = chunk_cost(plan, chunk) + more;
    return std::max(plan.steps * step + plan.crossings * more, (plan.steps - 1) * busy + step + more);
  }
  /// Chunks follow each other through all ranks, as fast as the slowest hop lets them.
  double chain() const {
    const double share = static_cast<double>(plan.bytes) / plan.channels;
    const double chunk = std::min(share, static_cast<double>(plan.chunk_bytes));
    const double wait = step_wait(plan);
    return (share / chunk - 1) * (chunk * crossing_byte + sigma) +
           plan.steps * (chunk * channel_byte + sigma + wait) + plan.crossings * crossing(chunk);
  }
  double tree() const {
    const double share = static_cast<double>(plan.bytes) / plan.channels;
    const double chunk = std::min(share, static_cast<double>(plan.chunk_bytes));
    const double each = chunk * channel_byte;
    return latency + (share / chunk - 1) * (each + sigma) + each + chunk * way_byte;
  }
  double nvls() const {
    const auto bytes = static_cast<double>(plan.bytes);
    const double loop = std::min(static_cast<double>(plan.loop_bytes), bytes);
    return latency + (bytes / loop + plan.fill) * (loop * byte + sigma);
  }
  double direct() const { return latency + static_cast<double>(plan.bytes) * byte; }
  double pat() const { return direct() + plan.steps * sigma; }
  double point_to_point() const { return direct() + static_cast<double>(plan.loops) * sigma; }

  const LibraryPlan& plan;
};

double moving(const Scaled& s) {
  switch (s.plan.algorithm) {
    case LibraryAlgorithm::none:
      return 0;
    case LibraryAlgorithm::ring:
      return s.plan.op == LibraryOp::broadcast || s.plan.op == LibraryOp::reduce ? s.chain() : s.ring();
    case LibraryAlgorithm::tree:
    case LibraryAlgorithm::collnet_chain:
      return s.tree();
    case LibraryAlgorithm::all_pairs:
      return s.direct();
    case LibraryAlgorithm::point_to_point:
      return s.point_to_point();
    case LibraryAlgorithm::pat:
      return s.pat();
    default:
      return s.nvls();
  }
}

}  // namespace

const char* to_string(LibraryOp op) {
  constexpr const char* kNames[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                                    "all_to_all", "send"};
  return kNames[static_cast<size_t>(op)];
}

const char* to_string(LibraryAlgorithm algorithm) {
  constexpr const char* kNames[] = {"-",    "ring",      "tree", "collnet_direct", "collnet_chain",
                                    "nvls", "nvls_tree", "pat",  "all_pairs",      "p2p"};
  return kNames[static_cast<size_t>(algorithm)];
}

const char* to_string(Protocol protocol) {
  constexpr const char* kNames[] = {"LL", "LL128", "Simple"};
  return kNames[static_cast<size_t>(protocol)];
}

double LibraryPlan::work_us(const LibraryParameters& parameters) const {
  if (algorithm == LibraryAlgorithm::none) return 0;
  const double fixed = (base_us + latency_us) * parameters.latency_scale;
  return base_us * parameters.latency_scale + moving(Scaled(*this, parameters)) +
         network_share * (parameters.launch_us + fixed);
}

double LibraryPlan::time_us(const LibraryParameters& parameters) const {
  return bytes == 0 ? 0 : parameters.launch_us + work_us(parameters);
}

Picoseconds LibraryPlan::time(const LibraryParameters& parameters) const {
  const double ps = std::ceil(time_us(parameters) * 1e6);
  if (!(ps < static_cast<double>(kNever))) time_overflow();
  return static_cast<Picoseconds>(ps);
}

}  // namespace weft::library
