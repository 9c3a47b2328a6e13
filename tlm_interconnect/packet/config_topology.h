// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The machine of a configuration as a packet network: dimensions, trees of switches and explicit graphs.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_CONFIG_TOPOLOGY_H
#define WEFT_TLM_INTERCONNECT_PACKET_CONFIG_TOPOLOGY_H

#include "configs/config.h"
#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/topology.h"

namespace weft::packet {

/// Every physical dimension or link of `config`; `ni_link` joins an NPU that is a router of its own to it.
/// NPUs of graphs and trees that have one link and forward nothing are network interfaces at their switch;
/// others are routers. A link ganged of several is one of their summed rate. Flits are those of
/// `packet`; the clock is its cycle, or the fastest link's flit time. Throws UserError where a flit takes too
/// long.
PacketTopology make_topology(const Config& config, const PacketFabricConfig& packet,
                             const LinkTiming& ni_link);

/// What a dimension says of its links besides their rate and latency.
void set_link_options(const DimensionConfig& from, const PacketFabricConfig& packet, LinkTiming& to);

/// ECN and DCQCN as `packet.ecn` and `packet.dcqcn` say.
void set_congestion_control(const PacketFabricConfig& from, PacketConfig& to);

}  // namespace weft::packet

#endif
