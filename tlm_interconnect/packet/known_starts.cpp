// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/known_starts.h"

#include <algorithm>
#include <utility>

#include "configs/hash64.h"
#include "tlm_interconnect/packet/packet_trains.h"
#include "tlm_interconnect/packet/train_costs.h"

namespace weft::packet {
namespace {

OutputLoad less(const OutputLoad& load, const OutputLoad& before) {
  return {load.packets - before.packets, load.flits - before.flits, load.bytes - before.bytes,
          load.messages - before.messages};
}

PackedNumbers packed(const std::vector<uint64_t>& words) {
  PackedNumbers numbers;
  for (const uint64_t word : words) numbers.add(word);
  return numbers;
}

/// Of bursts that arrive. Times are counted from the end of the one before, the first one from `reference`.
/// Of those that are alike, one after the other, there is one and their number.
PackedNumbers packed(const std::vector<TrainArrivals::Burst>& bursts, Ticks reference) {
  PackedNumbers numbers;
  for (size_t k = 0; k < bursts.size();) {
    const TrainArrivals::Burst& burst = bursts[k];
    const Ticks pause = burst.first - reference;
    const Ticks length = burst.flits * burst.flit_time;
    uint64_t alike = 0;
    for (reference = burst.first + length; k < bursts.size(); ++k, ++alike) {
      const TrainArrivals::Burst& next = bursts[k];
      const Ticks first = burst.first + alike * (pause + length);
      if (next.first != first || next.flits != burst.flits || next.tail != burst.tail ||
          next.flit_time != burst.flit_time)
        break;
      reference = first + length;
    }
    numbers.add(alike);
    numbers.add(pause);
    numbers.add(burst.flits << 1 | (burst.tail ? 1u : 0u));
    numbers.add(burst.flit_time);
  }
  numbers.shrink_to_fit();
  return numbers;
}

std::vector<TrainArrivals::Burst> unpacked(const PackedNumbers& numbers, Ticks reference) {
  std::vector<TrainArrivals::Burst> bursts;
  PackedNumbers::Reader reader(numbers);
  while (!reader.at_end()) {
    TrainArrivals::Burst burst;
    const uint64_t alike = reader.next();
    const Ticks pause = reader.next();
    const auto flits = static_cast<uint32_t>(reader.next());
    burst.flits = flits >> 1;
    burst.tail = (flits & 1) != 0;
    burst.flit_time = reader.next();
    burst.first = reference + pause;
    bursts.resize(bursts.size() + alike, burst);
    const Ticks later = pause + burst.flits * burst.flit_time;
    for (uint64_t k = 0; k < alike; ++k) bursts[bursts.size() - alike + k].first += k * later;
    reference += alike * later;
  }
  return bursts;
}

uint64_t flits_of(const std::vector<TrainArrivals::Burst>& bursts) {
  uint64_t flits = 0;
  for (const TrainArrivals::Burst& burst : bursts) flits += burst.flits;
  return flits;
}

}  // namespace

bool KnownStarts::begin(PacketTrain& train, uint64_t left, Ticks t) {
  if (train.balance < 0 || !trains_.prepare(train) || !train.any_vc) return false;
  if (train.balance < static_cast<int64_t>(train.words)) return false;
  if (idle(train)) return starts(train, left, t);
  return trains_.early_.begin(train, left, t) || waits(train, left, t);
}

void KnownStarts::failed_early(PacketTrain& train) {
  train.early_failed = std::min(train.early_failed + 1, costs::kInVain + costs::kMostTimesInVain);
  const uint32_t times = train.early_failed - std::min(train.early_failed, costs::kInVain);
  train.early_passes = (1u << times) - 1;
  waits(train, PacketTrains::left(train.from->progress(train.virtual_network)), trains_.now());
}

// While its path clears the message goes in steps. So nothing has been decided ahead when it is clear, and
// those that begin alike come into the same state there.
bool KnownStarts::waits(PacketTrain& train, uint64_t left, Ticks t) {
  // The network pays for that from what trains have saved: where others never leave, everybody would try in
  // vain. An interface that has spent more than it has earned does not wait either.
  if (left < train.ahead + costs::kShortest || train.balance < static_cast<int64_t>(costs::kInAdvance) ||
      for_waiting_ < 0)
    return false;
  if (train.passes_over != 0) {
    --train.passes_over;
    return false;
  }
  if (!train.from->sends_nothing_else(train.virtual_network) || !can_be_saved(train)) return false;
  train.phase = PacketTrain::Phase::clears;
  trains_.begin_steps(train, t);
  return true;
}

// A path that others use for as long as they last does not clear.
bool KnownStarts::begin_later(PacketTrain& train, uint64_t left, Ticks t) {
  for_waiting_ -= static_cast<int64_t>(costs::kStepToWait * train.path.size());
  const bool too_long =
      train.begun > train.clears_within + costs::kRetry || train.balance < 0 || for_waiting_ < 0;
  if (!too_long) {
    if (trains_.now() < train.record_from || !cleared(train)) return true;
    train.unclear = 0;
    if (starts(train, left, t)) return true;
  }
  stop_waiting(train, !too_long);
  train.next_try = train.begun;
  return false;
}

// It has reserved nothing: the ports, and what arrives at the receiver, may be another's.
void KnownStarts::stop_waiting(PacketTrain& train, bool cleared) {
  trains_.end_steps(train);
  train.phase = PacketTrain::Phase::idle;
  train.next_try = train.begun + train.retry;
  if (cleared) return;
  train.unclear = std::min(train.unclear + 1, costs::kMostUnclear);
  train.passes_over = (1u << train.unclear) - 1;
}

// Where packets of the message wait they must have the output already: how long they have waited for it is
// counted when they get it, and is not part of the state.
bool KnownStarts::cleared(PacketTrain& train) {
  for (auto hop = train.path.rbegin(); hop != train.path.rend(); ++hop) {
    if (!hop->router->keeps(hop->input, hop->output)) return false;
  }
  return train.from->sends_nothing_else(train.virtual_network) && !trains_.meets_carried(train) &&
         trains_.reservable(train) && trains_.exclusive(train);
}

// It is set aside, or learnt, if it begins with this packet as one before it did.
bool KnownStarts::starts(PacketTrain& train, uint64_t left, Ticks t) {
  const bool later = train.phase == PacketTrain::Phase::clears;
  write_key(train, t);
  trains_.spend(train, trains_.state_.written());
  const uint64_t hash = hash_of(trains_.state_.words());
  const bool again = comes_again(hash);
  PackedNumbers key;
  std::shared_ptr<KnownStart> start;
  if (again) {
    key = packed(trains_.state_.words());
    start = find(hash, key);
  }
  if (!start && !later && trains_.early_.begin(train, left, t)) return true;
  if (!again) return false;
  if (!start && learning_.count(hash) != 0) return false;
  if (start && (!start->carries || t + start->begun.time + left * start->period > ticks(kLongestTickTime)))
    return false;
  train.loads.clear();
  train.names = trains_.names_;
  for (const TrainHop& hop : train.path) train.loads.push_back(hop.router->load(hop.output));
  trains_.reserve(train);
  if (start) {
    ++(later ? trains_.counters_.known_later : trains_.counters_.known);
    if (later) trains_.end_steps(train);
    train.start = std::move(start);
    train.since = trains_.now();
    train.first = t;
    plan(train, left);
    trains_.stop_path(train);
  } else {
    if (!later) trains_.begin_steps(train, t);
    begin_to_learn(train, std::move(key), hash, t);
    if (!later) train.learnt->quiet = trains_.early_.quiet(train, t);
  }
  return true;
}

bool KnownStarts::idle(PacketTrain& train) {
  return train.from->sends_nothing_else(train.virtual_network) && !trains_.meets_carried(train) &&
         train.to->receives_nothing(train.virtual_network) && can_be_saved(train) &&
         trains_.reservable(train) &&
         std::all_of(train.path.begin(), train.path.end(),
                     [](const TrainHop& hop) { return hop.router->idle(hop.input, hop.output); });
}

// Its routers count whose packets want which output, from now on. There is no tape for levels and pauses.
bool KnownStarts::can_be_saved(PacketTrain& train) {
  return trains_.count_company(train) &&
         std::none_of(train.path.begin(), train.path.end(),
                      [](const TrainHop& hop) { return hop.router->pauses(hop.input, hop.output); });
}

// What a router has decided ahead does not matter where nothing has come yet.
void KnownStarts::write_key(const PacketTrain& train, Ticks t) {
  const bool later = train.phase == PacketTrain::Phase::clears;
  StateRecord& state = trains_.state_;
  state.begin(trains_.now(), t);
  state.number(train.path.size() << 1 | (later ? 1u : 0u));
  const NetworkInterface::Progress progress = train.from->progress(train.virtual_network);
  state.number(progress.bytes - progress.cut);
  for (const Ticks timing : train.timing) state.number(timing);
  // Whether a packet has waited for others is counted where an output passes from one input to another.
  for (const TrainHop& hop : train.path)
    state.number((hop.bubble ? 2 : 0) | (hop.router->had_last(hop.input, hop.output) ? 1 : 0));
  trains_.write_path(train, later ? PacketTrains::Write::state_and_horizon : PacketTrains::Write::state);
}

std::shared_ptr<KnownStart> KnownStarts::find(uint64_t hash, const PackedNumbers& key) const {
  const auto [begin, end] = starts_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (it->second->key == key) return it->second;
  }
  return nullptr;
}

// To learn takes longer than to look for a train as soon as there may be one. So that is for what comes
// again.
bool KnownStarts::comes_again(uint64_t hash) {
  if (keys_.size() >= kMostKeys) keys_.clear();
  return !keys_.insert(hash).second;
}

void KnownStarts::keep(uint64_t hash, std::shared_ptr<KnownStart> start) {
  start->key.shrink_to_fit();
  start->begun.tape.shrink_to_fit();
  const size_t bytes = sizeof(KnownStart) + start->key.bytes() + start->begun.tape.bytes() +
                       start->begun.arrivals.bytes() + start->bursts.size() * sizeof(TrainArrivals::Burst) +
                       (start->quiet ? start->quiet->bytes() : 0);
  // Where there are so many, few come again: those that do are learnt again.
  if (bytes_ + bytes > kMostBytes) {
    starts_.clear();
    trains_.early_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes;
  if (start->quiet) trains_.early_.keep(start);
  if (start->key.bytes() != 0) starts_.emplace(hash, std::move(start));
}

// -- one that is learnt

void KnownStarts::begin_to_learn(PacketTrain& train, PackedNumbers key, uint64_t hash, Ticks t) {
  train.learnt = std::make_unique<LearntStart>();
  LearntStart& learnt = *train.learnt;
  learnt.key = std::move(key);
  learnt.hash = hash;
  learning_.insert(hash);
  learnt.begin = t;
  learnt.before = train.begun - 1;
  for (const TrainHop& hop : train.path) learnt.queued.push_back(hop.router->queued_ticks(hop.output));
  learnt.arrived.push_back(0);
  train.to->record_arrivals(&learnt.arrivals);
  train.phase = PacketTrain::Phase::learns;
}

// It has been resumed: its packets so far have been simulated, and none has come to a router that takes no
// part. Each of the others looks, when the first one comes, whether anything delays it.
bool KnownStarts::learn_early(PacketTrain& train) {
  uint64_t hash = train.early.hash;
  for (const QuietHop& hop : train.early.hops) hash = hash64(hash ^ hash_of(hop.taken)) ^ hash_of(hop.given);
  if (train.balance < static_cast<int64_t>(costs::kLooks * train.words) || learning_.count(hash) != 0 ||
      is_in_vain(hash) || !comes_again(hash))
    return false;
  train.learnt = std::make_unique<LearntStart>();
  LearntStart& learnt = *train.learnt;
  learnt.hash = hash;
  learnt.quiet = true;
  learnt.early = true;
  learnt.begin = train.first;
  learnt.before = 1;  // that packet was about to begin twice
  learnt.arrived.assign(train.begun - 1, 0);
  learning_.insert(hash);
  train.phase = PacketTrain::Phase::learns;
  train.not_taken = static_cast<uint32_t>(train.path.size() - train.early.hops.size());
  for (size_t h = 0; h < train.path.size(); ++h) {
    const TrainHop& hop = train.path[h];
    if (h < train.early.hops.size()) {
      hop.router->reserve_input(hop.input, train.from->number());
      hop.router->reserve_output(hop.output, train.from->number());
    } else {
      hop.router->expect(hop.comes, train.from->number());
    }
  }
  if (train.not_taken == 0) train.to->record_arrivals(&learnt.arrivals);
  trains_.begin_steps(train, trains_.now());
  train.record_from = std::max(train.record_from, EarlyStarts::credits_are_back(train));
  return true;
}

bool KnownStarts::carry(PacketTrain& train, uint64_t left, Ticks t) {
  LearntStart& learnt = *train.learnt;
  learnt.arrived.push_back(learnt.arrivals.size());
  const uint64_t ahead = PacketTrains::alike(*train.from, left);
  // Beginnings on an idle path are few. The others come in many kinds, so no more is spent than there is.
  if (train.balance < (learnt.before == 0 || learnt.early ? -costs::kLearnsOnCredit : 0)) {
    trains_.forget(train);
    return false;
  }
  if (trains_.now() < train.record_from) {
    // It is too short to be learnt.
    if (ahead == 0) learnt.early ? learn_in_vain(train) : trains_.forget(train);
    return false;
  }
  if (ahead == 0) {
    learn(train, t);
    trains_.forget(train);
    return false;
  }
  if (train.begun < train.first_full) return false;
  if (!learnt.recurs) {
    if (train.begun - learnt.before > 2 * train.first_full + costs::kLongestSearch) {
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

void KnownStarts::stop_learning(PacketTrain& train) {
  if (!train.learnt) return;
  learning_.erase(train.learnt->hash);
  train.learnt.reset();
}

// It begins some packets later, so that nothing is left when it ends, and after another round: the state is
// to be compared with that of a period before. Not if too little would be carried then.
void KnownStarts::wait(PacketTrain& train, uint64_t packets, uint64_t ahead, Ticks t) {
  LearntStart& learnt = *train.learnt;
  packets += train.packets * train.rounds;
  learnt.recurs = ahead >= packets + costs::kShortest && t + ahead * train.period < ticks(kLongestTickTime);
  learnt.look_at = learnt.recurs ? train.begun + packets : ~uint64_t{0};
  if (packets == train.packets) learnt.noted = {train.begun, t, trains_.state_.words(), trains_.names_};
}

void KnownStarts::write(PacketTrain& train, Ticks t) {
  trains_.state_.begin(trains_.now(), t, true);
  trains_.write_path(train, PacketTrains::Write::state_and_horizon);
  trains_.spend(train, trains_.state_.written());
}

void KnownStarts::note(PacketTrain& train, Ticks t) {
  write(train, t);
  train.learnt->noted = {train.begun, t, trains_.state_.words(), trains_.names_};
}

// In the state that has been noted: if so, with what period.
bool KnownStarts::comes_again(PacketTrain& train, Ticks t) {
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
bool KnownStarts::recurs(PacketTrain& train, Ticks t) {
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

void KnownStarts::learn_in_vain(PacketTrain& train) {
  if (train.learnt->early) {
    note_in_vain(train.learnt->hash);
  } else {
    auto start = std::make_shared<KnownStart>();
    start->key = std::move(train.learnt->key);
    keep(train.learnt->hash, std::move(start));
  }
  trains_.forget(train);
}

void KnownStarts::learn(PacketTrain& train, Ticks t) {
  LearntStart& learnt = *train.learnt;
  auto start = std::make_shared<KnownStart>();
  start->key = std::move(learnt.key);
  start->carries = true;
  // Others that had an output before it count: that is not part of the state.
  for (size_t h = 0; h < train.path.size(); ++h) {
    const TrainHop& hop = train.path[h];
    const Wide before = learnt.early ? train.early.queued[h] : learnt.queued[h];
    if (hop.router->queued_ticks(hop.output) != before) start->carries = false;
  }
  start->packets = train.begun - 1 - learnt.before;
  save(train, learnt.begin, t, start->begun);
  // Those that begin alike go on when all routers have decided so much.
  if (start->begun.until > start->begun.time + train.from->cycle_time()) {
    if (learnt.early) note_in_vain(learnt.hash);
    return;
  }
  start->begun.arrivals = packed(learnt.arrivals, learnt.begin);
  start->begun.flits = flits_of(learnt.arrivals);
  if (learnt.recurs) {
    start->period = train.period;
    start->period_packets = train.packets;
    start->bursts = train.bursts;
    for (TrainArrivals::Burst& burst : start->bursts) burst.first -= t;
  }
  const bool contested = learnt.quiet && EarlyStarts::contested(train);
  if (learnt.quiet && !contested) start->quiet = trains_.early_.learnt(train);
  if (learnt.early && (contested || !start->carries)) note_in_vain(learnt.hash);
  if (learnt.early && (!start->quiet || !start->carries)) return;
  keep(learnt.hash, std::move(start));
}

bool KnownStarts::save(PacketTrain& train, Ticks reference, Ticks t, PathState& state) {
  state.time = t - reference;
  state.until = std::max(t, trains_.now()) - reference;
  StateTape tape(state.tape, t, trains_.pool_, NetworkInterface::last_of(train.message), places_);
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

void KnownStarts::plan(PacketTrain& train, uint64_t left) {
  const KnownStart* start = train.start.get();
  const Ticks t = train.first;
  train.aside = PacketTrain::Aside::stream;
  train.fresh = false;
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
  if (train.start->emptied != nullptr) {
    train.aside = PacketTrain::Aside::whole;
    train.until = std::max(train.until, over(train) + train.start->last_sent);
  }
}

void KnownStarts::clear() {
  starts_.clear();
  trains_.early_.clear();
  bytes_ = 0;
  keys_.clear();
  learning_.clear();
}

void KnownStarts::bring_back(PacketTrain& train) {
  const Ticks begin = train.first;
  train.first += train.start->begun.time;
  train.from->begun_by_train(begin, train.virtual_network, train.start->packets);
  take_packets_away(train);
  restore(train, begin, train.start->begun);
  train.from->goes_on(train.virtual_network, train.names[0]);
  trains_.counters_.packets += train.start->packets;
  bring(train, unpacked(train.start->begun.arrivals, begin), {});
}

// A packet may be in several routers.
void KnownStarts::take_packets_away(PacketTrain& train) {
  std::vector<fabric::PacketRef> packets;
  for (const TrainHop& hop : train.path) hop.router->clear(hop.input, hop.output, packets);
  std::sort(packets.begin(), packets.end());
  packets.erase(std::unique(packets.begin(), packets.end()), packets.end());
  for (const fabric::PacketRef packet : packets) trains_.pool_.release(packet);
}

void KnownStarts::restore(PacketTrain& train, Ticks reference, const PathState& state) {
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
// a VC at once as it knows of, so it need not have been in the order that was learnt: most of it has been.
// Two flits of a link never come at one time.
void KnownStarts::bring(PacketTrain& train, const std::vector<TrainArrivals::Burst>& bursts,
                        const std::vector<TrainArrivals::Burst>& announced) {
  const auto [new_one, later] =
      std::mismatch(bursts.begin(), bursts.end(), announced.begin(), announced.end(),
                    [](const TrainArrivals::Burst& a, const TrainArrivals::Burst& b) {
                      return a.first == b.first && a.flits == b.flits && a.flit_time == b.flit_time;
                    });
  std::vector<Ticks> known;
  for (auto it = later; it != announced.end(); ++it) {
    for (uint32_t k = 0; k < it->flits; ++k) known.push_back(it->first + k * it->flit_time);
  }
  std::sort(known.begin(), known.end());
  std::vector<TrainArrivals::Burst> arrivals;
  MessagePool::Open& open = trains_.messages_[train.message];
  for (auto it = new_one; it != bursts.end(); ++it) {
    TrainArrivals::Burst burst = *it;
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

// The packets up to its end, but for the state.
void KnownStarts::bring_all(PacketTrain& train) {
  const KnownStart& start = *train.start;
  const Ticks begin = train.first;
  bring(train, unpacked(start.begun.arrivals, begin), {});
  trains_.arrive(train.message, *train.to, train.bursts, train.period, train.repeats * train.packets,
                 train.repeats);
  train.bursts.clear();
  train.first = over(train);
  const uint64_t packets = train.from->packets_left(train.virtual_network);
  train.from->ended_by_train(begin, train.virtual_network);
  trains_.counters_.packets += packets;
  const uint64_t hops = packets * train.path.size();
  trains_.earn(train, costs::kEarnedByTrain * hops + costs::kEarnedByBeginning * packets);
  saved(hops);
}

// The train is over, and nobody else has come to its path.
bool KnownStarts::ends(PacketTrain& train) {
  if (!may_empty(train)) return false;
  train.phase = PacketTrain::Phase::ends;
  return true;
}

// How its path empties is known, or may be learnt now.
bool KnownStarts::may_empty(const PacketTrain& train) const {
  return train.start->empties && (train.start->emptied || looks_at_ == nullptr);
}

// Its last packet has been sent.
void KnownStarts::last_sent(PacketTrain& train, Ticks t) {
  if (!train.from->sends_nothing() || !may_empty(train)) {
    trains_.forget(train);
    return;
  }
  if (!train.start->emptied) {
    looks_at_ = &train;
    train.start->last_sent = t - train.first;
    train.start->last_busy = train.from->busy_until() - train.first;
    seen_arrivals_ = 0;
    look_at_left_ = ~uint64_t{0};
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
  train.aside = PacketTrain::Aside::emptying;
  trains_.stop_path(train);
}

// Nothing of what lies between is brought back, unless somebody comes before the path is nearly empty.
bool KnownStarts::goes_to_the_end(PacketTrain& train) {
  const Ticks until = over(train) + train.start->emptied->until;
  if (train.disturbed || trains_.now() >= until ||
      !train.from->sends_only(train.virtual_network, train.message))
    return false;
  train.aside = PacketTrain::Aside::whole_sent;
  train.until = until;
  train.from->set_aside(until);
  return train.from->sent_by_train(train.first, train.virtual_network, over(train) + train.start->last_busy);
}

// While a path empties its state is noted: when half of the packets have arrived since the time before, and
// near the end whenever something has. The latest state is kept.
void KnownStarts::look() {
  if (looks_at_ == nullptr || looks_at_->bursts.size() == seen_arrivals_) return;
  PacketTrain& train = *looks_at_;
  seen_arrivals_ = train.bursts.size();
  const uint64_t left = trains_.messages_[train.message].left;
  if (left > look_at_left_) return;
  look_at_left_ = std::max(left / 2, costs::kLastLooks);
  auto now = std::make_unique<PathState>();
  if (!save(train, train.first, trains_.now(), *now)) return;
  now->arrivals = packed(train.bursts, train.first);
  seen_ = std::move(now);
}

// The latest state in which the last packet had not arrived is learnt.
void KnownStarts::arrived(uint32_t message) {
  if (looks_at_ == nullptr || looks_at_->message != message) return;
  PacketTrain& train = *looks_at_;
  train.start->emptied = std::move(seen_);
  train.start->empties = train.start->emptied != nullptr;
  trains_.forget(train);
}

void KnownStarts::stop_looking(PacketTrain& train) {
  if (looks_at_ != &train) return;
  looks_at_ = nullptr;
  seen_.reset();
}

void KnownStarts::resume_emptied(PacketTrain& train) {
  const Ticks present = trains_.now();
  const PathState& emptied = *train.start->emptied;
  const bool split = present < train.until;
  trains_.counters_.splits += split;
  if (!split) {
    if (train.aside == PacketTrain::Aside::whole_sent) bring_all(train);
    take_packets_away(train);
    restore(train, train.first, emptied);
    bring(train, unpacked(emptied.arrivals, train.first), train.bursts);
  }
  train.phase = PacketTrain::Phase::resuming;
  // The interface looks whether there is something else to be sent.
  trains_.replay_from(train, trains_.edges_.from(present), 0, present);
  trains_.forget(train);
}

}  // namespace weft::packet
