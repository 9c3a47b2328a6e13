// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What packet trains (packet_trains.h) ask of an interface, and what they bring.

#include "tlm_interconnect/packet/network_interface.h"

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

void NetworkInterface::write_choices(StateRecord& state) const {
  state.deadline(busy_);
  // One word, where the mask has no more than 32 bits.
  if (vcs_ <= 32) {
    state.number(draining_ << 32 | vc_);
  } else {
    state.number(draining_);
    state.number(vc_);
  }
  state.number(last_network_);
  for (const uint32_t v : last_vc_) state.number(v);
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
  write_choices(state);
  for (CreditAccount& account : out_) account.write_all(state);
  if (paused_by_ != 0) state.number((overruns_ << 32) | overrun_);
  for (PauseAccount& account : pausing_) account.write(state);
}

void NetworkInterface::write_sender(StateRecord& state) {
  state.time(state.now());
  write_choices(state);
  for (CreditAccount& account : out_) account.write(state);
  if (paused_by_ != 0) state.number(overruns_);
  for (PauseAccount& account : pausing_) account.write(state);
}

void NetworkInterface::write_receiver(StateRecord& state) const {
  for (const InputVc& in : in_) {
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

void NetworkInterface::set_aside_with_others(Ticks until) {
  put_off_ = next_;
  set_aside(until);
  notified_ = until;
  run_at(until);
}

void NetworkInterface::shift_with_others(Ticks by, uint32_t virtual_network, uint64_t packets) {
  for (CreditAccount& account : out_) account.shift(by);
  add_sent(virtual_network, packets, by);
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
  const Ticks by = periods * period;
  for (CreditAccount& account : out_) account.shift(*drift++, period, periods);
  add_sent(virtual_network, packets, by);
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
  packet.id_low = message.id_low;
  packet.submitted = ticks(message.submitted);
  packet.source = message.source;
  packet.destination = message.destination;
  packet.data = message.data;
  packet.flags = message.flags;
  packet.virtual_network = message.virtual_network;
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

void NetworkInterface::end_replay() {
  notified_ = notified_before_;
  if (next_ != kNever) wake_and_notify(next_);
}

}  // namespace weft::packet
