// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Do the buffers of a link cover its credit round trip? Kernel-free closed forms.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_BUFFER_CHECK_H
#define WEFT_TLM_INTERCONNECT_PACKET_BUFFER_CHECK_H

#include <string>

#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/topology.h"

namespace weft::packet {

/// Flit sent to its credit usable again, between routers: all stages, both ways of the link.
Ticks credit_round_trip(const PacketConfig& config, const LinkTiming& link);

/// Share of the link that packets of `packet_flits` can use: one VC of B flits passes a packet of N in
/// N RTT / B + 1 flit times while B is below the loop, at best in N + 1 (the VC idles a cycle between
/// packets); with strict_cut_through in (RTT + N - B mod N) / floor(B / N), and with release_on_credit in a
/// round trip after its last flit, where these are longer. The VCs of one virtual network add up. Between 0
/// and 1.
double credit_limited_share(const PacketConfig& config, const LinkTiming& link, uint32_t packet_flits);

/// Empty: the buffers suffice. Otherwise a warning: how much throughput is lost, and the buffer that would
/// do.
std::string buffer_warning(const std::string& name, const PacketConfig& config, const LinkTiming& link,
                           uint32_t packet_flits);

}  // namespace weft::packet

#endif
