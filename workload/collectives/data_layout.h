// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which elements of the members' buffers each block of each phase is.
//
// Members are numbered by their position in the communicator (without one: by rank; of a collective
// restricted to some dimensions: along its own line). What the members' buffers hold:
//
//   all_reduce, broadcast, reduce   input and output: the whole buffer
//   reduce_scatter                  input: the whole buffer; output: its shard of the member's own position
//   scatter                         the same; the input is the root's
//   all_gather                      input: a shard; output: all shards, by position
//   gather                          the same; the output is the root's
//   all_to_all                      input: one shard for each member, by position; output: what each member
//                                   sent here, by position
//
// A chunk of reduce-scatter, all-gather and all-to-all is a piece of every shard (chunk c of a shard lies
// behind chunk c - 1), so that the outputs are what the definition says whatever the number of chunks. Shards
// that do not divide evenly are as large as the plan's nested splits make them: their sizes are part of the
// request, like the counts of a "v" collective.
//
// In flight a chunk is *work*: contiguous storage in which every block of every phase is one interval, nested
// in the order of the plan's phases (whatever that order is: it is walked, not assumed). The permutation
// between buffers and work happens when a chunk is loaded and stored only; algorithms never see it.

#ifndef WEFT_WORKLOAD_COLLECTIVES_DATA_LAYOUT_H
#define WEFT_WORKLOAD_COLLECTIVES_DATA_LAYOUT_H

#include <cstdint>
#include <memory>
#include <vector>

#include "workload/collectives/plan.h"

namespace weft::collectives {

class DataLayout {
 public:
  /// The layout of the plan on the line of `rank`. Throws std::logic_error when the plan's blocks do not tile
  /// their chunk: the sizes of a plan are its own affair and never a user's error.
  DataLayout(std::shared_ptr<const CollectivePlan> plan, uint32_t rank);

  const CollectivePlan& plan() const { return *plan_; }
  CollectiveOp op() const { return plan_->request().op; }
  uint32_t element() const { return plan_->request().element_bytes; }

  /// Members of the line: the product of the axes.
  uint32_t members() const { return static_cast<uint32_t>(ranks_.size()); }
  /// A member's number in the order of the axes, the first axis varying fastest.
  uint32_t place(const std::vector<AxisView>& views) const;
  uint32_t position(uint32_t place) const { return position_.empty() ? place : position_[place]; }
  /// The place of the member at a position.
  uint32_t place_at(uint32_t position) const { return place_at_.empty() ? position : place_at_[position]; }
  uint32_t rank(uint32_t position) const { return ranks_[place_at(position)]; }
  uint32_t root_place() const { return root_place_; }

  /// One chunk of one member's shard.
  struct Piece {
    uint64_t work = 0;  ///< where it begins in the chunk's work, in bytes
    uint64_t bytes = 0;
    uint64_t buffer = 0;  ///< where it begins in the buffer of all shards, in bytes
  };
  /// Of operations with shards.
  const Piece& piece(uint32_t chunk, uint32_t place) const { return pieces_[chunk * members() + place]; }
  bool sharded() const { return !pieces_.empty(); }
  uint64_t shard_bytes(uint32_t position) const { return shards_[position + 1] - shards_[position]; }
  uint64_t shard_offset(uint32_t position) const { return shards_[position]; }

  /// Bytes of a chunk's work, and where the chunk begins in a buffer (shard) that is not split further.
  uint64_t work_bytes(uint32_t chunk) const;
  uint64_t chunk_offset(uint32_t chunk) const { return plan_->chunk_bytes(0) * chunk; }

  uint64_t input_bytes(uint32_t position) const;
  uint64_t output_bytes(uint32_t position) const;
  /// The chunk that a byte of a member's output belongs to.
  uint32_t chunk_of(uint32_t position, uint64_t offset) const;
  /// The member whose input a byte of a member's output is; ~0u: of all (a reduction).
  uint32_t origin_of(uint32_t position, uint64_t offset) const;

  /// The blocks of a phase in a chunk's work. All-to-all: block 0 begins at 0 and an element is as many
  /// elements wide as members have brought theirs together in the phases before.
  struct Region {
    Split split;
    uint64_t start = 0;  ///< of block 0
  };
  Region region(const std::vector<AxisView>& views, uint32_t chunk, uint32_t phase) const;

  /// Of a chunk whose all-gathers do not undo its reduce-scatters last to first: a member's piece lies at
  /// `scattered` while the chunk falls apart and at `gathered` while it is put together. `bytes` is the size
  /// of every piece.
  struct Moved {
    uint64_t scattered = 0;
    uint64_t gathered = 0;
    uint64_t bytes = 0;
  };
  Moved moved(const std::vector<AxisView>& views, uint32_t chunk) const;
  /// The same of every different piece (members that differ only on axes that an all-reduce between the
  /// passes covers hold the same one).
  std::vector<Moved> all_moved(uint32_t chunk) const;

 private:
  /// Calls f(phase, region) for every phase of the chunk; returns where the member's data lies in the end
  /// (relative to where it lay in the beginning).
  template <typename F>
  int64_t walk(const std::vector<AxisView>& views, uint32_t chunk, int64_t offset, F&& f) const;
  void find_members(uint32_t rank);
  void find_pieces();
  std::vector<AxisView> views_at(uint32_t place) const;

  std::shared_ptr<const CollectivePlan> plan_;
  std::vector<uint32_t> ranks_;  ///< by place
  std::vector<uint32_t> position_;
  std::vector<uint32_t> place_at_;
  std::vector<Piece> pieces_;
  std::vector<uint64_t> shards_;  ///< by position; one more than members
  uint32_t root_place_ = 0;
};

/// Sharded operations whose shards come together: all_gather and gather.
constexpr bool collects(CollectiveOp op) {
  return op == CollectiveOp::all_gather || op == CollectiveOp::gather;
}
/// Operations whose data falls apart into shards: reduce_scatter, scatter and all_to_all.
constexpr bool distributes(CollectiveOp op) {
  return op == CollectiveOp::reduce_scatter || op == CollectiveOp::scatter || op == CollectiveOp::all_to_all;
}
/// Operations whose elements are combined.
constexpr bool reduces(CollectiveOp op) {
  return op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter || op == CollectiveOp::reduce;
}

}  // namespace weft::collectives

#endif
