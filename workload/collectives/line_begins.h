// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// When each part of a machine has begun the chunks that members in other parts have, too. A circle of slots
// (SlotWaits) that passes several parts is found by none of them. For such a circle some chunk has to be
// begun in one part and missing in another, and then others on and on until the first part again.
// ring_of_parts() looks whether there ever was such a ring.

#ifndef WEFT_WORKLOAD_COLLECTIVES_LINE_BEGINS_H
#define WEFT_WORKLOAD_COLLECTIVES_LINE_BEGINS_H

#include <cstdint>
#include <vector>

#include "configs/types.h"
#include "workload/collectives/member_begins.h"

namespace weft::collectives {

/// A chunk in a phase on one line, in one part.
struct LineBegin {
  uint64_t collective = 0;
  uint64_t index = 0;    ///< SharedCollective::index()
  Moment first = 0;      ///< a member of the part begins
  Moment last = kNever;  ///< the last one of the part
};
/// A rank of one part waits for a message of a rank of another one.
struct MessageWait {
  uint32_t source = 0;  ///< rank
  Picoseconds from = 0;
  Picoseconds to = kNever;  ///< it has come
};

/// Of one part.
struct PartBegins {
  std::vector<LineBegin> lines;  ///< in order of collective and index
  std::vector<MessageWait> waits;
};
/// Every member of the part has begun the chunks of its lines. `part_of`: of a rank.
PartBegins part_begins(const MemberBegins& of, const std::vector<uint32_t>& part_of);

/// The first time at which parts can have waited for each other in a ring: kNever: at none. `part_of`: of a
/// rank. `several`: what a part waits for can close a circle that is all its own, and it need not be a ring:
/// it can hold the last of several slots, of which the circle holds the others.
Picoseconds ring_of_parts(const std::vector<PartBegins>& parts, const std::vector<uint32_t>& part_of,
                          bool several = false);

}  // namespace weft::collectives

#endif
