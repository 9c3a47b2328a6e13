// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A collective of the restricted fabric, from the first join until its last real member has finished.

#ifndef WEFT_EMULATION_ENVIRONMENT_RUNNING_COLLECTIVE_H
#define WEFT_EMULATION_ENVIRONMENT_RUNNING_COLLECTIVE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulation/environment/fabric.h"
#include "emulation/environment/operation_times.h"

namespace weft::emulation {

/// Members that join together: a class, or its real rank and its followers apart: with a what-if delay, or
/// where some are still in the collective before.
struct JoinGroup {
  std::vector<uint32_t> members;  ///< empty: all members of the collective
  std::vector<uint32_t> leaders;  ///< real: it joins when the first of these has
  Picoseconds delay = 0;
  Picoseconds joined = kNever;
  Picoseconds lag = 0;  ///< of `joined` behind the real rank
};

struct RunningCollective {
  /// What a real rank will receive, as far as it has begun the phase.
  struct Expected {
    uint32_t rank = 0;
    uint32_t key = 0;      ///< chunk << 8 | phase
    size_t arrival = 0;    ///< in RankTimes::Phase::arrivals
    int64_t shift = 0;     ///< how late the rank is by other collectives, ps
    uint32_t version = 0;  ///< of its event; 0: its time is not known yet
    bool there = false;
  };
  uint32_t number = 0;
  Fabric::Start start;
  bool apart = false;    ///< real ranks and their followers are groups of their own
  bool chained = false;  ///< its times are those of a chain (collective_chain.h)
  std::vector<JoinGroup> groups;
  std::vector<Expected> expected;
  size_t told = 0;                        ///< so many of them have events
  const OperationTimes* exact = nullptr;  ///< measured with the joins as they were
  std::shared_ptr<const void> keeps;      ///< what `exact` points into
  std::vector<Picoseconds> exact_ends;    ///< by rank, where it is in no chain
  Picoseconds first = 0;                  ///< `exact` counts from here
  Picoseconds last_end = kNever;          ///< of any member, as far as it is known
  uint32_t left = 0;                      ///< real members that have not finished
};

}  // namespace weft::emulation

#endif
