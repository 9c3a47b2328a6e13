// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/bounds.h"

#include <algorithm>
#include <cmath>

#include "configs/geometry.h"

namespace weft::collectives {
namespace {

/// Bytes per second one NPU can send over dimension d in the phases of this plan.
double port_rate(const Config& config, const CollectivePlan& plan, const Axis& axis, size_t axis_index) {
  const DimensionConfig& d = config.dimensions[axis.dimension];
  const double link = d.link_rate().value();
  switch (d.kind) {
    case DimensionKind::ring:
    case DimensionKind::mesh: {
      bool only_ring = true;
      for (const PhasePlan& phase : plan.phases()) {
        if (phase.axis == axis_index) only_ring = only_ring && std::string(phase.algorithm->name()) == "ring";
      }
      const uint32_t directions = only_ring && d.kind == DimensionKind::ring && axis.values.empty()
                                      ? std::min(2u, config.collectives.queues_per_dimension)
                                      : 2;
      return link * directions;
    }
    case DimensionKind::fully_connected:
      return link * (d.size - 1);
    case DimensionKind::switch_:
      return link;
  }
  return link;
}

/// Latency from member `from` of the axis to the farthest one, by the shortest way.
Picoseconds farthest(const Geometry& geometry, const DimensionConfig& dimension, const Axis& axis,
                     uint32_t from) {
  uint32_t hops = 0;
  for (uint32_t i = 0; i < axis.size; ++i) {
    hops = std::max(hops, geometry.hops(axis.dimension, axis.value(from), axis.value(i)));
  }
  return hops * dimension.latency;
}

Picoseconds floor_time(double bytes, double rate) {
  return bytes <= 0 || rate <= 0 ? 0
                                 : static_cast<Picoseconds>(std::floor(bytes / rate * 1e12 * (1 - 1e-12)));
}

/// Bytes per bytes of request that the busiest group of members must send or receive, when n groups of
/// members stand against each other.
double share(CollectiveOp op, double n) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveOp::all_gather:
    case CollectiveOp::gather:
      return n - 1;
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
    case CollectiveOp::scatter:
      return (n - 1) / n;
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
      return 1;
    case CollectiveOp::barrier:
      return 0;
  }
  return 0;
}

/// The longest way there is in every dimension, in hops.
std::vector<uint32_t> longest_ways(const Config& config) {
  const Geometry geometry(config);
  std::vector<uint32_t> ways(geometry.dimensions(), 0);
  for (uint32_t d = 0; d < ways.size(); ++d) {
    for (uint32_t c = 1; c < config.dimensions[d].size; ++c) {
      ways[d] = std::max(ways[d], geometry.hops(d, 0, c));
    }
  }
  return ways;
}

}  // namespace

Picoseconds lower_bound(const Config& config, const CollectivePlan& plan) {
  if (plan.empty()) return 0;
  const Geometry geometry(config);
  const double bytes =
      plan.request().op == CollectiveOp::barrier ? 0 : static_cast<double>(plan.request().bytes);
  const CollectiveOp op = plan.request().op;
  double ports = 0;
  Picoseconds reach = 0;
  Picoseconds nearest = kNever;
  Picoseconds bound = 0;
  // A collective restricted to some dimensions is one of its own on every line.
  double members = 1;
  for (const Axis& axis : plan.axes()) members *= axis.size;
  // The root of a scatter keeps a share, which may be one element larger than the mean in every chunk.
  const double kept =
      op == CollectiveOp::scatter ? static_cast<double>(plan.chunks()) * plan.request().element_bytes : 0;
  std::vector<AxisView> root;
  if (rooted(op)) plan.views(plan.request().root, root);
  for (size_t a = 0; a < plan.axes().size(); ++a) {
    const Axis& axis = plan.axes()[a];
    if (axis.dimension == Axis::kFlat) {
      // Any dimension may carry it.
      for (const DimensionConfig& d : config.dimensions) {
        if (d.size <= 1) continue;
        const uint32_t links = d.kind == DimensionKind::fully_connected ? d.size - 1
                               : d.kind == DimensionKind::switch_       ? 1
                                                                        : 2;
        ports += d.link_rate().value() * links;
        nearest = std::min(nearest, d.latency);
      }
      continue;
    }
    const DimensionConfig& dimension = config.dimensions[axis.dimension];
    const double rate = port_rate(config, plan, axis, a);
    ports += rate;
    const Picoseconds hop = dimension.latency * (dimension.kind == DimensionKind::switch_ ? 2 : 1);
    nearest = std::min(nearest, hop);
    // Rooted operations start or end at the root, the others must reach from end to end.
    reach += farthest(geometry, dimension, axis, rooted(op) ? root[a].me : 0);
    // The members at one coordinate of this dimension against all others. They may reduce or multicast among
    // themselves, so that only gathers and all-to-all grow with their number.
    const double slice = members / axis.size;
    double crossing = share(op, axis.size) * bytes - kept * slice;
    if (op == CollectiveOp::all_gather || op == CollectiveOp::gather || op == CollectiveOp::all_to_all) {
      crossing *= slice;
    }
    bound = std::max(bound, floor_time(crossing, rate * slice) + (bytes > 0 ? hop : 0));
  }
  bound = std::max(bound, floor_time(share(op, members) * bytes - kept, ports) + nearest);
  bound = std::max(bound, reach);
  return bound + 2 * config.nmu.endpoint_delay;
}

Picoseconds serial_time(const Config& config, const CollectivePlan& plan) {
  if (plan.empty()) return 0;
  const Geometry geometry(config);
  const auto& group = plan.request().group->ranks;
  // Where all members do the like, one stands for all; else some of them stand for the rest, each as if
  // alone.
  bool alike = !rooted(plan.request().op);
  bool flat = false;
  std::vector<AxisView> views;
  for (uint32_t p = 0; p < plan.phases().size(); ++p) {
    const Axis& axis = plan.axes()[plan.phases()[p].axis];
    alike = alike && plan.phases()[p].algorithm->symmetric(plan.phases()[p].op, axis.size) &&
            (axis.dimension != Axis::kFlat || axis.values.empty());
    flat = flat || axis.dimension == Axis::kFlat;
  }
  std::vector<uint32_t> ranks{group.empty() ? 0 : group[0]};
  if (!alike) {
    auto add = [&](uint32_t i) { ranks.push_back(group.empty() ? i : group[i]); };
    const uint32_t at = rooted(plan.request().op) ? std::max(plan.member_index(plan.request().root), 0u) : 0;
    for (const uint32_t step : {0u, 1u, 2u, plan.members() - 1}) add((at + step) % plan.members());
    // The inner members of trees and the partners of extra ones are everywhere.
    const uint32_t stride = (plan.members() + 63) / 64 | 1u;
    for (uint32_t i = 0; i < plan.members(); i += stride) add(i);
  }
  // On a flat line every hop may be the slowest there is.
  const std::vector<uint32_t> ways = flat ? longest_ways(config) : std::vector<uint32_t>{};
  auto time_of = [&](uint32_t from, uint32_t to, uint64_t bytes) {
    if (!flat) return message_time(config, from, to, bytes);
    Picoseconds time = 2 * config.nmu.endpoint_delay;
    for (size_t d = 0; d < ways.size(); ++d) {
      if (ways[d] == 0) continue;
      time +=
          ways[d] * (config.dimensions[d].latency + transfer_time(bytes, config.dimensions[d].link_rate()));
    }
    return time;
  };
  Picoseconds total = 0;
  Round round;
  for (const uint32_t rank : ranks) {
    Picoseconds member = 0;
    plan.views(rank, views);
    const uint32_t kinds = plan.chunks() > 1 ? 2 : 1;  // all but the last chunk are alike
    for (uint32_t k = 0; k < kinds; ++k) {
      const uint32_t chunk = k == 0 ? 0 : plan.chunks() - 1;
      Picoseconds one = 0;
      for (uint32_t p = 0; p < plan.phases().size(); ++p) {
        if (!plan.participates(views, p)) continue;
        const PhasePlan& phase = plan.phases()[p];
        const PhaseShape shape = plan.shape(views, p, false, chunk);
        const Split split = plan.split(views, chunk, p);
        one += config.nmu.endpoint_delay;
        for (uint32_t r = 0; r < phase.algorithm->rounds(shape); ++r) {
          phase.algorithm->round(shape, r, round);
          const uint32_t me = views[phase.axis].rank(shape.me);
          for (const RoundSend& send : round.sends) {
            const uint64_t bytes =
                send.blocks.bytes(shape.n, split) + split.unit;  // the largest member's blocks
            one += time_of(me, views[phase.axis].rank(send.to), bytes);
            if (send.reduce && config.collectives.reduction == ReductionKind::fixed_bandwidth) {
              one += transfer_time(3 * bytes, config.collectives.reduction_bandwidth);
            } else if (send.reduce && config.collectives.reduction == ReductionKind::hbm) {
              one += transfer_time(3 * bytes, config.hbm.bandwidth) + 3 * config.hbm.latency;
            }
          }
        }
      }
      member += one * (k == 0 ? plan.chunks() - kinds + 1 : 1);
    }
    total = std::max(total, member);
  }
  return alike ? total : total * plan.members();
}

Picoseconds message_time(const Config& config, uint32_t source, uint32_t destination, uint64_t bytes) {
  const Geometry geometry(config);
  Picoseconds time = 2 * config.nmu.endpoint_delay;
  for (uint32_t d = 0; d < geometry.dimensions(); ++d) {
    const uint32_t hops =
        geometry.hops(d, geometry.coordinate(source, d), geometry.coordinate(destination, d));
    if (hops == 0) continue;
    time += hops * (config.dimensions[d].latency + transfer_time(bytes, config.dimensions[d].link_rate()));
  }
  return time;
}

}  // namespace weft::collectives
