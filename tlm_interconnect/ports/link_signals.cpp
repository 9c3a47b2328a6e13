// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/ports/link_signals.h"

#include <algorithm>
#include <systemc>
#include <utility>

namespace weft::fabric {

const vcd::EnumTable& stall_names() {
  static const vcd::EnumTable names = {"none", "busy", "arbitration", "paused", "credits", "vc", "rate"};
  return names;
}

BusyBit::BusyBit(const vcd::Probe& probe) : probe_(probe) {
  probe_.set(0, false);
}

void BusyBit::use(Picoseconds start, Picoseconds end) {
  probe_.span(start, end, end_);
  end_ = end;
}

LinkSignals::LinkSignals(vcd::ProbeHub& probes, const std::string& name, LinkObserver* other)
    : LinkSignals(probes, name, other, nullptr, BusyBit(), Stalls::told) {
  queue_ = probes.number(name + ".queue", 32);
  queue_.set(0, 0);
}

LinkSignals::LinkSignals(vcd::ProbeHub& probes, const std::string& name, const PacketPool* messages,
                         const BusyBit& busy, Stalls stalls)
    : LinkSignals(probes, name, nullptr, messages, busy, stalls) {}

LinkSignals::LinkSignals(vcd::ProbeHub& probes, const std::string& name, LinkObserver* other,
                         const PacketPool* messages, const BusyBit& busy, Stalls stalls)
    : busy_(probes.bit_like(name + ".busy", busy.probe())),
      bytes_(probes.number(name + ".bytes", 64)),
      flow_(probes.number(name + ".flow", 32)),
      rate_(messages == nullptr ? vcd::ProbeHub::Gated{probes.real(name + ".rate"), vcd::Probe()}
                                : probes.gated_real(name + ".rate", busy.probe(), busy_.probe())),
      stall_(stalls == Stalls::told ? probes.enumeration(name + ".stall", stall_names()) : vcd::Probe()),
      other_(other),
      messages_(messages) {
  bytes_.set(0, uint64_t{0});
  rate_.always.set(0, 0.0);
  rate_.while_set.set(0, 0.0);
  stall_.set(0, Stall::none);
}

/// The one behind it may be told of before its turn comes: the later of two words about one time holds.
void LinkSignals::wait(Picoseconds ready, Picoseconds start) {
  ready = std::max<Picoseconds>(ready, sc_core::sc_time_stamp().value());
  if (start <= ready) return;
  queue_.add({ready}, 1);
  queue_.add({start}, -1);
  if (ready <= stall_end_) stall_.set(stall_end_, Stall::busy);
  stall_.set(ready, Stall::busy);
  stall_.set(start, Stall::none);
  stall_end_ = start;
}

void LinkSignals::occupied(const Use& message) {
  wait(message.ready, message.start);
  busy_.use(message.start, message.end);
  const Picoseconds from = std::max(message.start, end_);
  total_ += message.bytes;
  unrated_ += message.bytes;
  if (message.end > from) {
    rate_.always.set(from, static_cast<double>(std::exchange(unrated_, 0)) /
                               (static_cast<double>(message.end - from) * 1e-12));
    rate_.always.set(message.end, 0.0);
  }
  flow_.set(message.start, static_cast<uint32_t>(message.id_low));
  bytes_.set(message.end, total_);
  end_ = message.end;
  if (other_ != nullptr) other_->occupied(message);
}

void LinkSignals::carried(const Burst& burst) {
  busy_.use(burst.start, burst.end);
  if (burst.end > burst.start) {
    rate_.always.set(burst.start, burst.rate);
    rate_.always.set(burst.end, 0.0);
  }
  if (std::exchange(last_rate_, burst.rate) != burst.rate) rate_.while_set.set(burst.start, burst.rate);
  if (burst.begins && flow_) {
    const uint64_t id =
        messages_ == nullptr ? burst.id : (*messages_)[static_cast<PacketRef>(burst.id)].id_low;
    // Most packets are of the message of the one before.
    if (std::exchange(last_flow_, id) != id) flow_.set(burst.start, static_cast<uint32_t>(id));
  }
  total_ += burst.bytes;
  if (burst.ends) bytes_.set(burst.end, total_);
  end_ = burst.end;
}

}  // namespace weft::fabric
