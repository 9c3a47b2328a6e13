// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where a machine is cut into parts. Parts work side by side only if they have work at the same instants:
// replicas do, the stages of a pipeline take turns. So the cut goes along the outermost coordinate of the
// ranks that no point-to-point message crosses, as far as there is one, into parts of about the same work.
// Ranks that are alike at first stay together where they can: one of them then runs for all (Splitting).

#ifndef WEFT_PARTS_CUT_H
#define WEFT_PARTS_CUT_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "configs/config.h"

namespace weft::parts {

/// What the job's ranks do. Empty lists: all do alike, and send no point-to-point messages.
struct RankLoads {
  std::vector<uint64_t> work;                        ///< by rank: nodes
  std::vector<std::pair<uint32_t, uint32_t>> sends;  ///< (from, to), some of each rank's
  /// By rank, another one that does the same at first (graph::Replicas), or itself. Empty: there are none.
  std::vector<uint32_t> alike;
};

struct Cut {
  std::vector<uint32_t> part_of;  ///< by rank; rank 0 is in part 0
  uint32_t parts = 1;
  // Rank r has the coordinate r / stride % size, and is in part coordinate * parts / size.
  uint32_t stride = 1;
  uint32_t size = 1;
  uint64_t crossing_sends = 0;   ///< of RankLoads::sends
  uint64_t separated = 0;        ///< ranks in another part than the one of RankLoads::alike
  double imbalance = 1;          ///< the largest part's work over the mean
  bool through_packets = false;  ///< links of packet networks are cut
  /// "16 slices of 256 ranks".
  std::string text() const;
};

/// Packet networks are cut if nothing else can be. Throws UserError(usage): there are more parts than ranks,
/// or every cut crosses a dimension whose links have no latency, or too little of it.
/// `asked`: as Cut::text() says it; empty: the best one. Throws UserError(usage), too, if that is no cut of
/// this machine.
Cut choose_cut(const Config& config, uint32_t parts, const RankLoads& loads, const std::string& asked = {});

}  // namespace weft::parts

#endif
