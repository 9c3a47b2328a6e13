// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the makers of programs share. Private to this folder.

#ifndef WEFT_WORKLOAD_PROGRAMS_PROGRAM_PARTS_H
#define WEFT_WORKLOAD_PROGRAMS_PROGRAM_PARTS_H

#include <cstdint>
#include <vector>

#include "workload/collectives/algorithm.h"
#include "workload/library/plan_costs.h"
#include "workload/programs/channel_orders.h"
#include "workload/programs/program.h"

namespace weft::library {

/// Steps that a connection has room for (NCCL_STEPS).
constexpr uint32_t kStepsInFlight = 8;
/// Programs with more messages have coarser ones, as far as that is honest (each maker says how far).
constexpr double kMostSends = 1 << 18;

/// Bytes of a stretch.
struct Stretch {
  uint64_t begin = 0;
  uint64_t bytes = 0;
};

/// What a maker needs of a call.
struct Making {
  const LibraryPlan& plan;
  PlanCosts costs;
  const LibraryMachine& machine;
  const Team& team;
  ProgramBuilder& out;

  uint32_t members() const { return static_cast<uint32_t>(team.npus.size()); }
  /// A message of a stretch that lies at one place in both buffers. Returns its number.
  uint32_t send(uint32_t lane, uint32_t from, uint32_t to, const Stretch& part, uint32_t price,
                bool reduce) const {
    Send send;
    send.lane = lane;
    send.from = from;
    send.to = to;
    send.price = price;
    send.bytes = part.bytes;
    send.source = send.target = part.begin;
    send.reduce = reduce;
    return out.send(send);
  }
};

/// `bytes` in `parts` parts of whole elements, as even as they can be.
inline collectives::Split even_split(uint64_t bytes, uint32_t parts, uint32_t unit) {
  return collectives::Split::of(bytes, parts, unit);
}

/// What channel `channel` of `channels` has of the stretch.
inline Stretch channel_part(const Stretch& whole, uint32_t channel, uint32_t channels, uint32_t unit) {
  const collectives::Split split = even_split(whole.bytes, channels, unit);
  return {whole.begin + split.offset(channel), split.size(channel)};
}

void make_ring(const Making& making);
/// Broadcast and reduce on rings.
void make_chain(const Making& making);
void make_tree(const Making& making);
void make_all_pairs(const Making& making);
void make_nvls(const Making& making);
void make_collnet_direct(const Making& making);
void make_pat(const Making& making);
void make_point_to_point(const Making& making, CollectiveOp op);

}  // namespace weft::library

#endif
