// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/full_exchanges.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

/// On smaller rings all messages go to neighbours.
constexpr uint32_t kLeast = 4;

/// The phase's rounds are full exchanges.
bool exchanges(const collectives::CollectivePlan& plan, const collectives::PhasePlan& phase,
               const std::vector<DimensionConfig>& dimensions) {
  const collectives::Axis& axis = plan.axes()[phase.axis];
  if (axis.dimension == collectives::Axis::kFlat || !axis.values.empty() || axis.size < kLeast) return false;
  if (phase.algorithm != collectives::direct_algorithm() || !collectives::rootless(phase.op)) return false;
  const DimensionConfig& dimension = dimensions[axis.dimension];
  return dimension.kind == DimensionKind::ring && dimension.fidelity == Fidelity::analytical;
}

}  // namespace

bool FullExchanges::possible(const Config& config) {
  if (config.remapped() || config.collectives.direct_window != 0 || config.nmu.injection_queue != 0 ||
      config.nmu.injection_bandwidth.bytes_per_second != 0) {
    return false;
  }
  return std::any_of(config.dimensions.begin(), config.dimensions.end(), [](const DimensionConfig& d) {
    return d.kind == DimensionKind::ring && d.size >= kLeast;
  });
}

bool FullExchanges::begin(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan,
                          const std::vector<DimensionConfig>& dimensions) {
  if (plan->empty()) return false;
  bool any = false;
  for (const auto& phases : plan->orders()) {
    for (const collectives::PhasePlan& phase : phases) any = any || exchanges(*plan, phase, dimensions);
  }
  if (!any) return false;
  Running running;
  running.stream = stream;
  running.plan = std::move(plan);
  running.dimensions = &dimensions;
  running_.push_back(std::move(running));
  return true;
}

bool FullExchanges::end(uint32_t stream) {
  running_.erase(std::remove_if(running_.begin(), running_.end(),
                                [stream](const Running& r) { return r.stream == stream; }),
                 running_.end());
  return !running_.empty();
}

FullExchanges::Running* FullExchanges::find(uint32_t stream) {
  const auto at = std::find_if(running_.begin(), running_.end(),
                               [stream](const Running& r) { return r.stream == stream; });
  return at == running_.end() ? nullptr : &*at;
}

uint32_t FullExchanges::members(Running& running, const MessageId& id) const {
  if (running.chunk == id.chunk && running.phase == id.phase) return running.members;
  running.chunk = id.chunk;
  running.phase = id.phase;
  const collectives::PhasePlan& phase = running.plan->phases(id.chunk)[id.phase];
  const bool all = exchanges(*running.plan, phase, *running.dimensions);
  running.members = all ? running.plan->axes()[phase.axis].size : 0;
  return running.members;
}

FullExchanges::Exchange& FullExchanges::exchange(const MessageId& id) {
  for (Exchange& e : exchanges_) {
    if (e.id.stream == id.stream && e.id.chunk == id.chunk && e.id.phase == id.phase &&
        e.id.round == id.round)
      return e;
  }
  Exchange fresh;
  fresh.id = id;
  exchanges_.push_back(fresh);
  return exchanges_.back();
}

void FullExchanges::forget(Exchange& exchange) {
  exchange = exchanges_.back();
  exchanges_.pop_back();
}

bool FullExchanges::sends(const MessageId& id, Picoseconds now) {
  Running* running = find(id.stream);
  if (running == nullptr) return false;
  const uint32_t all = members(*running, id);
  if (all == 0) return false;
  Exchange& e = exchange(id);
  e.members = all;
  e.first = std::min(e.first, now);
  e.last = std::max(e.last, now);
  ++e.sent;
  if (e.over()) forget(e);
  return true;
}

Picoseconds FullExchanges::receives(const MessageId& id, Picoseconds sent) {
  Exchange& e = exchange(id);
  e.first = std::min(e.first, sent);
  e.last = std::max(e.last, sent);
  ++e.received;
  if (!e.over()) return 0;
  const Exchange done = e;
  forget(e);
  const Running& running = *find(id.stream);
  const collectives::Axis& axis = running.plan->axes()[running.plan->phases(id.chunk)[id.phase].axis];
  const Picoseconds latency = (*running.dimensions)[axis.dimension].latency;
  const bool together = done.last == done.first || done.last - done.first < latency;
  return together ? done.first + carried(running, id) : 0;
}

Picoseconds FullExchanges::carried(const Running& running, const MessageId& id) const {
  const collectives::CollectivePlan& plan = *running.plan;
  const collectives::PhasePlan& phase = plan.phases(id.chunk)[id.phase];
  std::vector<collectives::AxisView> views;
  plan.views(index(rank_), views);
  const collectives::Split split = plan.split(views, id.chunk, id.phase);
  const collectives::AxisView& view = views[phase.axis];
  const DimensionConfig& dimension = (*running.dimensions)[view.axis->dimension];
  const uint32_t n = view.axis->size;
  const uint32_t me = view.me;
  // A message holds the block of its receiver, or, where blocks are gathered, of its sender.
  const bool senders =
      phase.op == CollectiveOp::all_gather ||
      ((phase.op == CollectiveOp::all_reduce || phase.op == CollectiveOp::barrier) && id.round == 1);
  const bool reverse = (id.chunk % config_.collectives.queues_per_dimension & 1) != 0;
  const uint32_t upwards = reverse ? (n - 1) / 2 : n / 2;
  // The receivers of what passes member i's upward last link are i and those above; q above there are as many
  // messages to as senders are at least q nearer than the farthest: reach - q. Likewise by sender.
  const auto passes = [&](uint32_t reach, bool up) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < reach; ++k) {
      const uint32_t away = senders ? k + 1 : k;
      const uint32_t block =
          up != senders ? collectives::plus_mod(me, away, n) : collectives::minus_mod(me, away, n);
      bytes += (reach - k) * split.size(block);
    }
    return bytes;
  };
  const uint64_t most = std::max(passes(upwards, true), passes(n - 1 - upwards, false));
  return transfer_time(most, dimension.link_rate()) + dimension.latency;
}

}  // namespace weft
