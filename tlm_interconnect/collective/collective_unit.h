// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The collective unit of a switch without the switch: which contributions of which blocks are there, the
// buffers of their partial sums, and when each block's result is ready. No SystemC: the module around it says
// what has arrived, advances it to the time it asks for, and sends the results.
//
// A block is what is reduced (or multicast) at once. The way of a contribution:
//  1. It stands at its input port from its head's arrival on. A block needs `bytes` of buffer from its first
//     contribution until its result has left the switch. Without room, its contributions wait at the inputs,
//     where those of other blocks pass them.
//  2. Once the block has its place the contribution goes into the unit, at most at the ingress rate of its
//     port, contributions of one port one after the other, and not before its tail has arrived.
//  3. It is reduced: one contribution after the other, of all ports and blocks, at the reduction rate, in the
//     order in which they entered (at equal times by block, then contributor).
//  4. With the last one the block is complete. A latency later its result is sent.
//
// Buffer is given to waiting blocks in the order of their ids. The last `reserve` bytes go to none but blocks
// all of whose contributions stand at the inputs: such a block needs nobody any more, so that it finishes and
// frees its place whatever the others wait for. So no buffer, however small (but not smaller than a block),
// makes contributors wait for each other that would not without any limit.
//
// What the contributions hold is not this class's business: `item` names it to whoever sends the result.

#ifndef WEFT_TLM_INTERCONNECT_COLLECTIVE_COLLECTIVE_UNIT_H
#define WEFT_TLM_INTERCONNECT_COLLECTIVE_COLLECTIVE_UNIT_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "configs/types.h"
#include "tlm_interconnect/ports/timed_queue.h"

namespace weft::fabric {

class CollectiveUnit {
 public:
  struct Parameters {
    Rate ingress;             ///< per port; 0: as fast as the bytes arrive
    Rate reduction;           ///< of contributions, all ports together; 0: no time
    Picoseconds latency = 0;  ///< from complete to sent
    uint64_t buffer = 0;      ///< bytes; 0: unlimited
    uint64_t reserve = 0;     ///< of the buffer, for complete blocks: at least the largest block
  };

  /// Blocks are served in the order of their ids.
  struct BlockId {
    uint32_t stream = 0;
    uint32_t chunk = 0;
    uint32_t phase = 0;
    uint32_t slot = 0;
    bool operator<(const BlockId& o) const {
      return std::tie(stream, chunk, phase, slot) < std::tie(o.stream, o.chunk, o.phase, o.slot);
    }
    bool operator==(const BlockId& o) const {
      return std::tie(stream, chunk, phase, slot) == std::tie(o.stream, o.chunk, o.phase, o.slot);
    }
  };

  struct Contribution {
    BlockId block;
    uint32_t contributor = 0;   ///< place in the declared order of the reduction
    uint32_t contributors = 1;  ///< of the block; all contributions of a block say the same
    uint32_t port = 0;
    uint32_t item = 0;
    uint64_t bytes = 0;  ///< the same for all contributions of a block
    bool reduces = false;
    Picoseconds head = 0;  ///< of its first and last byte at the input port
    Picoseconds tail = 0;
    /// How long before `head` its first byte came, where a contribution is known only once it is complete:
    /// without a wait its ingress began then.
    Picoseconds before = 0;
    Picoseconds waited = 0;  ///< for buffer, when the result is sent
  };

  struct Result {
    BlockId block;
    uint64_t bytes = 0;
    const std::vector<Contribution>* contributions = nullptr;  ///< in the order of the contributors
    size_t last = 0;                                           ///< the one that completed the block
  };

  /// Who sends results.
  class Output {
   public:
    virtual ~Output() = default;
    /// Sends the result now; returns when its last byte has left (>= now), kNever: left() will tell.
    virtual Picoseconds send(const Result& result, Picoseconds now) = 0;
  };

  CollectiveUnit(const Parameters& parameters, uint32_t ports);

  /// A contribution whose head is there at contribution.head (>= the time of the last advance). Throws
  /// std::logic_error when the block is larger than the buffer.
  void arrive(const Contribution& contribution);
  /// When something becomes due; kNever: nothing does.
  Picoseconds next() const { return events_.next(); }
  /// Does all that is due until `now`. Throws std::logic_error when a contribution came twice.
  void advance(Picoseconds now, Output& output);

  /// The last byte of a block's result has left at `when` (>= the time of the last advance).
  void left(const BlockId& block, Picoseconds when);

  /// Blocks of which something has arrived and whose result has not left.
  size_t blocks() const { return blocks_.size(); }
  bool idle() const { return blocks_.empty() && events_.empty(); }
  uint64_t buffered() const { return used_; }
  uint64_t most_buffered() const { return most_used_; }
  /// When what it has taken so far is reduced.
  Picoseconds reduction_free() const { return reduction_free_; }
  /// Blocks that wait for buffer.
  size_t waiting() const { return waiting_.size(); }
  /// Time that contributions stood at inputs for want of buffer, summed (ps).
  Picoseconds waited() const { return waited_; }
  uint64_t contributions() const { return contributions_; }
  uint64_t results() const { return results_; }

  /// A block that is not sent yet, for reports.
  struct Pending {
    BlockId block;
    uint64_t bytes = 0;
    uint32_t contributors = 0;
    bool has_buffer = false;
    std::vector<uint32_t> missing;  ///< contributors
  };
  /// The first `limit` in the order of their ids.
  std::vector<Pending> pending(size_t limit) const;

 private:
  struct Block {
    std::vector<Contribution> arrived;
    uint64_t bytes = 0;
    uint32_t contributors = 1;
    uint32_t entered = 0;
    size_t last = 0;
    Picoseconds reduced = 0;  ///< the last of those that have entered
    bool open = false;        ///< has its place in the buffer
    bool sent = false;
  };
  enum class What : uint8_t { freed, arrived, entered, ready };
  struct Event {
    What what = What::freed;
    Contribution contribution;  ///< `arrived`; of the others the block and contributor
  };

  void push(Picoseconds time, What what, const Contribution& contribution);
  void arrived(const Contribution& contribution);
  void admit(Picoseconds now);
  void open(const BlockId& id, Block& block, Picoseconds now);
  template <typename F>
  void timed(const BlockId& id, F&& f);
  void enter(Contribution& contribution, Picoseconds now);
  void reduce(const Contribution& contribution, Picoseconds now);
  void finish(const BlockId& id, Picoseconds now, Output& output);

  Parameters parameters_;
  std::vector<Picoseconds> ingress_free_;  ///< by port
  Picoseconds reduction_free_ = 0;
  std::map<BlockId, Block> blocks_;
  std::set<BlockId> waiting_;   ///< without a place
  std::set<BlockId> complete_;  ///< of these, those whose contributions are all at the inputs
  TimedQueue<Event, uint64_t> events_;
  std::vector<Event> due_;
  uint64_t pushed_ = 0;
  uint64_t used_ = 0;
  uint64_t most_used_ = 0;
  Picoseconds waited_ = 0;
  uint64_t contributions_ = 0;
  uint64_t results_ = 0;
};

}  // namespace weft::fabric

#endif
