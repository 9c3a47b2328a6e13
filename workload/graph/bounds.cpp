// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/bounds.h"

#include <algorithm>
#include <utility>

#include "workload/graph/compute_cost.h"

namespace weft::graph {

namespace {

Picoseconds sum(Picoseconds a, Picoseconds b) {
  return a > kNever - b ? kNever : a + b;
}

Picoseconds times(Picoseconds a, uint32_t n) {
  return n != 0 && a > kNever / n ? kNever : a * n;
}

// Whole picoseconds on every slot: the busiest one works at least the average rounded up.
Picoseconds spread(Picoseconds work, uint32_t slots) {
  const Picoseconds n = std::max<uint32_t>(slots, 1);
  return work / n + (work % n != 0 ? 1 : 0);
}

Picoseconds call(const NodeCost& cost, uint32_t rank, const trace::Node& node) {
  return cost ? cost(rank, node) : 0;
}

}  // namespace

Bounds::Bounds(const NpuConfig& npu, CostModel minimal, CostModel serial)
    : npu_(npu), minimal_(std::move(minimal)), serial_(std::move(serial)) {}

Picoseconds Bounds::cost(uint32_t rank, const trace::Node& node, const CostModel& model) const {
  switch (node.type) {
    case trace::NodeType::comp:
      return compute_cost(node, npu_).time;
    case trace::NodeType::mem_load:
    case trace::NodeType::mem_store:
      if (node.tensor_size == 0) return node.has_duration ? node.duration : 0;
      return call(model.memory, rank, node);
    case trace::NodeType::comm_coll:
      return node.has_comm_type ? call(model.collective, rank, node) : 0;
    case trace::NodeType::comm_send:
      return call(model.send, rank, node);
    case trace::NodeType::comm_recv:
      return call(model.receive, rank, node);
    case trace::NodeType::metadata:
      return node.delay;
    default:
      return 0;
  }
}

Picoseconds Bounds::minimal_cost(uint32_t rank, const trace::Node& node) const {
  return cost(rank, node, minimal_);
}

Bounds::Rank& Bounds::at(uint32_t rank) {
  if (rank >= ranks_.size()) ranks_.resize(size_t{rank} + 1);
  return ranks_[rank];
}

void Bounds::add(uint32_t rank, const trace::Node& node, uint32_t ranks, uint32_t groups) {
  Rank& sums = at(rank);
  const Picoseconds time = cost(rank, node, serial_);
  if (node.type == trace::NodeType::comp) {
    Picoseconds& work = node.has_stream  ? sums.streams[node.stream]
                        : node.is_cpu_op ? sums.cpu
                                         : sums.compute;
    work = sum(work, time);
  }
  if (node.type == trace::NodeType::comm_coll && node.has_comm_type) {
    auto& group = collectives_[node.pg_name];
    if (node.ordinal >= group.size()) group.resize(size_t{node.ordinal} + 1);
    Collective& collective = group[node.ordinal];
    collective.time = std::max(collective.time, time);
    collective.groups = std::max(collective.groups, groups);
  } else {
    serial_sum_ = sum(serial_sum_, times(time, ranks));
  }
}

void Bounds::path(uint32_t rank, Picoseconds longest_path) {
  Rank& sums = at(rank);
  sums.path = std::max(sums.path, longest_path);
}

Picoseconds Bounds::lower() const {
  Picoseconds bound = 0;
  for (const Rank& rank : ranks_) {
    bound = std::max(
        {bound, rank.path, spread(rank.cpu, npu_.cpu_slots), spread(rank.compute, npu_.compute_slots)});
    for (const auto& stream : rank.streams) bound = std::max(bound, stream.second);
  }
  return bound;
}

Picoseconds Bounds::upper() const {
  Picoseconds bound = serial_sum_;
  for (const auto& group : collectives_)
    for (const Collective& c : group.second) bound = sum(bound, times(c.time, c.groups));
  return bound;
}

}  // namespace weft::graph
