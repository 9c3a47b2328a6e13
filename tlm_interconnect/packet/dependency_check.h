// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Can a configuration deadlock? The buffers a packet may hold and wait for form a graph; without a cycle
// there is no deadlock (Dally and Seitz 1987). With escape routes only the escape buffers must be free of
// cycles (Duato 1993), which suffices because packets do not leave the escape network.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_DEPENDENCY_CHECK_H
#define WEFT_TLM_INTERCONNECT_PACKET_DEPENDENCY_CHECK_H

#include <string>

#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/topology.h"

namespace weft::packet {

/// Empty: it cannot deadlock. Otherwise one cycle of buffers, in words, and what to do. Costs ranks x buffers
/// steps; throws UserError like make_routing_policy().
std::string find_dependency_cycle(const PacketTopology& topology, const PacketConfig& config);

/// What to change so that a network cannot deadlock: a sentence. `option` spells a key and its value as they
/// are written where the user is, such as "--routing up_down".
using SpellOption = std::string (*)(const char* key, const char* value);
std::string deadlock_remedy(const PacketTopology& topology, const PacketConfig& config, SpellOption option);
std::string deadlock_remedy(const PacketTopology& topology, const PacketConfig& config);

}  // namespace weft::packet

#endif
