// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The pieces in which data go through switches that reduce (NVLS, CollNetDirect). Private to this folder.

#ifndef WEFT_WORKLOAD_PROGRAMS_LOOP_PIECES_H
#define WEFT_WORKLOAD_PROGRAMS_LOOP_PIECES_H

#include <cstdint>

#include "workload/programs/program_parts.h"

namespace weft::library {

/// Data go in loops, which the heads share. A loop goes in pieces, as the chunks of its channels do, so that
/// a leg of the way is not longer than it should be. Where that would be too many messages, some loops go as
/// one piece. Loops follow each other, and so do the parts of a piece; so the time stays the same. Times are
/// in us.
class LoopPieces {
 public:
  /// `sends`: messages of a piece. `heads`: parts of a loop. Neither is 0.
  LoopPieces(const Making& making, double sends, double heads);

  /// Of all loops.
  uint32_t count() const { return count_; }
  bool last(uint32_t k) const { return k + 1 == count_; }
  /// Bytes of a piece that is not the last one.
  uint64_t bytes() const { return static_cast<uint64_t>(piece_); }
  /// Pieces that a GPU has room for.
  uint32_t window() const { return window_; }
  /// The time of the first loop: latency + fill x the time of a full loop.
  double first_loop() const { return first_loop_; }
  /// The time of a piece's bytes ..
  double carried(uint32_t k) const { return bytes_of(k) * costs_.byte; }
  /// .. and of its share of what a loop costs.
  double cost(uint32_t k) const { return bytes_of(k) * costs_.byte + costs_.sigma * bytes_of(k) / loop_; }

 private:
  double bytes_of(uint32_t k) const { return last(k) ? total_ - piece_ * k : piece_; }

  PlanCosts costs_;
  double total_;
  double loop_;  ///< bytes
  double piece_;
  double first_loop_;
  uint32_t window_;
  uint32_t count_;
};

}  // namespace weft::library

#endif
