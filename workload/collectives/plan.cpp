// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/blueprint/carrier.h"
#include "workload/collectives/in_switch.h"

namespace weft::collectives {

uint32_t most_queues(const Config& config) {
  uint32_t most = config.collectives.queues_per_dimension;
  for (const DimensionConfig& d : config.dimensions) most = std::max(most, queues_of(config, d));
  return most;
}

void CollectivePlan::views(uint32_t rank, std::vector<AxisView>& out) const {
  out.clear();
  for (const Axis& axis : axes_) {
    AxisView view;
    view.axis = &axis;
    uint32_t coordinate = rank;
    if (axis.dimension != Axis::kFlat) {
      coordinate = rank / axis.stride % sizes_[axis.dimension];
      view.base = rank - coordinate * axis.stride;
    } else if (axis.spans != 0) {
      coordinate = 0;
      for (uint32_t d = 0; d < sizes_.size(); ++d) {
        if (axis.spans >> d & 1) coordinate += rank / strides_[d] % sizes_[d] * strides_[d];
      }
      view.base = rank - coordinate;
    }
    if (axis.values.empty()) {
      view.me = coordinate;
    } else {
      const auto it = axis.dimension == Axis::kFlat && axis.spans == 0
                          ? std::find(axis.values.begin(), axis.values.end(), coordinate)
                          : std::lower_bound(axis.values.begin(), axis.values.end(), coordinate);
      view.me = static_cast<uint32_t>(it - axis.values.begin());
    }
    out.push_back(view);
  }
}

uint32_t CollectivePlan::member_index(uint32_t rank) const {
  if (ranks_.empty()) return rank;
  const auto it = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
  return it != ranks_.end() && *it == rank ? static_cast<uint32_t>(it - ranks_.begin()) : ~0u;
}

bool equally_spaced(const std::vector<uint32_t>& part, uint32_t size) {
  if (part.empty() || size % part.size() != 0) return false;
  const auto step = size / static_cast<uint32_t>(part.size());
  for (uint32_t i = 1; i < part.size(); ++i)
    if (part[i] != part[i - 1] + step) return false;
  return true;
}

bool members_alike(const Config& config, const Axis& axis) {
  if (axis.values.empty()) return true;
  const DimensionConfig& dimension = config.dimensions[axis.dimension];
  const Shape shape(dimension);
  if (shape.subsets_alike()) return true;
  if (carrier_of(dimension) != Carrier::direct) return false;
  return shape.joins_pairs() || (shape.wraps() && equally_spaced(axis.values, dimension.size));
}

std::string CollectivePlan::asymmetry(const Config& config) const {
  if (empty()) return {};
  if (config.remapped())
    return "ranks do not all have like links where the logical topology is not the physical one";
  if (config.replaces_modules()) return "NPUs, NMUs or single modules are of models of their own";
  if (rooted(request_.op)) return fmt::format("{} has a root", to_string(request_.op));
  for (const Axis& axis : axes_) {
    if (axis.dimension == Axis::kFlat) {
      return axis.values.empty() || axis.spans != 0 ? "its line of members runs over dimensions that differ"
                                                    : "the group is not made of whole dimensions";
    }
    // At a switch all members are alike, whichever of its NPUs they are.
    const Shape shape(config.dimensions[axis.dimension]);
    if (!members_alike(config, axis)) return "the group is not made of whole dimensions";
    const std::string difference = shape.difference();
    if (!difference.empty()) return fmt::format("dimension {} {}", axis.dimension, difference);
  }
  std::vector<AxisView> first;
  views(request_.group->ranks.empty() ? 0 : request_.group->ranks[0], first);
  for (uint32_t c = 0; c < chunks_; ++c) {
    if (c != 0 && c + 1 != chunks_ && order_of_chunk_.empty()) continue;  // like the first
    for (uint32_t p = 0; p < phases(c).size(); ++p) {
      const PhasePlan& phase = phases(c)[p];
      const uint32_t n = axes_[phase.axis].size;
      if (phase.algorithm->in_switch()) {
        return fmt::format("the collective units of dimension {}'s switches take part (in_switch)",
                           axes_[phase.axis].dimension);
      }
      const DimensionConfig& dimension = config.dimensions[axes_[phase.axis].dimension];
      if (n > 2 && phase.algorithm != ring_algorithm() && carrier_of(dimension) == Carrier::neighbours) {
        return fmt::format("messages of {} pass other ranks of dimension {}, which is not analytical",
                           phase.algorithm->name(), axes_[phase.axis].dimension);
      }
      if (n > 2 && phase.algorithm == halving_doubling_algorithm() && Shape(dimension).joins_neighbours() &&
          config.collectives.active_chunks_per_dimension * queues_of(config, axes_[phase.axis]) > 1) {
        return "chunks of halving_doubling on a Ring share a direction at some ranks and not at others";
      }
      if (!phase.algorithm->symmetric(phase.op, n)) {
        return fmt::format("{} of {} members is not symmetric", phase.algorithm->name(), n);
      }
      if (split(first, c, p).extra != 0) {
        return fmt::format("chunk {} does not divide evenly in phase {}", c, p);
      }
    }
  }
  return {};
}

std::string CollectivePlan::ties(const Config& config) const {
  const CollectivesConfig& c = config.collectives;
  const bool reduces = c.reduction != ReductionKind::none;
  const bool queues_up =
      config.nmu.injection_queue != 0 || config.nmu.injection_bandwidth.bytes_per_second != 0;
  for (uint32_t chunk = 0; chunk < chunks_; ++chunk) {
    if (chunk != 0 && order_of_chunk_.empty()) break;
    for (const PhasePlan& phase : phases(chunk)) {
      const Axis& axis = axes_[phase.axis];
      // From one peer messages come one after the other. Groups of whole dimensions have the same neighbours.
      // In a FullyConnected or Ring parts are like whole lines (Folding sees to it that no others share
      // links).
      const bool whole = axis.values.empty() || (!Shape(config.dimensions[axis.dimension]).has_switches() &&
                                                 members_alike(config, axis));
      if (whole && axis.size <= 2) continue;
      const Shape shape(config.dimensions[axis.dimension]);
      if (shape.joins_neighbours() && phase.algorithm == halving_doubling_algorithm())
        return "partners of halving_doubling on a Ring are on this side of some ranks and on that of others";
      const uint32_t queues = queues_of_phase(config, axis, phase.op).count;
      if (c.active_chunks_per_dimension * queues <= 1) continue;
      // The directions of a ring have nothing in common but the NMU's injection.
      if (whole && phase.algorithm == ring_algorithm() && (queues == 1 || !queues_up)) continue;
      // What goes through one port one after the other also comes so, unless some of it then takes the time
      // of a reduction. Pair links are in step as long as all peers are sent to at once.
      if (shape.has_switches() && !reduces) continue;
      if (shape.joins_pairs() && phase.algorithm == direct_algorithm() && c.direct_window == 0 && !reduces &&
          !queues_up)
        continue;
      return fmt::format(
          "chunks of {} that run side by side in dimension {} may tie, which ranks break unalike",
          phase.algorithm->name(), axis.dimension);
    }
  }
  return {};
}

CollectivePlan::LinkImages CollectivePlan::link_images(const Config& config) const {
  LinkImages images;
  for (const auto& phases : orders_) {
    for (const PhasePlan& phase : phases) {
      const Axis& axis = axes_[phase.axis];
      if (axis.dimension == Axis::kFlat || axis.size <= 2) continue;
      const Shape shape(config.dimensions[axis.dimension]);
      if (shape.joins_neighbours() && phase.algorithm == halving_doubling_algorithm())
        images.uneven |= 1u << axis.dimension;
      if (!shape.joins_pairs()) continue;
      if (phase.algorithm == halving_doubling_algorithm()) {
        images.exchanges |= 1u << axis.dimension;
      } else if (phase.algorithm != direct_algorithm()) {
        images.shifts |= 1u << axis.dimension;
      }
    }
  }
  return images;
}

bool CollectivePlan::brings_back() const {
  const auto brings_back = [](const PhasePlan& phase) {
    return phase.algorithm == ring_algorithm() || phase.algorithm == direct_algorithm() ||
           phase.algorithm == halving_doubling_algorithm() || phase.algorithm->in_switch();
  };
  return request_.op == CollectiveOp::all_reduce && !empty() &&
         std::all_of(orders_.begin(), orders_.end(), [&](const std::vector<PhasePlan>& phases) {
           return std::all_of(phases.begin(), phases.end(), brings_back);
         });
}

bool CollectivePlan::along_dimensions() const {
  return std::all_of(axes_.begin(), axes_.end(),
                     [](const Axis& axis) { return axis.dimension != Axis::kFlat; });
}

bool CollectivePlan::participates(const std::vector<AxisView>& views, uint32_t phase) const {
  if (!rooted(request_.op)) return true;
  // Broadcast and scatter spread from the root's line: the axes of later phases must still be at the root's
  // coordinate. Reduce and gather shrink towards it: those of earlier phases must already be.
  const bool spreads = request_.op == CollectiveOp::broadcast || request_.op == CollectiveOp::scatter;
  const uint32_t from = spreads ? phase + 1 : 0;
  const auto& list = phases();  // rooted operations have one order
  const uint32_t to = spreads ? static_cast<uint32_t>(list.size()) : phase;
  for (uint32_t p = from; p < to; ++p) {
    if (views[list[p].axis].me != list[p].root) return false;
  }
  return true;
}

Split CollectivePlan::split(const std::vector<AxisView>& views, uint32_t chunk, uint32_t phase) const {
  if (request_.op == CollectiveOp::barrier) return {kBarrierToken, 0, 1};
  const uint32_t unit = request_.element_bytes;
  uint64_t length = chunk_bytes(chunk);
  uint64_t outer[32];  // lengths before each reduce-scatter that no all-gather has undone yet
  uint32_t depth = 0;
  const bool rearranged = this->rearranged(chunk);
  uint32_t origins = 1;  // all-to-all: members that have brought their data together in the phases so far
  for (uint32_t p = 0;; ++p) {
    const PhasePlan& plan = phases(chunk)[p];
    const uint32_t n = axes_[plan.axis].size;
    const bool undo = plan.op == CollectiveOp::all_gather && depth > 0 && !rearranged;
    const bool shard = (plan.op == CollectiveOp::all_gather && !undo) || plan.op == CollectiveOp::gather;
    Split split = shard ? Split{length, 0, unit} : Split::of(undo ? outer[depth - 1] : length, n, unit);
    if (plan.op == CollectiveOp::all_to_all) {
      // What is for one member is as long as the sender's splits made it, once from every origin.
      length = split.size(views[plan.axis].me);
      split = {split.base * origins, split.extra, split.unit * origins};
      origins *= n;
    }
    if (p == phase) return split;
    switch (plan.op) {
      case CollectiveOp::reduce_scatter:
        outer[depth++] = length;
        length = split.size(views[plan.axis].me);
        break;
      case CollectiveOp::scatter:
        length = split.size(views[plan.axis].me);
        break;
      case CollectiveOp::all_gather:
        length = undo ? outer[--depth] : length * n;
        break;
      case CollectiveOp::gather:
        length *= n;
        break;
      default:
        break;
    }
  }
}

}  // namespace weft::collectives
