// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Messages of the fabric as frames, and their pace.

#ifndef WEFT_COSIM_BLOCKS_MESSAGE_BYTES_H
#define WEFT_COSIM_BLOCKS_MESSAGE_BYTES_H

#include <cstdint>
#include <vector>

#include "configs/types.h"
#include "cosim/axis/stream_frame.h"
#include "tlm_interconnect/border/crossing.h"
#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft::cosim {

/// The elements that a message carries, as bytes; empty: it carries none. `elements`: null where messages
/// carry sizes only.
std::vector<uint8_t> message_bytes(fabric::Packet& packet, fabric::CrossingElements* elements);
/// .. of what has left the fabric.
std::vector<uint8_t> message_bytes(const fabric::Crossing& crossing);

/// The rate at which so many bytes come in that time: exactly, where the numbers are small enough, else
/// rounded down to whole bytes a second. 0 bytes a second: at once.
Rate pace_of(uint64_t bytes, Picoseconds time);

/// A block without TKEEP sends whole beats: what stands behind the `size` bytes of the frame and is less than
/// a beat is taken off.
void trim_padding(StreamFrame& frame, size_t size, uint32_t beat_bytes);

}  // namespace weft::cosim

#endif
