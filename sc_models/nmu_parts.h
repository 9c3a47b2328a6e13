// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the source files of Nmu share: the flags of its packets, and small functions of every message. Private
// to them.

#ifndef WEFT_SC_MODELS_NMU_PARTS_H
#define WEFT_SC_MODELS_NMU_PARTS_H

#include <string>

#include "sc_models/message_time.h"
#include "sc_models/nmu.h"

namespace weft {

// Packet::flags
inline constexpr uint8_t kReduce = 1;          ///< the receiver reduces: charge it
inline constexpr uint8_t kExchange = 2;        ///< of a full exchange: FullExchanges may hold it back
inline constexpr uint8_t kNotifyInjected = 4;  ///< tell the client when it has left
inline constexpr uint8_t kReverse = 8;         ///< Message::reverse
inline constexpr uint8_t kHolds = 16;          ///< counts in its first port's injection queue
inline constexpr uint8_t kTurn = 32;           ///< analytical: has not taken its last link
inline constexpr uint8_t kTurnSecond =
    64;  ///< .. which is the second one of its port: a ring's descending one
inline constexpr uint8_t kMirrored = 128;  ///< of a mirrored collective: comes back as what a peer sends

/// A message of which the last byte is here at `tail` is delivered after the endpoint's delay and its
/// reduction. Throws TimeOverflow.
inline Picoseconds Nmu::ready_at(const fabric::Packet& packet, Picoseconds tail) {
  const Picoseconds at = later(tail, ends_of(packet).end);
  return packet.flags & kReduce ? later(at, reduction_time(packet.bytes)) : at;
}

/// f(), whose TimeOverflow is told of this message and NMU.
template <typename F>
[[gnu::always_inline]] inline decltype(auto) Nmu::timed(const fabric::Packet& packet, F&& f) {
  try {
    return f();
  } catch (const TimeOverflow& e) {
    throw e.of(std::string(name()) + ": " + describe(packet), kMessageRemedy);
  }
}

inline uint8_t Nmu::variant_of(const fabric::Packet& packet) {
  return static_cast<uint8_t>((packet.flags & kReverse ? 1 : 0) | packet.plane << 1);
}

}  // namespace weft

#endif
