// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Rarer parts of an NMU: collectives that one NMU runs for all, reductions in memory, counters, waveforms.

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sc_models/nmu_parts.h"

namespace weft {

void Nmu::start_mirrored(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan) {
  mirrored_.push_back(stream);
  mirroring_ = true;
  start_part(stream, std::move(plan), 0, 0, true);
}

void Nmu::end_mirrored(uint32_t stream) {
  mirrored_.erase(std::remove(mirrored_.begin(), mirrored_.end(), stream), mirrored_.end());
  mirroring_ = !mirrored_.empty();
}

bool Nmu::quiet(uint32_t dimensions) const {
  if (!engine_.idle() || (limited_injection_ && !injection_->empty())) return false;
  const Picoseconds t = now();
  for (const Port& port : ports_) {
    if (port.nmu == nullptr || (dimensions >> port.dimension & 1) == 0) continue;
    for (uint32_t i = 0; i < port.links(); ++i) {
      if (port.link(i).free_at() > t) return false;
    }
    for (uint32_t i = 0; i < port.lasts(); ++i) {
      if (!port.last(i).quiet(t)) return false;
    }
  }
  return dma_type_.rate().bytes_per_second == 0 || dma_.free_at() <= t;
}

void Nmu::adopt(const Nmu& like, const std::function<NpuId(NpuId)>& image) {
  if (!rests() || !like.rests()) throw std::logic_error("Nmu::adopt while something is under way");
  for (size_t p = 0; p < ports_.size(); ++p) {
    if (ports_[p].nmu == nullptr) continue;
    for (uint32_t i = 0; i < ports_[p].links(); ++i) ports_[p].link(i) = like.ports_[p].link(i);
  }
  submitted_ = like.submitted_;
  delivered_ = like.delivered_;
  bytes_submitted_ = like.bytes_submitted_;
  bytes_delivered_ = like.bytes_delivered_;
  engine_.adopt(like.engine_, image);
}

void Nmu::reduce_in_memory(fabric::PacketRef ref) {
  const uint64_t bytes = pool_[ref].bytes;
  if (bytes == 0) {
    if (causes_ != nullptr) tell_delivery(ref, 0);
    if (probes_ != nullptr) tell_received(now());
    deliver(ref, 0);
    return;
  }
  // Two reads and one write of the block; the message is done when all are. Memories may answer a write
  // before the reads.
  reducing_.push_back({ref, now(), 3});
  insight::AccessPart part;
  if (causes_ != nullptr) part = tell_reduction(ref);
  const insight::OnBehalf behalf(causes_, &part);
  memory_->start(ref, false, bytes);
  memory_->start(ref, false, bytes);
  memory_->start(ref, true, bytes);
}

void Nmu::reduced_in_memory(fabric::PacketRef ref) {
  for (size_t i = 0; i < reducing_.size(); ++i) {
    if (reducing_[i].packet != ref) continue;
    if (--reducing_[i].accesses != 0) return;
    const Picoseconds began = reducing_[i].began;
    reducing_[i] = reducing_.back();
    reducing_.pop_back();
    if (causes_ != nullptr) tell_delivery(ref, now() - began);
    if (probes_ != nullptr) tell_received(now());
    deliver(ref, now() - began);
    return;
  }
}

void Nmu::count(Counters& counters) const {
  counters.messages_submitted += submitted_;
  counters.messages_delivered += delivered_;
  counters.bytes_submitted += bytes_submitted_;
  counters.bytes_delivered += bytes_delivered_;
  counters.activations += activations_;
  counters.in_flight += in_flight();
  counters.out_of_order_starts += engine_.out_of_order_starts();
  for (const Port& port : ports_) {
    for (uint32_t i = 0; port.nmu != nullptr && i < port.links(); ++i) {
      ++counters.links;
      counters.link_bytes += port.link(i).bytes();
      counters.link_messages += port.link(i).messages();
    }
  }
}

/// One of the NMU's links: its own messages no longer wait for it.
class Nmu::Departures final : public fabric::LinkObserver {
 public:
  explicit Departures(const Nmu& nmu) : nmu_(nmu) {}
  void occupied(const Use& use) override {
    if (use.packet != fabric::kNoPacket && nmu_.pool_[use.packet].source == index(nmu_.rank_))
      nmu_.probes_->inject_queue.add({use.start}, -1);
  }

 private:
  const Nmu& nmu_;
};

void Nmu::declare_signals(vcd::ProbeHub& probes) {
  const std::string prefix = name();
  watched_ = true;
  arrives_aside_ = true;
  probes_ = std::make_unique<Probes>();
  probes_->state = probes.enumeration(prefix + ".state", {"idle", "collective", "waiting"});
  probes_->outstanding = probes.number(prefix + ".outstanding", 16);
  probes_->collective = probes.number(prefix + ".collective", 32);
  probes_->phase = probes.number(prefix + ".phase", 8);
  probes_->round = probes.number(prefix + ".round", 32);
  probes_->inject_queue = probes.number(prefix + ".inject_queue", 32);
  probes_->receive_queue = probes.number(prefix + ".receive_queue", 32);
  probes_->inject_queue.set(0, 0);
  probes_->receive_queue.set(0, 0);
  if (!probes_->inject_queue) return;
  for (Port& port : ports_) {
    for (uint32_t i = 0; port.nmu != nullptr && i < port.links(); ++i) {
      probes_->departures.push_back(std::make_unique<Departures>(*this));
      port.link(i).observe(probes_->departures.back().get());
    }
  }
}

/// Rarer things that happen to a message for this NMU. True: the datapath has it.
bool Nmu::arrive_aside(const fabric::Transfer& transfer, const Port& port) {
  const Picoseconds tail = transfer.first + transfer.flit_time;
  if (probes_ != nullptr) probes_->receive_queue.add({transfer.first}, 1);
  if (!has_datapath_) return false;
  datapath_->inbound(transfer.packet, port.number, transfer.first, tail);
  return true;
}

void Nmu::tell_received(Picoseconds t) {
  probes_->receive_queue.add({t}, -1);
}

void Nmu::probe_state(Picoseconds t) {
  constexpr size_t kMost = 0xffff;
  const auto& position = engine_.position();
  const uint32_t state = engine_.idle() ? 0u : position.active_chunks != 0 ? 1u : 2u;
  probes_->state.set(t, state);
  probes_->outstanding.set(t, std::min(queue_.size(), kMost));
  probes_->collective.set(t, position.stream);
  probes_->phase.set(t, position.phase);
  probes_->round.set(t, position.round);
}

}  // namespace weft
