// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/packet_trains.h"

#include <algorithm>
#include <numeric>

#include "tlm_interconnect/packet/train_costs.h"

namespace weft::packet {

using namespace costs;

PacketTrains::PacketTrains(const PacketTopology& topology,
                           const std::vector<std::unique_ptr<Router>>& routers,
                           const std::vector<std::unique_ptr<NetworkInterface>>& nis, MessagePool& messages,
                           fabric::PacketPool& pool, Ticks cycle)
    : topology_(topology),
      routers_(routers),
      nis_(nis),
      messages_(messages),
      cycle_(cycle),
      edges_(cycle),
      trains_(nis.size()),
      joint_(*this),
      pool_(pool),
      starts_(*this),
      early_(*this) {}

PacketTrains::~PacketTrains() = default;

// The present as the modules see it: in the middle of an activation the cycle that it is for.
Ticks PacketTrains::now() const {
  if (cycle_ % kTicksPerPicosecond == 0) return kernel_time();
  return edges_.from(kernel_decided());
}

void PacketTrains::earn(Train& train, uint64_t words) const {
  train.balance = std::min(train.balance + static_cast<int64_t>(words), kMostEarned);
}

void PacketTrains::spend(Train& train, uint64_t words) {
  train.balance -= static_cast<int64_t>(words);
  train.searched += words;
  counters_.work += words;
}

uint64_t PacketTrains::left(const NetworkInterface::Progress& progress) {
  return progress.bytes == progress.cut ? 0 : (progress.bytes - progress.cut - 1) / progress.packet_bytes;
}

uint64_t PacketTrains::alike(const NetworkInterface& from, uint64_t left) {
  return from.begins_with_all_credits() && left > 0 ? left - 1 : left;
}

bool PacketTrains::enough(const NetworkInterface& from, const StateRecord::Credits& credits,
                          uint64_t& repeats) {
  if (credits.fewer == 0 && !credits.unseen) return true;
  // A packet needs those of two at most (bubble), and none less in any period.
  const int64_t spare = credits.fewest - 2 * static_cast<int64_t>(from.packet_flits_of_trains());
  if (spare <= 0 || from.waits_for_all_credits()) return false;
  if (credits.fewer > 0) repeats = std::min(repeats, static_cast<uint64_t>(spare / credits.fewer));
  return true;
}

bool PacketTrains::decide(NetworkInterface& ni, uint32_t virtual_network, Ticks t) {
  std::unique_ptr<Train>& slot = trains_[ni.number()];
  if (slot && slot->phase == Phase::resuming) {
    ++slot->begun;
    return ordinary(Reason::replayed);
  }
  const NetworkInterface::Progress progress = ni.progress(virtual_network);
  if (slot && slot->phase == Phase::ends && slot->message == progress.message && progress.cut != 0) {
    ++slot->begun;
    return ordinary(Reason::last);
  }
  // All but the last packet of a message are alike; the last one goes by itself.
  const uint64_t left = PacketTrains::left(progress);
  if (left < kShortest && !(slot && slot->phase == Phase::learns)) {
    if (!slot) return ordinary(Reason::last);
    if (slot->phase != Phase::idle) forget(*slot);
    if (slot->message == progress.message && progress.cut != 0) {
      slot->left_alone = left;
      slot->left_alone_as = Reason::last;
    }
    return ordinary(Reason::last);
  }
  if (!slot) {
    slot = std::make_unique<Train>();
    slot->from = &ni;
    slot->retry = kRetry;
  }
  Train& train = *slot;
  if (train.message != progress.message || train.virtual_network != virtual_network || progress.cut == 0) {
    if (train.phase != Phase::idle) forget(train);
    train.virtual_network = static_cast<uint8_t>(virtual_network);
    begin_message(train, messages_[progress.message].message, progress.message, left);
  }
  ++train.begun;
  if (train.phase == Phase::clears) {
    spend(train, kStep * train.path.size());
    if (starts_.begin_later(train, left, t))
      return train.phase == Phase::carried || ordinary(Reason::stepping);
  }
  if (train.phase == Phase::idle) {
    if (!train.possible) return leave_alone(train, left, left, Reason::never);
    if (train.begun == 1 && starts_.begin(train, left, t))
      return train.phase == Phase::carried || ordinary(Reason::stepping);
    if (train.begun < train.next_try)
      return leave_alone(train, train.next_try - train.begun - 1, left, train.waits_for);
    // What may be spent on a message is known when it begins.
    const Reason why = train.balance < 0 ? Reason::account : try_to_observe(train, left, t);
    return why == Reason::account ? wait_for_instalment(train, left) : ordinary(why);
  }
  spend(train, kStep * train.path.size());
  if (train.phase == Phase::joined) {
    Reason why = Reason::compared;
    return joint_.carry(train, left, t, why) || ordinary(why);
  }
  if (train.phase == Phase::learns) return starts_.carry(train, left, t) || ordinary(Reason::compared);
  if (train.balance < 0) {
    forget(train);
    return ordinary(Reason::account);
  }
  if (!train.recorded) {
    if (now() >= train.record_from && train.begun >= train.record_at) first_record(train, t);
    return ordinary(Reason::stepping);
  }
  uint64_t repeats = ~uint64_t{0};
  if (train.begun >= train.compare_from && recurs(train, t, repeats)) {
    const uint64_t packets = train.packets * train.rounds;
    const uint64_t countable = (std::max(t, ticks(kLongestTickTime)) - t) / (train.period * train.rounds);
    repeats = std::min({repeats, alike(ni, left) / packets, countable});
    if (packets * repeats >= kShortest) {
      set_aside(train, t, repeats);
      return true;
    }
  }
  if (train.begun - train.observed_from > 2 * train.first_full + kLongestSearch) {
    forget(train);
    back_off(train, Reason::unsettled);
  } else if (train.begun - train.packet_of_record >= train.window) {
    train.window = std::min(2 * train.window, kLongestWindow);
    observe(train, t);
  }
  return ordinary(Reason::compared);
}

// Of the packets that come next so many go one by one, for the same reason.
bool PacketTrains::leave_alone(Train& train, uint64_t packets, uint64_t left, Reason why) {
  train.left_alone = std::min(packets, left - std::min(left, kShortest));
  train.left_alone_as = why;
  return ordinary(why);
}

// A long message pays as it goes on: its first packets do not pay for a search among its last ones.
bool PacketTrains::wait_for_instalment(Train& train, uint64_t left) {
  if (train.begun < train.paid_until)
    return leave_alone(train, std::min(left, train.paid_until - train.begun), left, Reason::account);
  const uint64_t packets = std::min(left, kInstalment);
  train.paid_until = train.begun + packets;
  earn(train, kEarnedPerHop * packets * (1 + train.path.size()));
  return leave_alone(train, packets, left, Reason::account);
}

void PacketTrains::begin_message(Train& train, const Message& message, uint32_t handle, uint64_t left) {
  train.message = handle;
  train.left_alone = 0;
  train.begun = 0;
  train.next_try = kFirstTry;
  if (train.fresh) train.settled -= train.settled / 4;
  train.fresh = true;
  train.record_at = 0;
  train.waits_for = Reason::filling;
  train.settles = 0;
  train.window = kFirstWindow;
  if (train.path.empty() || train.destination != message.destination ||
      train.path_network != train.virtual_network) {
    train.path.clear();
    train.possible = true;
  }
  train.destination = message.destination;
  train.path_network = train.virtual_network;
  train.packets_of_message = train.paid_until = std::min(left, kPaidAtOnce);
  earn(train, kEarnedPerHop * train.packets_of_message * (1 + train.path.size()));
}

// Finds its path, if that has not been done.
bool PacketTrains::prepare(Train& train) {
  if (!train.path.empty()) return train.possible;
  train.possible = find_path(train, messages_[train.message].message);
  spend(train, kWayOfHop * train.path.size());
  if (!train.possible) return false;
  measure_path(train);
  earn(train, kEarnedPerHop * train.packets_of_message * train.path.size());
  if (!train.advanced) {
    // Something in advance, and for a first look at a long path: at most twice what this message earns.
    train.advanced = true;
    const uint64_t looks = kLooks * train.words;
    const uint64_t most = 2 * kEarnedPerHop * train.packets_of_message * (1 + train.path.size());
    earn(train, std::min(std::max(kInAdvance, looks), most));
  }
  return true;
}

PacketTrains::Reason PacketTrains::try_to_observe(Train& train, uint64_t left, Ticks t) {
  if (!prepare(train)) return Reason::never;
  if (train.begun + left < train.first_full + kShortest) {
    train.next_try = ~uint64_t{0};
    train.waits_for = Reason::filling;
    return Reason::filling;
  }
  if (train.fresh) {
    // The message before it recurred from some packet on. Before that nothing is recorded, and steps begin
    // only so much earlier that what has been decided ahead comes to pass.
    train.record_at = std::min({train.settled, train.first_full + kFirstWindow, (train.begun + left) / 2});
    if (train.begun + train.ahead < train.record_at) {
      train.next_try = train.record_at - train.ahead;
      train.waits_for = Reason::filling;
      return Reason::filling;
    }
  }
  if (train.balance < static_cast<int64_t>(kLooks * words_of(train, train.begun))) return Reason::account;
  if (!train.from->sends_nothing_else(train.virtual_network)) {
    wait_for_company(train);
    return train.waits_for;
  }
  if (meets_carried(train)) {
    wait_for_company(train);
    return train.waits_for;
  }
  if (!count_company(train)) return Reason::never;
  const bool reserved = !reservable(train);
  if (reserved || !exclusive(train)) {
    const JointTrains::Formed formed = joint_.form(train, t);
    if (formed == JointTrains::Formed::yes) return Reason::stepping;
    if (formed == JointTrains::Formed::later) {
      train.next_try = train.begun + kRetry;
      train.waits_for = Reason::company;
      return Reason::company;
    }
    if (formed == JointTrains::Formed::no || reserved) {
      wait_for_company(train);
      return train.waits_for;
    }
  }
  reserve(train);
  train.phase = Phase::observed;
  train.recorded = false;
  train.searched = 0;
  train.observed_from = train.begun;
  begin_steps(train, t);
  return Reason::stepping;
}

// From now on the routers of the path count whose packets want which output. That costs some time for every
// packet, so they begin when a path is about to be observed, or to belong to a group, and not before.
bool PacketTrains::count_company(Train& train) {
  uint64_t looked_at = 0;
  for (const Hop& hop : train.path) train.possible = train.possible && hop.router->count_waiting(looked_at);
  spend(train, kLookAtPacket * looked_at);
  return train.possible;
}

void PacketTrains::first_record(Train& train, Ticks t) {
  if (exclusive(train)) {
    observe(train, t);
    return;
  }
  forget(train);
  wait_for_company(train);
}

// While its path fills, packets of the message before this one are on it, too. That is no reason to back off.
void PacketTrains::wait_for_company(Train& train) {
  if (train.begun < train.first_full) {
    train.next_try = train.first_full;
    train.waits_for = Reason::company;
  } else {
    back_off(train, Reason::company);
  }
}

// Something that has been set aside lies on the path. It is resumed when a packet comes there.
bool PacketTrains::meets_carried(const Train& train) const {
  const auto carried = [&](uint32_t interface) {
    if (interface == Router::kFree) return false;
    const Train& owner = *trains_[interface];
    return owner.phase == Phase::carried || (owner.group != nullptr && owner.group->carried);
  };
  return std::any_of(train.path.begin(), train.path.end(), [&](const Hop& hop) {
    return carried(hop.router->reserved_input(hop.input)) || carried(hop.router->reserved_output(hop.output));
  });
}

bool PacketTrains::reservable(const Train& train) const {
  return std::all_of(train.path.begin(), train.path.end(), [](const Hop& hop) {
    return hop.router->reserved_input(hop.input) == Router::kFree &&
           hop.router->reserved_output(hop.output) == Router::kFree;
  });
}

void PacketTrains::reserve(const Train& train) {
  for (const Hop& hop : train.path) {
    hop.router->reserve_input(hop.input, train.from->number());
    hop.router->reserve_output(hop.output, train.from->number());
  }
}

// While a path empties its state is looked at whenever a router runs.
uint32_t PacketTrains::stepper(const Train& train) {
  return train.phase == Phase::empties ? Router::kFree : train.from->number();
}

void PacketTrains::begin_steps(Train& train, Ticks t) {
  train.from->step(true);
  for (const Hop& hop : train.path) hop.router->begin_steps(stepper(train));
  train.record_from = undecided(train, t) + train.settles;
  train.settles = 0;
}

Ticks PacketTrains::undecided(const Train& train, Ticks t) const {
  Ticks from = std::max(t, now());
  for (const Hop& hop : train.path) from = std::max(from, hop.router->decided());
  return edges_.from(from);
}

void PacketTrains::end_steps(Train& train) {
  train.from->step(false);
  for (const Hop& hop : train.path) hop.router->end_steps(stepper(train));
}

// The ports on the way, if it is certain.
bool PacketTrains::find_path(Train& train, const Message& message) {
  train.path.clear();
  train.to = nullptr;
  const NiAttachment& at = topology_.nis[train.from->number()];
  uint32_t router = at.router;
  uint32_t input = at.port;
  const VcMask every_vc = routers_[router]->vc_mask(message.virtual_network);
  VcMask mask = every_vc;
  train.any_vc = true;
  if (train.from->port().cut()) return false;
  while (train.path.size() <= topology_.routers.size()) {
    uint32_t output = ~0u;
    bool bubble = false;
    VcMask next_mask = 0;
    for (VcMask m = mask; m != 0; m &= m - 1) {
      const RouteQuery query{
          router, input, lowest_vc(m), message.source, message.destination, message.virtual_network};
      RouteCandidate route{};
      if (!routers_[router]->certain_route(query, route)) return false;
      if (output != ~0u && route.port != output) return false;
      const bool first = output == ~0u;
      if (first) bubble = route.bubble;
      output = route.port;
      next_mask |= route.vc_mask;
      train.any_vc = train.any_vc && route.vc_mask == every_vc && route.bubble == bubble;
    }
    if (routers_[router]->port(output).cut()) return false;
    if (routers_[router]->damages(output)) return false;
    train.path.push_back({routers_[router].get(), input, output, 0, bubble, 0, true});
    const TopologyPort& port = topology_.routers[router].ports[output];
    if (port.ni) {
      train.to = nis_[port.peer].get();
      return train.to->ends(message.destination) && train.to->takes_trains();
    }
    router = port.peer;
    input = port.peer_port;
    mask = next_mask;
  }
  return false;
}

// Until the first credits of the longest loop are back something on the path is not looked at yet.
void PacketTrains::measure_path(Train& train) const {
  const NiAttachment& at = topology_.nis[train.from->number()];
  Ticks head = 0;
  Ticks full = 0;
  Ticks loop = 0;
  Ticks last = 0;
  train.timing.clear();
  const auto pass = [&](uint32_t link) {
    const LinkTiming& timing = topology_.links[link];
    for (const Ticks t : {timing.latency, timing.credit_latency, timing.flit_time}) train.timing.push_back(t);
    const Ticks credit = timing.credit_latency != 0 ? timing.credit_latency : timing.latency;
    full = std::max(full, head + timing.latency + credit);
    loop = std::max(loop, timing.latency + credit);
    head += timing.latency;
    last = timing.latency;
  };
  const uint32_t first_link = topology_.routers[at.router].ports[at.port].link;
  pass(first_link);
  for (const Hop& hop : train.path) pass(topology_.routers[hop.router->id()].ports[hop.output].link);
  const Ticks flit = std::max(topology_.links[first_link].flit_time, train.from->cycle_time());
  const Ticks packet = flit * train.from->packet_flits_of_trains();
  train.first_full = full / packet;
  train.ahead = (train.path[0].router->lookahead() + packet - 1) / packet;
  train.clears_within = std::max((head - last) / packet, train.ahead);
  train.loop = loop;
  train.words = words_of(train, train.first_full);
}

// About, of a record when so many packets have begun.
uint64_t PacketTrains::words_of(const Train& train, uint64_t packets) {
  return kWordsOfPacket * std::min(packets, train.first_full) +
         kWordsOfHop * train.path.size() * train.path[0].router->vcs();
}

// Not always as many: that could be no multiple of the period.
uint64_t PacketTrains::wait_after(uint64_t words, uint64_t& failed) {
  const uint64_t packets = words / kWordsToWait;
  return packets == 0 ? 0 : packets + failed++ % (packets + 1);
}

bool PacketTrains::exclusive(Train& train) {
  spend(train, kLookAtPacket * train.path.size());
  return std::all_of(train.path.begin(), train.path.end(), [&](const Hop& hop) {
    return hop.router->exclusive(hop.input, hop.output, train.message);
  });
}

void PacketTrains::observe(Train& train, Ticks t) {
  state_.begin(now(), t);
  write_path(train, Write::all);
  train.record = state_.words();
  train.names = names_;
  spend(train, state_.written());
  ++counters_.looks;
  train.recorded = true;
  train.packet_of_record = train.begun;
  train.compare_from = 0;
  train.failed = 0;
  train.time_of_record = t;
  train.bursts.clear();
  train.to->record_arrivals(&train.bursts);
}

// The same state as that of the record, but for the time and what may drift. `repeats`: how often at most
// that holds again.
bool PacketTrains::recurs(Train& train, Ticks t, uint64_t& repeats) {
  state_.compare(now(), t, train.record, train.time_of_record);
  write_path(train, Write::all);
  spend(train, kCompare + state_.written());
  if (!state_.equal()) {
    if (train.searched > kSearchAtOnce * train.words)
      train.compare_from = train.begun + wait_after(state_.written(), train.failed);
    return false;
  }
  train.packets = train.begun - train.packet_of_record;
  train.period = t - train.time_of_record;
  if (!drifts(train, repeats)) return false;
  train.fills = state_.fills();
  train.rounds = rounds(train.names);
  // What drifts would do so at each VC in turn.
  if (train.rounds != 1 && (train.fills || repeats != ~uint64_t{0})) return false;
  if (!train.fills) return true;
  repeats = std::min(repeats, state_.periods_left(undecided(train, t)));
  return true;
}

bool PacketTrains::turned(const Train& train, size_t link) const {
  return !state_.records() && names_[link].first() != train.names[link].first();
}

// After so many periods every VC has its own name again.
uint64_t PacketTrains::rounds(const std::vector<VcNames>& earlier) const {
  uint64_t rounds = 1;
  for (size_t link = 0; link < names_.size(); ++link)
    rounds = std::lcm(rounds, names_[link].rounds_after(earlier[link]));
  return rounds;
}

// A period of the train is one after which every VC has its own name.
void PacketTrains::whole_rounds(Train& train) {
  const std::vector<TrainArrivals::Burst> one = train.bursts;
  for (uint64_t k = 1; k < train.rounds; ++k) {
    for (TrainArrivals::Burst& burst : train.bursts) burst.first -= train.period;
    train.bursts.insert(train.bursts.end(), one.begin(), one.end());
  }
  train.period *= train.rounds;
  train.packets *= train.rounds;
  train.delivered *= train.rounds;
}

// What has drifted between two moments that are equal otherwise: false if that is not the same in all places,
// or if it must not. Credits get fewer as the queue that they are for grows and as more of them are on their
// way; those for the first hop are the interface's.
bool PacketTrains::drifts(Train& train, uint64_t& repeats) {
  const uint64_t vcs = train.path[0].router->vcs();
  const auto flits = static_cast<int64_t>(train.from->packet_flits_of_trains());
  train.queues.resize(state_.queues().size());
  train.credits.resize(state_.credits().size());
  for (size_t link = 0; link < names_.size(); ++link) {
    for (uint32_t v = 0; v < vcs; ++v) {
      const size_t i = link * vcs + names_[link].place(v);
      train.credits[link * vcs + v] = state_.credits()[i];
      if (link < train.path.size()) train.queues[link * vcs + v] = state_.queues()[i];
    }
  }
  train.delivered = train.begun - train.packet_of_record;
  for (size_t i = 0; i < state_.credits().size(); ++i) {
    const StateRecord::Credits& credits = state_.credits()[i];
    const uint32_t grown = i < state_.queues().size() ? state_.queues()[i].grown : 0;
    if (credits.fewer != grown * flits + credits.coming) return false;
    train.delivered -= grown;
    if (!enough(*train.from, credits, repeats)) return false;
  }
  return true;
}

void PacketTrains::forget(Train& train) {
  if (train.phase == Phase::joined) {
    joint_.dissolve(train);
    return;
  }
  if (train.phase == Phase::clears) {
    starts_.stop_waiting(train, false);
    return;
  }
  for (size_t h = 0; h < train.path.size(); ++h) {
    const Hop& hop = train.path[h];
    if (h < taken(train)) {
      hop.router->release_input(hop.input);
      hop.router->release_output(hop.output);
    } else {
      hop.router->expect_no_more(train.from->number());
    }
  }
  const bool all = train.not_taken == 0;
  train.not_taken = 0;
  counters_.early_failed += !all && train.phase != Phase::learns ? 1 : 0;
  if (train.phase == Phase::observed || train.phase == Phase::learns || train.phase == Phase::empties)
    end_steps(train);
  starts_.stop_looking(train);
  if (all) train.to->record_arrivals(nullptr);  // else they may be another's
  starts_.stop_learning(train);
  train.start.reset();
  train.all_sent = false;
  train.disturbed = false;
  train.aside = Train::Aside::stream;
  train.phase = Phase::idle;
  train.next_try = train.begun + train.retry;
  train.window = kFirstWindow;
}

void PacketTrains::back_off(Train& train, Reason why) {
  train.waits_for = why;
  train.retry = std::min(2 * train.retry, kLongestRetry);
  train.next_try = train.begun + train.retry;
}

// The sender first: it differs soonest.
void PacketTrains::write_path(const Train& train, Write what) {
  names_.clear();
  names_.push_back(train.from->names(train.virtual_network, train.any_vc));
  train.from->write_sender(state_, names_[0]);
  for (const Hop& hop : train.path) {
    if (state_.differs()) return;
    const VcNames from = names_.back();
    if (what != Write::state) state_.deadline(hop.router->decided());
    names_.push_back(hop.router->names(hop.input, hop.output, from, train.any_vc));
    hop.router->write_state(hop.input, hop.output, from, names_.back(), turned(train, names_.size() - 2),
                            what == Write::all, state_);
  }
  train.to->write_receiver(state_, names_.back());
}

// From where on the next message is looked at: a little sooner than this one recurred, but not much later
// than earlier ones did.
void PacketTrains::note_settled(Train& train) {
  const uint64_t record = train.packet_of_record;
  if (record <= train.settled + kFirstWindow) {
    train.settled = record - record / 8;
  } else {
    train.settled += (record - train.settled) / 4;
  }
}

void PacketTrains::set_aside(Train& train, Ticks t, uint64_t repeats) {
  if (train.fresh && train.phase == Phase::observed) note_settled(train);
  train.fresh = false;
  train.record_at = 0;
  train.since = now();
  train.first = t;
  train.repeats = repeats;
  whole_rounds(train);
  train.until = train.since + train.repeats * train.period;
  end_steps(train);
  train.to->record_arrivals(nullptr);
  stop_path(train);
  counters_.growing += train.delivered < train.packets && !train.fills;
  counters_.filling += train.fills;
}

void PacketTrains::stop_path(Train& train) {
  for (Hop& hop : train.path) {
    hop.undecided = hop.router->undecided(train.since);
    hop.router->set_aside(hop.input);
  }
  stop(train);
}

void PacketTrains::stop(Train& train) {
  train.phase = Phase::carried;
  train.from->set_aside(train.until);
  ++counters_.trains;
  spend(train, kSetAside);
}

// Nothing on its way drifts.
void PacketTrains::clear_drift(Train& train) const {
  const size_t vcs = train.path[0].router->vcs();
  train.queues.assign(train.path.size() * vcs, {});
  train.credits.assign((train.path.size() + 1) * vcs, {});
}

void PacketTrains::last_sent(uint32_t ni, Ticks t) {
  Train* train = trains_[ni].get();
  if (train == nullptr) return;
  train->all_sent = train->phase == Phase::resuming;
  if (train->phase == Phase::ends) starts_.last_sent(*train, t);
}

bool PacketTrains::disturb(uint32_t ni) {
  Train* train = trains_[ni].get();
  if (train == nullptr || train->phase == Phase::idle || train->phase == Phase::resuming) return false;
  if (train->phase == Phase::joined) return joint_.disturb(*train);
  if (train->phase == Phase::carried) {
    train->disturbed = true;
    return true;
  }
  if (train->phase == Phase::clears) return false;
  // At once: the other packet may go on along this path to where another train is.
  forget(*train);
  back_off(*train, Reason::company);
  return false;
}

// Runs cycles in the order of time, up to `present`.
void PacketTrains::replay(const std::vector<NetworkInterface*>& interfaces,
                          const std::vector<Router*>& routers, Ticks present) {
  for (;;) {
    Ticks soonest = kNever;
    NetworkInterface* first_interface = nullptr;
    Router* first_router = nullptr;
    for (NetworkInterface* one : interfaces) {
      const Ticks t = one->next_cycle();
      if (t >= present || t >= soonest) continue;
      soonest = t;
      first_interface = one;
    }
    for (Router* one : routers) {
      const Ticks t = one->next_cycle();
      // Its other ports may have been decided for a while beyond now.
      if (t >= soonest || t >= std::max(present, one->decided())) continue;
      soonest = t;
      first_router = one;
    }
    if (soonest == kNever) return;
    if (first_router != nullptr) {
      first_router->replay_cycle();
    } else {
      first_interface->replay_cycle();
    }
  }
}

void PacketTrains::resume(uint32_t ni) {
  if (!trains_[ni]) return;
  Train& train = *trains_[ni];
  if (train.phase == Phase::joined) joint_.resume(train);
  if (train.phase != Phase::carried) return;
  const Ticks present = now();
  if (train.aside == Train::Aside::whole && present >= train.until && starts_.goes_to_the_end(train)) return;
  // Somebody may have come just then.
  const bool split = present < train.until;
  if (train.aside == Train::Aside::emptying || (train.aside == Train::Aside::whole_sent && !split))
    return starts_.resume_emptied(train);
  train.aside = Train::Aside::stream;
  // Whole periods, but nothing that a router had decided ahead may be moved beyond now: somebody else takes
  // part in these cycles.
  Ticks undecided = train.since;
  for (size_t h = 0; h < taken(train); ++h) undecided = std::max(undecided, train.path[h].undecided);
  if (train.start) undecided = std::max(undecided, train.first + train.start->begun.until);
  const bool begun = train.start && present >= undecided;
  if (begun) starts_.bring_back(train);
  const uint64_t passed =
      present < undecided ? 0 : std::min(train.repeats, (present - undecided) / train.period);
  const Ticks shift = passed * train.period;
  const uint64_t packets = passed * train.packets;
  counters_.splits += split;
  counters_.growing_splits += split && train.delivered < train.packets && !train.fills;
  counters_.filling_splits += split && train.fills;
  counters_.packets += packets;
  uint64_t hops = begun ? train.start->packets * train.path.size() : 0;

  if (passed > 0) {
    const uint32_t flits = train.from->packet_flits_of_trains();
    const StateRecord::Credits* credits = train.credits.data();
    train.from->shift_sender(train.period, passed, train.virtual_network, packets, credits);
    uint64_t through = packets;
    const StateRecord::Queue* queues = train.queues.data();
    for (const Hop& hop : train.path) {
      const uint32_t vcs = hop.router->vcs();
      credits += vcs;
      for (uint32_t v = 0; v < vcs; ++v) through -= passed * queues[v].grown;
      hop.router->shift(hop.input, hop.output,
                        {through, through * flits, through * train.from->packet_bytes_of_trains(),
                         train.period, passed, queues, credits});
      queues += vcs;
      counters_.hops += through;
      hops += through;
    }
    if (through != 0) arrive(train.message, *train.to, train.bursts, train.period, through, passed);
    earn(train, kEarnedByTrain * hops + kEarnedByBeginning * packets);
  }
  starts_.saved(hops);

  train.phase = Phase::resuming;
  // What has begun of the next period, on these ports only.
  train.first += shift;
  // From here on what arrives is the same for all that began alike.
  train.bursts.clear();
  if (begun && !split) train.to->record_arrivals(&train.bursts);
  replay_from(train, train.first, shift, present);
  const bool ends = begun && !split && !train.disturbed && passed == train.repeats && !train.all_sent;
  if (ends && starts_.ends(train)) return;
  forget(train);
  if (!split) {
    // It may recur in another way at once, and nothing has been decided ahead. But where credits are nearly
    // used up it first takes a round trip until those that come are what counts.
    train.retry = kRetry;
    train.next_try = 0;
    if (!train.fills) train.settles = train.loop;
  } else if (hops * kEarnedByTrain > kSetAside) {
    train.retry = kRetry;
  } else {
    back_off(train, Reason::company);
  }
}

void PacketTrains::arrive(uint32_t message, NetworkInterface& to,
                          const std::vector<TrainArrivals::Burst>& bursts, Ticks period, uint64_t packets,
                          uint64_t periods) {
  MessagePool::Open& open = messages_[message];
  open.left -= packets;
  open.last += periods * period;
  to.arrived_by_train(open.message, to.packet_flits_of_trains(), bursts, period, periods);
}

// The router's horizon is known already, but what it decides up to there has not been decided yet.
void PacketTrains::take_part(uint32_t ni) {
  Train& train = *trains_[ni];
  const bool learns = train.phase == Phase::learns;
  const EarlyStarts::Takes takes = early_.take_part(train);
  if (takes == EarlyStarts::Takes::part) {
    if (learns && train.not_taken == 0) train.to->record_arrivals(&train.learnt->arrivals);
    return;
  }
  if (learns) {
    if (takes == EarlyStarts::Takes::gone) return;
    forget(train);
    back_off(train, Reason::company);
    return;
  }
  resume(ni);
  if (takes == EarlyStarts::Takes::gone || !train.from->sends(train.virtual_network, train.message)) return;
  if (takes != EarlyStarts::Takes::unknown || !starts_.learn_early(train)) starts_.failed_early(train);
}

void PacketTrains::replay_from(Train& train, Ticks first, Ticks shift, Ticks present) {
  std::vector<Router*> routers;
  for (size_t h = 0; h < taken(train); ++h) {
    const Hop& hop = train.path[h];
    hop.router->begin_replay(&hop.input, 1, hop.undecided + shift);
    routers.push_back(hop.router);
  }
  train.from->begin_replay(first);
  replay({train.from}, routers, present);
  for (size_t h = 0; h < taken(train); ++h) train.path[h].router->end_replay(&train.path[h].input, 1);
  train.from->end_replay(present);
}

void PacketTrains::restart(Ticks now) {
  edges_.start_at(now);
  joint_.restart();
  starts_.clear();
  // Nothing that has been learnt stays: how far ahead routers decide is to be as in a new network.
  for (auto& train : trains_) {
    if (train && train->phase != Phase::idle) forget(*train);
    train.reset();
  }
}

void PacketTrains::resume_all() {
  for (uint32_t ni = 0; ni < trains_.size(); ++ni) {
    // Even if it is just to be set aside to its end.
    if (trains_[ni] && trains_[ni]->aside == Train::Aside::whole) trains_[ni]->aside = Train::Aside::stream;
    resume(ni);
  }
}

uint64_t PacketTrains::flits_under_way() const {
  uint64_t flits = 0;
  for (const auto& train : trains_) {
    if (!train || train->phase != Phase::carried) continue;
    Ticks begin = train->since;
    if (train->start) {
      begin = train->first + train->start->begun.until;
      if (train->aside == Train::Aside::emptying || kernel_time() < begin) continue;
      flits += train->start->begun.flits;
    }
    const uint64_t passed = std::min(train->repeats, (kernel_time() - begin) / train->period);
    flits += passed * train->delivered * train->from->packet_flits_of_trains();
  }
  return flits + joint_.flits_under_way();
}

}  // namespace weft::packet
