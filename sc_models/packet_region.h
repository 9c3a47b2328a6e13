// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// From the configuration to packet networks: what a run of adjacent dimensions at packet fidelity becomes.
// Kernel-free, so that `weft validate` can look at it.

#ifndef WEFT_SC_MODELS_PACKET_REGION_H
#define WEFT_SC_MODELS_PACKET_REGION_H

#include <string>
#include <vector>

#include "configs/config.h"
#include "tlm_interconnect/packet/network_interface.h"
#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/topology.h"

namespace weft {

/// A maximal run of adjacent dimensions at packet fidelity, or a whole graph. There is one network like this
/// for every combination of the other coordinates.
struct PacketRegion {
  std::vector<uint32_t> dimensions;  ///< of the fabric, more than one NPU each; empty: a graph
  PacketFabricConfig packet;         ///< of its messages
  packet::PacketConfig config;
  packet::Segmentation segmentation;
  packet::PacketTopology topology;  ///< ranks are numbered by the region's dimensions, the first one fastest
};

/// How messages become packets, as the keys of `packet` say.
packet::Segmentation packet_segmentation(const PacketFabricConfig& packet);

/// Routers, interfaces and virtual channels as the keys of `packet` say; the time of a flit on each of the
/// links gives the clock where `packet.cycle` is auto. Their buffers depend on the links: see
/// covering_buffer().
packet::PacketConfig packet_network_config(const Config& config, const std::vector<Ticks>& flit_times);

/// `packet.buffer_flits: auto`: a VC alone covers the longest round trip and a packet besides, in flits of
/// that link; with priority flow control before it is paused.
uint32_t covering_buffer(const packet::PacketConfig& network, const std::vector<packet::LinkTiming>& links,
                         uint64_t packet_flits);

/// Links of one kind, as warnings and errors name them.
struct NamedLinks {
  std::string name;
  Rate rate;
  const PacketFabricConfig& packet;  ///< as packet_of() says
};

/// Of a flit on one of these links ("a link"). Throws UserError(usage) when it is longer than
/// kLongestFlitTime.
Ticks checked_flit_time(const Config& config, const packet::PacketConfig& network, const NamedLinks& links);

/// What of the bandwidth of the links flits cannot use, and buffers that are too small. `usable`: with the
/// virtual channels that the packets on one link may use.
std::vector<std::string> link_warnings(const packet::PacketConfig& usable, const NamedLinks& links,
                                       const packet::LinkTiming& link);

/// Errors: UserError(usage) when the keys of `packet` do not fit the topology (too few VCs, a routing that
/// cannot route it, too large).
std::vector<PacketRegion> packet_regions_of(const Config& config);

/// What works and is not as it should be: buffers that cannot cover the credit round trip, a clock slower
/// than the links, a cycle of buffers that can deadlock.
std::vector<std::string> packet_warnings(const Config& config, const std::vector<PacketRegion>& regions);

}  // namespace weft

#endif
