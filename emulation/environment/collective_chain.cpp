// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/environment/collective_chain.h"

#include <algorithm>

namespace weft::emulation {
namespace {

constexpr double kMostMessages = 200000;  ///< of a chain, which is simulated several times
constexpr size_t kMostCollectives = 8;

}  // namespace

bool CollectiveChain::add(const std::shared_ptr<RunningCollective>& collective, Picoseconds now, bool alone,
                          bool only) {
  const bool idle = std::all_of(collectives_.begin(), collectives_.end(),
                                [now](const auto& earlier) { return earlier->last_end <= now; });
  if (idle) collectives_.clear();
  if (!idle_.chains(collective->start.plan) ||
      (!idle && (!alone || !makes_room(idle_.messages(collective->start.plan), now)))) {
    drop();
    return false;
  }
  const bool chained = !collectives_.empty();
  if (!chained && !only) return false;
  collectives_.push_back(collective);
  if (chained)
    for (const auto& member : collectives_) member->chained = true;
  return chained;
}

void CollectiveChain::drop() {
  dropped_.clear();
  for (const auto& collective : collectives_)
    if (collective->chained && (stale_ || collective->last_end == kNever)) dropped_.push_back(collective);
  collectives_.clear();
  stale_ = false;
}

/// Forgets the oldest ones if need be, but none in which somebody still is.
bool CollectiveChain::makes_room(double messages, Picoseconds now) {
  for (const auto& earlier : collectives_) messages += idle_.messages(earlier->start.plan);
  while (collectives_.size() >= kMostCollectives || messages > kMostMessages) {
    if (collectives_.empty() || collectives_.front()->last_end > now) return false;
    messages -= idle_.messages(collectives_.front()->start.plan);
    collectives_.pop_front();
  }
  return !collectives_.empty();
}

void CollectiveChain::measure() {
  stale_ = false;
  Picoseconds first = kNever;
  for (const auto& collective : collectives_)
    for (const JoinGroup& group : collective->groups) first = std::min(first, group.joined);
  std::vector<IdleTimes::Link> links;
  for (const auto& collective : collectives_) {
    IdleTimes::Link link;
    link.plan = collective->start.plan;
    link.priority = collective->start.priority;
    for (size_t g = 0; g < collective->groups.size(); ++g) {
      const JoinGroup& group = collective->groups[g];
      link.joins.push_back({group.joined == kNever ? kNever : group.joined - first,
                            g << 1 | (collective->apart ? 1 : 0), &group.members});
    }
    links.push_back(std::move(link));
  }
  const std::shared_ptr<const IdleTimes::ChainTimes> times = idle_.chain(links);
  for (size_t i = 0; i < collectives_.size(); ++i) {
    RunningCollective& collective = *collectives_[i];
    collective.exact = &times->times[i];
    collective.keeps = times;
    collective.first = first;
    collective.last_end = times->ends[i] == kNever ? kNever : first + times->ends[i];
  }
}

}  // namespace weft::emulation
