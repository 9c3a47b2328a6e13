// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_TLM_INTERCONNECT_PACKET_NETWORK_CHECK_H
#define WEFT_TLM_INTERCONNECT_PACKET_NETWORK_CHECK_H

#include "tlm_interconnect/packet/network_interface.h"
#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/topology.h"

namespace weft::packet {

/// What a network refuses: figures that cannot be, and thresholds of priority flow control that do not fit
/// the buffers. Throws UserError(usage).
void check_network(const PacketConfig& config, const PacketTopology& topology,
                   const Segmentation& segmentation);

}  // namespace weft::packet

#endif
