// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/splitting.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sc_models/machine.h"
#include "sc_models/nmu_parts.h"

namespace weft {

Splitting::Splitting(sc_core::sc_module_name module_name, Machine& machine, SplitHost& host,
                     const trace::Groups& groups, const graph::Replicas& replicas)
    : sc_core::sc_module(module_name),
      machine_(machine),
      host_(host),
      replicas_(replicas),
      places_(machine.npus()),
      units_(replicas.units.size()),
      wake_("wake") {
  std::vector<uint32_t> unit_of(replicas.ranks.front().size());
  for (uint32_t u = 0; u < units_.size(); ++u) {
    for (const uint32_t place : replicas.units[u].places) {
      unit_of[place] = u;
      if (here(replicas.ranks.front()[place])) units_[u].places.push_back(place);
    }
  }
  for (uint32_t k = 0; k < replicas.ranks.size(); ++k)
    for (uint32_t i = 0; i < replicas.ranks[k].size(); ++i)
      places_[replicas.ranks[k][i]] = {k, i, unit_of[i]};
  joined_.resize(replicas.joins.size());
  for (trace::GroupId g = 0; g < joined_.size(); ++g) {
    if (!replicas.joins[g]) continue;
    for (const uint32_t rank : groups.ranks(g))
      if (places_[rank].replica != kNone) joined_[g].push_back(places_[rank].unit);
    std::sort(joined_[g].begin(), joined_[g].end());
    joined_[g].erase(std::unique(joined_[g].begin(), joined_[g].end()), joined_[g].end());
  }
  own_groups_.resize(replicas.joins.size());
  for (uint32_t u = 0; u < units_.size(); ++u)
    for (const uint32_t k : replicas.units[u].groups) {
      const trace::GroupId g = replicas.groups.front()[k];
      const std::vector<uint32_t>& ranks = groups.ranks(g);
      const auto members = std::count_if(ranks.begin(), ranks.end(), [this](uint32_t r) { return here(r); });
      own_groups_[g] = {u, static_cast<uint32_t>(members)};
    }
  SC_HAS_PROCESS(Splitting);
  SC_METHOD(begin_units);
  sensitive << wake_;
  dont_initialize();
}

Splitting::~Splitting() = default;

Picoseconds Splitting::now() const {
  return sc_core::sc_time_stamp().value();
}

bool Splitting::here(uint32_t rank) const {
  const PartLinks* const links = machine_.part_links();
  return links == nullptr || links->own(rank);
}

void Splitting::fail(uint32_t unit, const std::string& why) {
  failed_({unit, std::min(now(), units_[unit].begins)}, why);
  throw std::logic_error("Splitting: a failure was not taken: " + why);
}

// ---- the scout
// ---------------------------------------------------------------------------------------------------------

void Splitting::scout() {
  scouting_ = true;
  for (Unit& unit : units_) unit.asleep = true;
}

void Splitting::look(Picoseconds now, Picoseconds next) {
  // Not after the last instant: who begins then would make a run that stalls end later.
  if (next == kNever || next - now < 2) return;
  for (uint32_t u = 0; u < units_.size(); ++u)
    if (rests(u)) units_[u].rest.push_back(now + 1);
}

/// A unit begins before it joins others, and before a message is sent to it by one that has begun: such a
/// message may come at another time in each replica.
Splitting::Plan Splitting::plan(const std::vector<Limit>& given) const {
  Plan plan(units_.size(), 0);
  std::vector<Picoseconds> limits(units_.size());
  const auto begin_before = [&](uint32_t u, Picoseconds limit) {
    limits[u] = limit;
    const auto& rest = units_[u].rest;
    const auto after = std::lower_bound(rest.begin(), rest.end(), limit);
    plan[u] = after == rest.begin() ? 0 : *(after - 1);
  };
  for (uint32_t u = 0; u < units_.size(); ++u) begin_before(u, units_[u].joins);
  for (const Limit& limit : given)
    if (limit.before < limits[limit.unit]) begin_before(limit.unit, limit.before);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Send& send : sends_) {
      if (send.at < plan[send.from] || send.at >= limits[send.to]) continue;
      begin_before(send.to, send.at);
      changed = true;
    }
  }
  return plan;
}

// ---- the run
// -----------------------------------------------------------------------------------------------------------

void Splitting::follow(Plan plan, Failed failed, std::function<void()> over) {
  failed_ = std::move(failed);
  over_ = std::move(over);
  for (uint32_t u = 0; u < units_.size(); ++u) {
    units_[u].begins = plan[u];
    units_[u].asleep = plan[u] != 0;
  }
  units_asleep_ = static_cast<uint32_t>(
      std::count_if(units_.begin(), units_.end(), [](const Unit& unit) { return unit.asleep; }));
  late_ = asleep();
  // A circle of chunks over ranks of both kinds leads somewhere from one that has begun to one that has not.
  machine_.on_slot_search([this](uint32_t rank, uint32_t source) {
    const Place& at = places_[rank];
    const Place& to = places_[source];
    if (at.replica != kNone && to.replica != kNone && !units_[at.unit].asleep && units_[to.unit].asleep)
      fail(to.unit, "ranks that have not begun may be in a circle of chunks");
  });
  listen(this);
  begin_units();
}

/// To what the first replica sends.
void Splitting::listen(MessageCopies* listener) {
  for (const uint32_t rank : replicas_.ranks.front())
    if (here(rank)) machine_.own_nmu(rank).copy_messages(listener);
}

bool Splitting::begins(uint32_t rank) const {
  const Place& at = places_[rank];
  if (scouting_) return at.replica == 0;
  return at.replica == kNone || at.replica == 0 || !units_[at.unit].asleep;
}

uint32_t Splitting::stands_for(uint32_t rank) const {
  const Place& at = places_[rank];
  return at.replica != kNone && units_[at.unit].asleep ? replicas_.ranks.front()[at.place] : rank;
}

uint64_t Splitting::asleep() const {
  uint64_t asleep = 0;
  for (uint32_t u = 0; u < units_.size(); ++u)
    asleep += units_[u].asleep ? replicas_.units[u].places.size() * (replicas_.ranks.size() - 1) : 0;
  return asleep;
}

bool Splitting::rests(uint32_t u) const {
  if (units_[u].under_way != 0) return false;
  const auto& places = units_[u].places;
  return std::all_of(places.begin(), places.end(),
                     [this](uint32_t i) { return host_.rests(replicas_.ranks.front()[i]); });
}

/// The units whose time has come begin.
void Splitting::begin_units() {
  Picoseconds next = kNever;
  for (uint32_t u = 0; u < units_.size(); ++u) {
    if (!units_[u].asleep) continue;
    if (units_[u].begins <= now()) {
      split(u);
    } else {
      next = std::min(next, units_[u].begins);
    }
  }
  if (next != kNever) {
    wake_.notify(sc_core::sc_time::from_value(next - now()));
  } else {
    listen(nullptr);
    machine_.on_slot_search({});
    over_();
  }
}

void Splitting::split(uint32_t u) {
  if (!rests(u)) fail(u, "ranks that others do as do not rest when these begin");
  const auto& first = replicas_.ranks.front();
  for (size_t k = 1; k < replicas_.ranks.size(); ++k) {
    const auto& ranks = replicas_.ranks[k];
    for (const uint32_t i : units_[u].places)
      if (!host_.rests(ranks[i])) fail(u, "something has come to ranks that have not begun");
    const auto image = [&](uint32_t rank) { return ranks[places_[rank].place]; };
    for (const uint32_t i : units_[u].places) host_.adopt(ranks[i], first[i], image);
    for (const uint32_t g : replicas_.units[u].groups)
      host_.adopt_collectives(replicas_.groups[k][g], replicas_.groups.front()[g], image);
  }
  units_[u].asleep = false;
  --units_asleep_;
  split_at_ = now();
}

/// Its messages come to the other members.
bool Splitting::starts(trace::GroupId group) {
  if (!replicas_.joins[group] || (!scouting_ && units_asleep_ == 0)) return true;
  for (const uint32_t u : joined_[group]) {
    if (scouting_)
      units_[u].joins = std::min(units_[u].joins, now());
    else if (units_[u].asleep)
      fail(u, "a collective of ranks that have not begun starts");
  }
  return !scouting_;
}

void Splitting::collective_begins(trace::GroupId group) {
  const OwnGroup& own = own_groups_[group];
  if (own.unit != kNone) units_[own.unit].under_way += own.members;
}

void Splitting::part_ends(trace::GroupId group) {
  const OwnGroup& own = own_groups_[group];
  if (own.unit != kNone) --units_[own.unit].under_way;
}

void Splitting::sends(uint32_t rank, uint32_t peer) {
  const Place& at = places_[rank];
  if (at.replica == kNone) return;
  const Place& to = places_[peer];
  if (!here(peer) && units_asleep_ != 0) fail(to.unit, "a message goes to another part of the machine");
  if (at.replica == 0) ++units_[to.unit].under_way;
  if (scouting_) {
    if (at.unit != to.unit) sends_.push_back({now(), at.unit, to.unit});
  } else if (!units_[at.unit].asleep && units_[to.unit].asleep) {
    fail(to.unit, "a message comes to ranks that have not begun");
  }
}

void Splitting::arrived(uint32_t rank) {
  const Place& at = places_[rank];
  if (at.replica == 0) --units_[at.unit].under_way;
}

bool Splitting::waited_for_sleepers(const collectives::MemberBegins& told) const {
  return std::any_of(told.waits().begin(), told.waits().end(), [this](const collectives::RankWait& wait) {
    const Place& at = places_[wait.rank];
    const Place& of = places_[wait.source];
    if (of.replica == kNone || of.replica == 0) return false;
    const Picoseconds begun = at.replica == kNone ? 0 : units_[at.unit].begins;
    return std::max(wait.from, begun) < std::min(wait.to, units_[of.unit].begins);
  });
}

/// What a rank sends that stands for others to one that has begun there, the others send, too.
void Splitting::leaves(uint32_t dimension, const fabric::Transfer& transfer) {
  fabric::PacketPool& pool = machine_.pool();
  const Place& from = places_[pool[transfer.packet].source];
  if (!units_[from.unit].asleep) return;
  const uint32_t peer = machine_.geometry().rank_at(pool[transfer.packet].destination);
  const Place& to = places_[peer];
  if (units_[to.unit].asleep) return;
  for (size_t k = 1; k < replicas_.ranks.size(); ++k) {
    const auto& ranks = replicas_.ranks[k];
    const fabric::PacketRef ref = pool.acquire();
    fabric::Packet& packet = pool[ref];
    packet = pool[transfer.packet];
    packet.references = 1;
    packet.source = ranks[from.place];
    packet.destination = machine_.geometry().place(ranks[to.place]);
    packet.flags = static_cast<uint8_t>(packet.flags & ~(kNotifyInjected | kHolds));
    fabric::Transfer own = transfer;
    own.packet = ref;
    machine_.own_nmu(ranks[from.place]).port(dimension)->send(own);
  }
}

}  // namespace weft
