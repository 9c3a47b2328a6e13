// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/packet_hops.h"

#include <algorithm>
#include <utility>

namespace weft {

void PacketHops::passed(fabric::PacketRef packet, const PacketHop& hop) {
  if (packet >= hops_.size()) hops_.resize(std::max<size_t>(packet + size_t{1}, 2 * hops_.size()));
  hops_[packet].push_back(hop);
}

void PacketHops::arrived(fabric::PacketRef packet, uint32_t message, Ticks at) {
  if (packet >= hops_.size()) hops_.resize(packet + size_t{1});
  complete_ = message;
  if (message != 0) {
    Latest& latest = open_[message];
    if (at >= latest.at) {
      latest.at = at;
      std::swap(latest.hops, hops_[packet]);
    }
  }
  hops_[packet].clear();
}

std::vector<PacketHop> PacketHops::take() {
  const auto latest = open_.find(complete_);
  if (latest == open_.end()) return {};
  std::vector<PacketHop> hops = std::move(latest->second.hops);
  open_.erase(latest);
  return hops;
}

namespace {

/// Takes at most `most` from `from`, and says how much it was.
Picoseconds take_from(Picoseconds& from, Picoseconds most) {
  const Picoseconds part = std::min(from, most);
  from -= part;
  return part;
}

Picoseconds since(Picoseconds from, Picoseconds to) {
  return to > from ? to - from : 0;
}

/// How long the tail waited for each of the links. What it waits behind the last one is with that.
std::vector<Picoseconds> waits_of(const NetworkPassage& passage, Picoseconds routers,
                                  const std::vector<PacketHop>& hops) {
  std::vector<Picoseconds> waits;
  const Picoseconds stages = routers / (hops.size() + 1);
  Picoseconds before = passage.submitted;
  Picoseconds way = stages;
  for (const PacketHop& hop : hops) {
    waits.push_back(since(before + way, hop.tail_gone));
    before = hop.tail_gone;
    way = hop.latency + stages;
  }
  waits.back() += since(before + way, passage.at);
  return waits;
}

}  // namespace

std::vector<HopShare> share_passage(const NetworkPassage& passage, uint32_t network,
                                    const std::vector<PacketHop>& hops) {
  Picoseconds left = since(passage.submitted, passage.at);
  Picoseconds links = 0;
  for (const PacketHop& hop : hops) links += hop.latency;
  // A way that is not the shortest has more latency than the message alone.
  Picoseconds latency = take_from(left, std::max(passage.latency, links));
  Picoseconds serialise = take_from(left, passage.serialise);
  std::vector<HopShare> shares(1);
  shares[0].link = network;
  if (hops.empty()) {
    shares[0] = {network, left, serialise, latency};
    return shares;
  }
  size_t slowest = 0;
  for (size_t k = 0; k < hops.size(); ++k) {
    shares.push_back({hops[k].link, 0, 0, take_from(latency, hops[k].latency)});
    if (hops[k].flit_time > hops[slowest].flit_time) slowest = k;
  }
  shares[0].latency = latency;
  shares[slowest + 1].serialise = serialise;

  std::vector<Picoseconds> waits = waits_of(passage, latency, hops);
  for (size_t k = slowest + 1; k-- > 0;) serialise -= take_from(waits[k], serialise);
  for (size_t k = slowest + 1; k < waits.size(); ++k) serialise -= take_from(waits[k], serialise);
  for (size_t k = 0; k < waits.size(); ++k) shares[k + 1].queueing = take_from(left, waits[k]);
  // Rounding, and stages that differ from router to router.
  shares[slowest + 1].queueing += left;
  return shares;
}

}  // namespace weft
