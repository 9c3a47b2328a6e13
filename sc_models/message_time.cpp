// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/message_time.h"

#include <fmt/format.h>

#include "sc_models/message_bits.h"

namespace weft {

std::string describe_message(const fabric::Packet& packet, uint32_t destination) {
  const MessageId id = unpack(packet.id_low, packet.id_high);
  const std::string to = (destination & kUnitPeer) != 0 ? std::string("the switch's collective unit")
                                                        : fmt::format("rank {}", destination);
  const std::string text =
      fmt::format("the message of {} B from rank {} to {}", packet.bytes, packet.source, to);
  return id.kind == MessageId::Kind::point_to_point
             ? fmt::format("{}, tag {},", text, id.round)
             : fmt::format("{} in collective {}, chunk {}, phase {}, round {},", text, id.stream, id.chunk,
                           id.phase, id.round);
}

}  // namespace weft
