// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/early_starts.h"

#include <algorithm>

#include "tlm_interconnect/packet/packet_trains.h"
#include "tlm_interconnect/packet/train_costs.h"

namespace weft::packet {
namespace {

/// A packet takes the sender's link so long, and none comes sooner after the one before it anywhere.
Ticks packet_time(const PacketTrain& train) {
  return train.from->packet_flits_of_trains() * train.from->flit_time();
}

/// Of link `link`: of the interface, or of the output of the hop before it.
CreditAccount& credit(const PacketTrain& train, size_t link, uint32_t vc) {
  if (link == 0) return train.from->credit(vc);
  const TrainHop& hop = train.path[link - 1];
  return hop.router->credit(hop.output, vc);
}

/// Calls f(place in a list by link and VC, account) for the VCs of a link that packets of the message may
/// take.
template <typename F>
void for_each_credit(const PacketTrain& train, size_t link, F&& f) {
  const uint32_t vcs = train.path[0].router->vcs();
  const VcNames& names = train.names[link];
  for (uint32_t place = 0; place < vcs; ++place) {
    if (names.has(place)) f(link * vcs + place, credit(train, link, names.vc(place)));
  }
}

}  // namespace

bool EarlyStarts::begin(PacketTrain& train, uint64_t left, Ticks t) {
  if (train.from->waits_for_all_credits()) return false;
  if (train.early_passes != 0) {
    --train.early_passes;
    return false;
  }
  train.names.assign(1, train.from->names(train.virtual_network, train.any_vc));
  if (!interface_is_quiet(train, t)) return false;
  train.early = {key_, hash_of(key_), left, {}, {}, {}, {}};
  if (starts_.count(train.early.hash) == 0) return false;
  write_comings(train, t);
  for (const TrainHop& hop : train.path) {
    if (hop.router->decided() > hop.router->cycle_of(hop.comes)) return false;
  }
  train.since = trains_.now();
  train.first = t;
  count_credits(train, 0, t);
  if (!choose(train)) return false;
  train.loads.clear();
  trains_.starts_.plan(train, left);
  trains_.stop(train);
  train.not_taken = static_cast<uint32_t>(train.path.size());
  for (const TrainHop& hop : train.path) hop.router->expect(hop.comes, train.from->number());
  ++trains_.counters_.early;
  return true;
}

EarlyStarts::Takes EarlyStarts::take_part(PacketTrain& train) {
  const size_t h = PacketTrains::taken(train);
  TrainHop& hop = train.path[h];
  if (train.disturbed || !make_room(hop) || !hop.router->idle(hop.input, hop.output)) return Takes::nothing;
  if (train.not_taken == 1 && !train.to->receives_nothing(train.virtual_network)) return Takes::nothing;
  if (!hop_is_quiet(train, h, false)) return Takes::nothing;
  count_credits(train, h + 1, trains_.now());
  train.loads.push_back(hop.router->load(hop.output));
  if (!fits(train, *train.start)) {
    if (!choose(train)) return Takes::unknown;
    trains_.starts_.plan(train, train.early.left);
    train.from->stay_aside(train.until);
  }
  take(train);
  hop.undecided = hop.router->undecided(trains_.now());
  hop.router->set_aside(hop.input);
  if (train.not_taken == 0) train.early_failed = 0;
  return Takes::part;
}

bool EarlyStarts::take_part_learnt(PacketTrain& train) {
  const size_t h = PacketTrains::taken(train);
  const TrainHop& hop = train.path[h];
  if (!make_room(hop) || !hop.router->exclusive(hop.input, hop.output, train.message)) return false;
  if (train.not_taken == 1 && !train.to->receives_nothing(train.virtual_network)) return false;
  if (!hop_is_quiet(train, h, true)) return false;
  count_credits(train, h + 1, trains_.now());
  train.loads.push_back(hop.router->load(hop.output));
  take(train);
  return true;
}

void EarlyStarts::take(PacketTrain& train) {
  const TrainHop& hop = train.path[PacketTrains::taken(train)];
  hop.router->reserve_input(hop.input, train.from->number());
  hop.router->reserve_output(hop.output, train.from->number());
  --train.not_taken;
}

// What has been set aside there, or is observed, is resumed.
bool EarlyStarts::make_room(const TrainHop& hop) {
  for (const uint32_t interface :
       {hop.router->reserved_input(hop.input), hop.router->reserved_output(hop.output)}) {
    if (interface != Router::kFree && trains_.disturb(interface)) trains_.resume(interface);
  }
  return hop.router->reserved_input(hop.input) == Router::kFree &&
         hop.router->reserved_output(hop.output) == Router::kFree;
}

bool EarlyStarts::quiet(PacketTrain& train, Ticks t) {
  if (train.from->waits_for_all_credits() || !interface_is_quiet(train, t)) return false;
  train.early = {key_, hash_of(key_), 0, {}, {}, {}, {}};
  write_comings(train, t);
  const std::vector<VcNames> names = train.names;
  train.names.resize(1, names[0]);
  bool all = true;
  for (size_t h = 0; h < train.path.size() && all; ++h)
    all = hop_is_quiet(train, h, false) && train.names.back().first() == names[h + 1].first();
  train.names = names;
  for (size_t link = 0; link < names.size(); ++link) count_credits(train, link, trains_.now());
  return all && std::all_of(train.early.lacking.begin(), train.early.lacking.end(),
                            [](int32_t lacking) { return lacking == 0; });
}

// Which VC is granted to which of two packets is not known of those that follow others.
std::unique_ptr<QuietPath> EarlyStarts::learnt(const PacketTrain& train) const {
  const EarlyStart& early = train.early;
  for (size_t h = 0; h < train.path.size(); ++h) {
    if (train.path[h].router->contests(train.path[h].input) != early.contests[h]) return nullptr;
  }
  auto quiet = std::make_unique<QuietPath>();
  quiet->key = early.key;
  quiet->hops = early.hops;
  quiet->fewest.assign(early.lacking.size(), 0);
  quiet->used.assign(early.lacking.size(), false);
  for (size_t link = 0; link < train.names.size(); ++link) {
    for_each_credit(train, link, [&](size_t place, CreditAccount& account) {
      quiet->fewest[place] = account.fewest();
      quiet->used[place] = account.fewest() != static_cast<int32_t>(account.depth()) - early.lacking[place];
    });
  }
  return quiet;
}

// The last flit of others has left each router by the time that the first one may. 64 cycles are more than a
// router takes.
Ticks EarlyStarts::credits_are_back(const PacketTrain& train) {
  return train.path.back().comes + train.loop + 2 * packet_time(train) + 64 * train.from->cycle_time();
}

void EarlyStarts::keep(const std::shared_ptr<KnownStart>& start) {
  auto& alike = starts_[hash_of(start->quiet->key)];
  if (alike.size() == kMostAlike) alike.pop_back();
  alike.insert(alike.begin(), start);
}

bool EarlyStarts::interface_is_quiet(PacketTrain& train, Ticks t) {
  key_.clear();
  key_.push_back(train.path.size());
  key_.push_back(train.virtual_network);
  const NetworkInterface::Progress progress = train.from->progress(train.virtual_network);
  key_.push_back(progress.bytes - progress.cut);
  for (const Ticks timing : train.timing) key_.push_back(timing);
  for (const TrainHop& hop : train.path) key_.push_back(hop.bubble ? 1 : 0);
  trains_.spend(train, key_.size());
  return train.from->quiet(t, train.names[0], key_);
}

// When the first flit comes to each hop, at the soonest. From a slow link to a fast one a packet waits.
void EarlyStarts::write_comings(PacketTrain& train, Ticks t) {
  Ticks comes = train.from->soonest(t);
  Ticks stride = train.from->flit_time();
  bool exact = true;
  for (TrainHop& hop : train.path) {
    hop.comes = comes;
    hop.exact = exact;
    comes = hop.router->soonest(comes, hop.output);
    exact = exact && stride <= hop.router->flit_time(hop.output);
    stride = hop.router->flit_time(hop.output);
  }
}

// If so it is added to those of train.early.
bool EarlyStarts::hop_is_quiet(PacketTrain& train, size_t h, bool announced) {
  const TrainHop& hop = train.path[h];
  if (h == 0) train.takes = train.names[0].first_vc();
  trains_.spend(train, 2 * uint64_t{hop.router->vcs()});
  QuietHop found;
  const Router::Coming coming{hop.comes, hop.exact, packet_time(train), announced};
  if (!hop.router->quiet(hop.input, hop.output, coming, train.names, train.takes, found)) return false;
  train.early.hops.push_back(std::move(found));
  train.early.contests.push_back(hop.router->contests(hop.input));
  train.early.queued.push_back(hop.router->queued_ticks(hop.output));
  return true;
}

void EarlyStarts::count_credits(PacketTrain& train, size_t link, Ticks t) const {
  train.early.lacking.resize((link + 1) * train.path[0].router->vcs());
  for_each_credit(train, link, [&](size_t place, CreditAccount& account) {
    train.early.lacking[place] = account.lacking(t);
  });
}

// So far the message goes on as that one did: VCs are taken in the same turns, and there are always so many
// credits that those of others which are not back yet are not missed. When all hops take part these must have
// been announced, and come before the state that is known is brought back.
bool EarlyStarts::fits(const PacketTrain& train, const KnownStart& start) {
  const QuietPath& quiet = *start.quiet;
  const EarlyStart& early = train.early;
  const size_t vcs = train.path[0].router->vcs();
  const Ticks back = train.first + start.begun.time;
  const TrainHop& last = train.path.back();
  if (!start.carries || last.router->cycle_of(last.comes) >= back ||
      back + early.left * start.period > ticks(kLongestTickTime))
    return false;
  for (size_t h = 0; h < early.hops.size(); ++h) {
    if (early.hops[h].taken != quiet.hops[h].taken) return false;
    for (size_t place = 0; place < early.hops[h].given.size(); ++place) {
      if (!quiet.used[(h + 1) * vcs + place] && early.hops[h].given[place] != quiet.hops[h].given[place])
        return false;
    }
  }
  for (size_t k = 0; k < early.lacking.size(); ++k) {
    const size_t link = k / vcs;
    const bool whole = train.from->begins_with_all_credits() || (link > 0 && train.path[link - 1].bubble);
    const int32_t needed = whole ? static_cast<int32_t>(2 * train.from->packet_flits_of_trains()) : 1;
    if (early.lacking[k] != 0 && quiet.fewest[k] < early.lacking[k] + needed) return false;
  }
  if (early.hops.size() < train.path.size()) return true;
  bool all = true;
  for (size_t link = 0; link < train.names.size(); ++link)
    for_each_credit(train, link,
                    [&](size_t, CreditAccount& account) { all = all && account.complete_by(back); });
  return all;
}

bool EarlyStarts::choose(PacketTrain& train) {
  const auto it = starts_.find(train.early.hash);
  if (it == starts_.end()) return false;
  auto& alike = it->second;
  const auto found = std::find_if(alike.begin(), alike.end(),
                                  [&](const std::shared_ptr<KnownStart>& one) { return fits(train, *one); });
  trains_.spend(train, 4 * static_cast<uint64_t>(found - alike.begin()));
  if (found == alike.end()) return false;
  train.start = *found;
  std::rotate(alike.begin(), found, found + 1);
  return true;
}

}  // namespace weft::packet
