// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The critical path: from the end of a run back to its beginning, always to the activity that was the last to
// let the next one begin. Its pieces follow each other without a gap, so they add up to the time of the run.

#ifndef WEFT_INSIGHT_CRITICAL_PATH_H
#define WEFT_INSIGHT_CRITICAL_PATH_H

#include <array>
#include <cstdint>
#include <vector>

#include "insight/causal_log.h"

namespace weft::insight {

enum class Term : uint8_t {
  compute,
  local_memory,
  remote_memory,
  queueing,   ///< a link or memory serves others before the one that waits; `place`: that link
  serialise,  ///< a link carries the message itself, or a memory moves the bytes
  latency,
  endpoint,
  reduction,
  wait,       ///< for a decision of the scheduler, or for what the log does not follow
  unrecorded  ///< what the log has forgotten: the beginning of a long run
};
constexpr uint32_t kTerms = 10;
/// As the results call it: "compute", "local_memory" ..
const char* to_string(Term term);
/// `place` is a link of the log; otherwise an NPU.
bool of_link(Term term);

struct Piece {
  Picoseconds from = 0;
  Picoseconds to = 0;
  Term term = Term::wait;
  uint32_t place = 0;                 ///< of_link(): a link's number; else an NPU
  uint32_t stream = 0;                ///< collective, kPointToPoint, or 0: none
  ActivityId activity = kNoActivity;  ///< it is of this one; of a memory's stages: of this access
  uint32_t step = 0;                  ///< of a collective: chunk << 8 | phase
  Picoseconds time() const { return to - from; }
};

/// From `origin` to the end of `last`, which is at `end`. In order of time. Pieces of no time are left out.
std::vector<Piece> critical_path(const CausalLog& log, ActivityId last, Picoseconds origin, Picoseconds end);

/// The NPU that ended last (of several the first): where the path ends. kNever: none has ended anything.
struct PathEnd {
  ActivityId last = kNoActivity;
  Picoseconds at = kNever;
  uint32_t npu = 0;
};
PathEnd end_of_path(const CausalLog& log);

}  // namespace weft::insight

#endif
