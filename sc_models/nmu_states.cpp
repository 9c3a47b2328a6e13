// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Rarer parts of an NMU: collectives that one NMU runs for all, reductions in memory, counters, waveforms.

#include <algorithm>
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

void Nmu::reduce_in_memory(fabric::PacketRef ref) {
  const uint64_t bytes = pool_[ref].bytes;
  if (bytes == 0) {
    if (causes_ != nullptr) tell_delivery(ref, 0);
    deliver(ref, 0);
    return;
  }
  // Two reads and one write of the block; the message is done when all are. Memories may answer a write
  // before the reads.
  reducing_.push_back({ref, now(), 3});
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

void Nmu::probe_state(Picoseconds t) {
  const auto& position = engine_.position();
  const uint32_t state = engine_.idle() ? 0u : position.active_chunks != 0 ? 1u : 2u;
  probes_->state.set(t, state);
  probes_->outstanding.set(t, queue_.size());
  probes_->collective.set(t, position.stream);
  probes_->phase.set(t, position.phase);
  probes_->round.set(t, position.round);
}

}  // namespace weft
