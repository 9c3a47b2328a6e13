// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Message::flags that a network interface reads.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_MESSAGE_ORDER_H
#define WEFT_TLM_INTERCONNECT_PACKET_MESSAGE_ORDER_H

#include <cstdint>

namespace weft::packet {

/// Where messages take turns (PacketConfig::interleave_messages): this one does not. When it is at the front
/// its packets follow each other.
constexpr uint8_t kWithoutTurns = 0x80;

}  // namespace weft::packet

#endif
