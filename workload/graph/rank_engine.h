// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The execution engine of one rank: takes nodes whose dependencies are met from a trace and runs them on
// abstract hardware, and says where the rank's time went.

#ifndef WEFT_WORKLOAD_GRAPH_RANK_ENGINE_H
#define WEFT_WORKLOAD_GRAPH_RANK_ENGINE_H

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/config.h"
#include "configs/fifo.h"
#include "configs/flat_map.h"
#include "configs/types.h"
#include "workload/graph/layers.h"
#include "workload/graph/node_causes.h"
#include "workload/graph/rank_image.h"
#include "workload/graph/rank_services.h"
#include "workload/trace/feeder.h"
#include "workload/trace/node.h"

namespace weft::graph {

/// Where a rank's time went, in picoseconds. The five add up to the total exactly.
struct Categories {
  Picoseconds compute = 0;
  Picoseconds local_memory = 0;   ///< not hidden by compute
  Picoseconds remote_memory = 0;  ///< not hidden by compute or local memory
  Picoseconds communication = 0;  ///< exposed: not hidden by any of the above
  Picoseconds idle = 0;

  Picoseconds total() const { return compute + local_memory + remote_memory + communication + idle; }
};

/// One node that cannot go on, for the stall report.
struct Stall {
  enum class WaitsFor : uint8_t {
    slot,        ///< a hardware slot that another node holds
    time,        ///< the end of its own duration
    memory,      ///< its memory access
    collective,  ///< the other members, or the fabric
    send,        ///< its last byte to leave towards `peer`
    receive,     ///< a message from `peer`
    dependency   ///< node `dependency` of the same rank
  };
  uint32_t rank = 0;
  uint64_t node = 0;  ///< Chakra's id
  std::string name;
  WaitsFor waits_for = WaitsFor::dependency;
  uint32_t peer = 0;        ///< send, receive
  uint32_t tag = 0;         ///< send, receive
  std::string group;        ///< collective: pg_name
  uint32_t ordinal = 0;     ///< collective: n-th of its group in this rank
  uint64_t dependency = 0;  ///< Chakra's id of the node that holds it (dependency)
  std::string text;         ///< all of this in one line
};

/// Node semantics:
///  - COMP takes compute_cost() on a slot: npu.cpu_slots for CPU operations, npu.compute_slots for all
///  others. A slot
///    takes waiting nodes in the order in which they became ready (lowest file position first among those
///    that are ready together); a node of no duration waits for its turn too.
///    A COMP node with the attribute `stream` runs on that stream of its rank instead, one node at a time.
///  - MEM_LOAD / MEM_STORE move tensor_size bytes, concurrently; without a size they last as long as was
///  recorded.
///  - COMM_* are concurrent with everything; send and receive count as communication while they are
///  outstanding.
///  - METADATA with a delay lasts so long, on no slot; it counts as communication.
///  - Other METADATA, and COMM_COLL without a comm_type (the CPU-side wrapper of a collective), take no time
///  and no slot.
///
/// Call-backs of one instant are handled in the order in which they come. A caller that wants the outcome not
/// to depend on that order puts them between hold() and release().
class RankEngine {
 public:
  /// All outlive the engine.
  RankEngine(uint32_t rank, const NpuConfig& npu, trace::Feeder& feeder, RankServices& services);
  RankEngine(const RankEngine&) = delete;
  RankEngine& operator=(const RankEngine&) = delete;

  /// Starts every node that is ready. Time before the first start counts as idle.
  void start();

  // Call-backs of RankServices. A call-back for a node that did not ask for it throws std::logic_error.
  void wake(uint32_t token);
  void memory_done(trace::NodeIndex node);
  void collective_done(trace::NodeIndex node);
  void send_done(trace::NodeIndex node);
  void receive_done(trace::NodeIndex node);

  /// Between hold() and the matching release() call-backs are recorded and nothing is started.
  void hold() { ++holds_; }
  void release();

  /// True if this node is the only one that has started and not finished: nothing else starts before it ends.
  bool only_active(trace::NodeIndex node) const {
    return active_.size() == 1 && active_.find(node) != nullptr && done_.empty() && cpu_.waiting.empty() &&
           compute_.waiting.empty() && streams_.empty();
  }
  /// Nodes that have started and not finished.
  size_t active() const { return active_.size(); }

  /// Every node of the trace is finished.
  /// A started node in words, for errors: "rank 3, node 7 "load" (MEM_LOAD)".
  std::string describe(trace::NodeIndex node) const;

  bool finished() const;
  /// Nothing is under way but compute, delays, and receives that wait for their message.
  bool rests() const;
  /// Has done what `like` has, the engine of a rank with the same program, which rests: nothing has started
  /// here. The feeder has taken the same nodes.
  void adopt(const RankEngine& like, const RankImage& image);
  /// When the last node that has finished did so.
  Picoseconds finished_at() const { return finished_at_; }

  /// The split of the time from 0 to `end` (>= now): what was done, and the present state from its beginning
  /// to `end`.
  Categories categories(Picoseconds end) const;

  /// For how long up to `end` (>= now) a collective, a send or a receive was under way, hidden or not.
  Picoseconds communicating(Picoseconds end) const;

  /// Keeps the time by layer, too; before start(). The table outlives the engine.
  void set_layers(LayerTable& table) { layers_ = std::make_unique<LayerClock>(table); }
  /// Null without set_layers().
  const LayerClock* layers() const { return layers_.get(); }

  RankState state() const { return state_; }
  /// Null: no observer, which costs nothing. An observer is called at once when it is set.
  void set_observer(RankObserver* observer);

  /// Null: none, which costs nothing. Before start().
  void set_listener(NodeListener* listener) { listener_ = listener; }

  /// Tells the causal log of its nodes; before start().
  void keep_causes(insight::CausalLog& log, uint32_t npu, Picoseconds origin) {
    causes_ = std::make_unique<NodeCauses>(log, feeder_, npu, origin);
  }

  /// Null without keep_causes().
  const NodeCauses* causes() const { return causes_.get(); }
  NodeCauses* causes() { return causes_.get(); }

  /// COMP nodes that took no time because nothing gives their cost, and the first of them (for one warning).
  uint64_t costless_nodes() const { return costless_; }
  uint64_t first_costless_node() const { return first_costless_; }

  /// Up to `limit` started nodes, then up to `limit` blocked ones, each with what it waits for. Empty when
  /// finished.
  std::vector<Stall> describe_stall(size_t limit) const;

  uint32_t rank() const { return rank_; }

 private:
  using WaitsFor = Stall::WaitsFor;

  struct Active {
    const trace::Node* node = nullptr;
    Picoseconds since = 0;
    RankState state = RankState::idle;
    WaitsFor waits_for = WaitsFor::time;
    LayerClock::Ticket ticket;
  };

  /// One kind of hardware slot and the nodes that wait for it.
  struct Slots {
    uint32_t count = 1;
    uint32_t busy = 0;
    Fifo<const trace::Node*> waiting;
  };

  Slots& slots_of(const trace::Node& node);
  void pump();
  void admit(const trace::Node& node);
  void pass(const trace::Node& node);
  void start_compute(Slots& slots);
  void start_timed(const trace::Node& node, RankState state, Picoseconds duration);
  void activate(const trace::Node& node, RankState state, WaitsFor waits_for);
  void complete(trace::NodeIndex node, WaitsFor waits_for);
  void count(RankState state, int change);
  void notify();
  std::string where(const trace::Node& node) const;

  const uint32_t rank_;
  const NpuConfig& npu_;
  trace::Feeder& feeder_;
  RankServices& services_;
  RankObserver* observer_ = nullptr;
  NodeListener* listener_ = nullptr;
  std::unique_ptr<LayerClock> layers_;
  std::unique_ptr<NodeCauses> causes_;  ///< null: nobody asks

  FlatMap<trace::NodeIndex, Active> active_;
  std::vector<trace::NodeIndex> done_;  ///< completed, not yet handed to the feeder
  Slots cpu_;
  Slots compute_;
  std::map<uint32_t, Slots> streams_;  ///< by number
  uint32_t holds_ = 0;

  std::array<uint32_t, kRankStates> outstanding_{};
  std::array<Picoseconds, kRankStates> spent_{};
  RankState state_ = RankState::idle;
  Picoseconds since_ = 0;
  Picoseconds communicating_ = 0;        ///< without the present one
  Picoseconds communicating_since_ = 0;  ///< while one is outstanding
  Picoseconds finished_at_ = 0;

  RankState told_state_ = RankState::idle;
  trace::NodeIndex told_index_ = ~trace::NodeIndex{0};
  uint64_t told_id_ = kNoNode;

  uint64_t costless_ = 0;
  uint64_t first_costless_ = kNoNode;
};

}  // namespace weft::graph

#endif
