// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/traffic_estimate.h"

#include <algorithm>
#include <map>
#include <vector>

#include "configs/stop.h"
#include "workload/collectives/in_switch.h"
#include "workload/collectives/sample.h"

namespace weft::collectives {
namespace {

constexpr uint32_t kMostLookedAt = 64;

/// One member's part of a phase of a chunk.
TrafficEstimate of_phase(const Config& config, const CollectivePlan& plan, const std::vector<AxisView>& views,
                         uint32_t chunk, uint32_t p) {
  TrafficEstimate sum;
  if (!plan.participates(views, p)) return sum;
  const PhasePlan& phase = plan.phases(chunk)[p];
  const PhaseShape shape = plan.shape(views, p, false, chunk);
  const Split split = plan.split(views, chunk, p);
  if (phase.algorithm->in_switch()) {
    const UnitLayout layout = UnitLayout::of(config, plan, chunk, p, split);
    sum.messages = static_cast<double>(layout.results(shape.me));
    sum.bytes = sum.messages * static_cast<double>(layout.piece(0).bytes);
    return sum;
  }
  Round round;
  for (uint32_t r = 0; r < phase.algorithm->rounds(shape); ++r) {
    phase.algorithm->round(shape, r, round);
    for (const RoundSend& send : round.sends) {
      sum.messages += 1;
      sum.bytes += static_cast<double>(send.blocks.bytes(shape.n, split));
    }
  }
  return sum;
}

}  // namespace

TrafficEstimate estimate_traffic(const Config& config, const CollectivePlan& plan) {
  TrafficEstimate total;
  if (plan.empty()) return total;
  const std::vector<uint32_t>& group = plan.request().group->ranks;
  std::vector<AxisView> views;
  const uint32_t looked_at = for_each_sample(plan.members(), kMostLookedAt, [&](uint32_t member) {
    plan.views(group.empty() ? member : group[member], views);
    // Chunks of one order of phases are alike, but for the last one.
    std::map<const std::vector<PhasePlan>*, TrafficEstimate> known;
    for (uint32_t chunk = 0; chunk < plan.chunks(); ++chunk) {
      check_stop();
      const auto [it, fresh] = known.try_emplace(&plan.phases(chunk));
      if (fresh) {
        for (uint32_t p = 0; p < plan.phases(chunk).size(); ++p) {
          const TrafficEstimate one = of_phase(config, plan, views, chunk, p);
          it->second.messages += one.messages;
          it->second.bytes += one.bytes;
        }
      }
      total.messages += it->second.messages;
      total.bytes += it->second.bytes;
    }
  });
  const double scale = static_cast<double>(plan.members()) / looked_at;
  return {total.messages * scale, total.bytes * scale};
}

}  // namespace weft::collectives
