// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/reaction_point.h"

#include <algorithm>

#include "configs/types.h"

namespace weft::packet {
namespace {

/// Drops what `old` says from a map whose order nobody sees.
template <typename Map, typename Old>
void drop(Map& map, const Old& old) {
  for (auto it = map.begin(); it != map.end();) it = old(*it) ? map.erase(it) : std::next(it);
}

}  // namespace

ReactionPoint::ReactionPoint(const DcqcnConfig& config, uint64_t line_rate, uint32_t flit_bytes, Ticks cycle)
    : config_(config), line_rate_(line_rate), flit_bytes_(flit_bytes), cycle_(cycle) {}

void ReactionPoint::notify(uint32_t destination, Ticks at, Ticks now) {
  if (flows_.size() >= sweep_at_) sweep(now);
  std::vector<Ticks>& coming = flows_[destination].coming;
  coming.insert(std::upper_bound(coming.begin(), coming.end(), at), at);
  ++records_[destination].notifications;
}

void ReactionPoint::close(Flow& flow, FlowRecord& record) {
  record.lowest_rate = std::min(record.lowest_rate, flow.rate->lowest());
  record.below_line += flow.rate->released_at() - flow.since;
  flow.rate.reset();
}

void ReactionPoint::update(Flow& flow, FlowRecord& record, Ticks t) const {
  size_t passed = 0;
  for (; passed < flow.coming.size() && flow.coming[passed] <= t; ++passed) {
    const Ticks at = flow.coming[passed];
    if (flow.rate) flow.rate->advance(at);
    if (flow.rate && flow.rate->released()) close(flow, record);
    if (flow.rate) {
      flow.rate->notify(at);
    } else {
      flow.rate.emplace(config_, line_rate_, at);
      flow.since = at;
      flow.last = kNever;
    }
  }
  flow.coming.erase(flow.coming.begin(), flow.coming.begin() + static_cast<std::ptrdiff_t>(passed));
  if (!flow.rate) return;
  flow.rate->advance(t);
  if (flow.rate->released()) close(flow, record);
}

Ticks ReactionPoint::due(const Flow& flow) const {
  const uint64_t rate = flow.rate->rate();
  const Wide time = (static_cast<Wide>(flow.last_bits) * kTicksPerSecond + rate - 1) / rate;
  return flow.last + static_cast<Ticks>(time);
}

Ticks ReactionPoint::may_begin(uint32_t destination, Ticks t, Ticks start) {
  const auto it = flows_.find(destination);
  if (it == flows_.end()) return t;
  Flow& flow = it->second;
  update(flow, records_[destination], t);
  if (!flow.rate) {
    if (flow.coming.empty()) flows_.erase(it);
    return t;
  }
  if (flow.last == kNever) return t;
  const Ticks then = due(flow);
  return then <= start ? t : std::min(then, flow.rate->next_increase());
}

void ReactionPoint::begin(uint32_t destination, Ticks t, Ticks start, uint32_t flits) {
  const auto it = flows_.find(destination);
  if (it == flows_.end()) return;
  Flow& flow = it->second;
  FlowRecord& record = records_[destination];
  update(flow, record, t);
  if (!flow.rate) return;
  const uint64_t bytes = static_cast<uint64_t>(flits) * flit_bytes_;
  // Packets begin on cycles; what that costs one is given to the next.
  Ticks from = start;
  if (flow.last != kNever) {
    const Ticks then = due(flow);
    if (then <= start && start - then < cycle_) from = then;
  }
  flow.last = from;
  flow.last_bits = 8 * bytes;
  flow.rate->send(t, bytes);
  if (flow.rate->released()) close(flow, record);
}

uint64_t ReactionPoint::rate(uint32_t destination, Ticks t) {
  const auto it = flows_.find(destination);
  if (it == flows_.end()) return line_rate_;
  update(it->second, records_[destination], t);
  return it->second.rate ? it->second.rate->rate() : line_rate_;
}

std::map<uint32_t, FlowRecord> ReactionPoint::records(Ticks t) const {
  std::map<uint32_t, FlowRecord> all = records_;
  for (const auto& [destination, live] : flows_) {
    Flow flow = live;
    FlowRecord& record = all[destination];
    update(flow, record, t);
    record.notifications -= flow.coming.size();  // on their way
    if (!flow.rate) continue;
    record.lowest_rate = std::min(record.lowest_rate, flow.rate->lowest());
    if (t > flow.since) record.below_line += t - flow.since;
  }
  return all;
}

void ReactionPoint::restart(Ticks t) {
  records_ = records(t);
  flows_.clear();
}

// What is known up to now may be counted: notifications that have not been told arrive later.
void ReactionPoint::sweep(Ticks t) {
  for (auto& [destination, flow] : flows_) update(flow, records_[destination], t);
  drop(flows_, [](const auto& entry) { return !entry.second.rate && entry.second.coming.empty(); });
  sweep_at_ = std::max<size_t>(16, 2 * flows_.size());
}

bool NotificationPoint::notifies(uint32_t sender, Ticks at) {
  const auto [it, first] = last_.try_emplace(sender, at);
  if (!first) {
    if (at - it->second < interval_) return false;
    it->second = at;
  }
  ++sent_;
  if (last_.size() >= sweep_at_) {
    drop(last_, [&](const auto& entry) { return at - entry.second >= interval_; });
    sweep_at_ = std::max<size_t>(16, 2 * last_.size());
  }
  return true;
}

}  // namespace weft::packet
