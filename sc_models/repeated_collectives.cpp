// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/repeated_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace weft {
namespace {

/// What is kept of all kinds together; of later ones nothing is.
constexpr size_t kMostMembers = size_t{1} << 16;

}  // namespace

bool RepeatedCollectives::fit(Machine& machine) {
  const Config& config = machine.config();
  if (machine.causes() != nullptr || machine.partial() || !machine.mirrored().empty() ||
      machine.data() != nullptr || machine.has_taps())
    return false;
  for (uint32_t r = 0; r < machine.npus(); ++r)
    if (machine.built(r) && machine.own_nmu(r).watched()) return false;
  // Without latency a message of no length arrives in the instant in which it is sent, and a start that is
  // held comes after it.
  for (const DimensionConfig& d : config.dimensions)
    if (d.size > 1 && d.latency == 0) return false;
  // `rg` takes turns over collectives, the dispatcher counts chunks of all dimensions, and so do limits of
  // injection.
  return config.collectives.dimension_scheduling != DimensionScheduling::rg &&
         config.collectives.dispatch_threshold == 0 && config.nmu.injection_queue == 0 &&
         config.nmu.injection_bandwidth.bytes_per_second == 0;
}

RepeatedCollectives::RepeatedCollectives(Machine& machine, Tell tell)
    : machine_(machine), tell_(std::move(tell)) {
  machine_.on_starts([this] { start_held(); });
  machine_.alarm().on([this](Picoseconds now) { finish_due(now); });
}

RepeatedCollectives::~RepeatedCollectives() {
  machine_.on_starts({});
  machine_.alarm().on({});
}

bool RepeatedCollectives::hold(uint32_t rank, const CollectiveStart& start) {
  if (start.plane != 0 || outcome_of(*start.plan) == nullptr) return false;
  if (held_.empty()) machine_.request_starts();
  held_.push_back({rank, start});
  return true;
}

RepeatedCollectives::Outcome* RepeatedCollectives::outcome_of(const collectives::CollectivePlan& plan) {
  const uint64_t key = reinterpret_cast<uintptr_t>(&plan);
  if (Outcome* const* const known = outcome_of_.find(key)) {
    return *known == nullptr || (*known)->state == Outcome::State::varies ? nullptr : *known;
  }
  const collectives::CollectiveRequest& request = plan.request();
  Outcome* outcome = nullptr;
  if (!plan.empty() && plan.delay() == 0 && !plan.uses_units() && plan.along_dimensions() &&
      !collectives::rooted(request.op)) {
    Kind kind{request.op, request.bytes, request.element_bytes, request.settings, plan.chunks(), {}};
    uint32_t dimensions = 0;
    for (const collectives::Axis& axis : plan.axes()) {
      std::get<5>(kind).emplace_back(axis.dimension, axis.size);
      dimensions |= 1u << axis.dimension;
    }
    outcome = &outcomes_[std::move(kind)];
    outcome->dimensions = dimensions;
  }
  outcome_of_.insert(key, outcome);
  return outcome;
}

void RepeatedCollectives::start_held() {
  std::vector<Held> held = std::move(held_);
  held_.clear();
  std::sort(held.begin(), held.end(), [](const Held& a, const Held& b) {
    return a.start.stream != b.start.stream ? a.start.stream < b.start.stream : a.rank < b.rank;
  });
  Held* const end = held.data() + held.size();
  for (Held* first = held.data(); first != end;) {
    Held* last = first;
    while (last != end && last->start.stream == first->start.stream) ++last;
    Outcome* const outcome = outcome_of(*first->start.plan);
    const bool all = static_cast<size_t>(last - first) == first->start.plan->members();
    if (!all || outcome == nullptr) {
      start_all(first, last);
    } else if (outcome->state == Outcome::State::known) {
      start_repeating(*outcome, first, last);
    } else {
      if (outcome->state == Outcome::State::unknown) start_learning(*outcome, first, last);
      start_all(first, last);
    }
    first = last;
  }
  // The room is kept.
  held.clear();
  held_ = std::move(held);
}

/// In messages.
void RepeatedCollectives::start_all(Held* first, Held* last) {
  for (; first != last; ++first) {
    CollectiveStart& start = first->start;
    machine_.nmu(first->rank).start_collective(start.stream, std::move(start.plan), start.priority);
  }
}

template <typename F>
void RepeatedCollectives::each_link(uint32_t rank, uint32_t dimensions, F&& f) {
  for (uint32_t d = 0; dimensions >> d != 0; ++d) {
    if ((dimensions >> d & 1) == 0) continue;
    f(machine_.own_nmu(rank).port(d)->first, true);
    f(machine_.link_to(rank, d), false);
  }
}

void RepeatedCollectives::start_learning(Outcome& outcome, const Held* first, const Held* last) {
  const auto members = static_cast<size_t>(last - first);
  if (kept_ + members > kMostMembers) {
    outcome.state = Outcome::State::varies;
    return;
  }
  kept_ += members;
  outcome.state = Outcome::State::learning;
  outcome.members.resize(members);
  auto learning = std::make_unique<Learning>();
  learning->outcome = &outcome;
  learning->started = sc_core::sc_time_stamp().value();
  const uint32_t stream = first->start.stream;
  for (; first != last; ++first) {
    learning->ranks.push_back(first->rank);
    each_link(first->rank, outcome.dimensions,
              [&](const fabric::Link& link, bool) { learning->before.push_back(link); });
  }
  learning->beyond = beyond(learning->ranks);
  learning_.insert(stream, std::move(learning));
}

void RepeatedCollectives::learn(uint32_t rank, const collectives::CollectiveDone& done) {
  std::unique_ptr<Learning>* const found = learning_.find(done.stream);
  if (found == nullptr) return;
  Learning& learning = **found;
  Outcome& outcome = *learning.outcome;
  const auto at = std::lower_bound(learning.ranks.begin(), learning.ranks.end(), rank);
  outcome.members[static_cast<size_t>(at - learning.ranks.begin())].done = done;
  if (++learning.ended != learning.ranks.size()) return;
  const bool together =
      std::all_of(outcome.members.begin(), outcome.members.end(), [&](const Member& member) {
        return member.done.started == learning.started && member.done.finished == done.finished;
      });
  outcome.time = done.finished - learning.started;
  if (!together || outcome.time == 0) {
    // A member that ends early may send the next one's messages while others still receive.
    forget(outcome, Outcome::State::varies);
  } else if (beyond(learning.ranks) != learning.beyond || !keep(learning)) {
    forget(outcome, Outcome::State::unknown);  // the next one may do
  }
  learning_.erase(done.stream);
}

uint64_t RepeatedCollectives::beyond(const std::vector<uint32_t>& ranks) const {
  uint64_t starts = 0;
  for (const uint32_t rank : ranks) starts += machine_.own_nmu(rank).out_of_order_starts();
  return starts;
}

/// Nothing is kept of what was learnt.
void RepeatedCollectives::forget(Outcome& outcome, Outcome::State state) {
  kept_ -= outcome.members.size();
  outcome.members = {};
  outcome.state = state;
}

/// False: a link is still taken.
bool RepeatedCollectives::keep(const Learning& learning) {
  Outcome& outcome = *learning.outcome;
  const Picoseconds end = learning.started + outcome.time;
  bool free = true;
  auto before = learning.before.begin();
  for (size_t i = 0; i < learning.ranks.size(); ++i) {
    Member& member = outcome.members[i];
    each_link(learning.ranks[i], outcome.dimensions, [&](const fabric::Link& link, bool out) {
      const fabric::Link::Span use = link.since(*before++, learning.started);
      Nmu::MessageCounts& all = member.messages;
      (out ? all.sent : all.received) += use.messages;
      (out ? all.sent_bytes : all.received_bytes) += use.bytes;
      member.links.push_back(use);
      free = free && link.free_at() <= end;
    });
  }
  if (free) outcome.state = Outcome::State::known;
  return free;
}

void RepeatedCollectives::start_repeating(Outcome& outcome, Held* first, const Held* last) {
  uint32_t number = 0;
  if (free_repeats_.empty()) {
    number = static_cast<uint32_t>(repeats_.size());
    repeats_.emplace_back();
  } else {
    number = free_repeats_.back();
    free_repeats_.pop_back();
  }
  Repeat& repeat = repeats_[number];
  repeat.outcome = &outcome;
  repeat.plan = std::move(first->start.plan);
  repeat.stream = first->start.stream;
  repeat.started = sc_core::sc_time_stamp().value();
  for (; first != last; ++first) repeat.ranks.push_back(first->rank);
  const Picoseconds end =
      in_time([&] { return later(repeat.started, outcome.time); },
              [&] { return fmt::format("collective {}", repeat.stream); }, "cut the run into shorter ones");
  finishes_.push(end, pushed_++, number);
  machine_.alarm().set(end);
  ++count_;
}

void RepeatedCollectives::finish_due(Picoseconds now) {
  while (finishes_.next() <= now) {
    const uint32_t number = finishes_.pop().payload;
    finish(repeats_[number], now);
    free_repeats_.push_back(number);
  }
  if (finishes_.next() != kNever) machine_.alarm().set(finishes_.next());
}

void RepeatedCollectives::finish(Repeat& repeat, Picoseconds now) {
  for (size_t i = 0; i < repeat.ranks.size(); ++i) {
    Member& member = repeat.outcome->members[i];
    const uint32_t rank = repeat.ranks[i];
    auto use = member.links.begin();
    each_link(rank, repeat.outcome->dimensions, [&](fabric::Link& link, bool) {
      if (!link.repeat(*use++, repeat.started))
        throw std::logic_error(
            fmt::format("rank {}: something else has used the links of collective {}", rank, repeat.stream));
    });
    machine_.own_nmu(rank).count_messages(member.messages);
    member.done.stream = repeat.stream;
    member.done.plan = repeat.plan.get();
    member.done.started = repeat.started;
    member.done.finished = now;
    tell_(rank, member.done);
  }
  repeat.ranks.clear();
  repeat.plan.reset();
}

}  // namespace weft
