// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the execution engine of a rank asks of the hardware around it. The system's NPU implements
// RankServices; tests implement it with a fake. Each start_* is answered by exactly one call-back of
// RankEngine, synchronously or later.

#ifndef WEFT_WORKLOAD_GRAPH_RANK_SERVICES_H
#define WEFT_WORKLOAD_GRAPH_RANK_SERVICES_H

#include <cstdint>

#include "configs/types.h"
#include "workload/trace/node.h"

namespace weft::graph {

class RankServices {
 public:
  virtual ~RankServices() = default;

  virtual Picoseconds now() const = 0;

  /// RankEngine::wake(token) at the absolute time `at` (>= now).
  virtual void schedule(Picoseconds at, uint32_t token) = 0;

  /// How long a compute node takes. `time`: what the trace and the roofline say, > 0.
  virtual Picoseconds compute_time(const trace::Node& /*node*/, Picoseconds time) { return time; }

  /// True: it runs the compute node itself, and RankEngine::wake(node.index) answers, later, when the node is
  /// over. The reference is valid until that call. False: compute_time() says how long it takes.
  virtual bool takes_compute(const trace::Node& /*node*/, Picoseconds /*time*/) { return false; }

  /// Answered by memory_done(node.index). A MEM_LOAD or MEM_STORE with a tensor_size > 0. The reference is
  /// valid until that call has returned.
  virtual void start_memory(const trace::Node& node) = 0;

  /// Answered by collective_done(node.index). The reference is valid until that call has returned. The node
  /// has a comm_type; comm_size may be 0.
  virtual void start_collective(const trace::Node& node) = 0;

  /// Answered by send_done(node.index) when the last byte has left the rank. Lifetime as above.
  virtual void start_send(const trace::Node& node) = 0;

  /// Answered by receive_done(node.index) when the message is there. Lifetime as above.
  virtual void start_receive(const trace::Node& node) = 0;
};

/// What a rank is doing, in ascending priority: at each instant its time counts once, for the highest that
/// applies.
enum class RankState : uint8_t { idle, communication, remote_memory, local_memory, compute };
constexpr int kRankStates = 5;

const char* to_string(RankState state);

/// No node: what an observer gets while a rank is idle.
constexpr uint64_t kNoNode = ~uint64_t{0};

/// Called when the state of a rank, or the node that gives it this state, has changed: once after all changes
/// of a call-back.
class RankObserver {
 public:
  virtual ~RankObserver() = default;
  /// `node_id`: Chakra's id of the node that gives the state; kNoNode when idle.
  virtual void rank_changed(uint32_t rank, RankState state, uint64_t node_id) = 0;
};

/// Hears of every node of a rank. Times are those of RankServices::now().
class NodeListener {
 public:
  virtual ~NodeListener() = default;
  /// The node has its slot, or its access or message has begun. Not called for nodes that take no time.
  virtual void node_started(trace::NodeIndex node, Picoseconds now) = 0;
  /// Called before the nodes that depend on it become ready.
  virtual void node_finished(trace::NodeIndex node, Picoseconds now) = 0;
};

}  // namespace weft::graph

#endif
