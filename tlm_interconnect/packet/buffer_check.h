// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Do the buffers of a link cover its credit round trip, and can they hold what ECN marks at? Kernel-free
// closed forms.

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

/// Empty: ECN is off, or some queue can become long enough for a mark. Otherwise a warning.
std::string marking_warning(const PacketTopology& topology, const PacketConfig& config, uint64_t flit_bytes);
/// Priority flow control: flits that may still come into the buffers of one VC from the cycle on in which
/// they reach XOFF, that flit not counted, if nothing leaves them: a buffer of xoff + headroom is never short
/// of a credit. `interface`: a network interface sends, else a router. See docs/packet_fabric.md.
uint32_t pfc_headroom(const PacketConfig& config, const LinkTiming& link, bool interface,
                      uint32_t packet_flits);

/// What `auto` stands for on one link, in flits. Where the buffer is smaller than the headroom XOFF is 1.
struct PfcThresholds {
  uint32_t xoff = 0;
  uint32_t xon = 0;
};
PfcThresholds pfc_thresholds(const PacketConfig& config, const LinkTiming& link, bool interface,
                             uint32_t packet_flits);

/// Empty: no flit can come to a full buffer. Otherwise a warning: how much headroom there is, and how much is
/// needed. `xoff_key` and `buffer_key`: what to change.
std::string pfc_warning(const std::string& name, const PacketConfig& config, const LinkTiming& link,
                        bool interface, uint32_t packet_flits, const std::string& xoff_key,
                        const std::string& buffer_key);

}  // namespace weft::packet

#endif
