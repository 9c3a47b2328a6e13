// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding/peer_ways.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "configs/blueprint/carrier.h"

namespace weft::graph {

uint32_t PeerWays::first_dimension(uint32_t from, uint32_t to) const {
  uint32_t d = 0;
  while (geometry_.coordinate(from, d) == geometry_.coordinate(to, d)) ++d;
  return d;
}

uint32_t PeerWays::last_dimension(uint32_t from, uint32_t to) const {
  uint32_t d = geometry_.dimensions() - 1;
  while (geometry_.coordinate(from, d) == geometry_.coordinate(to, d)) --d;
  return d;
}

void PeerWays::describe(uint32_t rank, uint32_t peer, Digest& digest) const {
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
    const uint32_t here = geometry_.coordinate(rank, d);
    const uint32_t there = geometry_.coordinate(peer, d);
    digest.add(here == there ? 0 : geometry_.hops(d, here, there));
    const Shape shape = geometry_.shape(d);
    if (here == there || !shape.joins_neighbours()) continue;
    digest.add(shape.link_to(here, there) << 1 | shape.link_to(there, here));
  }
}

bool PeerWays::passes_ranks(uint32_t from, uint32_t to) const {
  uint32_t crossed = 0;
  bool stepwise = false;
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
    const uint32_t here = geometry_.coordinate(from, d);
    const uint32_t there = geometry_.coordinate(to, d);
    if (here == there) continue;
    ++crossed;
    const Carrier carrier = carrier_of(config_.fabric_dimensions()[d]);
    if (carrier == Carrier::neighbours && geometry_.hops(d, here, there) > 1) return true;
    stepwise = stepwise || carrier != Carrier::direct;
  }
  return stepwise && crossed > 1;
}

uint64_t PeerWays::last_link(uint32_t rank, uint32_t peer) const {
  const uint32_t d = last_dimension(peer, rank);
  const uint32_t there = geometry_.coordinate(peer, d);
  const Shape shape = geometry_.shape(d);
  uint64_t link = 0;
  if (shape.joins_neighbours()) link = shape.link_to(there, geometry_.coordinate(rank, d));
  if (shape.joins_pairs()) link = there;
  return uint64_t{d} << 32 | link;
}

void PeerWays::compare(uint32_t rank, GroupShapes& shapes, Digest& digest, RankUse& use) const {
  std::vector<std::tuple<uint64_t, uint32_t, uint32_t>> arrivals;  // last link, peer, which one it is
  for (uint32_t i = 0; i < use.peers.size(); ++i) {
    const Peer& peer = use.peers[i];
    for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
      if ((use.uneven >> d & 1) != 0 && coordinate(rank, d) != coordinate(peer.rank, d))
        use.refuse("point-to-point messages and halving_doubling share a Ring");
    }
    if (peer.receives) arrivals.emplace_back(last_link(rank, peer.rank), peer.rank, i);
  }
  // Messages of one instant are taken in the order of their senders.
  std::sort(arrivals.begin(), arrivals.end());
  std::vector<std::vector<uint32_t>> orders;  // of the peers that share a link
  for (size_t i = 0; i < arrivals.size(); ++i) {
    if (i == 0 || std::get<0>(arrivals[i]) != std::get<0>(arrivals[i - 1])) orders.emplace_back();
    orders.back().push_back(std::get<2>(arrivals[i]));
  }
  std::sort(orders.begin(), orders.end());
  for (const auto& order : orders) {
    digest.add(order.size());
    for (const uint32_t peer : order) digest.add(peer);
  }
  for (const Peer& peer : use.peers) {
    for (size_t g = 0; peer.receives && g < use.groups.size(); ++g)
      compare_with_group(rank, peer, g, shapes.of(use.groups[g]), digest, use);
  }
}

/// Messages of the peer and of the group's collectives that come by one link.
void PeerWays::compare_with_group(uint32_t rank, const Peer& peer, size_t place, const GroupShape& shape,
                                  Digest& digest, RankUse& use) const {
  const uint32_t d = last_dimension(peer.rank, rank);
  const std::vector<uint32_t>& all = shape.coordinates[d];
  const uint32_t size = geometry_.size(d);
  const auto count = all.empty() ? size : static_cast<uint32_t>(all.size());
  if (!shape.regular || count <= 1) return;
  uint32_t lowest = all.empty() ? 0 : all.front();
  uint32_t highest = all.empty() ? size - 1 : all.back();
  if (geometry_.shape(d).joins_pairs()) {
    // One coordinate's messages come by a link of their own.
    const uint32_t there = geometry_.coordinate(peer.rank, d);
    if (!all.empty() && !std::binary_search(all.begin(), all.end(), there)) return;
    if (count > 2)
      return use.refuse(
          "point-to-point messages and collectives of more than two ranks share links of a FullyConnected "
          "dimension");
    lowest = highest = there;
  }
  const uint32_t first = geometry_.with_coordinate(rank, d, lowest);
  const uint32_t last = geometry_.with_coordinate(rank, d, highest);
  if (first == peer.rank && last == peer.rank) return;  // one sender
  if (first <= peer.rank && peer.rank <= last) {
    if (!geometry_.shape(d).has_switches()) return use.refuse(kNoOrderOfMessages);
    use.group_uses[place] |= RankUse::kAround;
    return digest.add(3);
  }
  digest.add(peer.rank < first ? 1 : 2);
}

}  // namespace weft::graph
