// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/full_exchanges.h"

#include <algorithm>
#include <utility>

#include "configs/blueprint/carrier.h"

namespace weft {
namespace {

/// On smaller rings all messages go to neighbours.
constexpr uint32_t kLeast = 4;

}  // namespace

bool FullExchanges::possible(const Config& config) {
  if (config.remapped() || config.nmu.injection_queue != 0 ||
      config.nmu.injection_bandwidth.bytes_per_second != 0) {
    return false;
  }
  return std::any_of(config.dimensions.begin(), config.dimensions.end(),
                     [](const DimensionConfig& d) { return Shape(d).wraps() && d.size >= kLeast; });
}

bool FullExchanges::has_exchanges(const collectives::CollectivePlan& plan,
                                  const collectives::PhasePlan& phase,
                                  const std::vector<DimensionConfig>& dimensions) const {
  if (phase.exchanges.empty()) return false;
  const collectives::Axis& axis = plan.axes()[phase.axis];
  if (axis.size < kLeast || carrier_of(dimensions[axis.dimension]) != Carrier::direct) return false;
  // What a window holds back is not sent at once.
  return config_.collectives.direct_window == 0 || phase.algorithm != collectives::direct_algorithm();
}

bool FullExchanges::begin(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan,
                          const std::vector<DimensionConfig>& dimensions) {
  if (plan->empty()) return false;
  bool any = false;
  for (const auto& phases : plan->orders()) {
    for (const collectives::PhasePlan& phase : phases) any = any || has_exchanges(*plan, phase, dimensions);
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
  if (running.chunk != id.chunk || running.phase != id.phase) {
    running.chunk = id.chunk;
    running.phase = id.phase;
    const collectives::PhasePlan& phase = running.plan->phases(id.chunk)[id.phase];
    running.rounds = has_exchanges(*running.plan, phase, *running.dimensions) ? &phase.exchanges : nullptr;
    running.members = running.plan->axes()[phase.axis].size;
  }
  const bool exchange = running.rounds != nullptr && id.round < running.rounds->size() &&
                        (*running.rounds)[id.round] != collectives::Exchange::none;
  return exchange ? running.members : 0;
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
  const collectives::Exchange kind = phase.exchanges[id.round];
  const bool senders = kind == collectives::Exchange::gathered;
  const bool reverse = collectives::goes_down(config_, *view.axis, phase.op, id.chunk);
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
  // The same, told from the sends of the members before this one.
  collectives::PhaseShape shape{phase.op, n, 0, phase.root, reverse, id.chunk};
  const auto told = [&](uint32_t reach, bool up) {
    uint64_t bytes = 0;
    collectives::Round round;
    for (uint32_t d = 1; d <= reach; ++d) {
      shape.me = up ? collectives::minus_mod(me, d, n) : collectives::plus_mod(me, d, n);
      phase.algorithm->round(shape, id.round, round);
      for (const collectives::RoundSend& send : round.sends) {
        const uint32_t away =
            up ? collectives::minus_mod(send.to, shape.me, n) : collectives::minus_mod(shape.me, send.to, n);
        if (away >= d && away <= reach) bytes += send.blocks.bytes(n, split);
      }
    }
    return bytes;
  };
  const bool other = kind == collectives::Exchange::other;
  const auto bytes = [&](uint32_t reach, bool up) { return other ? told(reach, up) : passes(reach, up); };
  const uint64_t most = std::max(bytes(upwards, true), bytes(n - 1 - upwards, false));
  return transfer_time(most, dimension.link_rate()) + dimension.latency;
}

}  // namespace weft
