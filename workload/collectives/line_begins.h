// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// When the members of a chunk's line have begun it, of a machine in parts. A circle of slots (SlotWaits) that
// passes several parts is found by none of them. For such a circle some chunk has to be begun in one part and
// missing in another, and then others on and on until the first part again. So each part keeps when it has
// begun the chunks that members in other parts have, too, and ring_of_parts() looks whether there ever was
// such a ring.

#ifndef WEFT_WORKLOAD_COLLECTIVES_LINE_BEGINS_H
#define WEFT_WORKLOAD_COLLECTIVES_LINE_BEGINS_H

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "configs/types.h"

namespace weft::collectives {

/// A chunk in a phase on one line, in one part.
struct LineBegin {
  uint64_t collective = 0;
  uint64_t index = 0;         ///< SharedCollective::index()
  Picoseconds first = 0;      ///< a member of the part begins
  Picoseconds last = kNever;  ///< the last one of the part; kNever: some have not
};
/// A rank of one part waits for a message of a rank of another one.
struct MessageWait {
  uint32_t source = 0;  ///< rank
  Picoseconds from = 0;
  Picoseconds to = kNever;  ///< it has come
};

class LineBegins {
 public:
  /// One more member of this part begins. `here`: members of the line in this part.
  void begun(uint64_t collective, uint64_t index, uint32_t here, Picoseconds now);
  void awaited(uint32_t rank, uint32_t source, Picoseconds now);
  void came(uint32_t rank, uint32_t source, Picoseconds now);

  /// In no order.
  std::vector<LineBegin> lines() const;
  const std::vector<MessageWait>& waits() const { return waits_; }

 private:
  struct Open {
    Picoseconds first = 0;
    uint32_t begun = 0;
  };
  std::map<std::pair<uint64_t, uint64_t>, Open> open_;
  std::vector<LineBegin> over_;
  std::vector<MessageWait> waits_;
  std::unordered_map<uint64_t, std::vector<size_t>> waiting_;  ///< by rank and source: in waits_
};

/// What a part has kept.
struct PartBegins {
  std::vector<LineBegin> lines;
  std::vector<MessageWait> waits;
};
/// The first time at which parts can have waited for each other in a ring: kNever: at none. `part_of`: of a
/// rank. `several`: what a part waits for can close a circle that is all its own, and it need not be a ring:
/// it can hold the last of several slots, of which the circle holds the others.
Picoseconds ring_of_parts(const std::vector<PartBegins>& parts, const std::vector<uint32_t>& part_of,
                          bool several = false);

}  // namespace weft::collectives

#endif
