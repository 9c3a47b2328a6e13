// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How a message's id travels in a packet, where the fabric carries it unread.

#ifndef WEFT_SC_MODELS_MESSAGE_BITS_H
#define WEFT_SC_MODELS_MESSAGE_BITS_H

#include <cstdint>

#include "workload/seam.h"

namespace weft {

/// Packet::id_low. The low half of Packet::id_high is the id's round, its high half the number of the message
/// at its sender.
inline uint64_t pack_low(const MessageId& id) {
  return static_cast<uint64_t>(id.stream) | static_cast<uint64_t>(id.chunk) << 32 |
         static_cast<uint64_t>(id.phase) << 48 | static_cast<uint64_t>(id.kind) << 56;
}

/// What tells flows of one pair of NPUs apart where equally good ways are chosen by a hash (ECMP): kind,
/// phase and chunk. The collective's number is left out: it says who started first in the whole job, and
/// unrelated work must not move a flow. All point-to-point messages of a pair are one flow, as on one queue
/// pair.
inline uint64_t flow_id(uint64_t id_low) {
  return id_low & ~uint64_t{0xffffffff};
}

inline MessageId::Kind kind_of(uint64_t id_low) {
  return static_cast<MessageId::Kind>(id_low >> 56);
}

/// What a message pays of a link's latency (MessageId).
inline Picoseconds paid_latency(uint64_t id_low, Picoseconds latency) {
  return kind_of(id_low) == MessageId::Kind::program ? 0 : latency;
}

/// Packet::id_high.
inline uint64_t pack_high(const MessageId& id, uint32_t sequence) {
  return static_cast<uint64_t>(id.round) | static_cast<uint64_t>(sequence) << 32;
}

/// Of packets that arrive at one instant by one port: by sender, then as the sender sent them.
inline uint32_t sequence_of(uint64_t id_high) {
  return static_cast<uint32_t>(id_high >> 32);
}

inline MessageId unpack(uint64_t low, uint64_t high) {
  MessageId id;
  id.stream = static_cast<uint32_t>(low);
  id.chunk = static_cast<uint16_t>(low >> 32);
  id.phase = static_cast<uint8_t>(low >> 48);
  id.kind = static_cast<MessageId::Kind>(low >> 56);
  id.round = static_cast<uint32_t>(high);
  return id;
}

}  // namespace weft

#endif
