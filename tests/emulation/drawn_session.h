// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Sessions of real ranks, drawn: frames that make a valid job, and what can be wrong with a frame. For
// fuzzing the job in one process (sessions_test.cpp) and `weft emulate` (programs/fuzzed_rank.cpp).

#ifndef WEFT_TESTS_EMULATION_DRAWN_SESSION_H
#define WEFT_TESTS_EMULATION_DRAWN_SESSION_H

#include <cstdint>
#include <random>
#include <vector>

namespace weft::test {

using Random = std::mt19937_64;

struct DrawnFrame {
  std::vector<uint8_t> bytes;
  bool asks = false;  ///< the rank waits for an answer
};

/// What `rank` sends behind HELLO, request numbers from 2 on, up to BYE. The ranks `real` (ascending) of one
/// `seed` fit together. Time stamps are 0: stamp() them.
std::vector<DrawnFrame> draw_session(uint64_t seed, uint32_t rank, const std::vector<uint32_t>& real,
                                     uint32_t world);
/// Writes the rank's local time into the frame's head.
void stamp(std::vector<uint8_t>& frame, int64_t time);
/// One thing is wrong: bytes, fields, the type, the size in the head, its end is cut, it comes twice or not
/// at all, noise comes in its place.
void spoil(Random& random, std::vector<uint8_t>& frame);

}  // namespace weft::test

#endif
