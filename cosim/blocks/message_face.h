// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Who a message is: in messages to the user, and as the bytes of a message that carries none.

#ifndef WEFT_COSIM_BLOCKS_MESSAGE_FACE_H
#define WEFT_COSIM_BLOCKS_MESSAGE_FACE_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft::cosim {

/// As it travels in a packet (sc_models/message_bits.h).
struct MessageFace {
  uint64_t id_low = 0;
  uint64_t id_high = 0;
  uint32_t source = 0;
  uint32_t destination = 0;
  uint64_t bytes = 0;
};

/// The bytes of a message that carries none: they follow from who it is, so that a frame that is mixed up
/// shows.
std::vector<uint8_t> pattern_of(const MessageFace& message);

/// An id in words: "collective 3 (all_reduce ..), chunk 2, phase 0, round 5". `collective`: what stands in
/// the brackets; "": nothing.
std::string describe_id(uint64_t id_low, uint64_t id_high, const std::string& collective = {});
/// "message 3 of rank 2 to NPU 5, 4096 B, collective 1, chunk 0, phase 0, round 4"
std::string describe(const MessageFace& message, const std::string& collective = {});

}  // namespace weft::cosim

#endif
