// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// When each rank has begun each chunk, of a machine in parts. What parts know of each other (line_begins.h)
// finds more rings than there are circles of slots: in one part somebody is ahead, in the other somebody
// else. So when it finds one, ranks are looked at in place of parts.
//
// In a circle every chunk has a rank that has not begun it, and that rank either has begun another open chunk
// of the circle or waits for a message of a rank of the circle (docs/collective_waits.md). So there is a ring
// of ranks and open chunks: from a chunk to a rank that it misses, from a rank to an open chunk that it has
// begun, or to a rank whose message it waits for. Messages alone are no circle.

#ifndef WEFT_WORKLOAD_COLLECTIVES_MEMBER_BEGINS_H
#define WEFT_WORKLOAD_COLLECTIVES_MEMBER_BEGINS_H

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "configs/types.h"

namespace weft::collectives {

/// A time, and how often SlotWaits has decided at it until then. A decision looks at all that has begun
/// before it, and counts as a begin for what follows: a ring may be there only until then.
struct Moment {
  // NOLINTNEXTLINE(google-explicit-constructor): a time is a moment
  constexpr Moment(Picoseconds time = 0, uint32_t decisions = 0) : at(time), decided(decisions) {}
  bool operator==(const Moment& o) const { return at == o.at && decided == o.decided; }
  bool operator<(const Moment& o) const { return at != o.at ? at < o.at : decided < o.decided; }

  Picoseconds at = 0;
  uint32_t decided = 0;
};

/// A rank begins a chunk in a phase.
struct MemberBegin {
  uint64_t collective = 0;
  uint64_t index = 0;  ///< SharedCollective::index()
  Moment at = 0;
  uint32_t rank = 0;
  bool crosses = false;  ///< the chunk has members in other parts
};
/// A rank waits for a message of another one.
struct RankWait {
  uint32_t rank = 0;
  uint32_t source = 0;
  Picoseconds from = 0;
  Picoseconds to = kNever;  ///< it has come
};

/// Of the ranks of one part.
class MemberBegins {
 public:
  void begun(uint64_t collective, uint64_t index, uint32_t rank, bool crosses, Moment now) {
    begins_.push_back({collective, index, now, rank, crosses});
  }
  void awaited(uint32_t rank, uint32_t source, Picoseconds now);
  void came(uint32_t rank, uint32_t source, Picoseconds now);

  const std::vector<MemberBegin>& begins() const { return begins_; }
  const std::vector<RankWait>& waits() const { return waits_; }

 private:
  std::vector<MemberBegin> begins_;
  std::vector<RankWait> waits_;
  std::unordered_map<uint64_t, std::vector<size_t>> waiting_;  ///< by rank and source: in waits_
};

/// The first instant at which there was a ring through several parts; kNever: none. Of all parts; every
/// member of a line has begun it. `part_of`: of a rank. `several`: as in ring_of_parts(): the ranks of other
/// parts need not be in the ring, but only be waited for by one of it. After so much work that it would take
/// longer than some seconds it answers the instant up to which there was none.
Picoseconds ring_of_ranks(std::vector<MemberBegin> begins, const std::vector<RankWait>& waits,
                          const std::vector<uint32_t>& part_of, bool several = false);

}  // namespace weft::collectives

#endif
