// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/idle_starts.h"

#include <algorithm>
#include <utility>

#include "configs/hash64.h"
#include "tlm_interconnect/packet/packet_trains.h"
#include "tlm_interconnect/packet/train_costs.h"

namespace weft::packet {
namespace {

uint64_t hash_of(const std::vector<uint64_t>& words) {
  uint64_t hash = words.size();
  for (const uint64_t word : words) hash = hash64(hash ^ word);
  return hash;
}

OutputLoad less(const OutputLoad& load, const OutputLoad& before) {
  return {load.packets - before.packets, load.flits - before.flits, load.bytes - before.bytes,
          load.messages - before.messages};
}

}  // namespace

bool IdleStarts::begin(PacketTrain& train, uint64_t left, Ticks t) {
  if (!trains_.prepare(train) || !train.any_vc) return false;
  if (train.balance < static_cast<int64_t>(train.words) || !idle(train)) return false;
  write_key(train, t);
  trains_.spend(train, trains_.state_.written());
  const std::vector<uint64_t>& key = trains_.state_.words();
  const uint64_t hash = hash_of(key);
  std::shared_ptr<KnownStart> start = find(hash, key);
  if (!start && (!comes_again(hash) || learning_.count(hash) != 0)) return false;
  if (start && (!start->carries || t + start->begun.time + left * start->period > ticks(kLongestTickTime)))
    return false;
  train.loads.clear();
  train.names = trains_.names_;
  for (const TrainHop& hop : train.path) train.loads.push_back(hop.router->load(hop.output));
  trains_.reserve(train);
  if (start) {
    set_aside(train, std::move(start), left, t);
  } else {
    begin_to_learn(train, hash, t);
  }
  return true;
}

bool IdleStarts::idle(PacketTrain& train) {
  return train.from->sends_nothing_else(train.virtual_network) && !trains_.meets_carried(train) &&
         train.to->receives_nothing(train.virtual_network) && trains_.count_company(train) &&
         trains_.reservable(train) &&
         std::all_of(train.path.begin(), train.path.end(),
                     [](const TrainHop& hop) { return hop.router->idle(hop.input, hop.output); });
}

// What a router has decided ahead does not matter where nothing comes.
void IdleStarts::write_key(const PacketTrain& train, Ticks t) {
  StateRecord& state = trains_.state_;
  state.begin(trains_.now(), t);
  state.number(trains_.messages_[train.message].message.bytes);
  for (const Ticks timing : train.timing) state.number(timing);
  // Whether a packet has waited for others is counted where an output passes from one input to another.
  for (const TrainHop& hop : train.path)
    state.number((hop.bubble ? 2 : 0) | (hop.router->had_last(hop.input, hop.output) ? 1 : 0));
  trains_.write_path(train, PacketTrains::Write::state);
}

std::shared_ptr<KnownStart> IdleStarts::find(uint64_t hash, const std::vector<uint64_t>& key) const {
  const auto [begin, end] = starts_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (it->second->key == key) return it->second;
  }
  return nullptr;
}

// To learn takes longer than to look for a train as soon as there may be one. So that is for what comes
// again.
bool IdleStarts::comes_again(uint64_t hash) {
  if (keys_.size() >= kMostKeys) keys_.clear();
  return !keys_.insert(hash).second;
}

void IdleStarts::keep(uint64_t hash, std::shared_ptr<KnownStart> start) {
  const size_t words =
      start->key.size() + start->begun.tape.size() +
      (start->begun.arrivals.size() + start->bursts.size()) * sizeof(TrainArrivals::Burst) / 8;
  // Where there are so many, few come again: those that do are learnt again.
  if (words_ + words > kMostWords) {
    starts_.clear();
    words_ = 0;
  }
  words_ += words;
  starts_.emplace(hash, std::move(start));
}

// -- one that is learnt

void IdleStarts::begin_to_learn(PacketTrain& train, uint64_t hash, Ticks t) {
  train.learnt = std::make_unique<LearntStart>();
  LearntStart& learnt = *train.learnt;
  learnt.key = trains_.state_.words();
  learnt.hash = hash;
  learning_.insert(hash);
  learnt.begin = t;
  for (const TrainHop& hop : train.path) learnt.queued.push_back(hop.router->queued_ticks(hop.output));
  learnt.arrived.push_back(0);
  train.to->record_arrivals(&learnt.arrivals);
  train.phase = PacketTrain::Phase::learns;
  trains_.begin_steps(train, t);
}

bool IdleStarts::carry(PacketTrain& train, uint64_t left, Ticks t) {
  LearntStart& learnt = *train.learnt;
  learnt.arrived.push_back(learnt.arrivals.size());
  const uint64_t ahead = PacketTrains::alike(*train.from, left);
  if (trains_.now() < train.record_from) {
    if (ahead == 0) trains_.forget(train);
    return false;
  }
  if (ahead == 0) {
    learn(train, t);
    trains_.forget(train);
    return false;
  }
  if (train.begun < train.first_full) return false;
  if (!learnt.recurs) {
    if (train.begun > 2 * train.first_full + costs::kLongestSearch) {
      learn_in_vain(train);
    } else if (train.begun >= learnt.look_at && recurs(train, t)) {
      wait(train, ahead % (train.packets * train.rounds), ahead, t);
    }
    return false;
  }
  // What recurs at one packet need not at another: how far ahead modules have decided differs.
  if (train.begun == learnt.look_at - train.packets) {
    note(train, t);
    return false;
  }
  if (train.begun < learnt.look_at) return false;
  if (!comes_again(train, t)) {
    wait(train, 0, ahead, t);
    return false;
  }
  train.repeats = ahead / (train.packets * train.rounds);
  const size_t from = learnt.arrived[learnt.arrived.size() - 1 - train.packets];
  train.bursts.assign(learnt.arrivals.begin() + static_cast<std::ptrdiff_t>(from), learnt.arrivals.end());
  trains_.set_aside(train, t, train.repeats);
  learn(train, t);
  stop_learning(train);
  return true;
}

void IdleStarts::stop_learning(PacketTrain& train) {
  if (!train.learnt) return;
  learning_.erase(train.learnt->hash);
  train.learnt.reset();
}

// It begins some packets later, so that nothing is left when it ends, and after another round: the state is
// to be compared with that of a period before. Not if too little would be carried then.
void IdleStarts::wait(PacketTrain& train, uint64_t packets, uint64_t ahead, Ticks t) {
  LearntStart& learnt = *train.learnt;
  packets += train.packets * train.rounds;
  learnt.recurs = ahead >= packets + costs::kShortest && t + ahead * train.period < ticks(kLongestTickTime);
  learnt.look_at = learnt.recurs ? train.begun + packets : ~uint64_t{0};
  if (packets == train.packets) learnt.noted = {train.begun, t, trains_.state_.words(), trains_.names_};
}

void IdleStarts::write(PacketTrain& train, Ticks t) {
  trains_.state_.begin(trains_.now(), t);
  trains_.write_path(train, PacketTrains::Write::state_and_horizon);
  trains_.spend(train, trains_.state_.written());
}

void IdleStarts::note(PacketTrain& train, Ticks t) {
  write(train, t);
  train.learnt->noted = {train.begun, t, trains_.state_.words(), trains_.names_};
}

// In the state that has been noted: if so, with what period.
bool IdleStarts::comes_again(PacketTrain& train, Ticks t) {
  const LearntStart::Moment& noted = train.learnt->noted;
  write(train, t);
  if (trains_.state_.words() != noted.words) return false;
  train.packets = train.delivered = train.begun - noted.packet;
  train.period = t - noted.time;
  train.rounds = trains_.rounds(noted.names);
  train.fills = false;
  trains_.clear_drift(train);
  return true;
}

// The hash of a state that has been there tells of a period, and the state that comes after it whether there
// is one. Nothing may have drifted.
bool IdleStarts::recurs(PacketTrain& train, Ticks t) {
  LearntStart& learnt = *train.learnt;
  if (learnt.look_at != 0) {
    learnt.look_at = 0;
    learnt.hashes.clear();
    if (comes_again(train, t)) return true;
  } else {
    write(train, t);
  }
  const uint64_t hash = hash_of(trains_.state_.words());
  const auto earlier = std::find(learnt.hashes.rbegin(), learnt.hashes.rend(), hash);
  if (earlier == learnt.hashes.rend()) {
    learnt.hashes.push_back(hash);
  } else {
    learnt.noted = {train.begun, t, trains_.state_.words(), trains_.names_};
    learnt.look_at = train.begun + static_cast<uint64_t>(earlier - learnt.hashes.rbegin()) + 1;
  }
  return false;
}

void IdleStarts::learn_in_vain(PacketTrain& train) {
  auto start = std::make_shared<KnownStart>();
  start->key = std::move(train.learnt->key);
  keep(train.learnt->hash, std::move(start));
  trains_.forget(train);
}

void IdleStarts::learn(PacketTrain& train, Ticks t) {
  LearntStart& learnt = *train.learnt;
  auto start = std::make_shared<KnownStart>();
  start->key = std::move(learnt.key);
  start->carries = true;
  // Others that had an output before it count: that is not part of the state.
  for (size_t h = 0; h < train.path.size(); ++h) {
    const TrainHop& hop = train.path[h];
    if (hop.router->queued_ticks(hop.output) != learnt.queued[h]) start->carries = false;
  }
  start->packets = train.begun - 1;
  save(train, learnt.begin, t, start->begun);
  // Those that begin alike go on when all routers have decided so much.
  if (start->begun.until > start->begun.time + train.from->cycle_time()) return;
  start->begun.arrivals = std::move(learnt.arrivals);
  for (TrainArrivals::Burst& burst : start->begun.arrivals) burst.first -= learnt.begin;
  if (learnt.recurs) {
    start->period = train.period;
    start->period_packets = train.packets;
    start->bursts = train.bursts;
    for (TrainArrivals::Burst& burst : start->bursts) burst.first -= t;
  }
  keep(learnt.hash, std::move(start));
}

bool IdleStarts::save(PacketTrain& train, Ticks reference, Ticks t, PathState& state) {
  state.time = t - reference;
  state.until = std::max(t, trains_.now()) - reference;
  StateTape tape(state.tape, t, trains_.pool_, NetworkInterface::last_of(train.message));
  train.from->move_sender(train.names[0], tape);
  for (size_t h = 0; h < train.path.size(); ++h) {
    const TrainHop& hop = train.path[h];
    const Ticks undecided = hop.router->undecided(trains_.now()) - reference;
    state.until = std::max(state.until, undecided);
    state.undecided.push_back(undecided);
    hop.router->move_state(hop.input, hop.output, train.names[h], train.names[h + 1], tape);
    state.loads.push_back(less(hop.router->load(hop.output), train.loads[h]));
  }
  train.to->move_receiver(train.names.back(), tape);
  return tape.has_last();
}

// -- those that begin like it

void IdleStarts::set_aside(PacketTrain& train, std::shared_ptr<KnownStart> start, uint64_t left, Ticks t) {
  train.fresh = false;
  train.since = trains_.now();
  train.first = t;
  train.period = start->period;
  train.packets = train.delivered = start->period_packets;
  train.rounds = 1;
  train.fills = false;
  train.repeats = (PacketTrains::alike(*train.from, left) - start->packets) / train.packets;
  train.until =
      std::max(train.since + start->begun.time, t + start->begun.until) + train.repeats * train.period;
  train.bursts = start->bursts;
  for (TrainArrivals::Burst& burst : train.bursts) burst.first += t + start->begun.time;
  trains_.clear_drift(train);
  train.start = std::move(start);
  ++trains_.counters_.known;
  trains_.stop_path(train);
}

void IdleStarts::bring_back(PacketTrain& train) {
  const Ticks begin = train.first;
  train.first += train.start->begun.time;
  train.from->begun_by_train(begin, train.virtual_network, train.start->packets);
  restore(train, begin, train.start->begun);
  train.from->goes_on(train.virtual_network, train.names[0]);
  trains_.counters_.packets += train.start->packets;
  bring(train, begin, train.start->begun.arrivals, {});
}

void IdleStarts::restore(PacketTrain& train, Ticks reference, const PathState& state) {
  const StateTape::Models models = train.from->models(train.message);
  StateTape tape(state.tape, reference + state.time, trains_.pool_, models);
  train.from->move_sender(train.names[0], tape);
  for (size_t h = 0; h < train.path.size(); ++h) {
    TrainHop& hop = train.path[h];
    hop.router->move_state(hop.input, hop.output, train.names[h], train.names[h + 1], tape);
    const OutputLoad load = less(state.loads[h], less(hop.router->load(hop.output), train.loads[h]));
    hop.router->carried(hop.output, load);
    hop.undecided = reference + state.undecided[h];
    trains_.counters_.hops += load.packets;
  }
  train.to->move_receiver(train.names.back(), tape);
}

// What arrives at the receiver, but for what has been announced already. A router announces as many flits of
// a VC at once as it knows of, so it need not have been in the order that was learnt. Two flits of a link
// never come at one time.
void IdleStarts::bring(PacketTrain& train, Ticks reference, const std::vector<TrainArrivals::Burst>& bursts,
                       const std::vector<TrainArrivals::Burst>& announced) {
  std::vector<Ticks> known;
  for (const TrainArrivals::Burst& burst : announced) {
    for (uint32_t k = 0; k < burst.flits; ++k) known.push_back(burst.first + k * burst.flit_time);
  }
  std::sort(known.begin(), known.end());
  std::vector<TrainArrivals::Burst> arrivals;
  MessagePool::Open& open = trains_.messages_[train.message];
  for (TrainArrivals::Burst burst : bursts) {
    burst.first += reference;
    while (burst.flits != 0 && std::binary_search(known.begin(), known.end(), burst.first)) {
      burst.first += burst.flit_time;
      --burst.flits;
    }
    if (burst.flits == 0) continue;
    arrivals.push_back(burst);
    if (!burst.tail) continue;
    --open.left;
    open.last = burst.first + static_cast<Ticks>(burst.flits - 1) * burst.flit_time;
  }
  if (!arrivals.empty())
    train.to->arrived_by_train(open.message, train.from->packet_flits_of_trains(), arrivals, 0, 1);
}

// -- the end

// The train is over, and nobody else has come to its path.
bool IdleStarts::ends(PacketTrain& train) {
  if (!may_empty(train)) return false;
  train.phase = PacketTrain::Phase::ends;
  return true;
}

// How its path empties is known, or may be learnt now.
bool IdleStarts::may_empty(const PacketTrain& train) const {
  return train.start->empties && (train.start->emptied || looks_at_ == nullptr);
}

// Its last packet has been sent.
void IdleStarts::last_sent(PacketTrain& train) {
  if (!train.from->sends_nothing() || !may_empty(train)) {
    trains_.forget(train);
    return;
  }
  if (!train.start->emptied) {
    looks_at_ = &train;
    seen_arrivals_ = 0;
    train.phase = PacketTrain::Phase::empties;
    trains_.begin_steps(train, trains_.now());
    return;
  }
  const PathState& emptied = *train.start->emptied;
  train.since = trains_.now();
  train.until = train.first + emptied.until;
  bool sooner = train.since < train.until;
  for (size_t h = 0; h < train.path.size(); ++h)
    sooner = sooner && train.path[h].router->undecided(train.since) <= train.first + emptied.undecided[h];
  if (!sooner) {  // than that has been decided
    trains_.forget(train);
    return;
  }
  train.to->record_arrivals(nullptr);
  train.empties = true;
  trains_.stop_path(train);
}

// While a path empties its state is noted whenever something has arrived.
void IdleStarts::look() {
  if (looks_at_ == nullptr || looks_at_->bursts.size() == seen_arrivals_) return;
  PacketTrain& train = *looks_at_;
  seen_arrivals_ = train.bursts.size();
  auto now = std::make_unique<PathState>();
  if (!save(train, train.first, trains_.now(), *now)) return;
  now->arrivals = train.bursts;
  for (TrainArrivals::Burst& burst : now->arrivals) burst.first -= train.first;
  seen_ = std::move(now);
}

// The latest state in which the last packet had not arrived is learnt.
void IdleStarts::arrived(uint32_t message) {
  if (looks_at_ == nullptr || looks_at_->message != message) return;
  PacketTrain& train = *looks_at_;
  train.start->emptied = std::move(seen_);
  train.start->empties = train.start->emptied != nullptr;
  trains_.forget(train);
}

void IdleStarts::stop_looking(PacketTrain& train) {
  if (looks_at_ != &train) return;
  looks_at_ = nullptr;
  seen_.reset();
}

void IdleStarts::resume_emptied(PacketTrain& train) {
  const Ticks present = trains_.now();
  const PathState& emptied = *train.start->emptied;
  const bool split = present < train.until;
  trains_.counters_.splits += split;
  if (!split) {
    std::vector<fabric::PacketRef> packets;
    for (const TrainHop& hop : train.path) hop.router->clear(hop.input, hop.output, packets);
    for (const fabric::PacketRef packet : packets) trains_.pool_.release(packet);
    restore(train, train.first, emptied);
    bring(train, train.first, emptied.arrivals, train.bursts);
  }
  train.phase = PacketTrain::Phase::resuming;
  // The interface looks whether there is something else to be sent.
  trains_.replay_from(train, trains_.edges_.from(present), 0, present);
  trains_.forget(train);
}

}  // namespace weft::packet
