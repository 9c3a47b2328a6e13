// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a network interface tells waveforms.

#include <utility>

#include "tlm_interconnect/packet/network_interface.h"

namespace weft::packet {

using fabric::Stall;

bool NetworkInterface::record(vcd::ProbeHub& probes) {
  auto own = probes_ ? std::move(probes_) : std::make_unique<InterfaceProbes>();
  const std::string prefix = sc_module::name();
  for (uint32_t v = 0; v < vcs_; ++v) {
    own->credits.push_back(probes.number(prefix + ".vc" + std::to_string(v) + "_credits", 32));
    own->credits.back().set(0, out_[v].depth());
  }
  own->queue = probes.number(prefix + ".queue", 32);
  own->queue.set(0, 0);
  if (!own->any()) return false;
  probes_ = std::move(own);
  return true;
}

bool NetworkInterface::record_link(vcd::ProbeHub& probes, const std::string& link,
                                   const fabric::PacketPool* messages) {
  auto own = probes_ ? std::move(probes_) : std::make_unique<InterfaceProbes>();
  auto signals = std::make_unique<fabric::LinkSignals>(probes, link, messages);
  if (signals->wanted()) own->link = std::move(signals);
  if (!own->any()) return false;
  probes_ = std::move(own);
  return true;
}

/// What of this virtual network could begin at `t` waits for; none: nothing could.
Stall NetworkInterface::why_held(uint32_t network, Ticks t) {
  Ticks ready = 0;
  uint32_t flits = 0;
  if (!next_ready(network, ready, flits) || ready > t) return Stall::none;
  if (paused_by_ != 0 && pausing_[network].at(t)) return Stall::paused;
  Stall why = Stall::credits;
  for (uint32_t v = network * config_.vcs; v < (network + 1) * config_.vcs; ++v) {
    if (out_[v].at(t) < static_cast<int32_t>(config_.strict_cut_through ? flits : 1)) continue;
    if (((draining_ >> v) & 1) == 0) return reaction_ ? Stall::rate : Stall::none;
    why = Stall::vc;
  }
  return why;
}

/// At the end of a cycle.
void NetworkInterface::tell_cycle(Ticks t) {
  if (!probes_->link) return;
  Stall why = Stall::none;
  if (busy_ > t) {
    if (probes_->waiting != 0) why = Stall::busy;
  } else if (packet_ != fabric::kNoPacket) {
    why = Stall::credits;
  } else {
    for (uint32_t network = 0; network < queues_.size() && why == Stall::none; ++network)
      why = why_held(network, t);
  }
  probes_->link->stalled(picoseconds(t), why);
}

}  // namespace weft::packet
