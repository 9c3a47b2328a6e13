// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/message_face.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/hash64.h"
#include "sc_models/message_bits.h"
#include "workload/seam.h"

namespace weft::cosim {

std::vector<uint8_t> pattern_of(const MessageFace& message) {
  const uint64_t seed = hash64(message.id_low ^ hash64(message.id_high ^ hash64(message.source)));
  std::vector<uint8_t> bytes(message.bytes);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t word = hash64(seed + i);
    for (size_t k = i; k < std::min(i + 8, bytes.size()); ++k)
      bytes[k] = static_cast<uint8_t>(word >> (8 * (k - i)));
  }
  return bytes;
}

std::string describe_id(uint64_t id_low, uint64_t id_high, const std::string& collective) {
  const MessageId id = unpack(id_low, id_high);
  if (id.kind == MessageId::Kind::point_to_point)
    return fmt::format("point to point, tag {}, number {}", id.round, id.stream);
  return fmt::format("collective {}{}, chunk {}, phase {}, round {}", id.stream,
                     collective.empty() ? "" : fmt::format(" ({})", collective), id.chunk, id.phase,
                     id.round);
}

std::string describe(const MessageFace& message, const std::string& collective) {
  const std::string to = (message.destination & kUnitPeer) != 0 ? "a collective unit"
                                                                : fmt::format("NPU {}", message.destination);
  return fmt::format("message {} of rank {} to {}, {} B, {}", sequence_of(message.id_high), message.source,
                     to, message.bytes, describe_id(message.id_low, message.id_high, collective));
}

}  // namespace weft::cosim
