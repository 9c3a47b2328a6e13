// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/joint_trains.h"

#include <algorithm>

#include "tlm_interconnect/packet/packet_trains.h"
#include "tlm_interconnect/packet/train_costs.h"

namespace weft::packet {
namespace {

/// False: it was there.
template <typename T>
bool add_once(std::vector<T>& all, const typename std::vector<T>::value_type& one) {
  if (std::find(all.begin(), all.end(), one) != all.end()) return false;
  all.push_back(one);
  return true;
}

/// The interface whose packets the group is observed at.
uint32_t leading_interface(const JointTrain& group) {
  return group.members[0].train->from->number();
}

}  // namespace

// -- who belongs to a group

JointTrains::Formed JointTrains::form(PacketTrain& leader, Ticks t) {
  looked_at_ = 0;
  const Formed gathered = gather(leader);
  trains_.spend(leader, costs::kLookAtPacket * looked_at_);
  if (gathered != Formed::yes) return gathered;
  if (found_.size() < 2) return Formed::alone;
  uint64_t fingerprint = 0;
  uint64_t words = 0;
  int64_t balance = 0;
  for (const JointTrain::Member& one : found_) {
    const Message& message = trains_.messages_[one.message].message;
    fingerprint +=
        hash64(hash64(uint64_t{one.train->from->number()} << 32 | one.message) ^ message.submitted);
    if (one.is_sent()) continue;
    words += one.train->words;
    balance += one.train->balance;
  }
  if (fingerprint == leader.unsettled && leader.begun < leader.unsettled_until) return Formed::no;
  if (balance < static_cast<int64_t>(costs::kLooks * words)) return Formed::no;
  if (!reservable()) return Formed::later;

  for (const JointTrain::Member& one : found_) {
    if (one.train->phase == PacketTrain::Phase::joined) {
      dissolve(*one.train->group);
    } else if (one.train->phase != PacketTrain::Phase::idle) {
      trains_.forget(*one.train);
    }
  }
  auto made = std::make_unique<JointTrain>();
  JointTrain& group = *made;
  groups_.push_back(std::move(made));
  group.fingerprint = fingerprint;
  group.window = costs::kFirstWindow;
  group.observed_from = leader.begun;
  for (JointTrain::Member& one : found_) {
    one.train->phase = PacketTrain::Phase::joined;
    one.train->left_alone = 0;
    one.train->group = &group;
    group.members.push_back(std::move(one));
  }
  find_interfaces(group);
  lay_out(group);
  const uint32_t number = leading_interface(group);
  group.record_from = std::max(t, trains_.now());
  for (const JointTrain::Member& member : group.members) {
    if (!member.is_sent()) member.train->from->step(true);
    group.record_from = std::max(group.record_from, member.train->from->busy_until());
  }
  for (const JointTrain::Place& place : group.places) {
    for (const JointInput& one : place.inputs) place.router->reserve_input(one.input, number);
    for (const uint32_t output : place.outputs) place.router->reserve_output(output, number);
    place.router->begin_steps(number);
    group.record_from = std::max(group.record_from, place.router->decided());
  }
  return Formed::yes;
}

// The message that an interface sends stands for it, or one of those that it has sent.
void JointTrains::find_interfaces(JointTrain& group) {
  const auto standing = [&](const PacketTrain* train) {
    return std::find_if(group.members.begin(), group.members.end(),
                        [&](const JointTrain::Member& one) { return one.train == train && one.stands; });
  };
  for (JointTrain::Member& one : group.members) {
    one.stands = one.sends != JointTrain::Sends::another && &*standing(one.train) == &one;
    if (one.stands) one.sender = group.interfaces++;
  }
  for (JointTrain::Member& one : group.members) {
    if (!one.stands) one.sender = standing(one.train)->sender;
  }
}

// All messages that have packets at a port of one of them.
JointTrains::Formed JointTrains::gather(PacketTrain& leader) {
  found_.clear();
  seen_inputs_.clear();
  seen_outputs_.clear();
  Formed all = add({leader.from->number(), leader.message});
  for (size_t k = 0; k < found_.size(); ++k) {
    // More may be found meanwhile.
    for (size_t h = 0; h < found_[k].path.size(); ++h) {
      const TrainHop hop = found_[k].path[h];
      const Formed here = gather_at(*hop.router, hop.input, hop.output);
      if (here != Formed::yes) return here;
    }
  }
  return all;
}

JointTrains::Formed JointTrains::gather_at(Router& router, uint32_t input, uint32_t output) {
  owners_.clear();
  if (add_once(seen_inputs_, {&router, input})) router.owners_at(input, owners_, looked_at_);
  if (add_once(seen_outputs_, {&router, output})) {
    inputs_.clear();
    const bool all = router.inputs_for(output, inputs_, looked_at_);
    if (inputs_.size() > costs::kMostMembers) return Formed::no;
    if (!all) return Formed::later;  // a packet whose output will be drawn
    for (const uint32_t other : inputs_) {
      if (other != input) router.owners_at(other, owners_, looked_at_);
    }
  }
  for (const PacketOwner& owner : owners_) {
    const Formed one = add(owner);
    if (one != Formed::yes) return one;
  }
  return Formed::yes;
}

bool JointTrains::has_found(const PacketTrain& train, uint32_t message) const {
  return std::any_of(found_.begin(), found_.end(), [&](const JointTrain::Member& one) {
    return one.train == &train && one.message == message;
  });
}

// The packet must be of the message that its interface is sending, and enough of it must be left. Or that has
// been sent.
JointTrains::Formed JointTrains::add(const PacketOwner& owner) {
  // A packet that came from elsewhere may name any number.
  if (owner.interface >= trains_.trains_.size()) return Formed::later;
  PacketTrain* train = trains_.trains_[owner.interface].get();
  if (train == nullptr) return Formed::later;
  if (has_found(*train, owner.message)) return Formed::yes;
  const bool busy = train->phase == PacketTrain::Phase::carried ||
                    train->phase == PacketTrain::Phase::resuming ||
                    (train->phase == PacketTrain::Phase::joined && train->group->carried);
  if (train->message == owner.message && train->from->sends(train->virtual_network, train->message)) {
    if (!train->possible || found_.size() == costs::kMostMembers) return Formed::no;
    return busy ? Formed::later : add_sender(*train);
  }
  const bool own = found_.size() == 1 && found_[0].train == train;
  const Formed sent = busy ? Formed::later : add_sent(*train, owner.message);
  return own && sent == Formed::later ? Formed::alone : sent;
}

JointTrains::Formed JointTrains::add_sender(PacketTrain& train) {
  const NetworkInterface& from = *train.from;
  if (!from.sends_nothing_else(train.virtual_network)) return Formed::later;
  if (PacketTrains::left(from.progress(train.virtual_network)) < costs::kShortest) return Formed::later;
  if (!trains_.prepare(train) || !trains_.count_company(train)) return Formed::no;
  JointTrain::Member& member = found_.emplace_back();
  member.train = &train;
  member.message = train.message;
  member.path = train.path;
  member.to = train.to;
  return Formed::yes;
}

// Its packets may be before those of the next message of their interface.
JointTrains::Formed JointTrains::add_sent(PacketTrain& train, uint32_t message) {
  NetworkInterface& from = *train.from;
  if (message == 0) return Formed::later;
  JointTrain::Sends sends = JointTrain::Sends::nothing;
  if (!from.sends_nothing()) {
    sends = JointTrain::Sends::another;
    if (train.message == message || !from.sends(train.virtual_network, train.message)) return Formed::later;
    const Formed other = add({from.number(), train.message});
    if (other != Formed::yes) return other;
  }
  // Held up at the first router: then it is the interface's, and its packets leave in their order.
  const NiAttachment& at = trains_.topology_.nis[from.number()];
  Router& first = *trains_.routers_[at.router];
  if (!first.count_waiting(looked_at_) || !first.has_at(at.port, {from.number(), message}))
    return Formed::later;
  if (trains_.messages_[message].left < costs::kLongestSearch) return Formed::later;
  PacketTrain way;
  way.from = &from;
  const bool found = trains_.find_path(way, trains_.messages_[message].message);
  looked_at_ += costs::kWayOfHop / costs::kLookAtPacket * way.path.size();
  if (!found || !trains_.count_company(way) || found_.size() == costs::kMostMembers) return Formed::no;
  // What nobody holds up has left soon.
  trains_.measure_path(way);
  if (trains_.messages_[message].left < way.clears_within + costs::kLongestSearch) return Formed::later;
  JointTrain::Member& member = found_.emplace_back();
  member.train = &train;
  member.message = message;
  member.sends = sends;
  member.path = std::move(way.path);
  member.to = way.to;
  return Formed::yes;
}

// What a group costs those share that send.
void JointTrains::spend(const JointTrain& group, uint64_t words) {
  const auto senders =
      static_cast<uint64_t>(std::count_if(group.members.begin(), group.members.end(),
                                          [](const JointTrain::Member& one) { return !one.is_sent(); }));
  for (const JointTrain::Member& member : group.members) {
    if (!member.is_sent()) trains_.spend(*member.train, words / senders);
  }
}

// Its members may overdraw their accounts by a part of what a train could save.
int64_t JointTrains::credit(const JointTrain& group) {
  uint64_t sum = 0;
  for (const JointTrain::Member& member : group.members) {
    const PacketTrain& train = *member.train;
    if (member.is_sent()) continue;
    sum += PacketTrains::left(train.from->progress(train.virtual_network)) * train.path.size();
  }
  return static_cast<int64_t>(sum * costs::kEarnedByTrain / costs::kPartOnCredit);
}

int64_t JointTrains::balance(const JointTrain& group) {
  int64_t sum = 0;
  for (const JointTrain::Member& member : group.members) {
    if (!member.is_sent()) sum += member.train->balance;
  }
  return sum;
}

// Nobody else has a port of theirs.
bool JointTrains::reservable() const {
  const auto free = [&](uint32_t interface) {
    if (interface == Router::kFree) return true;
    const PacketTrain* owner = trains_.trains_[interface].get();
    return std::any_of(found_.begin(), found_.end(), [&](const JointTrain::Member& one) {
      return one.train == owner || (one.train->group != nullptr && one.train->group == owner->group);
    });
  };
  for (const JointTrain::Member& one : found_) {
    for (const TrainHop& hop : one.path) {
      if (!free(hop.router->reserved_input(hop.input)) || !free(hop.router->reserved_output(hop.output)))
        return false;
    }
  }
  return true;
}

// The router of a hop. It is added to the group if it is not in it yet.
JointTrain::Place& JointTrains::place_of(JointTrain& group, const TrainHop& hop) {
  for (JointTrain::Place& place : group.places) {
    if (place.router == hop.router) return place;
  }
  group.places.emplace_back().router = hop.router;
  return group.places.back();
}

// The same for its input and output.
JointTrain::Turn& JointTrains::turn_of(JointTrain::Place& place, const TrainHop& hop) {
  for (JointTrain::Turn& turn : place.turns) {
    if (turn.input == hop.input && turn.output == hop.output) return turn;
  }
  return place.turns.emplace_back(JointTrain::Turn{hop.input, hop.output, false, 0, 0, false});
}

void JointTrains::lay_out(JointTrain& group) {
  for (const JointTrain::Member& member : group.members) {
    add_once(group.receivers, member.to);
    bool first = true;
    for (const TrainHop& hop : member.path) {
      JointTrain::Place& place = place_of(group, hop);
      turn_of(place, hop);
      add_once(place.outputs, hop.output);
      const auto known = std::find_if(place.inputs.begin(), place.inputs.end(),
                                      [&](const JointInput& one) { return one.input == hop.input; });
      const bool sent = member.is_sent();
      const VcMask fed = sent ? 0 : hop.router->vc_mask(member.train->virtual_network);
      if (known == place.inputs.end()) {
        place.inputs.push_back({hop.input, hop.output, !sent, sent && first, fed});
      } else {
        // At the first router an input has packets of one interface, in the order of its messages.
        known->alone = false;
        known->in_turn = first;
        known->fed |= fed;
      }
      first = false;
    }
  }
  size_t inputs = 0;
  size_t outputs = 0;
  for (JointTrain::Place& place : group.places) {
    place.first_input = inputs;
    place.first_output = outputs;
    inputs += place.inputs.size();
    outputs += place.outputs.size();
    for (JointTrain::Turn& turn : place.turns) {
      turn.shared = std::any_of(place.turns.begin(), place.turns.end(), [&](const JointTrain::Turn& other) {
        return other.output == turn.output && other.input != turn.input;
      });
    }
  }
}

void JointTrains::dissolve(PacketTrain& member) {
  dissolve(*member.group);
}

void JointTrains::dissolve(JointTrain& group) {
  for (const JointTrain::Place& place : group.places) {
    for (const JointInput& one : place.inputs) place.router->release_input(one.input);
    for (const uint32_t output : place.outputs) place.router->release_output(output);
    if (!group.carried) place.router->end_steps(leading_interface(group));
  }
  for (NetworkInterface* receiver : group.receivers) receiver->record_arrivals(nullptr);
  for (const JointTrain::Member& member : group.members) {
    PacketTrain& train = *member.train;
    if (!group.carried && !member.is_sent()) train.from->step(false);
    train.phase = PacketTrain::Phase::idle;
    train.group = nullptr;
    train.next_try = train.begun + train.retry;
    train.waits_for = TrainReason::company;
  }
  const auto it =
      std::find_if(groups_.begin(), groups_.end(), [&](const auto& one) { return one.get() == &group; });
  *it = std::move(groups_.back());
  groups_.pop_back();
}

// -- a group that is observed

bool JointTrains::carry(PacketTrain& member, uint64_t left, Ticks t, TrainReason& why) {
  JointTrain& group = *member.group;
  PacketTrain& leader = *group.members[0].train;
  why = group.recorded ? TrainReason::compared : TrainReason::stepping;
  // A leader that waits for the others may not begin a packet for long.
  group.others = &member == &leader ? 0 : group.others + 1;
  if (group.others > costs::kMostMembers * costs::kLongestSearch) {
    why = TrainReason::unsettled;
    dissolve(group);
    trains_.back_off(leader, why);
    return false;
  }
  if (&member != &leader) return false;
  if (balance(group) + credit(group) < 0) {
    why = TrainReason::account;
    dissolve(group);
    return false;
  }
  if (!group.recorded) {
    if (trains_.now() >= group.record_from) observe(group, t);
    return false;
  }
  if (leader.begun >= group.compare_from) {
    state_.compare(trains_.now(), t, group.record, group.time_of_record);
    write(group);
    spend(group, costs::kCompare + state_.written());
    if (state_.equal() && set_aside(group, left, t)) return true;
    group.compare_from = leader.begun + PacketTrains::wait_after(state_.written(), group.failed);
  }
  const uint64_t begun = leader.begun - group.members[0].begun;
  const uint64_t searched = leader.begun - group.observed_from;
  if (searched > 2 * leader.first_full + costs::kLongestSearch) {
    for (const JointTrain::Member& one : group.members) {
      one.train->unsettled = group.fingerprint;
      one.train->unsettled_until = one.train->begun + costs::kSearchAgain * searched;
    }
    dissolve(group);
    trains_.back_off(leader, TrainReason::unsettled);
  } else if (begun >= group.window) {
    group.window = std::min(2 * group.window, costs::kLongestWindow);
    observe(group, t);
  }
  return false;
}

void JointTrains::observe(JointTrain& group, Ticks t) {
  state_.begin(trains_.now(), t);
  write(group);
  group.record = state_.words();
  spend(group, state_.written());
  ++trains_.counters_.looks;
  group.recorded = true;
  group.compare_from = 0;
  group.failed = 0;
  group.time_of_record = t;
  for (JointTrain::Member& member : group.members) member.begun = member.train->begun;
  for (JointTrain::Place& place : group.places) {
    place.queued.clear();
    for (const uint32_t output : place.outputs) place.queued.push_back(place.router->queued_ticks(output));
    for (JointTrain::Turn& turn : place.turns) turn.gone = place.router->gone(turn.input, turn.output);
  }
  group.bursts.clear();
  for (NetworkInterface* receiver : group.receivers) receiver->record_arrivals(&group.bursts);
}

// The interfaces first: they differ soonest.
void JointTrains::write(JointTrain& group) {
  state_.time(state_.now());
  for (const JointTrain::Member& member : group.members) {
    if (state_.differs()) return;
    if (member.stands) member.train->from->write_at_any_time(state_);
  }
  for (const JointTrain::Place& place : group.places) {
    if (state_.differs()) return;
    place.router->write_joint(place.inputs, place.outputs, state_);
    for (const JointTrain::Turn& turn : place.turns)
      place.router->write_turn(turn.input, turn.output, turn.shared, state_);
  }
  for (const NetworkInterface* receiver : group.receivers) receiver->write_receiver(state_, VcNames::own());
}

// How often at most a period repeats for what drifts in it. False: that is not the same in all places.
bool JointTrains::drifts(JointTrain& group, Ticks t, uint64_t& repeats) const {
  group.queues = state_.queues();
  group.credits = state_.credits();
  repeats = std::min(repeats, state_.most_repeats());
  const NetworkInterface& one = *group.members[0].train->from;
  const uint32_t flits = one.packet_flits_of_trains();
  for (const JointTrain::Member& member : group.members) {
    const StateRecord::Credits* credits = group.credits_of(member);
    const NetworkInterface* sender = member.sends == JointTrain::Sends::nothing ? nullptr : &one;
    for (const TrainHop& hop : member.path) {
      const JointTrain::Place& place = place_of(group, hop);
      if (!drifts(sender, flits, group.queues_of(place, hop), credits, group.vcs(), repeats)) return false;
      size_t output = 0;
      while (place.outputs[output] != hop.output) ++output;
      credits = group.credits_of(place, output);
      sender = &one;
    }
    if (!drifts(sender, flits, nullptr, credits, group.vcs(), repeats)) return false;
  }
  group.fills = state_.fills();
  if (!group.fills) return true;
  Ticks from = std::max(t, trains_.now());
  for (const JointTrain::Member& member : group.members)
    from = std::max(from, member.train->from->busy_until());
  for (const JointTrain::Place& place : group.places) from = std::max(from, place.router->decided());
  repeats = std::min(repeats, state_.periods_left(trains_.edges_.from(from)));
  return true;
}

// Of one link. Credits get fewer as the queue at its end (null: there is none) grows, and as more of them are
// on their way. Nobody looks at them where nothing is sent (`sender` is null).
bool JointTrains::drifts(const NetworkInterface* sender, uint32_t flits, const StateRecord::Queue* queues,
                         const StateRecord::Credits* credits, size_t vcs, uint64_t& repeats) {
  for (size_t v = 0; v < vcs; ++v) {
    const int64_t longer = queues == nullptr ? 0 : queues[v].longer();
    if (credits[v].fewer != longer * flits + credits[v].coming) return false;
    if (sender != nullptr && !PacketTrains::enough(*sender, credits[v], repeats)) return false;
  }
  return true;
}

// So many packets of the message leave a hop in a period beyond those that come there; negative: so many
// stay.
int64_t JointTrains::more_than_come(const JointTrain::Place& place, const TrainHop& hop, uint32_t message,
                                    const StateRecord::Queue* queues) {
  const auto input = std::find_if(place.inputs.begin(), place.inputs.end(),
                                  [&](const JointInput& one) { return one.input == hop.input; });
  int64_t more = 0;
  for (uint32_t v = 0; v < hop.router->vcs(); ++v) {
    const StateRecord::Queue& queue = queues[v];
    if (!input->in_turn) {
      more -= queue.grown;
      continue;
    }
    const WaitingPackets::Line line = hop.router->line(hop.input, v);
    if (queue.passes_on && line.first.message == message) more += queue.out;
    if (line.owners != 0 && line.last.message == message) more -= queue.grown;
  }
  return more;
}

// What passes each turn in a period: what has begun, but for the packets by which queues on its way grow.
bool JointTrains::count_packets(JointTrain& group) {
  for (JointTrain::Place& place : group.places) {
    for (JointTrain::Turn& turn : place.turns) turn.packets = 0;
  }
  for (JointTrain::Member& member : group.members) {
    auto through = static_cast<int64_t>(member.packets);
    member.hops = 0;
    for (const TrainHop& hop : member.path) {
      JointTrain::Place& place = place_of(group, hop);
      through += more_than_come(place, hop, member.message, group.queues_of(place, hop));
      if (through < 0) return false;
      turn_of(place, hop).packets += static_cast<uint64_t>(through);
      member.hops += static_cast<uint64_t>(through);
    }
    member.delivered = static_cast<uint64_t>(through);
  }
  return true;
}

// False: too little would be carried.
bool JointTrains::set_aside(JointTrain& group, uint64_t left, Ticks t) {
  const Ticks period = t - group.time_of_record;
  uint64_t repeats = (std::max(t, ticks(kLongestTickTime)) - t) / period;
  if (!drifts(group, t, repeats)) return false;
  uint64_t packets = 0;
  for (JointTrain::Member& member : group.members) {
    const PacketTrain& train = *member.train;
    const bool leads = &member == &group.members[0];
    member.packets = member.is_sent() ? 0 : train.begun - member.begun;
    if (member.packets == 0) continue;
    packets += member.packets;
    const uint64_t full = leads ? left : PacketTrains::left(train.from->progress(train.virtual_network));
    repeats = std::min(repeats, PacketTrains::alike(*train.from, full) / member.packets);
  }
  if (packets * repeats < costs::kShortest * group.members.size()) return false;
  if (!count_packets(group)) return false;

  group.since = trains_.now();
  group.first = t;
  group.period = period;
  group.repeats = repeats;
  group.carried = true;
  group.grows = std::any_of(group.members.begin(), group.members.end(),
                            [](const JointTrain::Member& one) { return one.delivered < one.packets; });
  for (JointTrain::Place& place : group.places) {
    for (JointTrain::Turn& turn : place.turns)
      turn.moves = place.router->gone(turn.input, turn.output) != turn.gone;
    for (size_t k = 0; k < place.outputs.size(); ++k)
      place.queued[k] = place.router->queued_ticks(place.outputs[k]) - place.queued[k];
    place.router->end_steps(leading_interface(group));
    place.undecided = place.router->undecided(group.since);
    for (const JointInput& one : place.inputs) place.router->set_aside(one.input);
  }
  for (NetworkInterface* receiver : group.receivers) receiver->record_arrivals(nullptr);
  const Ticks until = group.since + repeats * period;
  for (JointTrain::Member& member : group.members) {
    PacketTrain& train = *member.train;
    member.bursts.clear();
    for (const TrainArrivals::Burst& burst : group.bursts) {
      if (burst.message == member.message) member.bursts.push_back(burst);
    }
    if (!member.stands) continue;
    if (!member.is_sent()) train.from->step(false);
    if (&member == &group.members[0]) {
      train.from->set_aside(until);
    } else {
      train.from->set_aside_with_others(until);
    }
    trains_.spend(train, costs::kSetAside);
  }
  ++trains_.counters_.trains;
  ++trains_.counters_.joint;
  trains_.counters_.joint_sent += std::any_of(group.members.begin(), group.members.end(),
                                              [](const JointTrain::Member& one) { return one.is_sent(); });
  trains_.counters_.growing += group.grows && !group.fills;
  trains_.counters_.filling += group.fills;
  return true;
}

// -- a group that has been set aside

bool JointTrains::disturb(PacketTrain& member) {
  JointTrain& group = *member.group;
  if (group.carried) return true;
  PacketTrain& leader = *group.members[0].train;
  dissolve(group);
  trains_.back_off(leader, TrainReason::company);
  return false;
}

void JointTrains::resume(PacketTrain& member) {
  if (member.group->carried) resume(*member.group);
}

void JointTrains::resume(JointTrain& group) {
  const Ticks present = trains_.now();
  // Whole periods, but nothing that a router had decided ahead may be moved beyond now.
  Ticks undecided = group.since;
  for (const JointTrain::Place& place : group.places) undecided = std::max(undecided, place.undecided);
  const uint64_t passed =
      present < undecided ? 0 : std::min(group.repeats, (present - undecided) / group.period);
  const bool split = present < group.since + group.repeats * group.period;
  trains_.counters_.splits += split;
  trains_.counters_.joint_splits += split;
  trains_.counters_.growing_splits += split && group.grows && !group.fills;
  trains_.counters_.filling_splits += split && group.fills;
  if (passed > 0) add_periods(group, passed);

  for (const JointTrain::Member& member : group.members) member.train->phase = PacketTrain::Phase::resuming;
  replay(group, passed * group.period, present);

  std::vector<PacketTrain*> members;
  bool paid = false;
  for (const JointTrain::Member& member : group.members) {
    members.push_back(member.train);
    paid = paid || passed * member.packets * member.path.size() * costs::kEarnedByTrain > costs::kSetAside;
  }
  dissolve(group);
  for (PacketTrain* train : members) {
    if (!split || paid) train->retry = costs::kRetry;
    // What is left of it may recur at once.
    train->next_try = split ? train->begun + train->retry : 0;
  }
  if (split && !paid) trains_.back_off(*members[0], TrainReason::company);
}

void JointTrains::add_periods(JointTrain& group, uint64_t passed) {
  for (const JointTrain::Member& member : group.members) {
    PacketTrain& train = *member.train;
    const uint64_t packets = passed * member.packets;
    const uint64_t hops = passed * member.hops;
    if (!member.is_sent()) {
      train.from->shift_sender(group.period, passed, train.virtual_network, packets,
                               group.credits_of(member));
    } else if (member.stands) {
      train.from->shift_credits(group.period, passed, group.credits_of(member));
    }
    trains_.counters_.packets += packets;
    trains_.counters_.hops += hops;
    trains_.starts_.saved(hops);
    trains_.earn(train, costs::kEarnedByTrain * hops + costs::kEarnedByBeginning * packets);
    if (!member.bursts.empty())
      trains_.arrive(member.message, *member.to, member.bursts, group.period, passed * member.delivered,
                     passed);
  }
  const NetworkInterface& one = *group.members[0].train->from;
  const JointPeriods periods{group.period, passed};
  for (JointTrain::Place& place : group.places) {
    for (size_t k = 0; k < place.inputs.size(); ++k)
      place.router->shift_input(place.inputs[k], periods, group.queues_of(place, k));
    for (size_t k = 0; k < place.outputs.size(); ++k) {
      uint64_t packets = 0;
      for (const JointTrain::Turn& turn : place.turns) {
        if (turn.output == place.outputs[k]) packets += passed * turn.packets;
      }
      place.router->shift_output(place.outputs[k], periods,
                                 {packets, packets * one.packet_flits_of_trains(),
                                  packets * one.packet_bytes_of_trains(), passed * place.queued[k]},
                                 group.credits_of(place, k));
    }
    for (const JointTrain::Turn& turn : place.turns) {
      if (turn.shared && turn.moves) place.router->shift_turn(turn.input, turn.output, passed * group.period);
    }
  }
}

// What has begun of the next period, in the order of time, on these ports only.
void JointTrains::replay(JointTrain& group, Ticks shift, Ticks present) {
  std::vector<std::vector<uint32_t>> inputs;
  for (const JointTrain::Place& place : group.places) {
    inputs.emplace_back();
    for (const JointInput& one : place.inputs) inputs.back().push_back(one.input);
    place.router->begin_replay(inputs.back().data(), inputs.back().size(), place.undecided + shift);
  }
  for (const JointTrain::Member& member : group.members) {
    NetworkInterface& from = *member.train->from;
    if (!member.stands) continue;
    if (&member == &group.members[0]) {
      from.begin_replay(group.first + shift);
    } else {
      from.begin_replay_with_others(shift);
    }
  }
  std::vector<NetworkInterface*> interfaces;
  std::vector<Router*> routers;
  for (const JointTrain::Member& member : group.members) {
    if (member.stands) interfaces.push_back(member.train->from);
  }
  for (const JointTrain::Place& place : group.places) routers.push_back(place.router);
  PacketTrains::replay(interfaces, routers, present);
  for (size_t k = 0; k < group.places.size(); ++k)
    group.places[k].router->end_replay(inputs[k].data(), inputs[k].size());
  for (NetworkInterface* from : interfaces) from->end_replay(present);
}

void JointTrains::restart() {
  while (!groups_.empty()) dissolve(*groups_.back());
}

uint64_t JointTrains::flits_under_way() const {
  uint64_t flits = 0;
  for (const auto& group : groups_) {
    if (!group->carried) continue;
    const uint64_t passed = std::min(group->repeats, (kernel_time() - group->since) / group->period);
    for (const JointTrain::Member& member : group->members)
      flits += passed * member.delivered * member.train->from->packet_flits_of_trains();
  }
  return flits;
}

}  // namespace weft::packet
