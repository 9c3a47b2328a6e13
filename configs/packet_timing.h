// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Packet fidelity in numbers: which dimensions make one packet network, the clock of its routers, the time of
// a flit on a link, the flits of a message. Both the models and the bounds count with these.

#ifndef WEFT_CONFIGS_PACKET_TIMING_H
#define WEFT_CONFIGS_PACKET_TIMING_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/config.h"
#include "configs/ticks.h"

namespace weft {

/// The maximal runs of adjacent fabric dimensions at packet fidelity. Dimensions of one NPU belong to none
/// and separate nothing.
std::vector<std::vector<uint32_t>> packet_regions(const Config& config);

/// The keys of `packet` as they are for the links of a dimension, which may have some of its own.
PacketFabricConfig packet_of(const PacketFabricConfig& packet, const DimensionConfig& dimension);

/// .. for the messages of a network of these fabric dimensions (none: a graph), whose packets have one size.
/// Throws UserError(usage), with the keys and their values, if the dimensions' sizes differ.
PacketFabricConfig packet_of_network(const Config& config, const std::vector<uint32_t>& dimensions);

/// Payload in bytes of the smallest full packet that any network of the machine has; of `packet.packet_size`
/// where there is none.
uint64_t smallest_packet(const Config& config);

/// The longest time of a flit on a link that a packet network supports.
constexpr Ticks kLongestFlitTime = ticks(4'000'000'000);

/// Time a flit takes on a link of this rate (with phits and header efficiency), rounded up to whole ticks, at
/// least a picosecond.
Ticks flit_time(const PacketFabricConfig& packet, Rate rate);

/// The time in a network with this clock: at least a cycle. A time that differs from a multiple of the cycle
/// only because both were rounded to ticks becomes that multiple.
Ticks flit_time(const PacketFabricConfig& packet, Rate rate, Ticks cycle);
/// The multiple of the cycle that a time becomes by that rule.
Ticks on_multiple(Ticks flit_time, Ticks cycle);

/// The exact time, in picoseconds.
double exact_flit_time(const PacketFabricConfig& packet, Rate rate);

/// The exact time in words: for messages about a time that is too long for a network.
std::string print_flit_time(const PacketFabricConfig& packet, Rate rate);

/// Of every kind of link in these fabric dimensions, levels of trees one by one: the time of a flit.
std::vector<Ticks> flit_times(const Config& config, const std::vector<uint32_t>& dimensions);

/// Clock period of the routers whose links take these times for a flit.
Ticks router_cycle(const PacketFabricConfig& packet, const std::vector<Ticks>& flit_times);

/// Flits of one full packet.
uint64_t packet_flits(const PacketFabricConfig& packet);
/// Flits of a whole message over all its packets, headers included; at least one.
uint64_t message_flits(const PacketFabricConfig& packet, uint64_t bytes);

/// A head's time in a router, in cycles.
inline uint32_t router_cycles(const PacketFabricConfig& p) {
  return p.route_cycles + p.vc_alloc_cycles + p.switch_alloc_cycles + p.traversal_cycles;
}

}  // namespace weft

#endif
