// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/plan_size.h"

#include <vector>

#include "workload/collectives/in_switch.h"
#include "workload/collectives/sample.h"

namespace weft::collectives {
namespace {

constexpr uint32_t kMostMembers = 8;  // of a plan, that are looked at
constexpr uint32_t kMostRounds = 64;  // of a phase

struct PhaseSize {
  double messages = 0;  ///< of its largest round
  double bytes = 0;
};

/// One chunk of one member in a phase.
PhaseSize of_phase(const CollectivePlan& plan, const std::vector<AxisView>& views, uint32_t p,
                   uint32_t window) {
  PhaseSize size;
  if (!plan.participates(views, p)) return size;
  const PhasePlan& phase = plan.phases()[p];
  const PhaseShape shape = plan.shape(views, p, false);
  const Split split = plan.split(views, 0, p);
  if (phase.algorithm == direct_algorithm()) {  // not listed: there can be millions
    if (rooted(phase.op) && shape.me != shape.root) return {1, static_cast<double>(split.size(0))};
    size.messages = window == 0 ? shape.n - 1.0 : std::min<double>(window, shape.n - 1.0);
    size.bytes = size.messages * static_cast<double>(split.size(0));
    return size;
  }
  Round round;
  const uint32_t rounds = std::min(phase.algorithm->rounds(shape), kMostRounds);
  for (uint32_t r = 0; r < rounds; ++r) {
    phase.algorithm->round(shape, r, round);
    double bytes = 0;
    for (const RoundSend& send : round.sends) bytes += static_cast<double>(send.blocks.bytes(shape.n, split));
    size.messages = std::max(size.messages, static_cast<double>(round.sends.size()));
    size.bytes = std::max(size.bytes, bytes);
  }
  return size;
}

}  // namespace

PlanSize plan_size(const Config& config, const CollectivePlan& plan) {
  PlanSize result;
  if (plan.empty()) return result;
  result.chunks = plan.chunks();
  const CollectivesConfig& c = config.collectives;
  const std::vector<uint32_t>& group = plan.request().group->ranks;
  std::vector<AxisView> views;
  for_each_sample(plan.members(), kMostMembers, [&](uint32_t member) {
    plan.views(group.empty() ? member : group[member], views);
    // Phases on one axis take turns; those on different axes run side by side, with different chunks.
    std::vector<PhaseSize> axes(plan.axes().size());
    for (uint32_t p = 0; p < plan.phases().size(); ++p) {
      const PhasePlan& phase = plan.phases()[p];
      if (phase.algorithm->in_switch()) {
        const UnitLayout layout = UnitLayout::of(config, plan, 0, p, plan.split(views, 0, p));
        result.blocks = std::max(result.blocks, static_cast<double>(layout.slots()));
        axes[phase.axis].messages = std::max(axes[phase.axis].messages, static_cast<double>(layout.slots()));
        continue;
      }
      const PhaseSize size = of_phase(plan, views, p, c.direct_window);
      axes[phase.axis].messages = std::max(axes[phase.axis].messages, size.messages);
      axes[phase.axis].bytes = std::max(axes[phase.axis].bytes, size.bytes);
    }
    PlanSize one;
    const double side_by_side =
        std::min<double>(plan.chunks(), double{1} * c.active_chunks_per_dimension * most_queues(config));
    for (const PhaseSize& axis : axes) {
      one.messages += side_by_side * axis.messages;
      one.bytes += side_by_side * axis.bytes;
    }
    result.raise(one);
  });
  return result;
}

}  // namespace weft::collectives
