// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/pipeline.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <vector>

namespace weft::collectives {
namespace {

class Pipeline {
 public:
  Pipeline(const Config& config, const CollectivePlan& plan)
      : config_(config),
        plan_(plan),
        directions_(most_queues(config)),
        queues_(plan.axes().size() * directions_),
        phase_(plan.chunks(), 0) {}

  Picoseconds run() {
    for (uint32_t c = 0; c < plan_.chunks(); ++c) enter(c);
    serve();
    while (!ends_.empty()) {
      now_ = ends_.top().first;
      // Everything that ends at this instant, then what may begin.
      while (!ends_.empty() && ends_.top().first == now_) {
        const uint32_t chunk = ends_.top().second;
        ends_.pop();
        queue_of(chunk).busy = false;
        if (++phase_[chunk] < plan_.phases(chunk).size()) enter(chunk);
      }
      serve();
    }
    return now_;
  }

 private:
  /// Preference, ready, chunk.
  using Waiting = std::tuple<uint64_t, Picoseconds, uint32_t>;
  struct Queue {
    std::set<Waiting> waiting;
    bool busy = false;
    bool gathered_last = true;
  };

  const PhasePlan& phase(uint32_t chunk) const { return plan_.phases(chunk)[phase_[chunk]]; }

  Queue& queue_of(uint32_t chunk) {
    const PhasePlan& planned = phase(chunk);
    return queues_[planned.axis * directions_ +
                   queues_of_phase(config_, plan_.axes()[planned.axis], planned.op).of(chunk)];
  }

  void enter(uint32_t chunk) {
    uint64_t preference = 0;
    switch (config_.collectives.dimension_scheduling) {
      case DimensionScheduling::smallest_first:
        preference = phase(chunk).duration;
        break;
      case DimensionScheduling::less_remaining_phase_first:
        preference = plan_.phases(chunk).size() - phase_[chunk];
        break;
      default:
        break;
    }
    queue_of(chunk).waiting.insert({preference, now_, chunk});
  }

  void serve() {
    for (Queue& queue : queues_) {
      if (queue.busy || queue.waiting.empty()) continue;
      auto next = queue.waiting.begin();
      const auto gathers = [this](const Waiting& w) {
        return phase(std::get<2>(w)).op == CollectiveOp::all_gather;
      };
      if (config_.collectives.dimension_scheduling == DimensionScheduling::rg) {
        const auto other = std::find_if(queue.waiting.begin(), queue.waiting.end(),
                                        [&](const Waiting& w) { return gathers(w) != queue.gathered_last; });
        if (other != queue.waiting.end()) next = other;
        queue.gathered_last = gathers(*next);
      }
      const uint32_t chunk = std::get<2>(*next);
      queue.waiting.erase(next);
      queue.busy = true;
      ends_.push({saturated(static_cast<Wide>(now_) + phase(chunk).duration), chunk});
    }
  }

  const Config& config_;
  const CollectivePlan& plan_;
  uint32_t directions_;
  std::vector<Queue> queues_;
  std::vector<uint32_t> phase_;  ///< of each chunk
  using End = std::pair<Picoseconds, uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  Picoseconds now_ = 0;
};

}  // namespace

Picoseconds pipeline_time(const Config& config, const CollectivePlan& plan) {
  return plan.empty() ? 0 : Pipeline(config, plan).run();
}

}  // namespace weft::collectives
