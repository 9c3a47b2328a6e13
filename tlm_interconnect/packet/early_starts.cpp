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

/// Credits that are always left of a link where nobody ever waits for one.
int32_t needed(const PacketTrain& train, size_t link) {
  const bool whole = train.from->begins_with_all_credits() || (link > 0 && train.path[link - 1].bubble);
  return whole ? static_cast<int32_t>(2 * train.from->packet_flits_of_trains()) : 1;
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
  if (starts_.empty() || train.from->waits_for_all_credits() ||
      !train.from->sends_nothing_else(train.virtual_network))
    return false;
  if (train.early_passes != 0) {
    --train.early_passes;
    return false;
  }
  train.names.assign(1, train.from->names(train.virtual_network, train.any_vc));
  if (!interface_is_quiet(train, t)) return false;
  begin_early(train, left);
  if (starts_.count(train.early.hash) == 0 || !trains_.starts_.can_be_saved(train)) return false;
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
  const PacketTrain::Phase phase = train.phase;
  const bool learns = phase == PacketTrain::Phase::learns;
  const size_t h = PacketTrains::taken(train);
  TrainHop& hop = train.path[h];
  const bool room = make_room(hop);
  // A packet of one that has been resumed there may want a port of this one.
  if (train.phase != phase || train.disturbed) return Takes::gone;
  const bool clear = learns ? hop.router->exclusive(hop.input, hop.output, train.message)
                            : hop.router->idle(hop.input, hop.output);
  if (!room || !clear || (train.not_taken == 1 && !train.to->receives_nothing(train.virtual_network)) ||
      !hop_is_quiet(train, h, learns))
    return Takes::delayed;
  count_credits(train, h + 1, trains_.now());
  train.loads.push_back(hop.router->load(hop.output));
  if (!learns && !fits(train, *train.start)) {
    if (!choose(train)) return Takes::unknown;
    trains_.starts_.plan(train, train.early.left);
    train.from->stay_aside(train.until);
  }
  hop.router->reserve_input(hop.input, train.from->number());
  hop.router->reserve_output(hop.output, train.from->number());
  --train.not_taken;
  if (!learns) {
    hop.undecided = hop.router->undecided(trains_.now());
    hop.router->set_aside(hop.input);
    if (train.not_taken == 0) train.early_failed = 0;
  }
  return Takes::part;
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
  begin_early(train, 0);
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

bool EarlyStarts::contested(const PacketTrain& train) {
  for (size_t h = 0; h < train.path.size(); ++h) {
    if (train.path[h].router->contests(train.path[h].input) != train.early.contests[h]) return true;
  }
  return false;
}

std::unique_ptr<QuietPath> EarlyStarts::learnt(const PacketTrain& train) const {
  const EarlyStart& early = train.early;
  auto quiet = std::make_unique<QuietPath>();
  quiet->key = early.key;
  quiet->hops = early.hops;
  quiet->fewest.assign(early.lacking.size(), 0);
  quiet->used.assign(early.lacking.size(), false);
  bool enough = true;
  for (size_t link = 0; link < train.names.size(); ++link) {
    for_each_credit(train, link, [&](size_t place, CreditAccount& account) {
      quiet->fewest[place] = account.fewest();
      quiet->used[place] = account.fewest() != static_cast<int32_t>(account.depth()) - early.lacking[place];
      enough = enough && (early.lacking[place] == 0 || account.fewest() >= needed(train, link));
    });
  }
  return enough ? std::move(quiet) : nullptr;
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

void EarlyStarts::begin_early(PacketTrain& train, uint64_t left) const {
  train.early = {};
  train.early.key = key_;
  train.early.hash = hash_of(key_);
  train.early.left = left;
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
  const VcNames& names = train.names[0];
  const uint32_t first_place = names.place(names.first_vc());
  for (size_t h = 0; h < early.hops.size(); ++h) {
    if (early.hops[h].taken != quiet.hops[h].taken) return false;
    for (size_t k = 0; k < early.hops[h].given.size(); ++k) {
      if (!quiet.used[(h + 1) * vcs + first_place + k] && early.hops[h].given[k] != quiet.hops[h].given[k])
        return false;
    }
  }
  for (size_t k = 0; k < early.lacking.size(); ++k) {
    if (early.lacking[k] != 0 && quiet.fewest[k] < early.lacking[k] + needed(train, k / vcs)) return false;
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
  const auto found = std::find_if(alike.begin(), alike.end(), [&](const std::shared_ptr<KnownStart>& one) {
    return one->quiet->key == train.early.key && fits(train, *one);
  });
  trains_.spend(train, 4 * static_cast<uint64_t>(found - alike.begin()));
  if (found == alike.end()) return false;
  train.start = *found;
  std::rotate(alike.begin(), found, found + 1);
  return true;
}

}  // namespace weft::packet
