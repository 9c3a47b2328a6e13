// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// in_switch: the members of a line of a Switch dimension send their contributions to the switch, whose
// collective unit reduces, gathers, scatters and multicasts.
//
// A phase's data is cut into pieces of at most a segment (collective_unit.segment). A piece has contributors,
// each of which sends it to the unit once, and receivers, to each of which the unit sends the result once all
// contributions are there:
//
//   operation       pieces of           contributors             receivers
//   all_reduce      the whole data      all members, reduced     all members
//   barrier         one token           all members, reduced     all members
//   reduce          the whole data      all members, reduced     the root
//   reduce_scatter  block b             all members, reduced     member b
//   broadcast       the whole data      the root                 all but the root
//   all_gather      block b             member b                 all but member b
//   gather          block b (no root)   member b                 the root
//   scatter         block b (no root)   the root                 member b
//
// Pieces are numbered by slots, which members send in ascending order: one segment of every block, then the
// next one of every block, so that what the members of a reduce-scatter get is ready at all of them alike.

#ifndef WEFT_WORKLOAD_COLLECTIVES_IN_SWITCH_H
#define WEFT_WORKLOAD_COLLECTIVES_IN_SWITCH_H

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "configs/config.h"
#include "workload/collectives/plan.h"

namespace weft::collectives {

class UnitLayout {
 public:
  UnitLayout() = default;
  /// The phase's n blocks are those of `split`; `segment` > 0.
  UnitLayout(CollectiveOp op, uint32_t n, uint32_t root, const Split& split, uint64_t segment);
  /// Of a phase that runs in_switch; `split` is the plan's of the phase.
  static UnitLayout of(const Config& config, const CollectivePlan& plan, uint32_t chunk, uint32_t phase,
                       const Split& split);

  /// Slots are numbered below this; some may be unused.
  uint64_t slots() const { return whole_ ? rows_ : rows_ * n_; }
  bool used(uint64_t slot) const;
  struct Piece {
    uint64_t offset = 0;  ///< from the start of block 0, in bytes
    uint64_t bytes = 0;
  };
  Piece piece(uint64_t slot) const;
  /// The contributions are combined; else a piece has one contributor.
  bool reduces() const { return reduces_; }
  /// How many contributions a piece has.
  uint32_t contributors() const { return reduces_ ? n_ : 1; }
  bool contributes(uint64_t slot, uint32_t member) const;
  bool receives(uint64_t slot, uint32_t member) const;
  uint32_t members() const { return n_; }

  /// How many results a member gets, all in all.
  uint32_t results(uint32_t member) const;

  /// What crosses the unit in the phase.
  struct Totals {
    uint64_t contributions = 0;
    uint64_t bytes_in = 0;
    uint64_t results = 0;
    uint64_t bytes_out = 0;
  };
  Totals totals() const;
  /// Bytes that the member with the most to send (receive) does.
  uint64_t most_sent() const;
  uint64_t most_received() const;

 private:
  /// Pieces of a block (not of the whole data).
  uint64_t segments(uint32_t block) const;
  /// The block of a slot.
  uint32_t block(uint64_t slot) const { return whole_ ? 0 : static_cast<uint32_t>(slot % n_); }

  CollectiveOp op_ = CollectiveOp::all_reduce;
  uint32_t n_ = 0;
  uint32_t root_ = 0;
  bool whole_ = false;
  bool reduces_ = false;
  Split split_;
  uint64_t total_ = 0;  ///< bytes of the whole data
  uint64_t segment_ = 1;
  uint64_t rows_ = 0;  ///< segments of the largest block
};

/// A phase of in_switch without contention, endpoint delays left out (ps): the latencies, the busiest of
/// ports, ingress and reduction for all of its bytes, and the first segment's way through the others.
Picoseconds unit_time(const DimensionConfig& dimension, const UnitLayout& layout);

/// At least what a phase takes in the unit itself if its pieces go through it one after the other (ps).
Wide unit_serial_time(const DimensionConfig& dimension, const UnitLayout& layout);

/// What switches know of the collectives under way, as group tables are programmed into real ones: the plan
/// of every stream that some member has started and not all have finished.
class UnitDirectory {
 public:
  /// A member starts; before it sends anything.
  void join(uint32_t stream, const std::shared_ptr<const CollectivePlan>& plan);
  /// A member has finished.
  void leave(uint32_t stream);
  /// Throws std::logic_error for a stream that no member has started.
  const std::shared_ptr<const CollectivePlan>& plan(uint32_t stream) const;
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::shared_ptr<const CollectivePlan> plan;
    uint32_t left = 0;
  };
  std::unordered_map<uint32_t, Entry> entries_;
};

/// Some operation is configured to run in_switch on dimension d.
bool uses_unit(const Config& config, uint32_t d);

}  // namespace weft::collectives

#endif
