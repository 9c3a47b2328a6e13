// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How much sooner a run would end if one thing were faster: to first order, from its critical path, and not
// further than the next path allows.

#ifndef WEFT_INSIGHT_WHAT_IF_H
#define WEFT_INSIGHT_WHAT_IF_H

#include <cstdint>
#include <string>
#include <vector>

#include "insight/critical_path.h"

namespace weft::insight {

/// Something that can be made faster.
struct Lever {
  enum class Kind : uint8_t { compute, local_memory, remote_memory, bandwidth, latency, endpoint, reduction };
  Kind kind = Kind::compute;
  std::string link_class;  ///< of bandwidth and latency
  /// "compute", "bandwidth of dimension 0"
  std::string name() const;
};

/// The levers of a run: compute, memories, endpoint and reduction, and two for each class of links.
std::vector<Lever> levers_of(const CausalLog& log);

/// A path through the run: how long it is, and how much of it each lever moves.
struct PathLength {
  std::string name;        ///< where it differs from the critical path
  Picoseconds length = 0;  ///< the critical path's less what this one has to spare
  std::vector<Picoseconds> by_lever;
};
PathLength measure(const CausalLog& log, const std::vector<Lever>& levers, const std::vector<Piece>& pieces);

struct Outcome {
  Picoseconds on_path = 0;  ///< time of the critical path that the lever moves
  Picoseconds falls = 0;    ///< how much sooner the run would end
  Picoseconds alone = 0;    ///< .. if there were no other path
  uint32_t limited_by = 0;  ///< index of the path that is the longest then; 0: still the critical one
};
/// With what the lever moves `percent` % faster: its time is then 100 / (100 + percent) of what it was.
/// `paths[0]` is the critical one.
Outcome what_if(const std::vector<PathLength>& paths, uint32_t lever, uint32_t percent);

}  // namespace weft::insight

#endif
