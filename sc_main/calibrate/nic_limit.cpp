// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/nic_limit.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::calibrate {
namespace {

constexpr double kNoise = 0.02;  // of a measurement

}  // namespace

double least_nic_time(const LibraryPlan& plan, const library::LibraryMachine& machine) {
  using library::LibraryAlgorithm;
  using library::LibraryOp;
  if (plan.nodes < 2 || plan.ranks < 2) return 0;
  const double local = static_cast<double>(plan.ranks) / plan.nodes;
  const double nics = std::max(1.0, machine.nics_per_node * local / machine.gpus_per_node);
  const double bytes = static_cast<double>(plan.bytes);
  double sent = 0;  // by a node
  if (plan.algorithm == LibraryAlgorithm::ring &&
      (plan.op == LibraryOp::all_reduce || plan.op == LibraryOp::all_gather ||
       plan.op == LibraryOp::reduce_scatter))
    sent = bytes * plan.steps / plan.ranks;
  else if (plan.algorithm == LibraryAlgorithm::tree || plan.algorithm == LibraryAlgorithm::nvls_tree)
    sent = bytes;  // two nodes; a node of a larger tree sends more
  return sent * 1e-3 / (nics * machine.nic_bandwidth);
}

std::string faster_than_nics(const std::vector<FitRow>& rows, const library::LibraryMachine& machine) {
  const FitRow* worst = nullptr;
  double most = 1 + kNoise;
  uint64_t from = 0;
  for (const FitRow& row : rows) {
    const double ratio = least_nic_time(row.plan, machine) / row.real_us;
    if (ratio > 1 + kNoise && (from == 0 || row.bytes < from)) from = row.bytes;
    if (ratio <= most) continue;
    most = ratio;
    worst = &row;
  }
  if (worst == nullptr) return {};
  return fmt::format(
      "no fit can reach sizes from {} B on: {} B took {:.5g} us, and the NICs of a node ({} of {:.4g} GB/s) "
      "need {:.5g} us with {}, which the library would choose on this machine; the measured machine has more "
      "or faster NICs, or its library ran another algorithm: name that machine, or write the choice into a "
      "file of `collectives.overrides`",
      from, worst->bytes, worst->real_us, machine.nics_per_node, machine.nic_bandwidth,
      least_nic_time(worst->plan, machine), to_string(worst->plan.algorithm));
}

}  // namespace weft::calibrate
