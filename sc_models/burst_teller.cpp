// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/burst_teller.h"

#include <fmt/format.h>

#include "insight/activity_listener.h"

namespace weft {

BurstTeller::BurstTeller(insight::CausalLog& log, const LinkReport& link, uint32_t flit_bytes, PacketHop hop,
                         PacketHops* hops)
    : listener_(log.listener()), hop_(hop), hops_(hops), flit_bytes_(flit_bytes) {
  hop_.link =
      log.add_link({link.name, link.kind.empty() ? fmt::format("dimension {}", link.dimension) : link.kind});
}

void BurstTeller::sent(const packet::SentBurst& burst) {
  if (listener_ != nullptr) tell(burst);
  if (hops_ == nullptr || !burst.tail) return;
  PacketHop hop = hop_;
  hop.tail_gone = picoseconds(burst.first + burst.flits * burst.stride);
  hops_->passed(burst.packet, hop);
}

void BurstTeller::tell(const packet::SentBurst& burst) {
  // So that all bursts together are the time of the flits together.
  const Picoseconds before = picoseconds(flits_ * hop_.flit_time);
  flits_ += burst.flits;
  insight::ActivityListener::Crossing crossing;
  crossing.link = hop_.link;
  crossing.bytes = uint64_t{burst.flits} * flit_bytes_;
  crossing.ready = crossing.begin = picoseconds(burst.first);
  crossing.end = picoseconds(burst.first + (burst.flits - 1) * burst.stride + hop_.flit_time);
  crossing.busy = picoseconds(flits_ * hop_.flit_time) - before;
  listener_->crossed(crossing);
}

}  // namespace weft
