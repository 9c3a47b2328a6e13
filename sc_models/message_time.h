// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Says which message it was that would have ended after the last picosecond.

#ifndef WEFT_SC_MODELS_MESSAGE_TIME_H
#define WEFT_SC_MODELS_MESSAGE_TIME_H

#include <string>

#include "configs/types.h"
#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft {

/// "the message of 1024 B from rank 0 to rank 1 in collective 1, chunk 0, phase 0, round 2,". `destination`:
/// its rank, or kUnitPeer and a dimension.
std::string describe_message(const fabric::Packet& packet, uint32_t destination);

constexpr const char* kMessageRemedy = "use a smaller size, higher bandwidths or lower latencies";

/// f(), whose TimeOverflow is told of this message at that module.
template <typename F>
[[gnu::always_inline]] inline decltype(auto) message_in_time(const char* module, const fabric::Packet& packet,
                                                             F&& f) {
  try {
    return f();
  } catch (const TimeOverflow& e) {
    throw e.of(std::string(module) + ": " + describe_message(packet, packet.destination), kMessageRemedy);
  }
}

}  // namespace weft

#endif
