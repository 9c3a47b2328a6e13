// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Data-carrying mode (`run.data: functional`): one rank's elements of one collective. The engine asks for the
// payload of every message it sends and hands over what arrived; algorithms are followed by their BlockSets
// alone, so that any algorithm, of any round structure, carries data without knowing it.
//
// When what arrives is used is declared, and does not depend on the order of arrival: all messages of a round
// are applied together when the round is over, and what a member sends in a round is what it held before it.
// In each block of the round
//  1. messages that do not reduce overwrite, in ascending order of the sender's index along the phase's axis;
//  2. then those that reduce are combined with the member's own elements, operands in ascending order of the
//     contributor's index, the member's own elements at its own index (see elements.h for the arithmetic).
// So an exchange of pairs (ring, halving-doubling, trees) combines two partial sums, the lower index on the
// left, along the algorithm's fixed structure; the direct algorithm combines all n contributions in index
// order with one rounding at the end. Several messages of one sender in one round count in the order sent.
//
// All-to-all moves blocks instead of copying them. A block is named by its destination's index along the
// axis; the payload adds the index of the member that brought it into the phase. A member that is told to
// send block j sends the oldest one it holds for j: its own, else what it received first; relays thus need no
// further description. A block that has reached its destination is kept by origin.

#ifndef WEFT_WORKLOAD_COLLECTIVES_DATA_H
#define WEFT_WORKLOAD_COLLECTIVES_DATA_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "workload/collectives/data_layout.h"
#include "workload/collectives/input_source.h"
#include "workload/collectives/payload_pool.h"

namespace weft::collectives {

/// What the ranks of a machine share in data-carrying mode.
class DataContext {
 public:
  DataContext(ElementType type, ReduceOp op, uint64_t seed);
  /// By the keys run.element, run.reduce and run.seed; null when run.data is `none`.
  static std::unique_ptr<DataContext> make(const Config& config);

  ElementType type() const { return type_; }
  ReduceOp op() const { return op_; }
  PayloadPool& payloads() { return payloads_; }
  const PayloadPool& payloads() const { return payloads_; }

  const InputSource& source() const { return *source_; }
  /// Other inputs than PatternSource's; before the first collective starts.
  void set_source(std::unique_ptr<InputSource> source) { source_ = std::move(source); }

  /// The layout of a plan on a rank's line; made once while somebody holds it. Throws UserError(usage) when
  /// the plan's element size is not that of `type()`.
  std::shared_ptr<const DataLayout> layout(const std::shared_ptr<const CollectivePlan>& plan, uint32_t rank);

 private:
  ElementType type_;
  ReduceOp op_;
  PayloadPool payloads_;
  std::unique_ptr<InputSource> source_;
  std::map<std::pair<const CollectivePlan*, uint32_t>, std::weak_ptr<const DataLayout>> layouts_;
};

/// Bytes of data that all members together hold at most while they run the collective (work and outputs).
double data_footprint(const CollectivePlan& plan);

class CollectiveData {
 public:
  /// `plan` is not a barrier's and not empty; `rank` is a member. The context must outlive the object.
  CollectiveData(DataContext& context, uint32_t stream, const std::shared_ptr<const CollectivePlan>& plan,
                 uint32_t rank, const std::vector<AxisView>& views);

  /// A phase of a chunk begins: loads the inputs first if it is the chunk's first. Phases that the rank
  /// takes no part in are not told.
  void begin_phase(uint32_t chunk, uint32_t phase);
  /// The elements of one message; the handle goes with the message, and ownership with it.
  uint32_t gather(uint32_t chunk, const RoundSend& send);
  /// The elements of a contribution to the switch's collective unit: `bytes` from `from` bytes behind block 0
  /// of the phase on. The results come back as intervals, too, and replace what is here.
  uint32_t gather(uint32_t chunk, uint64_t from, uint64_t bytes);
  /// A round of the chunk's phase is over and `handles` arrived in it, in any order: they are released.
  void apply(uint32_t chunk, const std::vector<uint32_t>& handles);
  void end_phase(uint32_t chunk);
  /// The chunk has no further phase: its part of the output is stored, its storage freed.
  void finish_chunk(uint32_t chunk);

  /// In place of all of the above: what another engine has made of the inputs, and the first thing that went
  /// wrong there (empty: nothing).
  void deliver(std::vector<std::byte> output, const std::string& defect);

  uint32_t stream() const { return stream_; }
  uint32_t rank() const { return rank_; }
  uint32_t position() const { return position_; }
  const DataLayout& layout() const { return *layout_; }
  const std::shared_ptr<const DataLayout>& shared_layout() const { return layout_; }
  /// Complete when every chunk is finished. Empty on members that get nothing.
  const std::vector<std::byte>& output() const { return output_; }
  /// The first thing that an algorithm did wrong by itself (a block it does not have, a payload that does
  /// not fit), empty: nothing.
  const std::string& defect() const { return defect_; }

 private:
  struct Transit {
    uint32_t block = 0;
    uint32_t origin = 0;
    std::vector<std::byte> bytes;
  };
  struct ChunkData {
    std::vector<std::byte> work;
    Split split;
    uint64_t start = 0;
    uint32_t phase = 0;
    uint32_t n = 0;
    uint32_t me = 0;
    uint32_t sequence = 0;
    bool loaded = false;
    // all-to-all
    std::vector<bool> sent;                    ///< own blocks that have left
    std::vector<std::vector<std::byte>> kept;  ///< by origin: what has arrived for this member
    std::vector<Transit> transit;              ///< oldest first
  };

  void load(uint32_t chunk);
  void gather_moved(ChunkData& data, uint32_t block, Payload& payload);
  bool fits(const ChunkData& data, uint32_t chunk, const Payload& payload);
  void place(ChunkData& data, const Payload& payload);
  void keep(ChunkData& data, Payload& payload);
  void reduce(ChunkData& data, const std::vector<uint32_t>& handles);
  void interleave(ChunkData& data);
  void note(const std::string& defect);

  DataContext& context_;
  std::shared_ptr<const DataLayout> layout_;
  std::vector<AxisView> views_;
  uint32_t stream_;
  uint32_t rank_;
  uint32_t place_;
  uint32_t position_;
  bool moves_;  ///< all-to-all
  InputKey key_;
  std::vector<ChunkData> chunks_;
  std::vector<std::byte> output_;
  std::string defect_;
};

}  // namespace weft::collectives

#endif
