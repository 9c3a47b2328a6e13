// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What packet trains (packet_trains.h) ask of an interface, and what they bring.

#include "tlm_interconnect/packet/network_interface.h"

#include <utility>

namespace weft::packet {

void PacketSink::train_arrives(const TrainArrivals& train) {
  for (uint64_t k = 0; k < train.repeats; ++k) {
    for (const TrainArrivals::Burst& b : train.bursts) {
      const Ticks first = b.first + k * train.period;
      flits_arrive(b.flits, first, b.flit_time);
      if (b.tail) {
        packet_arrives(train.packet, train.packet_flits,
                       first + static_cast<Ticks>(b.flits - 1) * b.flit_time);
      }
    }
  }
}

NetworkInterface::Progress NetworkInterface::progress(uint32_t virtual_network) const {
  const Queued& front = queues_[virtual_network].front();
  return {front.message, messages_[front.message].message.bytes, front.cut, segmentation_.packet_bytes};
}

bool NetworkInterface::sends_nothing_else(uint32_t virtual_network) const {
  if (source_ != nullptr || have_spec_) return false;
  for (uint32_t network = 0; network < queues_.size(); ++network) {
    if (network != virtual_network && !queues_[network].empty()) return false;
  }
  return true;
}

VcNames NetworkInterface::names(uint32_t virtual_network, bool turn) const {
  const uint32_t base = virtual_network * config_.vcs;
  return {base, config_.vcs, turn ? vc_ - base : 0};
}

void NetworkInterface::write_at_any_time(StateRecord& state) {
  state.number(packet_ != fabric::kNoPacket ? 1 : 0);
  if (packet_ != fabric::kNoPacket) {
    state.packet(packet_);
    state.number((uint64_t{packet_flits_} << 32) | sent_);
  }
  state.number(next_ == kNever ? 1 : 0);
  if (next_ != kNever) state.deadline(next_);
  state.number(watched_);
  state.deadline(busy_);
  state.number(draining_);
  state.number(uint64_t{vc_} << 32 | last_network_);
  for (const uint32_t v : last_vc_) state.number(v);
  for (CreditAccount& account : out_) account.write(state);
  if (paused_by_ != 0) state.number((overruns_ << 32) | overrun_);
  for (PauseAccount& account : pausing_) account.write(state);
}

void NetworkInterface::write_sender(StateRecord& state, const VcNames& names) {
  state.time(state.now());
  state.deadline(busy_);
  state.number(names.places(draining_));
  state.number(names.word(vc_) << 32 | last_network_);
  for (const uint32_t v : last_vc_) state.number(names.has(v) ? names.place(v) : v);
  for (uint32_t place = 0; place < vcs_; ++place) out_[names.vc(place)].write(state);
  if (paused_by_ != 0) state.number(overruns_);
  for (PauseAccount& account : pausing_) account.write(state);
}

bool NetworkInterface::quiet(Ticks t, const VcNames& names, std::vector<uint64_t>& words) const {
  if (busy_ > t || draining_ != 0 || packet_ != fabric::kNoPacket) return false;
  words.push_back(last_network_);
  for (const uint32_t v : last_vc_) words.push_back(names.has(v) ? names.place(v) : v);
  return true;
}

void NetworkInterface::write_receiver(StateRecord& state, const VcNames& names) const {
  for (uint32_t place = 0; place < vcs_; ++place) {
    const InputVc& in = in_[names.vc(place)];
    state.number(in.next);
    if (in.next != 0) state.packet(in.packet);
  }
}

void NetworkInterface::set_aside(Ticks until) {
  aside_ = true;
  interrupted_ = false;
  resume_ = until;
  next_ = until;
}

void NetworkInterface::stay_aside(Ticks until) {
  resume_ = until;
  if (next_ == until) return;
  next_ = notified_ = until;
  run_at(until);
}

void NetworkInterface::set_aside_with_others(Ticks until) {
  put_off_ = next_;
  set_aside(until);
  notified_ = until;
  run_at(until);
}

void NetworkInterface::add_sent(uint32_t virtual_network, uint64_t packets, Ticks by) {
  busy_ += by;
  Queued& front = queues_[virtual_network].front();
  front.cut += packets * segmentation_.packet_bytes;
  messages_[front.message].gone += by;
  packets_sent_ += packets;
  payload_sent_ += packets * segmentation_.packet_bytes;
  flits_sent_ += packets * packet_flits_of_trains();
}

void NetworkInterface::shift_sender(Ticks period, uint64_t periods, uint32_t virtual_network,
                                    uint64_t packets, const StateRecord::Credits* drift) {
  shift_credits(period, periods, drift);
  add_sent(virtual_network, packets, periods * period);
}

void NetworkInterface::shift_credits(Ticks period, uint64_t periods, const StateRecord::Credits* drift) {
  for (CreditAccount& account : out_) account.shift(*drift++, period, periods);
}

bool NetworkInterface::receives_nothing(uint32_t virtual_network) const {
  for (uint32_t v = virtual_network * config_.vcs; v < (virtual_network + 1) * config_.vcs; ++v) {
    if (in_[v].next != 0) return false;
  }
  return true;
}

void NetworkInterface::move_sender(const VcNames& names, StateTape& tape) {
  tape.time(busy_);
  for (VcMask* mask : {&draining_, &watched_}) {
    VcMask places = names.places(*mask & names.all());
    tape.number(places);
    *mask = (*mask & ~names.all()) | names.vcs(places);
  }
  for (uint32_t place = 0; place < vcs_; ++place) {
    if (names.has(place)) out_[names.vc(place)].move(tape);
  }
  const uint32_t virtual_network = names.first_vc() / config_.vcs;
  uint32_t place = names.place(last_vc_[virtual_network]);
  tape.number(place);
  last_vc_[virtual_network] = names.vc(place);
}

void NetworkInterface::goes_on(uint32_t virtual_network, const VcNames& names) {
  messages_[queues_[virtual_network].front().message].gone = busy_;
  last_vc_[virtual_network] = names.before(last_vc_[virtual_network]);
}

void NetworkInterface::move_receiver(const VcNames& names, StateTape& tape) {
  for (uint32_t place = 0; place < vcs_; ++place) {
    if (!names.has(place)) continue;
    InputVc& in = in_[names.vc(place)];
    tape.number(in.next);
    if (in.next != 0) tape.packet(in.packet);
  }
}

StateTape::Models NetworkInterface::models(uint32_t handle) const {
  const Message& message = messages_[handle].message;
  fabric::Packet packet;
  packet.bytes = segmentation_.packet_bytes;
  packet.id_high = handle;
  packet.interface = number_;
  describe(message, packet);
  StateTape::Models models{packet, packet};
  models.last.bytes = message.bytes == 0 ? 0 : (message.bytes - 1) % segmentation_.packet_bytes + 1;
  models.last.id_high = last_of(handle);
  return models;
}

void NetworkInterface::begun_by_train(Ticks t, uint32_t virtual_network, uint64_t packets) {
  begin_turn(t, queues_[virtual_network].front());
  last_network_ = virtual_network;
  add_sent(virtual_network, packets, 0);
}

bool NetworkInterface::sent_by_train(Ticks t, uint32_t virtual_network, Ticks busy) {
  told_ = true;
  begin_turn(t, queues_[virtual_network].front());
  const Ticks before = std::exchange(busy_, busy);
  tell_sent(messages_[queues_[virtual_network].front().message].message);
  busy_ = before;
  return !interrupted_;
}

void NetworkInterface::ended_by_train(Ticks t, uint32_t virtual_network) {
  const Queued front = queues_[virtual_network].front();
  const uint64_t bytes = messages_[front.message].message.bytes - front.cut;
  const uint64_t full = packets_left(virtual_network) - 1;
  begun_by_train(t, virtual_network, full);
  const uint64_t rest = bytes - full * segmentation_.packet_bytes;
  ++packets_sent_;
  payload_sent_ += rest;
  flits_sent_ += segmentation_.flits(rest);
  last_message_ = 0;
  queues_[virtual_network].pop_front();
  told_ = false;
}

void NetworkInterface::arrived_by_train(const Message& message, uint32_t packet_flits,
                                        const std::vector<TrainArrivals::Burst>& bursts, Ticks period,
                                        uint64_t repeats) {
  for (const TrainArrivals::Burst& b : bursts) {
    flits_received_ += repeats * b.flits;
    if (b.tail) packets_received_ += repeats;
  }
  if (sink_ == nullptr) return;
  fabric::Packet packet;
  packet.bytes = segmentation_.packet_bytes;
  describe(message, packet);
  // The recorded period is the one before the first that is reported.
  std::vector<TrainArrivals::Burst> first = bursts;
  for (TrainArrivals::Burst& b : first) b.first += period;
  sink_->train_arrives({packet, packet_flits, first, period, repeats});
}

void NetworkInterface::begin_replay(Ticks from) {
  aside_ = false;
  notified_before_ = notified_;
  notified_ = 0;
  next_ = from;
}

void NetworkInterface::begin_replay_with_others(Ticks shift) {
  begin_replay(put_off_ == kNever ? kNever : put_off_ + shift);
}

void NetworkInterface::replay_cycle() {
  const Ticks t = next_;
  next_ = kNever;
  cycle(t);
}

void NetworkInterface::end_replay(Ticks present) {
  notified_ = notified_before_;
  // While its message waits for credits another one, of another virtual network, need not.
  if (interrupted_) wake(on_cycle(present));
  interrupted_ = false;
  if (next_ != kNever) wake_and_notify(next_);
}

}  // namespace weft::packet
